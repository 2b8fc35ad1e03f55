"""Corrections as evidence: plans on which an automaton and a correction disagree, and how much they count.

A correction changes what an automaton A accepts, to A'. In a scene the two disagree on plans

    that A accepts and A' does not         "this would have been wrong"
    that A' accepts and A does not         "this would have been right"

which are answers like any other (`questions`), except for their weight. Whoever corrects has seen what was understood
and what stands behind it, so that all that was shown so far cannot speak against the correction; what is shown later
can. It counts for as many demonstrations as there are, and one more: with n successes and the best automaton A* that
obeys, k answers that A contradicts have the weight w for which

    w k log((1 - e) / e)  =  (n + 1) / n * (log posterior(A) - log posterior(A*))

and at least 1, where e is the probability that an answer is wrong. A* is found by learning again under answers that
outweigh everything; where what is learned still disobeys, more plans are added and it is learned once more.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import log, log1p

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED, DEAD
from wfairl.automata.guarded import GuardedAutomaton
from wfairl.automata.task_model import TaskModel
from wfairl.demonstrations.answers import Answer
from wfairl.demonstrations.demonstration import Dataset
from wfairl.logic.corrections import BadCorrectionError, Correction, obeying
from wfairl.logic.hypotheses import chosen_table, live_table
from wfairl.logic.learners import RationalTaskLearner
from wfairl.logic.rational import DEFAULT_ANSWER_ERROR
from wfairl.logic.scenes import worlds_of
from wfairl.logic.search import Candidate
from wfairl.logic.table_plans import ArrayWorld, NoPlanError, plan_table
from wfairl.planning.cost import Cost, nominal_cost
from wfairl.worlds.task import Task

COUNTEREXAMPLES = 3
"""Plans of a kind that a correction counts for, each in another scene."""

MOST_ROUNDS = 4
"""How often it is learned again until what is learned obeys."""

CERTAIN = 1e4
"""The weight of an answer that outweighs all demonstrations."""


class OutweighedError(BadCorrectionError):
    """Nothing explains the demonstrations and obeys the correction."""


def weigh_correction(
    correction: Correction,
    model: TaskModel,
    dataset: Dataset,
    task: Task,
    seeds: Sequence[int],
    rng: np.random.Generator,
    progress: Callable[[Candidate], None] | None = None,
) -> tuple[Answer, ...]:
    """The answers that a correction counts for as evidence, each with its weight.

    Args:
        correction: the correction.
        model: what a rational learner learned.
        dataset: from what.
        task: whose worlds to plan in; its rule is not looked at.
        seeds: scenes to plan in.
        rng: chooses among equally good plans.
        progress: is told each candidate that a search goes on from.

    Raises:
        BadCorrectionError: the model obeys already.
        OutweighedError: nothing that was found explains the demonstrations and obeys.
    """
    answers = counterexamples(correction, model, dataset, task, seeds, rng)
    if not answers:
        raise BadCorrectionError(f"the task as it is understood obeys already: {correction.sentence}")
    believed, found = [model], answers
    for _ in range(MOST_ROUNDS):
        certain = tuple(replace(one, weight=CERTAIN) for one in answers)
        told = replace(dataset, answers=(*dataset.answers, *certain))
        obedient = RationalTaskLearner(progress=progress).learn(told, task, n_jobs=1)
        if "log_posterior" not in obedient.facts:
            break
        found = counterexamples(correction, obedient, dataset, task, seeds, rng)
        if not found and not any(_contradicts(obedient, one) for one in answers):
            best = float(obedient.facts["log_posterior"]) - CERTAIN * len(answers) * log1p(-DEFAULT_ANSWER_ERROR)
            weight = max(_weight(one, best, answers, dataset) for one in believed)
            return tuple(replace(one, weight=weight) for one in answers)
        believed.append(obedient)
        answers = (*answers, *(one for one in found if one not in answers))
    raise OutweighedError(
        f"no task that keeps to {correction.sentence} explains what was shown: remove the demonstrations that break "
        "it, or show it that way"
    )


def _weight(model: TaskModel, best: float, answers: Sequence[Answer], dataset: Dataset) -> float:
    """What each answer must count for, so that a model falls behind one that agrees with all."""
    contradicted = sum(_contradicts(model, one) for one in answers)
    shown = sum(one.is_success for one in dataset)
    gap = float(model.facts["log_posterior"]) - best
    odds = log1p(-DEFAULT_ANSWER_ERROR) - log(DEFAULT_ANSWER_ERROR)
    return max(1.0, (shown + 1) / shown * gap / (contradicted * odds)) if contradicted else 1.0


def _contradicts(model: TaskModel, answer: Answer) -> bool:
    return (model.finite.fulfilled_at(answer.labels) is not None) != answer.is_right


def counterexamples(
    correction: Correction,
    model: TaskModel,
    dataset: Dataset,
    task: Task,
    seeds: Sequence[int],
    rng: np.random.Generator,
    cost: Cost | None = None,
) -> tuple[Answer, ...]:
    """Plans on which the model and a correction disagree, as the answers that the correction gives.

    There are none where the model obeys already.
    """
    assert isinstance(model.automaton, GuardedAutomaton)
    obedient = obeying(model.automaton, [correction])
    worlds = worlds_of(seeds, dataset.demonstrations, task.make_world, nominal_cost(task) if cost is None else cost, 1)
    found: list[Answer] = []
    for is_right in (False, True):
        of_kind: list[Answer] = []
        for seed, world in zip(seeds, worlds, strict=True):
            tables = chosen_table(model, world.labels), live_table(obedient, world.labels)
            table = difference(*(reversed(tables) if is_right else tables))
            controls = _plan(world, table, task.horizon, rng) if len(of_kind) < COUNTEREXAMPLES else None
            if controls is not None:
                labels = tuple(world.labels[i] for i in world.scene(controls).word)
                of_kind.append(Answer(seed, tuple(map(int, controls)), labels, is_right))
        found += of_kind
    return tuple(found)


def _plan(
    world: ArrayWorld, table: NDArray[np.int32], horizon: int, rng: np.random.Generator
) -> NDArray[np.int32] | None:
    try:
        return plan_table(world, table).act(0.0, horizon, rng)
    except NoPlanError:
        return None


def difference(one: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.int32]:
    """Accepts what one table accepts and the other does not.

    Returns:
        A table of states q + (states of the one) * r, where r is a state of the other or, as the last one, that the
        other is lost; [states of the one * (states of the other + 1), labels].
    """
    states, lost = len(one), len(other)
    rows = []
    for r in range(lost + 1):
        after = other[r] if r < lost else np.full(other.shape[1], DEAD)
        ahead = np.where(after == DEAD, lost, after)
        both = np.where(one >= 0, one + states * np.maximum(ahead, 0), one)
        rows.append(np.where(after == ACCEPTED, DEAD, both))  # the other has accepted: no word from here on differs
    return np.ascontiguousarray(np.vstack(rows).astype(np.int32))
