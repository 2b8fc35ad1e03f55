"""The jobs of worker processes: everything that takes longer than a key press.

They are functions of plain values, such as a `TaskSpec`, from which a worker makes its own task. Planning and learning
never run in the process that serves the browser.
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
from wfairl.demonstrations.demonstration import Dataset, follow_controls
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
from wfairl.studio.episodes import AgentEpisode, explain_episode, policy_of
from wfairl.studio.frames import EncodedFilm, encode_film
from wfairl.studio.task_spec import TaskSpec
from wfairl.studio.understanding import describe
from wfairl.studio.waypoints import Point
from wfairl.studio.workers import Tick
from wfairl.worlds.rendering import as_located
from wfairl.worlds.task import Task

MOST_PLANNED, MOST_MAPPED = 1_000_000, 20_000
"""Product states of a map's plan, and those of one automaton state that it shows."""

QUESTION_SCENES, PROPOSED_SCENES = 8, 12
"""New scenes to search for a question, and for one to demonstrate."""


def learn(
    tick: Tick,
    spec: TaskSpec,
    dataset: Dataset,
    laws: Sequence[Correction],
    before: TaskModel | None = None,
) -> tuple[TaskModel, dict[str, Any]]:
    """The model of demonstrations under laws, and what the page shows of it."""
    model = RationalTaskLearner(progress=lambda _: tick()).learn(dataset, spec.task, n_jobs=1)
    model = obey(model, laws, dataset)
    return model, describe(model, dataset, before)


def describe_model(tick: Tick, model: TaskModel, dataset: Dataset) -> dict[str, Any]:
    """What the page shows of a stored model."""
    tick()
    return describe(model, dataset, None)


def ask(tick: Tick, spec: TaskSpec, model: TaskModel, dataset: Dataset, first: int) -> tuple[Question, EncodedFilm]:
    """The most informative question; if nothing is in doubt, the agent's own plan in a new scene."""
    tick()
    seeds = range(first, first + QUESTION_SCENES)
    try:
        question = find_question(model, dataset, spec.task, seeds, np.random.default_rng(0), n_jobs=1)
    except NothingToAskError:
        tick()
        question = _question_about_plan(tick, spec, model, dataset, seeds)
    world = spec.task.make_world(question.seed)
    return question, encode_film(world, follow_controls(world, question.controls, question.seed)[0])


def _question_about_plan(
    tick: Tick, spec: TaskSpec, model: TaskModel, dataset: Dataset, seeds: Sequence[int]
) -> Question:
    asked = {(one.seed, one.controls) for one in dataset.answers}
    for seed in seeds:
        episode, _ = run_agent(tick, spec, model, seed, None)
        if (seed, episode.controls) not in asked:
            break
    _, labels = follow_controls(spec.task.make_world(seed), episode.controls, seed)
    return Question(seed, episode.controls, labels, (), 0.0)


def propose(tick: Tick, spec: TaskSpec, model: TaskModel, dataset: Dataset, first: int) -> Proposal:
    """The scene whose demonstration is expected to be most informative.

    Raises:
        NothingToAskError: no demonstration would tell anything new.
    """
    tick()
    seeds = range(first, first + PROPOSED_SCENES)
    return find_scene(model, dataset, spec.task, seeds, np.random.default_rng(0), n_jobs=1)


def weigh(
    tick: Tick, spec: TaskSpec, model: TaskModel, dataset: Dataset, correction: Correction, first: int
) -> tuple[Answer, ...]:
    """The answers that a correction counts as; see `weigh_correction`."""
    seeds = range(first, first + QUESTION_SCENES)
    return weigh_correction(correction, model, dataset, spec.task, seeds, np.random.default_rng(0), lambda _: tick())


def try_scenes(
    tick: Tick, spec: TaskSpec, model: TaskModel, seeds: Sequence[int], run: Path | None
) -> list[tuple[int, str, int]]:
    """Seed, outcome and steps of an episode in each scene's simulator, judged by the true rule if there is one."""
    task = spec.task_with(model)
    policy = policy_of(model, cost_of(run, task), task)
    trials = []
    for seed in seeds:
        tick()
        trajectory = roll_out(task, policy, seed, np.random.default_rng(seed))
        trials.append((seed, trajectory.outcome, len(trajectory)))
    return trials


def run_agent(
    tick: Tick,
    spec: TaskSpec,
    model: TaskModel,
    seed: int,
    run: Path | None,
    imposed: Sequence[int] = (),
    waypoints: Sequence[Point] = (),
) -> tuple[AgentEpisode, EncodedFilm]:
    """An explained episode of the agent; see `explain_episode`."""
    tick()
    return explain_episode(spec.task, model, seed, imposed, cost_of(run, spec.task), waypoints)


@dataclass(frozen=True)
class SceneMap:
    """Numbers over the cells of a scene, None where the agent cannot be.

    Attributes:
        step: mean cost of a step into a cell.
        to_go: least cost-to-go from a cell.
    """

    step: tuple[float | None, ...]
    to_go: tuple[float | None, ...]


def map_scene(
    tick: Tick, spec: TaskSpec, model: TaskModel, seed: int, automaton_state: int, run: Path | None
) -> SceneMap:
    """The costs over a scene, in one state of the automaton.

    Raises:
        NoRendererError: the world does not tell where the agent is.
    """
    world = spec.task.make_world(seed)
    located = as_located(world)
    tick()
    solution = ExactPlanner(MOST_PLANNED).solve(world, model.finite, cost_of(run, spec.task))
    product, costs = solution.product, cost_of(run, spec.task)(solution.product)
    rows, columns = cut_tiles(located.render(world.initial_state)).shape[:2]
    nodes = np.flatnonzero(product.automaton_states == automaton_state)
    tick()
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


def write_prism(tick: Tick, spec: TaskSpec, model: TaskModel, seed: int, run: Path | None) -> str:
    """The task in a scene, for PRISM and Storm; see `to_prism`."""
    product = build_product(spec.task.make_world(seed), model.finite)
    tick()
    return to_prism(product, cost_of(run, spec.task)(product), f"task {spec.name}, seed {seed}")


def learn_cost(tick: Tick, spec: TaskSpec, model: TaskModel, dataset: Dataset, directory: Path) -> str:
    """Learn the cost, as a run that other commands read; returns a one-line summary."""
    from wfairl.methods import TrainingRequest, find_method  # torch is slow to import

    tick()
    fresh = directory.with_name(f".{directory.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    origin = {"demonstrations": ["demos.safetensors"]}
    task = spec.task
    trained = find_method("wfa-irl").train(TrainingRequest(task, dataset, fresh, {}, model, origin, False, 1))
    tick()
    shutil.rmtree(directory, ignore_errors=True)
    fresh.rename(directory)
    return "; ".join(f"{name} {text}" for name, text in trained.lines[:3])


def warm_up(tick: Tick) -> None:
    """Load the compiled kernels before the first demonstration needs them."""
    from wfairl.demonstrations.collection import collect

    spec = TaskSpec("errand")
    dataset = collect(spec.task, 2, 0, 0.0, 0, n_jobs=1)
    model, _ = learn(tick, spec, dataset, ())
    run_agent(tick, spec, model, 0, None)


def _finite(values: NDArray[np.float64]) -> tuple[float | None, ...]:
    return tuple(round(float(one), 4) if np.isfinite(one) else None for one in values)


def cost_of(run: Path | None, task: Task) -> Cost:
    """The cost that a run learned; without a run, the task's nominal cost."""
    if run is None:
        return nominal_cost(task)
    from wfairl.learning.run_directory import load_run  # torch is slow to import

    return load_run(run).cost.as_cost()
