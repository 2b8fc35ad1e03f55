"""The rational learner: from demonstrations to the posterior over tasks.

    posterior = learn_posterior(observations)                        observations as arrays (`observations`)
    model = RationalLearner().learn(dataset, task)                   demonstrations of a task, in its worlds

The search gives automata with their log posterior (`search`). From these the learner makes a `TaskPosterior`:

    weight(A)        = posterior(A) / sum of the posteriors of the best automata                    `Alternative`
    temperature      = the eta under which the demonstrations are most likely, given the best automaton
    outlier_i        = P(demonstration i follows no task | the best automaton)
    support          = where the best automaton is tested by no demonstration                       `Support`

An automaton that explains the demonstrations no better than controls drawn at random is no explanation, however short
it is. If there is no other, the learner says so (`NothingExplainedError`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.minimisation import Table
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.demonstrations.learners import MEMORISED, RATIONAL
from wfairl.core.planning.cost import Cost, nominal_cost
from wfairl.core.rational.constraints import Constraint, Doubt
from wfairl.core.rational.doubts import doubts_of_unknown, measure_doubts, measure_support
from wfairl.core.rational.evidence import Evidence
from wfairl.core.rational.observations import Observations, observe
from wfairl.core.rational.search import Candidate, Evaluator, search
from wfairl.core.rational.settings import RationalSettings
from wfairl.core.rational.table_plans import plan_table
from wfairl.core.rational.tables import read_word
from wfairl.core.rational.task_posterior import LEAST_OUTLIER_PROBABILITY, Alternative, TaskPosterior
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.errors import BadInputError, FailedRunError
from wfairl.core.worlds.task import Task

DEFAULT_SETTINGS = RationalSettings()

LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE, GRID_TEMPERATURES = 0.05, 3.2, 12
"""The grid over which evidence is averaged, in units of the mean cost of a demonstrated step."""

REFINED_TEMPERATURES = 33

MAX_ALTERNATIVES = 20
"""How many automata are kept beside the best one."""

UNFORESEEN = 0.004
"""Probability that a task asks, in a new scene, what no automaton and no constraint here says, after one demonstration;
after n of them an n-th of it."""

LEFT_OUT, ELSEWHERE = 0.5, 0.25
"""A demonstration that the automaton leaves out, though it looks deliberate, is asked for with the first probability in
scenes like its own: where something is read that no explained one reads. The second is the part that is left elsewhere.
A demonstration that is cheaper than what the automaton asks for does not count: it shows what is allowed."""

DELIBERATE_NATS, MOST_COMPARED = 3.0, 50
"""A demonstration is deliberate if one of so many automata explains it so much better than controls drawn at random."""


class NothingExplainedError(FailedRunError):
    """No automaton explains the demonstrations better than chance."""


@dataclass(frozen=True)
class RationalLearner:
    """Learns the automaton under which the demonstrators look most rational.

    If no automaton explains the demonstrations better than chance, the model accepts their words alone, and one of its
    sentences says so.
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
        words = dict.fromkeys(dataset.words[i] for i in successes if outliers[i] < LEAST_OUTLIER_PROBABILITY)
        record = replace(
            posterior,
            outlier_probabilities=outliers,
            answers=len(dataset.answers),
            doubts=(*posterior.doubts, *doubts_of_unknown(unknown)),
            demonstrated_words=tuple(words),
        )
        return TaskModel.of_automaton(
            posterior.chosen.automaton, RATIONAL, dataset.words, dataset.scores, record=record
        )


def learn_posterior(
    observations: Observations, settings: RationalSettings = DEFAULT_SETTINGS, n_jobs: int = 1
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
        evaluator.evaluate_all(candidate.automaton for candidate in candidates[:MAX_ALTERNATIVES])
    explaining = (one for one in search(evaluator) if _explains(evidence, one))
    planned = evidence.tables_planned
    candidates = list(islice(explaining, MAX_ALTERNATIVES + 1))
    if not candidates:
        raise NothingExplainedError(
            "no automaton explains the demonstrations better than chance. Are the labels those of the task, do "
            "the demonstrations end when it is done, and is the cost about right?"
        )
    alternatives = _alternatives(candidates)
    best, of_scenes = candidates[0], evidence.of_scenes(candidates[0].table)
    outliers = _outlier_probabilities(evidence, of_scenes)
    unlike = np.flatnonzero(outliers >= LEAST_OUTLIER_PROBABILITY).tolist()
    demanded = [i for i in unlike if _is_demanded(evidence, i, best.table, evaluator.candidates)]
    foreign = [_read_only_in(evidence, i, unlike) for i in demanded]
    left_out = [Doubt(Constraint("unseen", p, phase="left out"), LEFT_OUT) for p in sorted({*chain(*foreign)})]
    measured = measure_doubts(evidence, best.automaton)
    elsewhere = sum(LEFT_OUT * (ELSEWHERE if one else 1.0) for one in foreign)
    return TaskPosterior(
        alternatives=alternatives,
        support=measure_support(evidence, alternatives[0].automaton),
        temperature=_refine_temperature(evidence, best.table, of_scenes),
        log_posterior=best.log_posterior,
        log_prior=best.log_prior,
        automata_generated=evaluator.automata_generated,
        automata_evaluated=planned,
        outlier_probabilities=outliers,
        doubts=tuple(sorted((*left_out, *measured), key=lambda one: -one.probability)),
        unforeseen=min(1.0, (UNFORESEEN + elsewhere) / len(observations.scenes)),
        unexplained=max(0.0, evidence.highest_log_probability() - best.log_evidence),
    )


def evidence_of(observations: Observations, settings: RationalSettings) -> Evidence:
    """The evidence of observations, over the grid of temperatures unless the temperature is known."""
    if settings.temperature is not None:
        temperatures = np.array([settings.temperature])
    else:
        costs = np.concatenate([scene.costs for scene in observations.scenes])
        temperatures = costs.mean() * np.geomspace(LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE, GRID_TEMPERATURES)
    return Evidence(observations, temperatures, settings)


def _explains(evidence: Evidence, one: Candidate) -> bool:
    """Whether the demonstrations are more likely under an automaton than under controls drawn uniformly.

    With few demonstrations, "no task at all" may have the higher posterior, since it needs no description. But a
    demonstrator has a task, and the best automaton that explains something is the best guess at it.
    """
    log_evidence = one.log_evidence - evidence.of_verdicts(one.table)
    return bool(one.automaton.edges) and log_evidence > evidence.log_uniform.sum()


def _refine_temperature(evidence: Evidence, table: Table, of_scenes: NDArray[np.float64]) -> float:
    """The most likely temperature, on a finer grid between the neighbours of the best one of the coarse grid."""
    if len(evidence.temperatures) == 1:
        return float(evidence.temperatures[0])
    i = int(of_scenes.sum(axis=0).argmax())
    low, high = evidence.temperatures[max(0, i - 1)], evidence.temperatures[min(i + 1, len(evidence.temperatures) - 1)]
    fine = np.geomspace(low, high, REFINED_TEMPERATURES)
    return float(fine[evidence.of_scenes(table, fine).sum(axis=0).argmax()])


def _outlier_probabilities(evidence: Evidence, of_scenes: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(demonstration i follows no task | A), averaged over the temperatures by their posterior; [scenes]."""
    totals = of_scenes.sum(axis=0)
    weights = np.exp(totals - totals.max())
    mean = np.exp(evidence.log_outlier[:, None] - of_scenes) @ (weights / weights.sum())
    return np.minimum(mean, 1.0)  # the weights add up to one but for rounding, and a model above one is not read again


def _is_demanded(evidence: Evidence, scene: int, best: Table, candidates: Sequence[Candidate]) -> bool:
    """Whether a demonstration that is left out is no shortcut, and far from random under another automaton."""
    shown, least = evidence.observations.scenes[scene], evidence.log_uniform[scene] + DELIBERATE_NATS
    if plan_table(shown.world, best).start_cost > shown.costs.sum():
        return False
    accepting = (one.table for one in candidates if read_word(one.table, shown.word) == len(shown.word))
    return any(evidence.of_scenes(table)[scene].max() > least for table in islice(accepting, MOST_COMPARED))


def _read_only_in(evidence: Evidence, scene: int, unlike: Sequence[int]) -> frozenset[str]:
    """The propositions that one demonstration reads, and none that the best automaton explains, and no right answer."""
    scenes, answers = evidence.observations.scenes, evidence.observations.answers
    explained = [one.word for i, one in enumerate(scenes) if i not in unlike]
    read, *others = (
        frozenset().union(*(evidence.labels[k] for k in word))
        for word in (scenes[scene].word, *explained, *(one.word for one in answers if one.is_right))
    )
    return read.difference(*others)


def _alternatives(candidates: Sequence[Candidate]) -> tuple[Alternative, ...]:
    logs = np.array([candidate.log_posterior for candidate in candidates])
    weights = np.exp(logs - np.logaddexp.reduce(logs))
    return tuple(
        Alternative(one.automaton.to_guarded(), str(one.automaton), float(weight))
        for one, weight in zip(candidates, weights, strict=True)
    )
