"""The weighted automaton against the recurrent network, learned from the same words and judged on others.

Words are those of demonstrations: half of them successes of the expert at temperature 0.5 (D2), half failed random
walks. They are judged on 512 words of other scenes:

    right       fraction of these words that are judged correctly, at the threshold 0.5
    unseen      fraction of the successes that are not among the training words, and are accepted
    early       fraction of the successes with an accepted proper prefix, after which an agent would stop
    agreement   of the automaton with the network, on the training words
    return      of an agent that plans with the automaton and unit cost, minus that of the optimal one
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from experiments.baselines.recurrent import RecurrentLearner
from experiments.baselines.recurrent_automaton import fit_recurrent_task
from experiments.harness import Cell, Experiment, Options, Outcome, Results
from experiments.harness.results import Sections
from experiments.procedures.unseen_scenes import mean_table, measure_policy, scenes
from wfairl.core.automata.automaton import Automaton
from wfairl.core.automata.words import Word, compress, with_optional_start
from wfairl.core.demonstrations import collect
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.planning import PlannedPolicy
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.product import ProductTooLargeError
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.errors import FailedRunError
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.task_registry import find_task

TASKS = ("doorkey", "multiroom", "blocked-unlock-pickup")
SIZES = (4, 8, 16, 32, 64, 128, 256, 512)
TEMPERATURE, JUDGED_WORDS, JUDGED_SEED, MOST_SCENES = 0.5, 512, 1_000, 16

Words = tuple[list[Word], list[float]]
Learned = tuple[Callable[[Sequence[Word]], Any], Automaton | None, float | None]
"""The values of words, the automaton (None if it does not close) and how well the automaton agrees with the values."""


def cells(options: Options) -> list[Cell]:
    """Every learner on every task, from every number of words; a quick look has 8 and 16 words of one task."""
    return [
        Cell(f"{task} {size} {learner} {seed}", learn_and_judge, settings, seconds=20)
        for seed in range(options.seeds or (1 if options.quick else 3))
        for task in options.tasks or (TASKS[:1] if options.quick else TASKS)
        for size in ((8, 16) if options.quick else SIZES)
        for learner in options.methods or LEARNERS
        for settings in [{"task": task, "words": size, "learner": learner, "seed": seed, "quick": options.quick}]
    ]


def learn_and_judge(task: str, words: int, learner: str, seed: int, quick: bool) -> Outcome:
    """One learner on some words."""
    of = find_task(task)
    shown, (judged, scores) = draw_words(of, words, seed), draw_words(of, JUDGED_WORDS, JUDGED_SEED)
    begun = time.process_time()
    values, finite, agreement = LEARNERS[learner](*shown)
    seconds = time.process_time() - begun
    succeeded, known = np.array(scores) >= 0.5, set(shown[0])
    right = (np.asarray(values(judged)) >= 0.5) == succeeded
    unseen = succeeded & np.array([word not in known for word in judged])
    successes = dict.fromkeys(word for word, success in zip(judged, succeeded, strict=True) if success)
    early = [bool((np.asarray(values([word[:k] for k in range(len(word))])) >= 0.5).any()) for word in successes]
    row = {
        "right": float(right.mean()),
        "unseen": float(right[unseen].mean()) if unseen.any() else None,
        "early": float(np.mean(early)),
        "agreement": agreement,
        "return": relative_return(of, finite, scenes(quick, MOST_SCENES)),
        "states": None if finite is None else finite.states,
        "seconds": seconds,
    }
    return Outcome([row])


def draw_words(task: Task, count: int, seed: int) -> Words:
    """As many words of successes as of failures, compressed; of more words of a seed, the first ones."""
    dataset = collect(task, count // 2, count - count // 2, TEMPERATURE, seed, n_jobs=1)
    return [compress(word) for word in dataset.words], list(dataset.scores)


def relative_return(task: Task, finite: Automaton | None, seeds: range) -> float:
    """The return of the agent that plans with an automaton, minus the optimal one; an agent without a plan has 0."""
    automaton = task.rule if finite is None else finite
    try:
        found = measure_policy(task, PlannedPolicy("learned", automaton, unit_cost, 0.0), seeds)
    except ProductTooLargeError:  # an automaton of hundreds of states
        found, finite = measure_policy(task, PlannedPolicy("rule", task.rule, unit_cost, 0.0), seeds), None
    return float((found["return"] if finite is not None else 0.0) - found["optimal return"])


def learn_spectral(words: list[Word], scores: list[float]) -> Learned:
    """The weighted automaton with the full basis."""
    model = SpectralTaskLearner().fit(words, scores, Reading(optional_start=True)).model
    return model.values, model.finite if model.summary.closed else None, None


def learn_recurrent(words: list[Word], scores: list[float]) -> Learned:
    """The recurrent network, and the automaton extracted from it."""
    learner, reading = RecurrentLearner(), Reading(optional_start=True)
    try:
        learned = fit_recurrent_task(words, scores, reading, learner)
    except FailedRunError:  # the network follows no few rules
        return learner.fit(*with_optional_start(words, scores)).values, None, None
    return learned.network.values, learned.model.finite, learned.agreement


LEARNERS: dict[str, Callable[[list[Word], list[float]], Learned]] = {
    "spectral": learn_spectral,
    "gru": learn_recurrent,
}


def sections(results: Results) -> Sections:
    """Means over seeds."""
    columns = ["right", "unseen", "early", "agreement", "return", "states", "seconds"]
    return {"Results": [mean_table(results.table, ["task", "words", "learner"], columns, "Means over seeds.")]}


WORD_LEARNERS_EXPERIMENT = Experiment(
    name="word-learners",
    title="The weighted automaton against the recurrent network",
    summary="Learned from the same words of demonstrations, and judged on others",
    cells=cells,
    sections=sections,
    quick="8 and 16 words of one task, 8 scenes",
    options=("tasks", "methods", "seeds"),
)
