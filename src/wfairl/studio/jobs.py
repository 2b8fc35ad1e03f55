"""What takes longer than a key press, as functions of plain values that a worker process runs.

Each begins with an `Assignment`, of which a worker makes its own task. Planning and learning never run in the process
that answers the browser.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.task_model import TaskModel
from wfairl.demonstrations.answers import Answer
from wfairl.demonstrations.demonstration import Dataset, walk
from wfairl.evaluation.rollout import roll_out
from wfairl.logic.corrections import Correction, obey
from wfairl.logic.counterexamples import weigh_correction
from wfairl.logic.learners import RationalTaskLearner
from wfairl.logic.proposals import Proposal, find_scene
from wfairl.logic.questions import NothingToAskError, Question, find_question
from wfairl.planning.cost import Cost, nominal_cost
from wfairl.planning.planner import ExactPlanner
from wfairl.planning.prism import to_prism
from wfairl.planning.product import build_product
from wfairl.report.tiles import TILE, cut_tiles
from wfairl.studio.acting import AgentEpisode, explain_episode, policy_of
from wfairl.studio.assignment import Assignment
from wfairl.studio.drawing import Place
from wfairl.studio.tiles import TiledFilm, film_walk
from wfairl.studio.understanding import describe
from wfairl.studio.workers import Report
from wfairl.worlds.rendering import as_located
from wfairl.worlds.task import Task

MOST_PLANNED, MOST_MAPPED = 1_000_000, 20_000
"""Product states that a map is planned over, and those of one automaton state that it looks at."""

QUESTION_SCENES, PROPOSED_SCENES = 8, 12
"""New scenes to find a question in, or one that is worth demonstrating."""


def learn(
    report: Report,
    assignment: Assignment,
    dataset: Dataset,
    laws: Sequence[Correction],
    before: TaskModel | None = None,
) -> tuple[TaskModel, dict[str, Any]]:
    """The automaton of demonstrations, under laws, and what the page shows of it beside what was thought before."""
    model = RationalTaskLearner(progress=lambda _: report()).learn(dataset, assignment.task, n_jobs=1)
    model = obey(model, laws, dataset)
    return model, describe(model, dataset, before)


def look_at(report: Report, model: TaskModel, dataset: Dataset) -> dict[str, Any]:
    """What the page shows of a model that was learned before."""
    report()
    return describe(model, dataset, None)


def ask(
    report: Report, assignment: Assignment, model: TaskModel, dataset: Dataset, first: int
) -> tuple[Question, TiledFilm]:
    """The question whose answer says most; where nothing is in doubt, the agent's own plan in the first new scene."""
    report()
    seeds = range(first, first + QUESTION_SCENES)
    try:
        question = find_question(model, dataset, assignment.task, seeds, np.random.default_rng(0), n_jobs=1)
    except NothingToAskError:
        report()
        question = _own_plan(report, assignment, model, dataset, seeds)
    world = assignment.task.make_world(question.seed)
    return question, film_walk(world, walk(world, question.controls, question.seed)[0])


def _own_plan(
    report: Report, assignment: Assignment, model: TaskModel, dataset: Dataset, seeds: Sequence[int]
) -> Question:
    asked = {(one.seed, one.controls) for one in dataset.answers}
    for seed in seeds:
        episode, _ = act(report, assignment, model, seed, None)
        if (seed, episode.controls) not in asked:
            break
    _, labels = walk(assignment.task.make_world(seed), episode.controls, seed)
    return Question(seed, episode.controls, labels, (), 0.0)


def propose(report: Report, assignment: Assignment, model: TaskModel, dataset: Dataset, first: int) -> Proposal:
    """The scene whose demonstration is expected to say most.

    Raises:
        NothingToAskError: all would say the same.
    """
    report()
    seeds = range(first, first + PROPOSED_SCENES)
    return find_scene(model, dataset, assignment.task, seeds, np.random.default_rng(0), n_jobs=1)


def weigh(
    report: Report, assignment: Assignment, model: TaskModel, dataset: Dataset, correction: Correction, first: int
) -> tuple[Answer, ...]:
    """What a correction counts for as evidence; see `weigh_correction`."""
    seeds = range(first, first + QUESTION_SCENES)
    return weigh_correction(
        correction, model, dataset, assignment.task, seeds, np.random.default_rng(0), lambda _: report()
    )


def try_scenes(
    report: Report, assignment: Assignment, model: TaskModel, seeds: Sequence[int], run: Path | None
) -> list[tuple[int, str, int]]:
    """Seed, outcome and steps of an episode in the simulator of each scene; the true rule judges where there is one."""
    task = assignment.task_with(model)
    policy = policy_of(model, cost_of(run, task), task)
    found = []
    for seed in seeds:
        report()
        trajectory = roll_out(task, policy, seed, np.random.default_rng(seed))
        found.append((seed, trajectory.outcome, len(trajectory)))
    return found


def act(
    report: Report,
    assignment: Assignment,
    model: TaskModel,
    seed: int,
    run: Path | None,
    imposed: Sequence[int] = (),
    places: Sequence[Place] = (),
) -> tuple[AgentEpisode, TiledFilm]:
    """What the agent does in a scene, with its reasons; see `explain_episode`."""
    report()
    return explain_episode(assignment.task, model, seed, imposed, cost_of(run, assignment.task), places)


@dataclass(frozen=True)
class SceneMap:
    """Numbers over the cells of a scene, None where the agent cannot be.

    Attributes:
        step: mean cost of a step that ends in a cell.
        to_go: least cost to the end of the task from a cell.
    """

    step: tuple[float | None, ...]
    to_go: tuple[float | None, ...]


def map_scene(
    report: Report, assignment: Assignment, model: TaskModel, seed: int, automaton_state: int, run: Path | None
) -> SceneMap:
    """The cost over a scene, in one state of the automaton.

    Raises:
        NoRendererError: the world does not say where the agent is.
    """
    world = assignment.task.make_world(seed)
    located = as_located(world)
    report()
    solution = ExactPlanner(MOST_PLANNED).solve(world, model.finite, cost_of(run, assignment.task))
    product, costs = solution.product, cost_of(run, assignment.task)(solution.product)
    rows, columns = cut_tiles(located.render(world.initial_state)).shape[:2]
    nodes = np.flatnonzero(product.automaton_states == automaton_state)
    report()
    cell = np.full(len(product.successors), -1)
    for node in nodes[:MOST_MAPPED]:
        x, y = located.locate(product.state(int(node)))
        cell[node] = int(y // TILE) * columns + int(x // TILE)
    step, count, to_go = np.zeros(rows * columns), np.zeros(rows * columns), np.full(rows * columns, np.inf)
    np.minimum.at(to_go, cell[cell >= 0], solution.solution.cost_to_go[cell >= 0])
    sources, controls = np.nonzero(product.successors >= 0)
    arrived = cell[product.successors[sources, controls]]
    moved = (arrived >= 0) & (arrived != cell[sources])
    np.add.at(step, arrived[moved], costs[sources[moved], controls[moved]])
    np.add.at(count, arrived[moved], 1)
    mean = np.divide(step, count, out=np.full(len(step), np.inf), where=count > 0)
    return SceneMap(_finite(mean), _finite(to_go))


def write_prism(report: Report, assignment: Assignment, model: TaskModel, seed: int, run: Path | None) -> str:
    """The task in a scene, for PRISM and Storm; see `to_prism`."""
    product = build_product(assignment.task.make_world(seed), model.finite)
    report()
    return to_prism(product, cost_of(run, assignment.task)(product), f"task {assignment.name}, seed {seed}")


def learn_cost(report: Report, assignment: Assignment, model: TaskModel, dataset: Dataset, directory: Path) -> str:
    """Learn what steps cost, as a run that other commands read; what it says in a line."""
    from wfairl.methods import TrainingRequest, find_method  # torch is slow to import

    report()
    fresh = directory.with_name(f".{directory.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    origin = {"demonstrations": ["demos.safetensors"]}
    task = assignment.task
    trained = find_method("wfa-irl").train(TrainingRequest(task, dataset, fresh, {}, model, origin, False, 1))
    report()
    shutil.rmtree(directory, ignore_errors=True)
    fresh.rename(directory)
    return "; ".join(f"{name} {text}" for name, text in trained.lines[:3])


def warm_up(report: Report) -> None:
    """Load the compiled kernels, so that the first demonstration does not wait for them."""
    from wfairl.demonstrations.collection import collect

    assignment = Assignment("errand")
    dataset = collect(assignment.task, 2, 0, 0.0, 0, n_jobs=1)
    model, _ = learn(report, assignment, dataset, ())
    act(report, assignment, model, 0, None)


def _finite(values: NDArray[np.float64]) -> tuple[float | None, ...]:
    return tuple(round(float(one), 4) if np.isfinite(one) else None for one in values)


def cost_of(run: Path | None, task: Task) -> Cost:
    """The cost that a run has learned, or what the task itself says."""
    if run is None:
        return nominal_cost(task)
    from wfairl.learning.run_directory import load_run  # torch is slow to import

    return load_run(run).cost.as_cost()
