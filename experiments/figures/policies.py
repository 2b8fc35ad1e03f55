"""The probabilities of each method's controls in a critical state. (Figure 6 of the paper)

The critical state is the first on a shortest path by the true rule in which that path changes the label, such as by
opening a door. Every policy is led there along the path, and then gives its probabilities.
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
from wfairl.core.worlds.task import Task, rule_of
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
    """

    path: Path
    step: int

    @property
    def control(self) -> int:
        """The next control of the path."""
        return self.path.controls[self.step]


def find_critical_state(world: World[Any], task: Task) -> CriticalState:
    """The state in which a shortest path by the true rule of a task first changes the label."""
    product = build_product(world, rule_of(task))
    path = find_plan(product, nominal_cost(task)(product)).path
    return CriticalState(path, next((t for t, label in enumerate(path.labels) if label), 0))


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


def draw_policies(task: Task, policies: Mapping[str, Policy], seed: int) -> CaptionedFigure:
    """The probabilities of every policy in the same critical state, beside an image of that state.

    Raises:
        BadInputError: there is no policy.
    """
    if not policies:
        raise BadInputError("there are no policies to compare")
    world = task.make_world(seed)
    critical = find_critical_state(world, task)
    found = {title: probabilities_at(policy, world, critical) for title, policy in policies.items()}
    columns = min(PANELS_PER_ROW, len(found))
    panel = BAR * len(world.controls)
    height = -(-len(found) // columns) * (TOP + panel) + SCALE
    figure, left, rendering = style.new_figure(style.PAGE, height), NAMES, rendering_of(world)
    if rendering is not None:
        image = rendering.render(critical.path.states[critical.step])
        inches = min(SCENE / image.shape[1], (height - TOP) / image.shape[0])  # of a pixel
        steps = f"state after {critical.step} of {len(critical.path.controls)} steps"
        style.write_at(figure, 0, 0.04, steps, style.NOTE, va="top")
        style.show_image(style.place(figure, 0, TOP, inches * image.shape[1], inches * image.shape[0]), image)
        left = inches * image.shape[1] + NAMES + 0.2
    width = (style.PAGE - left - 0.05 - GAP * (columns - 1)) / columns
    for number, (title, probabilities) in enumerate(found.items()):
        row, column = divmod(number, columns)
        axes = style.place(figure, left + column * (width + GAP), TOP + row * (TOP + panel), width, panel)
        is_lowest = number + columns >= len(found)
        style.plain_axes(axes, "probability" if is_lowest else "", title=title, size=style.NOTE)
        axes.set(xlim=(0, 1.2), ylim=(len(world.controls) - 0.5, -0.5), xticks=[0, 0.5, 1] if is_lowest else [])
        axes.set_yticks(range(len(world.controls)), world.controls if column == 0 else [""] * len(world.controls))
        _draw_bars(axes, probabilities, critical.control)
    return CaptionedFigure("policies", figure, _caption(task, seed, critical, found, world), _alt(found, world))


def _draw_bars(axes: Any, probabilities: NDArray[np.float64] | None, optimal: int) -> None:
    """One bar per control with its probability; the control of the shortest path is marked."""
    if probabilities is None:
        style.write(axes, 0.5, 0.5, "has stopped", va="center", transform=axes.transAxes, style="italic")
        return
    colours = [style.VERMILLION if control == optimal else style.BLUE for control in range(len(probabilities))]
    bars = axes.barh(range(len(probabilities)), probabilities, height=0.72, color=colours)
    axes.bar_label(bars, fmt="%.2f", padding=2, size=6, family=style.FONT)


def _caption(
    task: Task, seed: int, critical: CriticalState, found: Mapping[str, NDArray[np.float64] | None], world: World[Any]
) -> str:
    optimal = world.controls[critical.control]
    shares = "; ".join(
        f"{title} {'has stopped' if probabilities is None else format(float(probabilities[critical.control]), '.2f')}"
        for title, probabilities in found.items()
    )
    return (
        f"The probabilities of each policy in {task.name} (scene {seed}) after the first {critical.step} of"
        f" {len(critical.path.controls)} steps of a shortest path, whose next control is '{optimal}'."
        f"{'' if rendering_of(world) else ' The world has no renderer, so the state is not shown.'}"
        " Every policy was led to this state along that path, and acts at its own temperature."
        f" Probability of '{optimal}': {shares}."
    )


def _alt(found: Mapping[str, NDArray[np.float64] | None], world: World[Any]) -> str:
    texts = {
        title: "no probabilities"
        if probabilities is None
        else ", ".join(f"{name} {one:.2f}" for name, one in zip(world.controls, probabilities, strict=True))
        for title, probabilities in found.items()
    }
    return "A scene, and bars of probabilities. " + "; ".join(f"{title}: {text}" for title, text in texts.items())
