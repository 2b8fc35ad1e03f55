"""The probabilities of each method's controls in a critical state. (Figure 6 of the paper)

The critical state is on a shortest path by the true rule, where that path changes the label, such as by opening a door.
Every policy is led there along the path, and then gives its probabilities.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.planning.agent import Status
from wfairl.core.planning.cost import nominal_cost
from wfairl.core.planning.path import Path
from wfairl.core.planning.plan import UnsatisfiableTaskError, find_plan
from wfairl.core.planning.policies import Policy
from wfairl.core.planning.policy import NoLiveControlError
from wfairl.core.planning.product import build_product
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.world import World
from wfairl.pages import style
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.world_drawing import rendering_of

SCENE = 2.1
TOP, BAR, GAP, NAMES, SCALE = 0.22, 0.155, 0.14, 0.5, 0.3
"""Inches: of the scene at most, above the panels, of a bar, between panels, of the controls' names and of the scale."""

PANELS_PER_ROW = 3


@dataclass(frozen=True, eq=False)
class CriticalState:
    """A state on a shortest path, in which one control is optimal.

    Attributes:
        path: the shortest path by the true rule.
        step: the number of steps of the path that lead to the state.
        control: the next control of the path.
    """

    path: Path
    step: int
    control: int


def find_critical_state(
    world: World[Any], task: Task, control: str | None = None, occurrence: int = 0
) -> CriticalState:
    """The state in which a shortest path changes the label, or takes a control.

    Args:
        task: its true rule defines the shortest path.
        control: the name of the control; any that changes the label if None.
        occurrence: which of several such states, from 0.

    Raises:
        BadInputError: there are not that many.
    """
    product = build_product(world, task.rule)
    path = find_plan(product, nominal_cost(task)(product)).path
    before = (frozenset(), *path.labels)
    if control is None:
        steps = [t for t, label in enumerate(path.labels) if label != before[t]]
    else:
        steps = [t for t, index in enumerate(path.controls) if world.controls[index] == control]
    if occurrence >= len(steps):
        event = "changes the label" if control is None else f"takes the control '{control}'"
        raise BadInputError(
            f"the shortest path in this scene of {task.name} {event} {len(steps)} times; there is no number"
            f" {occurrence} from 0. Choose another scene or another control"
        )
    step = steps[occurrence]
    return CriticalState(path, step, path.controls[step])


def probabilities_at(policy: Policy, world: World[Any], critical: CriticalState) -> NDArray[np.float64] | None:
    """The policy's probabilities at the critical state, shape [controls].

    None if it finds no path, or takes the task as over, before it gets there.
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
    """The probabilities of every policy in the same critical state, beside an image of that state.

    Args:
        policies: the policies to compare, by the names to write over the panels.
        control, occurrence: which state is critical; see `find_critical_state`.

    Raises:
        BadInputError: there is no such state in the scene, or no policy.
    """
    if not policies:
        raise BadInputError("there are no policies to compare")
    world = task.make_world(seed)
    critical = find_critical_state(world, task, control, occurrence)
    panels = {title: probabilities_at(policy, world, critical) for title, policy in policies.items()}
    columns = min(PANELS_PER_ROW, len(panels))
    rows = -(-len(panels) // columns)
    panel = BAR * len(world.controls)
    height = rows * (TOP + panel) + SCALE
    figure = style.new_figure(style.PAGE, height)
    left = NAMES
    rendering = rendering_of(world)
    if rendering is not None:
        image = rendering.render(critical.path.states[critical.step])
        inches = min(SCENE / image.shape[1], (height - TOP) / image.shape[0])  # of a pixel
        steps = f"state after {critical.step} of {len(critical.path.controls)} steps"
        style.write_at(figure, 0, 0.04, steps, style.NOTE, va="top")
        style.show_image(style.place(figure, 0, TOP, inches * image.shape[1], inches * image.shape[0]), image)
        left = inches * image.shape[1] + NAMES + 0.2
    width = (style.PAGE - left - 0.05 - GAP * (columns - 1)) / columns
    for number, (title, probabilities) in enumerate(panels.items()):
        row, column = divmod(number, columns)
        axes = style.place(figure, left + column * (width + GAP), TOP + row * (TOP + panel), width, panel)
        is_lowest = number + columns >= len(panels)
        _draw_bars(axes, world, title, probabilities, critical.control, named=column == 0, scaled=is_lowest)
    return CaptionedFigure(name, figure, _caption(task, seed, critical, panels, world), _alt(panels, world))


def _draw_bars(
    axes: Any,
    world: World[Any],
    title: str,
    probabilities: NDArray[np.float64] | None,
    optimal: int,
    named: bool,
    scaled: bool,
) -> None:
    """One bar per control with its probability; the control of the shortest path is marked."""
    style.without_frame(axes)
    controls = len(world.controls)
    axes.set_xlim(0, 1)
    axes.set_ylim(controls - 0.5, -0.5)
    axes.set_title(title, size=style.TEXT, family="DejaVu Sans", color=style.INK, loc="left", pad=3, parse_math=False)
    axes.axvline(0, color=style.GREY, lw=0.6)
    if named:
        for control, control_name in enumerate(world.controls):
            weight = "bold" if control == optimal else "normal"
            style.write(axes, -0.05, control, control_name, ha="right", va="center", weight=weight)
    if scaled:
        axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        axes.tick_params(labelsize=style.NOTE, length=2, width=0.6, color=style.GREY, labelcolor=style.GREY, pad=1)
        axes.set_xlabel("probability", size=style.NOTE, color=style.GREY, family="DejaVu Sans", labelpad=1)
    if probabilities is None:
        style.write(axes, 0.04, (controls - 1) / 2, "has stopped", va="center", colour=style.GREY, style="italic")
        return
    colours = [style.VERMILLION if control == optimal else style.BLUE for control in range(controls)]
    axes.barh(range(controls), probabilities, height=0.72, color=colours, label="probabilities")
    for control, probability in enumerate(probabilities):
        text = f"{probability:.2f}"
        if probability > 0.7:
            style.write(axes, probability - 0.03, control, text, 6.0, "white", ha="right", va="center")
        else:
            colour = style.INK if probability >= 0.005 else style.SILVER
            style.write(axes, probability + 0.03, control, text, 6.0, colour, ha="left", va="center")


def _caption(
    task: Task, seed: int, critical: CriticalState, panels: Mapping[str, NDArray[np.float64] | None], world: World[Any]
) -> str:
    optimal = world.controls[critical.control]
    shares = "; ".join(
        f"{title} {'has stopped' if probabilities is None else format(float(probabilities[critical.control]), '.2f')}"
        for title, probabilities in panels.items()
    )
    return (
        f"The probabilities of each policy in {task.name} (scene {seed}) after the first {critical.step} of"
        f" {len(critical.path.controls)} steps of a shortest path, whose next control is '{optimal}'."
        f"{'' if rendering_of(world) else ' The world has no renderer, so the state is not shown.'}"
        " Every policy was led to this state along that path, and acts at its own temperature."
        f" Probability of '{optimal}': {shares}."
    )


def _alt(panels: Mapping[str, NDArray[np.float64] | None], world: World[Any]) -> str:
    def text_of(probabilities: NDArray[np.float64] | None) -> str:
        if probabilities is None:
            return "no probabilities"
        return ", ".join(
            f"{control} {probability:.2f}" for control, probability in zip(world.controls, probabilities, strict=True)
        )

    return "A scene, and bars of probabilities. " + "; ".join(
        f"{title}: {text_of(probabilities)}" for title, probabilities in panels.items()
    )
