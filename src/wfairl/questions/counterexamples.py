"""Corrections as evidence: plans on which an automaton and a correction disagree, and how much they count.

A correction changes an automaton A to A'. In a scene the two disagree on plans

    that A accepts and A' does not         "this would have been wrong"
    that A' accepts and A does not         "this would have been right"

which are answers like any other (`questions`), except for their weight. The person who corrects has seen the automaton
and its evidence, so the demonstrations so far must not outweigh the correction; later ones may. It counts for as many
demonstrations as there are, and one more: with n successes and the best automaton A* that obeys, k answers that A
contradicts have the weight w for which

    w k log((1 - e) / e)  =  (n + 1) / n * (log posterior(A) - log posterior(A*))

and at least 1, where e is the probability that an answer is wrong. A* is learned under answers that outweigh all other
evidence; if the result still disobeys, more plans are added and the automaton is learned again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import log, log1p

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.core.rational.settings import RationalSettings
from wfairl.core.rational.table_plans import plan_tables
from wfairl.core.rational.tables import live_table
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.worlds.task import Task
from wfairl.questions.corrections import BadCorrectionError, Correction, automaton_under_laws
from wfairl.questions.explored_scenes import ExploredScenes, explore_scenes
from wfairl.questions.hypotheses import required_posterior

COUNTEREXAMPLES = 3
"""Most plans of a kind that a correction counts for, each in another scene."""

MOST_LEARNINGS = 4
"""How often the automaton is learned again until it obeys."""

CERTAIN_WEIGHT = 1e4
"""The weight of an answer that outweighs all demonstrations."""


class OutweighedError(BadCorrectionError):
    """No automaton explains the demonstrations and obeys the correction."""


def weigh_correction(
    correction: Correction,
    model: TaskModel,
    dataset: Dataset,
    task: Task,
    seeds: Sequence[int],
    rng: np.random.Generator,
) -> tuple[Answer, ...]:
    """The answers that a correction counts for as evidence, each with its weight.

    Args:
        correction: the correction.
        model: a task model of a rational learner.
        dataset: what it was learned from.
        task: whose worlds to plan in; its rule is not used.
        seeds: scenes to plan in.
        rng: chooses among equally good plans.

    Raises:
        BadCorrectionError: the model obeys already.
        OutweighedError: no learned automaton explains the demonstrations and obeys.
    """
    scenes = explore_scenes(seeds, dataset, task, n_jobs=1)
    answers = counterexamples(correction, model, scenes, rng)
    if not answers:
        raise BadCorrectionError(f"the learned task obeys already: {correction.sentence}")
    disobedient = [model]
    for _ in range(MOST_LEARNINGS):
        certain = tuple(replace(one, weight=CERTAIN_WEIGHT) for one in answers)
        corrected = replace(dataset, answers=(*dataset.answers, *certain))
        learned = RationalLearner().learn(corrected, task, n_jobs=1)
        posterior = posterior_of(learned)
        if posterior is None:
            break
        remaining = counterexamples(correction, learned, scenes, rng)
        if not remaining and not any(_contradicts(learned, one) for one in answers):
            best = posterior.log_posterior - CERTAIN_WEIGHT * len(answers) * log1p(-RationalSettings.answer_error)
            weight = max(_weight(one, best, answers, dataset) for one in disobedient)
            return tuple(replace(one, weight=weight) for one in answers)
        disobedient.append(learned)
        answers = (*answers, *(one for one in remaining if one not in answers))
    raise OutweighedError(
        f"no task that obeys {correction.sentence} explains the demonstrations: remove those that break it, or "
        "demonstrate how to obey it"
    )


def _weight(model: TaskModel, best: float, answers: Sequence[Answer], dataset: Dataset) -> float:
    """The weight of each answer for which a model falls behind one that agrees with all."""
    contradicted = sum(_contradicts(model, one) for one in answers)
    successes = sum(one.is_success for one in dataset)
    gap = required_posterior(model).log_posterior - best
    odds = log1p(-RationalSettings.answer_error) - log(RationalSettings.answer_error)
    return max(1.0, (successes + 1) / successes * gap / (contradicted * odds)) if contradicted else 1.0


def _contradicts(model: TaskModel, answer: Answer) -> bool:
    return (model.finite.fulfilled_at(answer.labels) is not None) != answer.is_right


def counterexamples(
    correction: Correction, model: TaskModel, scenes: ExploredScenes, rng: np.random.Generator
) -> tuple[Answer, ...]:
    """Plans on which the model and a correction disagree, as answers by the correction; none if the model obeys."""
    chosen = required_posterior(model).chosen.automaton
    tables = live_table(chosen, scenes.labels), live_table(automaton_under_laws(chosen, [correction]), scenes.labels)

    def disagreements(is_right: bool) -> Iterator[Answer]:
        table = table_difference(*(reversed(tables) if is_right else tables))
        for seed, world in zip(scenes.seeds, scenes.worlds, strict=True):
            (plan,) = plan_tables(world, [table])
            path = plan.act(0.0, scenes.horizon, rng)
            if path is not None:
                yield Answer(seed, tuple(map(int, path.controls)), scenes.labels_along(path), is_right)

    return tuple(answer for is_right in (False, True) for answer in islice(disagreements(is_right), COUNTEREXAMPLES))


def table_difference(one: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.int32]:
    """The automaton that accepts what one table accepts and the other does not.

    Returns:
        A table of states q + (states of the one) * r, where r is a state of the other or, as the last one, that the
        other is dead; [states of the one * (states of the other + 1), labels].
    """
    states, dead = len(one), len(other)
    rows = []
    for r in range(dead + 1):
        after = other[r] if r < dead else np.full(other.shape[1], DEAD)
        ahead = np.where(after == DEAD, dead, after)
        both = np.where(one >= 0, one + states * np.maximum(ahead, 0), one)
        rows.append(np.where(after == ACCEPTED, DEAD, both))  # the other has accepted: no word from here on differs
    return np.ascontiguousarray(np.vstack(rows).astype(np.int32))
