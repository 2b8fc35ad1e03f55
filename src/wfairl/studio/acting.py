"""What the agent does in a scene, and why: its place in the task, what it is after, what every control would cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import DEAD, Label
from wfairl.automata.guarded import GuardedAutomaton
from wfairl.automata.task_model import TaskModel
from wfairl.automata.words import compress, format_label
from wfairl.evaluation.policies import PlannedPolicy, Policy
from wfairl.logic.caution import CautiousPolicy
from wfairl.logic.explanation import explain_word
from wfairl.logic.support import untested_steps
from wfairl.planning.agent import Agent, Status
from wfairl.planning.cost import Cost
from wfairl.planning.path import walk_path
from wfairl.studio.drawing import Place, lead_through
from wfairl.studio.tiles import TiledFilm, film_walk
from wfairl.worlds.task import Task
from wfairl.worlds.world import World, available_controls


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
class AgentEpisode:
    """What an agent does in a scene.

    Attributes:
        seed: the scene.
        controls: what was done.
        imposed: how many of the controls a person has chosen instead.
        cost: of the whole way, None if the task was lost.
        best_cost: of the way that the agent would have chosen.
        outcome: in words.
        is_success: whether the automaton accepts.
        explanation: what the automaton makes of the labels along the way.
        moments: one more than controls.
    """

    seed: int
    controls: tuple[int, ...]
    imposed: int
    cost: float | None
    best_cost: float
    outcome: str
    is_success: bool
    explanation: tuple[str, ...]
    moments: tuple[Moment, ...]


def explain_episode(
    task: Task, model: TaskModel, seed: int, imposed: Sequence[int], cost: Cost, places: Sequence[Place] = ()
) -> tuple[AgentEpisode, TiledFilm]:
    """What the agent does in a scene, with its reasons, and its film.

    Args:
        task: what the scene is of.
        model: what was understood.
        seed: the scene.
        imposed: controls that a person chooses, before the agent's own.
        cost: what steps cost.
        places: of the picture, which a person leads the agent through after that.

    Raises:
        BadInputError: the person's way cannot be gone.
        UnsatisfiableTaskError: nothing fulfils the task there.
    """
    world = task.make_world(seed)
    imposed = lead_through(world, imposed, places, seed)
    policy = policy_of(model, cost, task)
    automaton, price = policy.choose(world) if isinstance(policy, CautiousPolicy) else (model.finite, cost)
    agent = Agent(automaton, price, 0.0, np.random.default_rng(seed))
    agent.start(world)
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
    explanation = tuple(explain_word(model, compress(labels)).sentences)
    episode = AgentEpisode(
        seed, tuple(controls), min(len(imposed), len(controls)), cost_of_way, best_cost, outcome, is_success,
        explanation, moments,
    )  # fmt: skip
    return episode, film_walk(world, states)


def policy_of(model: TaskModel, cost: Cost, task: Task) -> Policy:
    """The greedy policy of a model: cautious, where its learner keeps alternatives; it refuses no doubtful plan."""
    if isinstance(model.finite, GuardedAutomaton):
        return CautiousPolicy("learned", model, cost, 0.0, horizon=task.horizon, largest_doubt=1.0)
    return PlannedPolicy("learned", model.finite, cost, 0.0)


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
