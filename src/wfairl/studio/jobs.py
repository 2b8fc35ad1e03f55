"""The jobs of worker processes: everything that takes longer than a key press.

They are functions of plain values; from a `TaskSpec` a worker makes its own task. Planning and learning never run in
the process that serves the browser.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.planning.cost import Cost, nominal_cost
from wfairl.core.planning.path import follow
from wfairl.core.planning.planner import ExactPlanner
from wfairl.core.planning.product import build_product
from wfairl.core.planning.rollout import roll_out
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.pages.tiles import TILE, cut_tiles
from wfairl.pages.world_drawing import need_places, need_rendering
from wfairl.questions.corrections import Correction, enforce_laws
from wfairl.questions.counterexamples import weigh_correction
from wfairl.questions.question import NothingToAskError, Question, find_question
from wfairl.questions.scene_proposal import SceneProposal, propose_scene
from wfairl.specifications.prism import to_prism
from wfairl.studio.episodes import AgentEpisode, explain_episode, policy_of
from wfairl.studio.events import CorrectionAdded
from wfairl.studio.frames import EncodedFilm, encode_film
from wfairl.studio.task_spec import TaskSpec
from wfairl.studio.understanding import describe
from wfairl.studio.waypoints import Point

MOST_PLANNED, MOST_MAPPED = 1_000_000, 20_000
"""Product states of a map's plan, and those of one automaton state that it shows."""

QUESTION_SCENES, PROPOSED_SCENES = 8, 12
"""New scenes to search for a question, and for one to demonstrate."""


@dataclass(frozen=True)
class SessionSnapshot:
    """What jobs need of a session with a model; `run` is the directory of the learned cost, if there is one."""

    name: str
    spec: TaskSpec
    model: TaskModel
    dataset: Dataset
    corrections: tuple[CorrectionAdded, ...]
    next_seed: int
    run: Path | None = None

    @property
    def cost(self) -> Cost:
        """The learned cost; without one, the task's nominal cost."""
        if self.run is None:
            return nominal_cost(self.spec.task)
        from wfairl.core.runs.run_directory import load_run  # torch is slow to import

        return load_run(self.run).cost.as_cost()


def learn(
    spec: TaskSpec, dataset: Dataset, laws: Sequence[Correction], before: TaskModel | None = None
) -> tuple[TaskModel, dict[str, Any]]:
    """The model of demonstrations under laws, and what the page shows of it."""
    model = RationalLearner().learn(dataset, spec.task, n_jobs=1)
    model = enforce_laws(model, laws, dataset)
    return model, describe(model, dataset, before)


def describe_model(snapshot: SessionSnapshot) -> dict[str, Any]:
    """What the page shows of a stored model."""
    return describe(snapshot.model, snapshot.dataset, None)


def ask(snapshot: SessionSnapshot) -> tuple[Question, EncodedFilm]:
    """The most informative question; if nothing is in doubt, the agent's own plan in a new scene."""
    task, seeds = snapshot.spec.task, range(snapshot.next_seed, snapshot.next_seed + QUESTION_SCENES)
    try:
        question = find_question(snapshot.model, snapshot.dataset, task, seeds, np.random.default_rng(0), n_jobs=1)
    except NothingToAskError:
        question = _question_about_plan(snapshot, seeds)
    world = task.make_world(question.seed)
    return question, encode_film(world, follow(world, question.controls).states)


def _question_about_plan(snapshot: SessionSnapshot, seeds: Sequence[int]) -> Question:
    answered = {(one.seed, one.controls) for one in snapshot.dataset.answers}
    for seed in seeds:
        episode, _ = explain_episode(snapshot.spec.task, snapshot.model, seed, (), nominal_cost(snapshot.spec.task))
        if (seed, episode.controls) not in answered:
            break
    labels = follow(snapshot.spec.task.make_world(seed), episode.controls).labels
    return Question(seed, episode.controls, labels, (), 0.0)


def propose(snapshot: SessionSnapshot) -> SceneProposal:
    """The scene whose demonstration is expected to be most informative.

    Raises:
        NothingToAskError: no demonstration would tell anything new.
    """
    seeds = range(snapshot.next_seed, snapshot.next_seed + PROPOSED_SCENES)
    rng = np.random.default_rng(0)
    return propose_scene(snapshot.model, snapshot.dataset, snapshot.spec.task, seeds, rng, n_jobs=1)


def weigh(snapshot: SessionSnapshot, correction: Correction) -> tuple[Answer, ...]:
    """The answers that a correction counts as; see `weigh_correction`."""
    seeds, rng = range(snapshot.next_seed, snapshot.next_seed + QUESTION_SCENES), np.random.default_rng(0)
    task = snapshot.spec.task
    return weigh_correction(correction, snapshot.model, snapshot.dataset, task, seeds, rng)


def try_scenes(snapshot: SessionSnapshot, seeds: Sequence[int]) -> list[tuple[int, str, int]]:
    """Seed, outcome and steps of an episode in each scene's simulator, judged by the true rule if there is one."""
    task = snapshot.spec.task_with(snapshot.model)
    policy = policy_of(snapshot.model, snapshot.cost, task)
    trials = []
    for seed in seeds:
        trajectory = roll_out(task, policy, seed, np.random.default_rng(seed))
        trials.append((seed, trajectory.outcome, len(trajectory)))
    return trials


def run_agent(
    snapshot: SessionSnapshot, seed: int, imposed: Sequence[int] = (), waypoints: Sequence[Point] = ()
) -> tuple[AgentEpisode, EncodedFilm]:
    """An explained episode of the agent; see `explain_episode`."""
    return explain_episode(snapshot.spec.task, snapshot.model, seed, imposed, snapshot.cost, waypoints)


def map_scene(snapshot: SessionSnapshot, seed: int, automaton_state: int) -> dict[str, list[float | None]]:
    """Costs over the cells of a scene in one state of the automaton, None where the agent cannot be.

    Returns:
        `step`, the mean cost of a step into a cell, and `to_go`, the least cost-to-go from a cell.

    Raises:
        NoRendererError: the world does not tell where the agent is.
    """
    world, cost = snapshot.spec.task.make_world(seed), snapshot.cost
    agent = need_places(world)
    solution = ExactPlanner(MOST_PLANNED).solve(world, snapshot.model.finite, cost)
    product, costs = solution.product, cost(solution.product)
    rows, columns = cut_tiles(need_rendering(world).render(world.initial_state)).shape[:2]
    nodes = np.flatnonzero(product.automaton_states == automaton_state)
    cell = np.full(len(product.successors), -1)
    for node in nodes[:MOST_MAPPED]:
        x, y = agent.locate(product.state(int(node)))
        cell[node] = int(y // TILE) * columns + int(x // TILE)
    step, count, to_go = np.zeros(rows * columns), np.zeros(rows * columns), np.full(rows * columns, np.inf)
    np.minimum.at(to_go, cell[cell >= 0], solution.solution.cost_to_go[cell >= 0])
    sources, controls = np.nonzero(product.successors >= 0)
    arrived = cell[product.successors[sources, controls]]
    moved = (arrived >= 0) & (arrived != cell[sources])
    np.add.at(step, arrived[moved], costs[sources[moved], controls[moved]])
    np.add.at(count, arrived[moved], 1)
    mean = np.divide(step, count, out=np.full(len(step), np.inf), where=count > 0)
    return {"step": _finite(mean), "to_go": _finite(to_go)}


def write_prism(snapshot: SessionSnapshot, seed: int) -> str:
    """The task in a scene, for PRISM and Storm; see `to_prism`."""
    product = build_product(snapshot.spec.task.make_world(seed), snapshot.model.finite)
    return to_prism(product, snapshot.cost(product), f"task {snapshot.spec.name}, seed {seed}")


def learn_cost(snapshot: SessionSnapshot, directory: Path) -> str:
    """Learn the cost, as a run that other commands read; returns a one-line summary."""
    from wfairl.core.runs.methods import TrainingRequest, find_method  # torch is slow to import

    new = directory.with_name(f".{directory.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    origin = {"demonstrations": ["demos.safetensors"]}
    request = TrainingRequest(snapshot.spec.task, snapshot.dataset, new, {}, snapshot.model, origin, False, 1)
    trained = find_method("wfa-irl").train(request)
    shutil.rmtree(directory, ignore_errors=True)
    new.rename(directory)
    return "; ".join(f"{name} {text}".strip() for name, text in trained.lines[:6])


def warm_up() -> None:
    """Load the compiled kernels before the first demonstration needs them."""
    from wfairl.core.demonstrations.collection import collect

    spec = TaskSpec("errand")
    model, _ = learn(spec, collect(spec.task, 2, 0, 0.0, 0, n_jobs=1), ())
    explain_episode(spec.task, model, 0, (), nominal_cost(spec.task))


def _finite(values: NDArray[np.float64]) -> list[float | None]:
    return [round(float(one), 4) if np.isfinite(one) else None for one in values]
