"""The value of answers, compared with demonstrations: rules kept after answered questions and more demonstrations.

Every scene is a new random office; demonstrators act at temperature 0.5, and there are no failures. The answers follow
the true rule. After 4 demonstrations, either questions are answered one by one, or scenes that `propose_scene` chooses
are demonstrated, or more demonstrations are given.

    plain     fraction of new scenes in which the greedy plan keeps the true rule
    kept      the same for the cautious policy, the default of agents
    regret    of the cautious policy, where it keeps the rule: cost over the least possible, minus 1
    exact     whether the learned automaton reads all labels as the true one does
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.harness import Cell, Experiment, Options, Outcome, Results
from experiments.harness.results import Sections
from experiments.harness.tables import mean_table
from experiments.procedures.unseen_scenes import measure_policy, scenes
from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.automata.minimisation import canonical_table, to_table
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.demonstration import SUCCESS_SCORE, Dataset, Demonstration
from wfairl.core.planning import PlannedPolicy, expert_policy
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.rollout import act
from wfairl.core.rational.caution import CautiousPolicy
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.core.worlds.simulator import ModelSimulator
from wfairl.core.worlds.task import Task, rule_of
from wfairl.offices.office import OFFICE_PROPOSITIONS
from wfairl.questions.question import NothingToAskError, add_answer, find_question
from wfairl.questions.scene_proposal import propose_scene
from wfairl.runs.collection import collect
from wfairl.runs.evaluation import evaluate
from wfairl.runs.task_registry import find_task

OFFICES = ("coffee", "mail", "coffee-mail", "patrol")
FIRST, MORE, QUESTIONS, CHOSEN_SCENES = 4, (6, 8, 12, 16), 5, 4
"""Demonstrations to begin with, numbers of demonstrations instead of answers, questions, and scenes to choose."""

TEMPERATURE, CANDIDATES = 0.5, 24
LABELS: tuple[Label, ...] = (frozenset(), *(frozenset({name}) for name in OFFICE_PROPOSITIONS))


def cells(options: Options) -> list[Cell]:
    """The ways to go on in each office, three seeds each; a quick look has one office and two steps of each way."""
    ways, tasks = ("demonstrations", "answers", "chosen scenes"), OFFICES[: 1 if options.quick else None]
    seeds = range(options.seeds or (1 if options.quick else 3))
    return [
        Cell(f"{way} {task} {seed}", go_on, {"task": task, "seed": seed, "way": way, "quick": options.quick})
        for way in ways
        for task in tasks
        for seed in seeds
    ]


def go_on(task: str, seed: int, way: str, quick: bool) -> Outcome:
    """The start, and after each answer or demonstration."""
    of, seeds = find_task(f"random-office-{task}"), scenes(quick)
    everything = collect(of, max(MORE), 0, TEMPERATURE, seed, n_jobs=1)
    optimal = evaluate(of, expert_policy(of, 0.0), seeds, n_jobs=1)
    rows: list[dict[str, Any]] = []
    for number, (dataset, model) in enumerate(data_sets(of, everything, way, 2 if quick else None, seed)):
        plain = PlannedPolicy("plain", model.finite, unit_cost, 0.0)
        careful = CautiousPolicy("cautious", model, unit_cost, 0.0, horizon=of.horizon)
        rows.append(
            {
                "number": number,
                "shown": len(dataset),
                "answers": len(dataset.answers),
                "plain": measure_policy(of, plain, seeds, optimal)["kept"],
                **measure_policy(of, careful, seeds, optimal),
                "exact": float(reads(model.finite) == reads(rule_of(of))),
                "rule": model.sentence,
            }
        )
    return Outcome(rows)


def data_sets(
    task: Task, everything: Dataset, way: str, most: int | None, seed: int
) -> Iterator[tuple[Dataset, TaskModel]]:
    """The data after each step of a way, and what is learned from them; the last again if there is nothing to ask."""
    dataset = replace(everything, demonstrations=everything.demonstrations[:FIRST])
    model = RationalLearner().learn(dataset, task, n_jobs=1)
    yield dataset, model
    last = max(everything.seeds)
    candidates = range(last + 1, last + 1 + CANDIDATES)
    steps = {"demonstrations": len(MORE), "answers": QUESTIONS, "chosen scenes": CHOSEN_SCENES}[way]
    for i in range(min(steps, most or steps)):
        rng = np.random.default_rng([seed, i])
        try:
            if way == "demonstrations":
                dataset = replace(everything, demonstrations=everything.demonstrations[: MORE[i]])
            else:
                dataset = WAYS[way](dataset, model, task, candidates, rng)
        except NothingToAskError:
            pass
        else:
            model = RationalLearner().learn(dataset, task, n_jobs=1)
        yield dataset, model


def answered(dataset: Dataset, model: TaskModel, task: Task, seeds: Sequence[int], rng: np.random.Generator) -> Dataset:
    """The data set with the true answer to the best question."""
    question = find_question(model, dataset, task, seeds, rng, n_jobs=1)
    return add_answer(dataset, question, bool(rule_of(task).fulfilled_at(question.labels)))


def demonstrated(
    dataset: Dataset, model: TaskModel, task: Task, seeds: Sequence[int], rng: np.random.Generator
) -> Dataset:
    """The data set with a demonstration in the scene that is most worth it."""
    left = [seed for seed in seeds if seed not in dataset.seeds]
    proposal = propose_scene(model, dataset, task, left, rng, n_jobs=1)
    world, expert = task.make_world(proposal.seed), PlannedPolicy("expert", task.rule, unit_cost, TEMPERATURE)
    while True:
        episode = act(expert.actor(world, rng), ModelSimulator(world), rule_of(task), task.horizon, proposal.seed)
        if episode.is_success:
            shown = Demonstration(episode.controls, episode.labels, SUCCESS_SCORE, proposal.seed)
            return replace(dataset, demonstrations=(*dataset.demonstrations, shown))


WAYS: dict[str, Callable[..., Dataset]] = {"answers": answered, "chosen scenes": demonstrated}


def reads(automaton: Automaton) -> bytes:
    """The automaton over the labels of the office, in canonical form."""
    return canonical_table(to_table(automaton, LABELS)).tobytes()


def sections(results: Results) -> Sections:
    """Means over tasks and seeds."""
    columns = ["shown", "answers", "plain", "kept", "regret", "exact"]
    return {"Results": [mean_table(results.table, ["way", "number"], columns, "Means over tasks and seeds.")]}


ACTIVE_QUESTIONS_EXPERIMENT = Experiment(
    name="questions",
    title="The value of answers, compared with demonstrations",
    summary="Rules kept in random offices after answered questions, chosen scenes and more demonstrations",
    cells=cells,
    sections=sections,
    quick="one office, two steps of each way, 8 scenes",
    options=("seeds",),
)
