"""An episode, cut into parts by the states of the automaton. (Figure 1 of the paper)"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.patches import Circle, FancyArrowPatch
from numpy.typing import NDArray

from wfairl.automata.automaton import Automaton, Label
from wfairl.automata.words import compress, format_word
from wfairl.planning.cost import Cost, unit_cost
from wfairl.planning.path import Path
from wfairl.planning.plan import find_plan
from wfairl.planning.product import build_product
from wfairl.report.figures import style
from wfairl.report.figures.automaton import EXPLANATION, format_difference
from wfairl.report.figures.captioned import CaptionedFigure
from wfairl.report.text import counted
from wfairl.worlds.rendering import Located, as_located, can_locate
from wfairl.worlds.task import Task

FADING = 0.65
CHAIN = 1.35
ROW = 0.32
"""Inches of the chain of states: its width, and the height of a state."""

TALLEST = 2.6
"""Inches of a wide scene, which gets more than a column."""

WIDE = 1.2
"""Aspect ratio above which a scene is wide."""

LANE = 0.11
"""Distance between the lines of parallel parts, in steps of the agent."""

RADIUS = 0.075
"""Inches of the circle of an automaton state."""


@dataclass(frozen=True)
class PathPart:
    """The steps of a path in one automaton state.

    Attributes:
        automaton_state: the state.
        first, last: indices of its first and last world state.
        label: of the step to `last`, which ended it; None for the final state, which has no step.
        before: the label at its beginning; None at the start.
    """

    automaton_state: int
    first: int
    last: int
    label: Label | None
    before: Label | None

    @property
    def difference(self) -> str:
        """What ended it, as text."""
        return "accepted" if self.label is None else format_difference(self.before, self.label)


def split_by_automaton_state(path: Path) -> tuple[PathPart, ...]:
    """The parts of a path, one per visit of an automaton state, including the final one."""
    states = path.automaton_states
    starts = [0, *(t for t in range(1, len(states)) if states[t] != states[t - 1])]
    labels = [None, *path.labels]
    left = [PathPart(states[first], first, last, labels[last], labels[first]) for first, last in pairwise(starts)]
    return (*left, PathPart(states[-1], starts[-1], len(states) - 1, None, labels[starts[-1]]))


def draw_trajectory(
    task: Task, seed: int, automaton: Automaton, cost: Cost = unit_cost, name: str = "trajectory"
) -> CaptionedFigure:
    """The cheapest episode in a scene, coloured by automaton state, beside the sequence of states.

    Args:
        cost: that the episode minimizes.

    Raises:
        UnsatisfiableTaskError: the automaton accepts nothing in this scene.
    """
    world = task.make_world(seed)
    product = build_product(world, automaton)
    path = find_plan(product, cost(product)).path
    parts = split_by_automaton_state(path)
    image = as_located(world).render(world.initial_state) if can_locate(world) else None
    scene_width, scene_height = (0.0, 0.0) if image is None else _scene_size(image)
    height = max(scene_height, ROW * len(parts))
    figure = style.new_figure(scene_width + CHAIN, height)
    if image is not None:
        scene = style.place(figure, 0, (height - scene_height) / 2, scene_width, scene_height)
        style.show_image(scene, image, FADING)
        _draw_path(scene, as_located(world), path, parts, image.shape[1] / scene_width)
    _draw_chain(style.place(figure, scene_width, 0, CHAIN, height), parts, height)
    is_shown = image is not None
    return CaptionedFigure(name, figure, _caption(task, seed, path, parts, is_shown), _alt(task, parts, is_shown))


def _scene_size(image: NDArray[np.uint8]) -> tuple[float, float]:
    """Width and height in inches: a column wide, or more for a wide scene."""
    aspect = image.shape[1] / image.shape[0]
    width = min(style.PAGE - CHAIN, TALLEST * aspect) if aspect > WIDE else style.COLUMN - CHAIN
    return width, width / aspect


def _draw_path(axes: Any, world: Located, path: Path, parts: tuple[PathPart, ...], pixels: float) -> None:
    """One line per part, each in a lane of its own, and the number of a state where it is entered.

    Args:
        axes: in pixels of the world's image.
        pixels: of the image per inch.
    """
    positions = [world.locate(state) for state in path.states]
    moving = [part for part in parts if part.last > part.first]
    lane = step_length(positions) * min(LANE, 0.5 / len(moving))
    entered: dict[tuple[float, float], list[int]] = {}
    for number, part in enumerate(parts):
        entered.setdefault(positions[part.first], []).append(number)
    for number, part in enumerate(moving):
        offset = (number - (len(moving) - 1) / 2) * lane
        xs = [positions[t][0] + offset for t in range(part.first, part.last + 1)]
        ys = [positions[t][1] + offset for t in range(part.first, part.last + 1)]
        axes.plot(
            xs, ys, color=_colour(number), lw=2.2, solid_capstyle="round", solid_joinstyle="round",
            label=f"part-{number}", path_effects=style.halo(3.6), zorder=2,
        )  # fmt: skip
    radius = RADIUS * pixels
    for (x, y), numbers in entered.items():
        for place_in_row, number in enumerate(numbers):
            centre = (x + (place_in_row - (len(numbers) - 1) / 2) * 2.1 * radius, y)
            _draw_state(axes, centre, radius, number, parts, zorder=4)


def step_length(positions: Sequence[tuple[float, float]]) -> float:
    """Pixels of the shortest move; 1 if nothing moves."""
    lengths = [math.dist(one, other) for one, other in pairwise(positions)]
    return min((length for length in lengths if length > 0), default=1.0)


def _draw_chain(axes: Any, parts: tuple[PathPart, ...], height: float) -> None:
    """The states from top to bottom with their numbers of steps, and the label change at each arrow."""
    style.without_frame(axes)
    axes.set_xlim(0, CHAIN)
    axes.set_ylim(height, 0)
    row = min(height / len(parts), 1.4 * ROW)
    x, top = RADIUS + 0.14, (height - row * len(parts)) / 2
    for number, part in enumerate(parts):
        y = top + (number + 0.5) * row
        _draw_state(axes, (x, y), RADIUS, number, parts, zorder=3)
        if part.label is None:
            style.write(axes, x + 0.16, y, f"accepted, {counted(part.last, 'step')}", va="center", colour=style.QUIET)
            continue
        tips = (x, y + RADIUS + 0.015), (x, y + row - RADIUS - 0.015)
        axes.add_patch(
            FancyArrowPatch(
                *tips, arrowstyle="-|>,head_length=2.6,head_width=1.4", color=style.INK, lw=0.8, shrinkA=0, shrinkB=0
            )
        )
        text = style.write(axes, x + 0.16, y + row / 2, part.difference, va="center")
        text.set_label(f"label-{number}")
        style.write(axes, x + 0.16, y, _steps(part), va="center", colour=style.QUIET)


def _draw_state(
    axes: Any, centre: tuple[float, float], radius: float, number: int, parts: tuple[PathPart, ...], zorder: int
) -> None:
    """A circle with the number of the state; the last state is accepting and has two rings."""
    is_last = number == len(parts) - 1
    fill = style.PAPER if is_last else _colour(number)
    axes.add_patch(Circle(centre, radius, fc=fill, ec=style.INK if is_last else style.PAPER, lw=0.7, zorder=zorder))
    if is_last:
        axes.add_patch(Circle(centre, 0.8 * radius, fc="none", ec=style.INK, lw=0.5, zorder=zorder))
    state = str(parts[number].automaton_state)
    size, ink = 5.5 if len(state) == 1 else 4.5, style.ink_on(fill)
    style.write(axes, *centre, state, size, ink, ha="center", va="center_baseline", zorder=zorder)


def _colour(number: int) -> str:
    return style.PALETTE[number % len(style.PALETTE)]


def _steps(part: PathPart) -> str:
    return counted(part.last - part.first, "step")


def _caption(task: Task, seed: int, path: Path, parts: tuple[PathPart, ...], is_shown: bool) -> str:
    chain = "in the order of the episode, with their numbers of steps and what ends them"
    return (
        f"An episode of {task.name} (scene {seed}), cut into {counted(len(parts) - 1, 'part')} by the state of the"
        " automaton."
        + (
            " Left: the path of the agent in the initial scene; each part has the colour of its state, whose number is"
            " where it is entered. Overlapping lines are drawn side by side. Right: the same states"
            f" {chain}"
            if is_shown
            else f" The states {chain}; the scene is left out, as it has no renderer that tells where the agent is"
        )
        + f" {EXPLANATION}. The word is: {format_word(compress(path.labels))}."
    )


def _alt(task: Task, parts: tuple[PathPart, ...], is_shown: bool) -> str:
    chain = ", ".join(
        f"state {part.automaton_state} for {_steps(part)} until {part.difference}"
        for part in parts
        if part.label is not None
    )
    scene = f"A scene of {task.name} with the path of the agent in {counted(len(parts) - 1, 'colour')}, and a chain"
    return (
        f"{scene if is_shown else 'A chain'} of automaton states: {chain}; then state {parts[-1].automaton_state},"
        " which accepts."
    )
