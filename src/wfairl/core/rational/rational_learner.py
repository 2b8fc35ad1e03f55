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
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wfairl.core.rational.evidence import Evidence
from wfairl.core.rational.likelihood import log_mean
from wfairl.core.rational.observations import Observations
from wfairl.core.rational.search import Candidate, Evaluator, search
from wfairl.core.rational.settings import RationalSettings
from wfairl.core.rational.support import measure_support
from wfairl.core.rational.task_posterior import Alternative, TaskPosterior
from wfairl.core.support.errors import BadInputError, FailedRunError

LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE, TEMPERATURES = 0.05, 3.2, 12
"""The grid over which evidence is averaged, in units of the mean cost of a demonstrated step."""

REFINED_TEMPERATURES = 33


class NothingExplainedError(FailedRunError):
    """No automaton explains the demonstrations better than chance."""


class RationalLearner:
    """Learns a task automaton from demonstrations, the worlds in which they happened, and a cost."""

    def __init__(self, settings: RationalSettings | None = None) -> None:
        self.settings = settings or RationalSettings()

    def fit(
        self, observations: Observations, progress: Callable[[Candidate], None] | None = None, n_jobs: int = 1
    ) -> TaskPosterior:
        """The automaton that explains the demonstrations best, and the others that are probable.

        Args:
            observations: of one task.
            progress: called with each candidate that the search expands.
            n_jobs: automata to evaluate at once; it changes nothing in the result.

        Raises:
            NothingExplainedError: no automaton explains any demonstration better than chance.
        """
        if not observations.scenes:
            raise BadInputError("there is no successful demonstration to learn from")
        settings, evidence = self.settings, self._evidence(observations)
        evaluator = Evaluator(evidence, sorted(frozenset().union(*evidence.labels)), n_jobs)
        if observations.answers:
            # A search from the simplest automata may not get past an answer: start with those found without answers.
            alone = Evaluator(self._evidence(replace(observations, answers=())), evaluator.propositions, n_jobs)
            candidates = search(alone, progress)
            evaluator.evaluate_all(candidate.automaton for candidate in candidates[: settings.max_alternatives])
        candidates = _explaining(evidence, search(evaluator, progress))
        if not candidates:
            raise NothingExplainedError(
                "no automaton explains the demonstrations better than chance. Are the labels those of the task, do "
                "the demonstrations end when it is done, and is the cost about right?"
            )
        best = candidates[0]
        return TaskPosterior(
            alternatives=_alternatives(candidates[: settings.max_alternatives + 1]),
            support=measure_support(evidence, best.automaton),
            temperature=_refine_temperature(evidence, best),
            log_posterior=best.log_posterior,
            log_prior=best.log_prior,
            automata_generated=evaluator.automata_generated,
            automata_evaluated=evaluator.tables_evaluated,
            outlier_probabilities=_outlier_probabilities(evidence, best),
        )

    def _evidence(self, observations: Observations) -> Evidence:
        if self.settings.temperature is not None:
            temperatures = np.array([self.settings.temperature])
        else:
            costs = np.concatenate([scene.costs for scene in observations.scenes])
            temperatures = costs.mean() * np.geomspace(LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE, TEMPERATURES)
        return Evidence(observations.with_possible_labels(), temperatures, self.settings)


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
    return float(fine[evidence.of_scenes(best.table, fine).sum(axis=0).argmax()])


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
