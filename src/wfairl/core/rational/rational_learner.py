"""The rational learner: from demonstrations to the posterior over tasks.

    posterior = learn_posterior(observations)                        observations as arrays (`observations`)
    model = RationalLearner().learn(dataset, task)                   demonstrations of a task, in its worlds

The search gives automata with their log posterior (`search`). From these the learner makes a `TaskPosterior`:

    weight(A)        = posterior(A) / sum of the posteriors of the best automata                    `Alternative`
    temperature      = the eta under which the demonstrations are most likely, given the best automaton
    outlier_i        = P(demonstration i follows no task | the best automaton)
    support          = how well the demonstrations support each part of the best automaton          `support`

An automaton that explains the demonstrations no better than controls drawn at random is no explanation, however short
it is. If there is no other, the learner says so (`NothingExplainedError`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.demonstrations.learners import MEMORISED, RATIONAL
from wfairl.core.planning.cost import Cost, nominal_cost
from wfairl.core.rational.doubts import doubts_of_unknown, measure_doubts
from wfairl.core.rational.evidence import Evidence
from wfairl.core.rational.exploration import observe
from wfairl.core.rational.likelihood import log_mean
from wfairl.core.rational.observations import Observations
from wfairl.core.rational.search import Candidate, Evaluator, search
from wfairl.core.rational.settings import RationalSettings
from wfairl.core.rational.support import measure_support
from wfairl.core.rational.task_posterior import Alternative, TaskPosterior
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.errors import BadInputError, FailedRunError
from wfairl.core.worlds.task import Task

DEFAULT_SETTINGS = RationalSettings()

LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE, GRID_TEMPERATURES = 0.05, 3.2, 12
"""The grid over which evidence is averaged, in units of the mean cost of a demonstrated step."""

REFINED_TEMPERATURES = 33


class NothingExplainedError(FailedRunError):
    """No automaton explains the demonstrations better than chance."""


@dataclass(frozen=True)
class RationalLearner:
    """Learns the automaton under which the demonstrators look most rational.

    If no automaton explains the demonstrations better than chance, the model accepts their words alone, and one of its
    sentences says so.

    Attributes:
        settings: see `RationalSettings`.
    """

    settings: RationalSettings = DEFAULT_SETTINGS

    def learn(self, dataset: Dataset, task: Task, cost: Cost | None = None, n_jobs: int = 2) -> TaskModel:
        assumed = nominal_cost(task) if cost is None else cost
        observations = observe(dataset.demonstrations, task.make_world, assumed, n_jobs, dataset.answers)
        try:
            posterior = learn_posterior(observations, self.settings, n_jobs)
        except NothingExplainedError:  # too few demonstrations, or too noisy ones
            memorised = SpectralTaskLearner().learn(dataset, task, cost, n_jobs)
            return replace(memorised, stated=(MEMORISED,))
        successes = [i for i, one in enumerate(dataset) if one.is_success]
        outliers = np.zeros(len(dataset))
        outliers[successes] = posterior.outlier_probabilities
        unknown = set(task.propositions).difference(*posterior.labels)
        posterior = replace(
            posterior,
            outlier_probabilities=outliers,
            answers=len(dataset.answers),
            doubts=(*posterior.doubts, *doubts_of_unknown(unknown, self.settings)),
        )
        words = dict.fromkeys(dataset.words[i] for i in successes if i not in posterior.outliers)
        return TaskModel.of_automaton(
            posterior.chosen.automaton,
            RATIONAL,
            dataset.words,
            dataset.scores,
            record=replace(posterior, demonstrated_words=tuple(words)),
        )


def learn_posterior(
    observations: Observations,
    settings: RationalSettings = DEFAULT_SETTINGS,
    n_jobs: int = 1,
) -> TaskPosterior:
    """The automata that explain observations of one task best; see `RationalLearner`.

    `n_jobs` automata are evaluated at once, which changes nothing in the result.

    Raises:
        NothingExplainedError: no automaton explains any demonstration better than chance.
    """
    if not observations.scenes:
        raise BadInputError("there is no successful demonstration to learn from")
    evidence = evidence_of(observations, settings)
    evaluator = Evaluator(evidence, sorted(frozenset().union(*evidence.labels)), n_jobs)
    if observations.answers:
        # A search from the simplest automata may not get past an answer: start with those found without answers.
        alone = Evaluator(evidence_of(replace(observations, answers=()), settings), evaluator.propositions, n_jobs)
        candidates = search(alone)
        evaluator.evaluate_all(candidate.automaton for candidate in candidates[: settings.max_alternatives])
    candidates = _explaining(evidence, search(evaluator))
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
        doubts=measure_doubts(evidence, best.automaton),
        unforeseen=settings.unforeseen / len(observations.scenes),
    )


def evidence_of(observations: Observations, settings: RationalSettings) -> Evidence:
    """The evidence of observations, over the grid of temperatures unless the temperature is known."""
    if settings.temperature is not None:
        temperatures = np.array([settings.temperature])
    else:
        costs = np.concatenate([scene.costs for scene in observations.scenes])
        temperatures = costs.mean() * np.geomspace(LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE, GRID_TEMPERATURES)
    return Evidence(observations.with_possible_labels(), temperatures, settings)


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
