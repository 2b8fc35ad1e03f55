"""RationalLearner: the task under which the demonstrators look most rational.

If coffee were not part of the task, the demonstrator would not have gone there. So the posterior of an automaton
combines its length with the likelihood of the demonstrations for a nearly optimal demonstrator of this task:

    log posterior(A) = log prior(A)                                    `prior`: a description length
                     + log mean_eta prod_i [ (1 - e) prod_t pi_A(u_t | s_t) + e / prod_t controls(s_t) ]   `evidence`
                     + log P(failures | A)                             accepting one costs log(failure_error)
                     + log P(answers | A)                              contradicting one costs log(answer_error)

An automaton that forgets something makes the demonstrator look irrational; one that remembers too much pays in length.
Failures and answers (`questions`) are not needed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.rational.evidence import NO_SUCCESSOR, DemonstratedScene, Evidence, JudgedWord
from wfairl.core.rational.kernels import log_mean
from wfairl.core.rational.search import Candidate, Posterior, SearchSettings, search
from wfairl.core.rational.support import measure_support
from wfairl.core.rational.task_posterior import Alternative, TaskPosterior
from wfairl.core.support.errors import BadInputError, FailedRunError

LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE, TEMPERATURES = 0.05, 3.2, 12
"""The grid over which evidence is averaged, in units of the mean cost of a demonstrated step."""

REFINED_TEMPERATURES = 33

DEFAULT_ANSWER_ERROR = 0.02
"""Probability that an answer to a question is wrong, because of inattention or a misunderstanding."""


class NothingExplainedError(FailedRunError):
    """No automaton explains the demonstrations better than chance."""


@dataclass(frozen=True)
class RationalSettings:
    """Settings of `RationalLearner`.

    Attributes:
        temperature: of the demonstrators; None if it is unknown.
        outlier_probability: e, that a demonstration follows no task at all.
        failure_error: probability that a demonstration that fulfils the task is reported as a failure.
        answer_error: probability that an answer to a question is wrong.
        deadly_odds: prior odds that a label which no demonstration tests ends the task in failure; for caution only.
        needed_odds: prior odds that a demonstrated label is needed; for caution only.
        max_world_states: the states of each scene nearest to the demonstration that are planned through.
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


class RationalLearner:
    """Learns a task automaton from demonstrations, the worlds in which they happened, and a cost."""

    def __init__(self, settings: RationalSettings | None = None) -> None:
        self.settings = settings or RationalSettings()

    def fit(
        self,
        labels: Sequence[Label],
        scenes: Sequence[DemonstratedScene],
        progress: Callable[[Candidate], None] | None = None,
        answers: Sequence[JudgedWord] = (),
        n_jobs: int = 1,
    ) -> TaskPosterior:
        """The automaton that explains the demonstrations best, and the others that are probable.

        Args:
            labels: what the label indices of the scenes mean.
            scenes: demonstrations with their worlds; those without success are failures.
            progress: called with each candidate that the search expands.
            answers: words over the same labels that a person has judged.
            n_jobs: automata to evaluate at once; it changes nothing in the result.

        Raises:
            NothingExplainedError: no automaton explains any demonstration better than chance.
        """
        settings = self.settings
        if not any(scene.success for scene in scenes):
            raise BadInputError("there is no successful demonstration to learn from")
        posterior = self._posterior(labels, scenes, answers, n_jobs)
        if answers:
            # A search from the simplest automata may not get past an answer: start with those found without answers.
            alone = self._posterior(labels, scenes, (), n_jobs, posterior.propositions)
            candidates = search(alone, settings.search, progress)
            posterior.evaluate_all(candidate.automaton for candidate in candidates[: settings.max_alternatives])
        evidence = posterior.evidence
        candidates = _explaining(evidence, search(posterior, settings.search, progress))
        if not candidates:
            raise NothingExplainedError(
                "no automaton explains the demonstrations better than chance. Are the labels those of the task, do "
                "the demonstrations end when it is done, and is the cost about right?"
            )
        best = candidates[0]
        outliers = np.zeros(len(scenes))
        outliers[[scene.success for scene in scenes]] = _outlier_probabilities(evidence, best)
        return TaskPosterior(
            alternatives=_alternatives(candidates[: settings.max_alternatives + 1]),
            support=measure_support(posterior, best.automaton, settings.deadly_odds, settings.needed_odds),
            temperature=_refine_temperature(evidence, best),
            log_posterior=best.log_posterior,
            log_prior=best.log_prior,
            automata_generated=posterior.automata_generated,
            automata_evaluated=posterior.tables_evaluated,
            outlier_probabilities=outliers,
        )

    def _posterior(
        self,
        labels: Sequence[Label],
        scenes: Sequence[DemonstratedScene],
        answers: Sequence[JudgedWord],
        n_jobs: int,
        propositions: Sequence[str] | None = None,
    ) -> Posterior:
        """The posterior under demonstrations and answers; over the propositions that occur in them unless given."""
        settings = self.settings
        labels, scenes, answers = _occurring(labels, scenes, answers)
        if propositions is None:
            propositions = sorted(frozenset().union(*labels))
        evidence = Evidence(
            labels,
            scenes,
            self.temperatures(scenes),
            settings.outlier_probability,
            settings.max_world_states,
            answers,
        )
        return Posterior(evidence, propositions, settings.failure_error, settings.answer_error, n_jobs)

    def temperatures(self, scenes: Sequence[DemonstratedScene]) -> NDArray[np.float64]:
        """The grid of temperatures over which evidence is averaged, [temperatures]."""
        if self.settings.temperature is not None:
            return np.array([self.settings.temperature])
        costs = np.concatenate([scene.costs for scene in scenes if scene.success])
        return costs.mean() * np.geomspace(LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE, TEMPERATURES)


def _occurring(
    labels: Sequence[Label], scenes: Sequence[DemonstratedScene], answers: Sequence[JudgedWord]
) -> tuple[tuple[Label, ...], list[DemonstratedScene], list[JudgedWord]]:
    """The labels that occur, and scenes and answers with indices into these."""
    occurs = np.zeros(len(labels), bool)
    for scene in scenes:
        occurs[_labels_in(scene)] = True
    for answer in answers:
        occurs[answer.word] = True
    if occurs.all():
        return tuple(labels), list(scenes), list(answers)
    number = np.maximum(np.cumsum(occurs) - 1, 0).astype(np.int16)  # of a transition that is never taken, any
    return (
        tuple(label for label, does in zip(labels, occurs, strict=True) if does),
        [replace(scene, world=replace(scene.world, label_index=number[scene.world.label_index])) for scene in scenes],
        [replace(answer, word=number[answer.word].astype(np.int32)) for answer in answers],
    )


def _labels_in(scene: DemonstratedScene) -> NDArray[np.integer]:
    """The indices of the labels of transitions that can be taken; of a failure, only its word is known."""
    if not scene.success:
        return scene.word
    world = scene.world
    is_available, states = world.successors != NO_SUCCESSOR, np.arange(len(world.successors))
    is_entered = states == world.start
    is_entered[world.successors[is_available & (world.successors != states[:, None])]] = True
    # Of a world that is explored completely, nothing leads to the state that stands for all that is not explored.
    return world.label_index[is_available & is_entered[:, None]]


def _explaining(evidence: Evidence, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The automata under which the demonstrations are more likely than under controls drawn uniformly.

    With few demonstrations, "no task at all" may have the higher posterior, since it needs no description. But a
    demonstrator has a task, and the best automaton that explains something is the best guess at it.
    """
    uniform = evidence.log_uniform.sum()
    return [one for one in candidates if one.automaton.edges and log_mean(one.evidence.sum(axis=0)) > uniform]


def _refine_temperature(evidence: Evidence, best: Candidate) -> float:
    """The most likely temperature, on a finer grid between the neighbours of the best one of the coarse grid."""
    if len(evidence.temperatures) == 1:
        return float(evidence.temperatures[0])
    i = int(best.evidence.sum(axis=0).argmax())
    low, high = evidence.temperatures[max(0, i - 1)], evidence.temperatures[min(i + 1, len(evidence.temperatures) - 1)]
    fine = np.geomspace(low, high, REFINED_TEMPERATURES)
    return float(fine[evidence.evaluate_all(best.table, fine).sum(axis=0).argmax()])


def _outlier_probabilities(evidence: Evidence, best: Candidate) -> NDArray[np.float64]:
    """P(demonstration i follows no task | A), averaged over the temperatures by their posterior; [scenes]."""
    totals = best.evidence.sum(axis=0)
    weights = np.exp(totals - totals.max())
    return np.exp(evidence.log_outlier[:, None] - best.evidence) @ (weights / weights.sum())


def _alternatives(candidates: Sequence[Candidate]) -> tuple[Alternative, ...]:
    logs = np.array([candidate.log_posterior for candidate in candidates])
    weights = np.exp(logs - np.logaddexp.reduce(logs))
    return tuple(
        Alternative(one.automaton.to_guarded(), str(one.automaton), float(weight))
        for one, weight in zip(candidates, weights, strict=True)
    )
