"""RationalLearner: the task under which the demonstrators look most rational.

If coffee were not part of the task, the demonstrator would not have gone there. So an automaton is judged by how likely
the demonstrations are for somebody who does this task at least cost, with some noise, and by its length:

    log posterior(A) = log prior(A)                                    `prior`: a description length
                     + log mean_eta prod_i [ (1 - e) prod_t pi_A(u_t | s_t) + e / prod_t controls(s_t) ]   `evidence`
                     + what failures say                               accepting one costs log(failure_error)

An automaton that forgets something makes the demonstrator look irrational; one that remembers too much pays in length.
Failures are not needed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wfairl.errors import BadInputError, FailedRunError
from wfairl.logic.evidence import Evidence, Scene, log_mean
from wfairl.logic.guarded import DEAD, GuardedAutomaton, Label
from wfairl.logic.kernels import ACCEPTED
from wfairl.logic.search import Candidate, Posterior, SearchSettings, search
from wfairl.logic.sketch import Sketch, to_automaton, to_table

LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE, TEMPERATURES = 0.05, 3.2, 12
"""The grid over which evidence is averaged, in units of the mean cost of a demonstrated step."""

REFINED_TEMPERATURES = 33


class NothingExplainedError(FailedRunError):
    """No automaton explains the demonstrations better than chance."""


@dataclass(frozen=True)
class RationalSettings:
    """Settings of `RationalLearner`.

    Attributes:
        temperature: of the demonstrators; None if it is unknown.
        outlier_probability: e, that a demonstration follows no task at all.
        failure_error: that a demonstration that fulfils the task is nevertheless said to have failed.
        deadly_odds: odds that a label which no demonstration tests ends the task in failure; for caution only.
        max_world_states: of each scene, those nearest to the demonstration; the others are not planned through.
        max_alternatives: how many automata are kept beside the best one.
        search: how far the search goes.
    """

    temperature: float | None = None
    outlier_probability: float = 0.01
    failure_error: float = 0.05
    deadly_odds: float = 0.05
    max_world_states: int = 200_000
    max_alternatives: int = 20
    search: SearchSettings = field(default_factory=SearchSettings)

    def __post_init__(self) -> None:
        for name in ("outlier_probability", "failure_error"):
            if not 0 < getattr(self, name) < 1:
                raise BadInputError(f"{name} must lie between 0 and 1, not {getattr(self, name)}")
        if self.temperature is not None and not self.temperature > 0:
            raise BadInputError(f"the temperature must be above zero, not {self.temperature}")


@dataclass(frozen=True, eq=False)
class Support:
    """How much stands behind every pair of a state and a label of an automaton.

    Attributes:
        labels: those that occur in the scenes.
        visits: how many demonstrations read the label in the state, [states, labels].
        margin: nats of log evidence that are lost if the label led elsewhere, to where it loses least; inf where no
            demonstration can tell. Below 1 the demonstrations hardly say anything; [states, labels].
        risk: probability that the label ends the task in failure, though the automaton does not say so;
            [states, labels].
    """

    labels: tuple[Label, ...]
    visits: NDArray[np.int64]
    margin: NDArray[np.float64]
    risk: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Alternative:
    """An automaton, and its share of the posterior among those that were kept."""

    automaton: GuardedAutomaton
    text: str
    log_posterior: float
    weight: float


@dataclass(frozen=True, eq=False)
class RationalResult:
    """What was learned.

    Attributes:
        automaton: the automaton of highest posterior; its last state is the accepting one.
        text: the automaton in one line.
        log_posterior: up to a constant.
        log_prior: minus the description length of the automaton, in nats.
        temperature: the demonstrators' most likely temperature.
        alternatives: the best automata with their weights, the chosen one first.
        support: evidence behind every state and label.
        outlier_probabilities: that a demonstration follows no task, [scenes]; failures have 0.
        candidates: how many automata were met, and how many of them were planned with.
    """

    automaton: GuardedAutomaton
    text: str
    log_posterior: float
    log_prior: float
    temperature: float
    alternatives: tuple[Alternative, ...]
    support: Support
    outlier_probabilities: NDArray[np.float64]
    candidates: tuple[int, int]


class RationalLearner:
    """Learns a task automaton from demonstrations, the worlds in which they happened, and a cost.

    Args:
        settings: see `RationalSettings`.
    """

    def __init__(self, settings: RationalSettings | None = None) -> None:
        self.settings = settings or RationalSettings()

    def fit(
        self, labels: Sequence[Label], scenes: Sequence[Scene], progress: Callable[[Candidate], None] | None = None
    ) -> RationalResult:
        """The automaton that explains the demonstrations best.

        Args:
            labels: what the label indices of the scenes mean.
            scenes: demonstrations with their worlds; those without success are failures.
            progress: is told each candidate that the search goes on from.

        Raises:
            NothingExplainedError: no automaton explains any demonstration better than chance.
        """
        evidence = self._evidence(labels, scenes)
        propositions = sorted(frozenset().union(*evidence.labels))
        posterior = Posterior(evidence, propositions, self.settings.failure_error)
        found = search(posterior, self.settings.search, progress)
        best = found[0]
        if not best.sketch.edges:
            raise NothingExplainedError(
                "no automaton explains the demonstrations better than chance. Are the labels those of the task, do "
                "the demonstrations end when it is done, and is the cost about right?"
            )
        outliers = np.zeros(len(scenes))
        outliers[[scene.success for scene in scenes]] = _outlier_probabilities(evidence, best)
        return RationalResult(
            automaton=to_automaton(best.sketch),
            text=str(best.sketch),
            log_posterior=best.log_posterior,
            log_prior=best.log_prior,
            temperature=_refine_temperature(evidence, best),
            alternatives=_alternatives(found, self.settings.max_alternatives),
            support=measure_support(posterior, best.sketch, self.settings.deadly_odds),
            outlier_probabilities=outliers,
            candidates=(posterior.sketches_met, posterior.tables_judged),
        )

    def _evidence(self, labels: Sequence[Label], scenes: Sequence[Scene]) -> Evidence:
        successes = [scene for scene in scenes if scene.success]
        if not successes:
            raise BadInputError("there is no successful demonstration to learn from")
        if self.settings.temperature is not None:
            temperatures = np.array([self.settings.temperature])
        else:
            costs = np.concatenate([scene.costs[scene.visited[:-1], scene.controls] for scene in successes])
            temperatures = costs.mean() * np.geomspace(LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE, TEMPERATURES)
        labels, scenes = _present(labels, scenes)
        return Evidence(
            labels, scenes, temperatures, self.settings.outlier_probability, self.settings.max_world_states
        )


def _present(labels: Sequence[Label], scenes: Sequence[Scene]) -> tuple[tuple[Label, ...], list[Scene]]:
    """The labels that occur, and the scenes with indices into these."""
    occurs = np.zeros(len(labels), bool)
    for scene in scenes:
        occurs |= np.bincount(scene.label_index.ravel(), minlength=len(labels)) > 0
    number = (np.cumsum(occurs) - 1).astype(np.int16)
    kept = tuple(label for label, there in zip(labels, occurs, strict=True) if there)
    if len(kept) == len(labels):
        return kept, list(scenes)
    return kept, [
        Scene(s.successors, number[s.label_index], s.start, s.costs, s.controls, s.success) for s in scenes
    ]


def _refine_temperature(evidence: Evidence, best: Candidate) -> float:
    """The most likely temperature, on a finer grid between the neighbours of the best one of the coarse grid."""
    if len(evidence.temperatures) == 1:
        return float(evidence.temperatures[0])
    i = int(best.evidence.sum(axis=0).argmax())
    low, high = evidence.temperatures[max(0, i - 1)], evidence.temperatures[min(i + 1, len(evidence.temperatures) - 1)]
    fine = np.geomspace(low, high, REFINED_TEMPERATURES)
    return float(fine[evidence.at_temperatures(best.table, fine).sum(axis=0).argmax()])


def _outlier_probabilities(evidence: Evidence, best: Candidate) -> NDArray[np.float64]:
    """P(demonstration i follows no task | A), averaged over the temperatures by their posterior; [scenes]."""
    totals = best.evidence.sum(axis=0)
    weights = np.exp(totals - totals.max())
    return np.exp(evidence.log_outlier[:, None] - best.evidence) @ (weights / weights.sum())


def _alternatives(found: Sequence[Candidate], most: int) -> tuple[Alternative, ...]:
    kept = found[: most + 1]
    logs = np.array([candidate.log_posterior for candidate in kept])
    weights = np.exp(logs - np.logaddexp.reduce(logs))
    return tuple(
        Alternative(to_automaton(candidate.sketch), str(candidate.sketch), candidate.log_posterior, float(weight))
        for candidate, weight in zip(kept, weights, strict=True)
    )


def measure_support(posterior: Posterior, sketch: Sketch, deadly_odds: float) -> Support:
    """Change every pair of state and label in turn, and see what the demonstrations say to it.

    The risk of a pair compares the evidence E for the automaton with that for one in which the label is deadly, in
    this state or in every state, whichever is more likely:

        risk = odds / (1 + odds),    odds = deadly_odds * max(E(deadly here), E(deadly everywhere)) / E(as it is)
    """
    evidence = posterior.evidence
    evidence.optimistic = np.zeros_like(evidence.optimistic)
    table = to_table(sketch, evidence.labels)
    visits = np.zeros(table.shape, np.int64)
    for scene in evidence.scenes:
        pairs = np.zeros(table.shape, bool)
        state = 0
        for label in scene.word:
            pairs[state, label] = True
            state = table[state, label]
            if state < 0:
                break
        visits += pairs

    def log_evidence(changed: NDArray[np.int32]) -> float:
        return log_mean(evidence.evaluate_all(changed).sum(axis=0)) + posterior.failure_evidence(changed)

    chosen = log_evidence(table)
    margin, deadly = np.full(table.shape, np.inf), np.full(table.shape, -np.inf)
    for label in range(table.shape[1]):
        everywhere = table.copy()
        everywhere[:, label] = DEAD
        deadly[:, label] = log_evidence(everywhere)
        for state in range(len(table)):
            for target in (*range(len(table)), ACCEPTED, DEAD):
                if target == table[state, label]:
                    continue
                changed = table.copy()
                changed[state, label] = target
                loss = chosen - log_evidence(changed)
                margin[state, label] = min(margin[state, label], loss)
                if target == DEAD:
                    deadly[state, label] = max(deadly[state, label], chosen - loss)
    odds = deadly_odds * np.exp(np.minimum(deadly - chosen, 50.0))
    risk = np.where(table == DEAD, 1.0, odds / (1 + odds))
    return Support(evidence.labels, visits, margin, risk)
