"""What takes longer than a key press, as functions of plain values that a worker process runs.

Each begins with an `Assignment`, of which a worker makes its own task. Planning and learning never run in the process
that answers the browser.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import DEAD, Automaton, Label
from wfairl.automata.guarded import GuardedAutomaton
from wfairl.automata.task_model import TaskModel
from wfairl.automata.words import format_label
from wfairl.demonstrations.answers import Answer
from wfairl.demonstrations.demonstration import Dataset
from wfairl.errors import FailedRunError
from wfairl.evaluation.policies import PlannedPolicy, Policy
from wfairl.evaluation.rollout import roll_out
from wfairl.logic.caution import CautiousPolicy
from wfairl.logic.corrections import Correction, counterexamples, obey
from wfairl.logic.learners import RationalTaskLearner
from wfairl.logic.questions import NothingToAskError, Question, find_question
from wfairl.logic.support import untested_steps
from wfairl.planning.agent import Agent, Status
from wfairl.planning.cost import Cost, nominal_cost
from wfairl.planning.path import walk_path
from wfairl.planning.planner import ExactPlanner
from wfairl.report.tiles import TILE, cut_tiles
from wfairl.studio.assignment import Assignment
from wfairl.worlds.task import Task
from wfairl.worlds.world import World, as_located, available_controls

Report = Callable[[], None]
"""Is called now and then; raises `CancelledJobError` when nobody wants the result any more."""

MOST_MAPPED = 20_000
"""Product states that a map looks at."""

QUESTION_SCENES = 8
"""New scenes to find a question in."""


class CancelledJobError(FailedRunError):
    """Somebody has changed their mind."""


@dataclass(frozen=True)
class Moment:
    """One moment of an episode, and why the agent does what it does.

    Attributes:
        control: what is done next; None at the end.
        label: what has just become true, as people read it; None at the start.
        state: of the automaton, `DEAD` once the task is lost.
        costs: cost-to-go of each control, None where it leads nowhere; all None at the end.
        why: of each control, what would be worse about it.
        after: what the agent is after, and in how many steps it gets there.
        is_untested: whether this moment's label is one that no demonstration tells about.
    """

    control: int | None
    label: str | None
    state: int
    costs: tuple[float | None, ...]
    why: tuple[str, ...]
    after: str
    is_untested: bool


@dataclass(frozen=True)
class Episode:
    """What an agent does in a scene.

    Attributes:
        seed: the scene.
        controls: what was done.
        imposed: how many of the controls a person has chosen instead.
        cost: of the whole way, None if the task was lost.
        best_cost: of the way that the agent would have chosen.
        outcome: in words.
        is_success: whether the automaton accepts.
        moments: one more than controls.
    """

    seed: int
    controls: tuple[int, ...]
    imposed: int
    cost: float | None
    best_cost: float
    outcome: str
    is_success: bool
    moments: tuple[Moment, ...]


def learn(report: Report, assignment: Assignment, dataset: Dataset, laws: Sequence[Correction]) -> TaskModel:
    """The automaton of demonstrations, under laws."""
    model = RationalTaskLearner(progress=lambda _: report()).learn(dataset, assignment.task, n_jobs=1)
    return obey(model, laws, dataset)


def ask(report: Report, assignment: Assignment, model: TaskModel, dataset: Dataset, first: int) -> Question:
    """The question whose answer says most; where nothing is in doubt, the agent's own plan in the first new scene."""
    report()
    seeds = range(first, first + QUESTION_SCENES)
    try:
        return find_question(model, dataset, assignment.task, seeds, np.random.default_rng(0), n_jobs=1)
    except NothingToAskError:
        report()
        asked = {(one.seed, one.controls) for one in dataset.answers}
        for seed in seeds:
            episode = act(report, assignment, model, seed, (), None)
            if (seed, episode.controls) not in asked:
                break
        world = assignment.task.make_world(seed)
        path = walk_path(world, model.finite, episode.controls, world.initial_state)
        return Question(seed, path.controls, path.labels, (), 0.0)


def refute(
    report: Report, assignment: Assignment, model: TaskModel, dataset: Dataset, correction: Correction, first: int
) -> tuple[Answer, ...]:
    """Plans that the model accepts and a correction forbids."""
    report()
    seeds = range(first, first + QUESTION_SCENES)
    return counterexamples(correction, model, dataset, assignment.task, seeds, np.random.default_rng(0))


def try_scenes(
    report: Report, assignment: Assignment, model: TaskModel, seeds: Sequence[int], run: Path | None
) -> list[tuple[int, str, int]]:
    """Seed, outcome and steps of an episode in the simulator of each scene; the true rule judges where there is one."""
    task = assignment.task_with(model)
    policy = policy_of(model, cost_of(run, assignment.task))
    found = []
    for seed in seeds:
        report()
        trajectory = roll_out(task, policy, seed, np.random.default_rng(seed))
        found.append((seed, trajectory.outcome, len(trajectory)))
    return found


def act(
    report: Report, assignment: Assignment, model: TaskModel, seed: int, imposed: Sequence[int], run: Path | None
) -> Episode:
    """What the agent does in a scene, with its reasons, after controls that a person imposes.

    Raises:
        UnsatisfiableTaskError: nothing fulfils the task there.
    """
    report()
    task = assignment.task
    world = task.make_world(seed)
    automaton, cost = _choose(model, cost_of(run, assignment.task), world)
    agent = Agent(automaton, cost, 0.0, np.random.default_rng(seed))
    agent.start(world)
    report()
    best_cost = float(agent.control_cost_to_go.min())
    controls: list[int] = []
    labels: list[Label] = []
    states, Qs = [world.initial_state], []
    while len(controls) < task.horizon:
        Q = agent.control_cost_to_go.copy()
        Qs.append(Q)
        if len(controls) < len(imposed):
            control = int(imposed[len(controls)])
        elif agent.status is Status.RUNNING:
            control = int(Q.argmin())
        else:
            break
        states.append(world.step(states[-1], control))
        labels.append(world.label(states[-2], control, states[-1]))
        controls.append(control)
        if agent.observe(states[-1], labels[-1]) is Status.ACCEPTED:
            break
    is_success = agent.status is Status.ACCEPTED
    path = walk_path(world, model.finite, controls, world.initial_state)
    untested = set(untested_steps(model, path))
    moments = tuple(
        Moment(
            control=controls[t] if t < len(controls) else None,
            label=format_label(labels[t - 1]) if t else None,
            state=path.automaton_states[t],
            costs=tuple(float(q) if np.isfinite(q) else None for q in Qs[t]) if t < len(Qs) else (),
            why=_why(world, model, states[t], path.automaton_states[t], Qs[t]) if t < len(Qs) else (),
            after=_after(model, path.automaton_states, labels, t),
            is_untested=t in untested,
        )
        for t in range(len(states))
    )
    # c(s, u) = Q(s, u) - V(s'), and V is 0 once the task is done
    taken = [float(Q[control]) for Q, control in zip(Qs, controls, strict=False)]
    behind = [float(Q.min()) for Q in Qs[1 : len(controls)]]
    cost_of_way = sum(taken) - sum(behind) if is_success else None
    outcome = _outcome(agent.status, len(controls), task.horizon)
    return Episode(
        seed, tuple(controls), min(len(imposed), len(controls)), cost_of_way, best_cost, outcome, is_success, moments
    )


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
    solution = ExactPlanner().solve(world, model.finite, cost_of(run, assignment.task))
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
    act(report, assignment, learn(report, assignment, dataset, ()), 0, (), None)


def policy_of(model: TaskModel, cost: Cost) -> Policy:
    """The greedy policy of a model: cautious, where its learner keeps alternatives."""
    if isinstance(model.finite, GuardedAutomaton):
        return CautiousPolicy("learned", model, cost, 0.0)
    return PlannedPolicy("learned", model.finite, cost, 0.0)


def _choose(model: TaskModel, cost: Cost, world: World[Any]) -> tuple[Automaton, Cost]:
    """What to plan with in a world."""
    policy = policy_of(model, cost)
    return policy.choose(world) if isinstance(policy, CautiousPolicy) else (model.finite, cost)


def _finite(values: NDArray[np.float64]) -> tuple[float | None, ...]:
    return tuple(round(float(one), 4) if np.isfinite(one) else None for one in values)


def cost_of(run: Path | None, task: Task) -> Cost:
    """The cost that a run has learned, or what the task itself says."""
    if run is None:
        return nominal_cost(task)
    from wfairl.learning.run_directory import load_run  # torch is slow to import

    return load_run(run).cost.as_cost()


def _why(
    world: World[Any], model: TaskModel, state: Any, automaton_state: int, Q: NDArray[np.float64]
) -> tuple[str, ...]:
    """What would be worse about each control."""
    if np.isinf(Q).all():
        return ("The task is lost already: nothing leads to its end from here.",) * len(Q)
    can = available_controls(world, state)
    return tuple(
        _why_not(world, model, state, automaton_state, control, float(Q[control] - Q.min()))
        if can[control]
        else "It cannot be chosen here."
        for control in range(len(Q))
    )


def _why_not(world: World[Any], model: TaskModel, state: Any, automaton_state: int, control: int, excess: float) -> str:
    after = world.step(state, control)
    label = world.label(state, control, after)
    if model.finite.read(automaton_state, label) == DEAD:
        return f"It breaks a rule: {format_label(label)} must not hold here, and the task would be lost."
    if np.isinf(excess):
        return "From there the task cannot be done any more, or a task that is probable too forbids it."
    nothing = " It changes nothing." if after == state else ""
    if excess < 1e-9:
        return f"The best that can be done here.{nothing}" if not nothing else f"As good as any.{nothing}"
    return f"It costs {excess:.3g} more than the best way.{nothing}"


def _after(model: TaskModel, states: Sequence[int], labels: Sequence[Label], t: int) -> str:
    """What the agent is after at a moment: the next label that moves the automaton on."""
    for step in range(t, len(labels)):
        if states[step + 1] != states[step]:
            wait = step + 1 - t
            return f"it is after {format_label(labels[step])}, {wait} {'step' if wait == 1 else 'steps'} away"
    if states[t] == DEAD:
        return "the task is lost"
    if model.finite.accepting[states[t]]:
        return "done"
    waiting = model.finite.lacking(states[t], ())
    return f"it waits for {' or '.join(waiting)}" if waiting else "it waits"


def _outcome(status: Status, steps: int, horizon: int) -> str:
    count = f"{steps} {'step' if steps == 1 else 'steps'}"
    if status is Status.ACCEPTED:
        return f"done in {count}"
    if status is Status.LOST:
        return f"lost after {count}"
    return f"not done within {horizon} steps"
