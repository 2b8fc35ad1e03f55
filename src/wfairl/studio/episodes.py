"""Explained episodes of the agent: its automaton state, what it heads for, the cost-to-go of each control."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Label
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import Word, format_label
from wfairl.core.planning.agent import Status
from wfairl.core.planning.cost import Cost, unit_cost
from wfairl.core.planning.path import Path, Walk
from wfairl.core.rational.caution import CautiousPolicy
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.worlds.simulator import ModelSimulator, simulator_rng
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.world import World, available_controls, outcomes_of, slips
from wfairl.pages.text import counted
from wfairl.specifications.explanation import explain_word
from wfairl.studio.frames import encode_film
from wfairl.studio.keys import Waypoint, controls_through
from wfairl.studio.session import check_control


def explain_episode(
    task: Task, model: TaskModel, seed: int, imposed: Sequence[int], cost: Cost, waypoints: Sequence[Waypoint] = ()
) -> dict[str, Any]:
    """Run the agent in a scene; its episode with explanations, and its film, as plain JSON.

    A person first chooses the `imposed` controls, and then leads the agent through `waypoints` of the image. Raises
    `BadInputError` if that is impossible, and `UnsatisfiableTaskError` if no path fulfils the task from there.
    """
    world = task.make_world(seed)
    imposed = controls_through(world, imposed, waypoints)
    path, status, Qs = act_after(task, model, world, seed, cost, imposed)
    is_success, is_drawn, controls, labels = status is Status.ACCEPTED, slips(world), path.controls, path.labels
    posterior, steps = posterior_of(model), counted(len(path), "step")
    untested = set() if posterior is None else set(posterior.untested_steps(path.labels))
    moments = [
        {
            "label": format_label(labels[t - 1]) if t else None,  # of the step before
            "state": path.automaton_states[t],
            "goal": _goal(model, path.automaton_states, labels, t),
            "is_untested": t in untested,  # whether no demonstration tests the label in its state
            "control": controls[t] if t < len(controls) else None,  # the next one
            "costs": [float(q) if np.isfinite(q) else None for q in Qs[t]] if t < len(Qs) else (),  # of each control
            "reasons": [_reason(path, model, t, u, Qs[t]) for u in range(len(Qs[t]))] if t < len(Qs) else (),
        }
        for t in range(len(path.states))
    ]
    # c(s, u) = Q(s, u) - V(s'), and V is 0 once the task is done
    chosen = [float(Q[control]) for Q, control in zip(Qs, controls, strict=False)]
    following = [float(Q.min()) for Q in Qs[1 : len(controls)]]
    outcomes = {Status.ACCEPTED: f"done in {steps}", Status.LOST: f"lost after {steps}"}
    episode = {
        "seed": seed,
        "controls": controls,
        "imposed": min(len(imposed), len(controls)),  # how many of the controls, from the first, a person chose
        "cost": sum(chosen) - sum(following) if is_success and not is_drawn else None,
        "best_cost": float(Qs[0].min()),  # of the agent's own plan
        "unit": unit_of(cost),
        "outcome": outcomes.get(status, f"not done within {task.horizon} steps"),
        "is_drawn": is_drawn,
        "is_success": is_success,
        "explanation": how_read(model, labels),
        "moments": moments,
    }
    return {"seed": seed, **encode_film(world, path.states), "episode": episode}


def how_read(model: TaskModel, labels: Word) -> tuple[str, ...]:
    """How the automaton reads a path, in sentences; a label that stays and changes nothing is told once."""
    explained = explain_word(model, labels)
    told = (
        one.sentence
        for before, one in zip((None, *explained.labels), explained.labels, strict=False)
        if before is None or one.label != before.label or one.after != one.state
    )
    return (*explained.unknown.sentences, *told, explained.conclusion)


def unit_of(cost: Cost) -> str:
    """What costs are told in, in words; empty for a measure of the task, such as metres."""
    from wfairl.core.costs.feature_costs import SampledCost  # it is slow to import

    if isinstance(cost, SampledCost):
        return "in plain steps, the mean of all probable costs"
    return "in steps" if cost is unit_cost else ""


def act_after(
    task: Task, model: TaskModel, world: World[Any], seed: int, cost: Cost, imposed: Sequence[int] = ()
) -> tuple[Path, Status, list[NDArray[np.float64]]]:
    """The path of the agent after controls that a person chose, how it ended, and the costs-to-go along it.

    Where the world slips, the same happens as in a demonstration of the same controls in this scene.
    """
    agent = policy_of(model, cost, task).actor(world, np.random.default_rng(seed))
    walk, Qs = Walk(ModelSimulator(world, simulator_rng(seed)), model.finite), []
    while len(walk) < task.horizon:
        Q = agent.control_cost_to_go.copy()
        Qs.append(Q)
        if len(walk) < len(imposed):
            control = int(imposed[len(walk)])
            check_control(world, control, walk.states[-1])
        elif agent.status is Status.RUNNING:
            control = int(Q.argmin())
        else:
            break
        observed = walk.take(control)
        if agent.observe(observed.state, observed.label) is Status.ACCEPTED:
            break
    return walk.path, agent.status, Qs


def policy_of(model: TaskModel, cost: Cost, task: Task) -> CautiousPolicy:
    """The greedy policy of a model: cautious, but it refuses no doubtful plan."""
    return CautiousPolicy("learned", model, cost, 0.0, horizon=task.horizon, largest_doubt=1.0)


def _reason(path: Path, model: TaskModel, t: int, control: int, Q: NDArray[np.float64]) -> str:
    """Why a control would be worse at a moment."""
    world, state = path.world, path.states[t]
    if np.isinf(Q).all():
        return "The task is already lost: no path from here completes it."
    if not available_controls(world, state)[control]:
        return "It is not available here."
    outcomes, excess = outcomes_of(world, state, control), float(Q[control] - Q.min())
    labels = [(probability, world.label(state, control, after)) for probability, after in outcomes]
    deadly = [one for one in labels if model.finite.read(path.automaton_states[t], one[1]) == DEAD]
    risk = sum(probability for probability, _ in deadly)
    if len(deadly) == len(labels):
        return f"It breaks a rule: {format_label(deadly[0][1])} must not hold here, or the task is lost."
    if np.isinf(excess):
        return "After it the task can no longer be completed, or another probable task forbids it."
    rest = " It changes nothing." if all(after == state for _, after in outcomes) else ""
    rest += f" With {risk:.0%} it breaks a rule: {format_label(deadly[0][1])} must not hold here." if deadly else ""
    if excess < 1e-9:
        return f"It is as good as any other.{rest}" if rest and not deadly else f"It is the best control here.{rest}"
    return f"It costs {excess:.3g} more than the best control.{rest}"


def _goal(model: TaskModel, states: Sequence[int], labels: Sequence[Label], t: int) -> str:
    """What the agent heads for at a moment: the next label that changes the automaton state."""
    for step in range(t, len(labels)):
        if states[step + 1] != states[step]:
            return f"heading for {format_label(labels[step])}, {counted(step + 1 - t, 'step')} away"
    if states[t] == DEAD:
        return "the task is lost"
    if model.finite.accepting[states[t]]:
        return "done"
    lacking = model.finite.lacking(states[t], ())
    return f"waiting for {' or '.join(lacking)}" if lacking else "waiting"
