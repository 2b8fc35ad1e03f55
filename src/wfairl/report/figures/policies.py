"""How sure is each method of what to do where it matters? (Figure 6 of the paper)

The critical state lies on the shortest path by the true rule, where that path changes the label, such as by opening a
door. Every policy is led there along the path, sees what it would have seen, and is asked for its probabilities.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.errors import BadInputError
from wfairl.evaluation.policies import Policy
from wfairl.planning.agent import Status
from wfairl.planning.cost import nominal_cost
from wfairl.planning.path import Path
from wfairl.planning.plan import UnsatisfiableTaskError, find_plan
from wfairl.planning.policy import NoLiveControlError
from wfairl.planning.product import build_product
from wfairl.report.figures.captioned import CaptionedFigure
from wfairl.report.figures.style import (
    BLUE,
    INK,
    NORMAL,
    PAGE,
    PALE,
    QUIET,
    SMALL,
    VERMILLION,
    new_figure,
    place,
    show_image,
    without_frame,
    write,
    write_at,
)
from wfairl.worlds.rendering import as_renderer, can_render
from wfairl.worlds.task import Task
from wfairl.worlds.world import World

SCENE = 2.1
TOP, BAR, GAP, NAMES, SCALE = 0.22, 0.155, 0.14, 0.5, 0.3
"""Inches: of the scene at most, above the panels, of a bar, between panels, of the controls' names and of the scale."""

PANELS_PER_ROW = 3


@dataclass(frozen=True, eq=False)
class CriticalState:
    """A state on the shortest path, at which one control is called for.

    Attributes:
        path: the shortest path by the true rule.
        step: the number of steps of the path that lead to the state.
        control: what the path does there.
    """

    path: Path
    step: int
    control: int


def find_critical_state(
    world: World[Any], task: Task, control: str | None = None, occurrence: int = 0
) -> CriticalState:
    """Where the shortest path changes the label, or takes a control.

    Args:
        world: the scene.
        task: whose true rule says what the shortest path is.
        control: the name of the control; any that changes the label if None.
        occurrence: which time, from 0.

    Raises:
        BadInputError: it does not do so that many times.
    """
    product = build_product(world, task.rule)
    path = find_plan(product, nominal_cost(task)(product)).path
    before = (frozenset(), *path.labels)
    if control is None:
        steps = [t for t, label in enumerate(path.labels) if label != before[t]]
    else:
        steps = [t for t, taken in enumerate(path.controls) if world.controls[taken] == control]
    if occurrence >= len(steps):
        does = "changes the label" if control is None else f"takes the control '{control}'"
        raise BadInputError(
            f"the shortest path in this scene of {task.name} {does} {len(steps)} times; there is no number"
            f" {occurrence} from 0. Choose another scene or another control"
        )
    step = steps[occurrence]
    return CriticalState(path, step, path.controls[step])


def probabilities_at(policy: Policy, world: World[Any], critical: CriticalState) -> NDArray[np.float64] | None:
    """The policy's probabilities at the critical state, shape [controls].

    None if it sees no way to the end, or thinks that the task is over, before it gets there.
    """
    try:
        actor = policy.actor(world, np.random.default_rng(0))
        for t in range(critical.step):
            status = actor.observe(critical.path.states[t + 1], critical.path.labels[t])
            if status is not Status.RUNNING:
                return None
        return actor.probabilities()
    except (UnsatisfiableTaskError, NoLiveControlError):
        return None


def draw_policies(
    task: Task,
    policies: Mapping[str, Policy],
    seed: int,
    control: str | None = None,
    occurrence: int = 0,
    name: str = "policies",
) -> CaptionedFigure:
    """What every policy would do at the same critical state, beside that state as the world shows it.

    Args:
        task: the task.
        policies: the policies to compare, by the names to write over the panels.
        seed: the scene.
        control, occurrence: which state is critical; see `find_critical_state`.
        name: of the figure.

    Raises:
        BadInputError: there is no such state in the scene, or nobody to compare.
    """
    if not policies:
        raise BadInputError("there are no policies to compare")
    world = task.make_world(seed)
    critical = find_critical_state(world, task, control, occurrence)
    asked = {who: probabilities_at(policy, world, critical) for who, policy in policies.items()}
    columns = min(PANELS_PER_ROW, len(asked))
    rows = -(-len(asked) // columns)
    panel = BAR * len(world.controls)
    height = rows * (TOP + panel) + SCALE
    figure = new_figure(PAGE, height)
    left = NAMES
    if can_render(world):
        image = as_renderer(world).render(critical.path.states[critical.step])
        inches = min(SCENE / image.shape[1], (height - TOP) / image.shape[0])  # of a pixel
        steps = f"state after {critical.step} of {len(critical.path.controls)} steps"
        write_at(figure, 0, 0.04, steps, SMALL, va="top")
        show_image(place(figure, 0, TOP, inches * image.shape[1], inches * image.shape[0]), image)
        left = inches * image.shape[1] + NAMES + 0.2
    width = (PAGE - left - 0.05 - GAP * (columns - 1)) / columns
    for number, (who, chances) in enumerate(asked.items()):
        row, column = divmod(number, columns)
        axes = place(figure, left + column * (width + GAP), TOP + row * (TOP + panel), width, panel)
        is_lowest = number + columns >= len(asked)
        _draw_bars(axes, world, who, chances, critical.control, named=column == 0, scaled=is_lowest)
    return CaptionedFigure(name, figure, _caption(task, seed, critical, asked, world), _alt(asked, world))


def _draw_bars(
    axes: Any,
    world: World[Any],
    who: str,
    chances: NDArray[np.float64] | None,
    called_for: int,
    named: bool,
    scaled: bool,
) -> None:
    """One bar per control, that of the shortest path marked; its probability written at its end."""
    without_frame(axes)
    controls = len(world.controls)
    axes.set_xlim(0, 1)
    axes.set_ylim(controls - 0.5, -0.5)
    axes.set_title(who, size=NORMAL, family="DejaVu Sans", color=INK, loc="left", pad=3, parse_math=False)
    axes.axvline(0, color=QUIET, lw=0.6)
    if named:
        for control, control_name in enumerate(world.controls):
            weight = "bold" if control == called_for else "normal"
            write(axes, -0.05, control, control_name, ha="right", va="center", weight=weight)
    if scaled:
        axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        axes.tick_params(labelsize=SMALL, length=2, width=0.6, color=QUIET, labelcolor=QUIET, pad=1)
        axes.set_xlabel("probability", size=SMALL, color=QUIET, family="DejaVu Sans", labelpad=1)
    if chances is None:
        write(axes, 0.04, (controls - 1) / 2, "has stopped", va="center", colour=QUIET, style="italic")
        return
    colours = [VERMILLION if control == called_for else BLUE for control in range(controls)]
    axes.barh(range(controls), chances, height=0.72, color=colours, label="probabilities")
    for control, chance in enumerate(chances):
        inside = chance > 0.7
        write(
            axes, chance - 0.03 if inside else chance + 0.03, control, f"{chance:.2f}", 6.0,
            "white" if inside else INK if chance >= 0.005 else PALE, ha="right" if inside else "left", va="center",
        )  # fmt: skip


def _caption(
    task: Task, seed: int, critical: CriticalState, asked: Mapping[str, NDArray[np.float64] | None], world: World[Any]
) -> str:
    called_for = world.controls[critical.control]
    shares = "; ".join(
        f"{who} {'has stopped' if chances is None else format(float(chances[critical.control]), '.2f')}"
        for who, chances in asked.items()
    )
    return (
        f"What each policy would do in {task.name} (scene {seed}) after the first {critical.step} of"
        f" {len(critical.path.controls)} steps of a shortest path, which goes on with '{called_for}'."
        f"{'' if can_render(world) else ' The world has no renderer, so the state is not shown.'}"
        " Every policy was led to this state along that path, and is asked at the temperature that it acts at."
        f" Probability of '{called_for}': {shares}."
    )


def _alt(asked: Mapping[str, NDArray[np.float64] | None], world: World[Any]) -> str:
    def say(chances: NDArray[np.float64] | None) -> str:
        if chances is None:
            return "no probabilities"
        return ", ".join(f"{control} {chance:.2f}" for control, chance in zip(world.controls, chances, strict=True))

    return "A scene, and bars of probabilities. " + "; ".join(
        f"{who}: {say(chances)}" for who, chances in asked.items()
    )
