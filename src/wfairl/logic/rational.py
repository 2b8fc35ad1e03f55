"""RationalLearner: the task under which the demonstrators look most rational.

If coffee were not part of the task, the demonstrator would not have gone there. So an automaton is judged by how likely
the demonstrations are for somebody who does this task at least cost, with some noise, and by its length:

    log posterior(A) = log prior(A)                                    `prior`: a description length
                     + log mean_eta prod_i [ (1 - e) prod_t pi_A(u_t | s_t) + e / prod_t controls(s_t) ]   `evidence`
                     + what failures say                               accepting one costs log(failure_error)
                     + what answers say                                contradicting one costs log(answer_error)

An automaton that forgets something makes the demonstrator look irrational; one that remembers too much pays in length.
Failures and answers (`questions`) are not needed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Label
from wfairl.automata.guarded import GuardedAutomaton
from wfairl.errors import BadInputError, FailedRunError
from wfairl.logic.evidence import DemonstratedScene, Evidence, JudgedWord
from wfairl.logic.kernels import log_mean
from wfairl.logic.search import Candidate, Posterior, SearchSettings, search
from wfairl.logic.sketch import to_automaton
from wfairl.logic.support import Support, measure_support

LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE, TEMPERATURES = 0.05, 3.2, 12
"""The grid over which evidence is averaged, in units of the mean cost of a demonstrated step."""

REFINED_TEMPERATURES = 33

DEFAULT_ANSWER_ERROR = 0.02
"""Probability that an answer to a question is wrong: people look away, or take the question otherwise."""


class NothingExplainedError(FailedRunError):
    """No automaton explains the demonstrations better than chance."""


@dataclass(frozen=True)
class RationalSettings:
    """Settings of `RationalLearner`.

    Attributes:
        temperature: of the demonstrators; None if it is unknown.
        outlier_probability: e, that a demonstration follows no task at all.
        failure_error: that a demonstration that fulfils the task is nevertheless said to have failed.
        answer_error: that an answer to a question is wrong.
        deadly_odds: odds that a label which no demonstration tests ends the task in failure; for caution only.
        needed_odds: odds that a label which demonstrations show is needed, before they are heard; for caution only.
        max_world_states: of each scene, those nearest to the demonstration; the others are not planned through.
        max_alternatives: how many automata are kept beside the best one.
        search: how far the search goes.
    """

    temperature: float | None = None
    outlier_probability: float = 0.01
    failure_error: float = 0.05
    answer_error: float = DEFAULT_ANSWER_ERROR
    deadly_odds: float = 0.125
    needed_odds: float = 0.25
    max_world_states: int = 200_000
    max_alternatives: int = 20
    search: SearchSettings = field(default_factory=SearchSettings)

    def __post_init__(self) -> None:
        for name in ("outlier_probability", "failure_error", "answer_error"):
            if not 0 < getattr(self, name) < 1:
                raise BadInputError(f"{name} must lie between 0 and 1, not {getattr(self, name)}")
        if self.temperature is not None and not self.temperature > 0:
            raise BadInputError(f"the temperature must be above zero, not {self.temperature}")


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
        self,
        labels: Sequence[Label],
        scenes: Sequence[DemonstratedScene],
        progress: Callable[[Candidate], None] | None = None,
        answers: Sequence[JudgedWord] = (),
        n_jobs: int = 1,
    ) -> RationalResult:
        """The automaton that explains the demonstrations best.

        Args:
            labels: what the label indices of the scenes mean.
            scenes: demonstrations with their worlds; those without success are failures.
            progress: is told each candidate that the search goes on from.
            answers: words, over the same labels, of which somebody said whether they are right.
            n_jobs: automata to judge at once; it changes nothing in the result.

        Raises:
            NothingExplainedError: no automaton explains any demonstration better than chance.
        """
        evidence = self._evidence(labels, scenes, answers)
        propositions = sorted(frozenset().union(*evidence.labels))
        posterior = self._posterior(evidence, propositions, n_jobs)
        if answers:
            # An answer may stand in the way of a search that begins with nothing: begin with what is found without.
            alone = self._posterior(self._evidence(labels, scenes, ()), propositions, n_jobs)
            found = search(alone, self.settings.search, progress)
            posterior.judge_all(candidate.sketch for candidate in found[: self.settings.max_alternatives])
        found = _explaining(evidence, search(posterior, self.settings.search, progress))
        if not found:
            raise NothingExplainedError(
                "no automaton explains the demonstrations better than chance. Are the labels those of the task, do "
                "the demonstrations end when it is done, and is the cost about right?"
            )
        best = found[0]
        outliers = np.zeros(len(scenes))
        outliers[[scene.success for scene in scenes]] = _outlier_probabilities(evidence, best)
        return RationalResult(
            automaton=to_automaton(best.sketch),
            text=str(best.sketch),
            log_posterior=best.log_posterior,
            log_prior=best.log_prior,
            temperature=_refine_temperature(evidence, best),
            alternatives=_alternatives(found, self.settings.max_alternatives),
            support=measure_support(posterior, best.sketch, self.settings.deadly_odds, self.settings.needed_odds),
            outlier_probabilities=outliers,
            candidates=(posterior.sketches_met, posterior.tables_judged),
        )

    def _posterior(self, evidence: Evidence, propositions: Sequence[str], n_jobs: int) -> Posterior:
        return Posterior(evidence, propositions, self.settings.failure_error, self.settings.answer_error, n_jobs)

    def _evidence(
        self, labels: Sequence[Label], scenes: Sequence[DemonstratedScene], answers: Sequence[JudgedWord]
    ) -> Evidence:
        successes = [scene for scene in scenes if scene.success]
        if not successes:
            raise BadInputError("there is no successful demonstration to learn from")
        labels, scenes, answers = _present(labels, scenes, answers)
        return Evidence(
            labels,
            scenes,
            self.temperatures(successes),
            self.settings.outlier_probability,
            self.settings.max_world_states,
            answers,
        )

    def temperatures(self, scenes: Sequence[DemonstratedScene]) -> NDArray[np.float64]:
        """The grid of temperatures over which evidence is averaged, [temperatures]."""
        if self.settings.temperature is not None:
            return np.array([self.settings.temperature])
        costs = np.concatenate([scene.costs[scene.visited[:-1], scene.controls] for scene in scenes if scene.success])
        return costs.mean() * np.geomspace(LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE, TEMPERATURES)


def _present(
    labels: Sequence[Label], scenes: Sequence[DemonstratedScene], answers: Sequence[JudgedWord]
) -> tuple[tuple[Label, ...], list[DemonstratedScene], list[JudgedWord]]:
    """The labels that occur, and scenes and answers with indices into these."""
    occurs = np.zeros(len(labels), bool)
    for scene in scenes:
        occurs |= np.bincount(scene.label_index.ravel(), minlength=len(labels)) > 0
    for answer in answers:
        occurs[answer.word] = True
    number = (np.cumsum(occurs) - 1).astype(np.int16)
    kept = tuple(label for label, there in zip(labels, occurs, strict=True) if there)
    if len(kept) == len(labels):
        return kept, list(scenes), list(answers)
    return (
        kept,
        [
            DemonstratedScene(s.successors, number[s.label_index], s.start, s.costs, s.controls, s.success)
            for s in scenes
        ],
        [replace(one, word=number[one.word].astype(np.int32)) for one in answers],
    )


def _explaining(evidence: Evidence, found: Sequence[Candidate]) -> list[Candidate]:
    """The automata under which the demonstrations are more likely than under controls drawn blindly.

    Few demonstrations may not pay for any description, so that "no task at all" has the higher posterior. But whoever
    demonstrates has a task, and the best automaton that explains something is the best guess at it.
    """
    blind = evidence.log_blind.sum()
    return [one for one in found if one.sketch.edges and log_mean(one.evidence.sum(axis=0)) > blind]


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
