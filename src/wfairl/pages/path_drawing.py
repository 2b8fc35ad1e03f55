"""A path drawn over an image of its world, and the list of its parts beside it.

A part is a stretch of the path, such as that in one automaton state. Each has a colour, an arrow for its direction, and
a circle where it begins; parts that share a piece of their way run side by side.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.patches import Circle, FancyArrowPatch
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.planning.path import Path
from wfairl.pages import style
from wfairl.pages.automata.label_differences import format_difference

MOST_PARTS = 16
"""Beyond this, only changes of the automaton state begin a part."""

ROW, RADIUS, TEXT_LEFT = 0.32, 0.08, 0.4
"""Inches of the list of parts: the height of a part, the radius of its circle, and where its text begins."""

LANE = 0.11
"""Distance between parts that share their way, in steps of the agent; more where lines would touch."""

ARROWS_APART = 0.9
"""Inches between the arrows of a part."""

LINE = 2.2
"""Width of a path in points; less where the steps are short."""

Trace = NDArray[np.float64]
"""The pixels (x, y) that the agent passes in a step, from where it was to where it is; shape [points, 2]."""


@dataclass(frozen=True)
class PathPart:
    """A stretch of a path.

    Attributes:
        automaton_state: the automaton state at its beginning.
        first, last: indices of its first and last world state.
        label: of the step to `last`, which ended it; None for the final part.
        before: the label before that step; None at the start.
    """

    automaton_state: int
    first: int
    last: int
    label: Label | None
    before: Label | None

    @property
    def steps(self) -> str:
        """The number of its steps, as text."""
        return f"{self.last - self.first} step{'' if self.last - self.first == 1 else 's'}"

    @property
    def difference(self) -> str:
        """What ended it, as text; nothing for the final part."""
        return "" if self.label is None else format_difference(self.before, self.label)


def split_by_event(path: Path) -> tuple[PathPart, ...]:
    """The parts of a path, which end where the automaton state changes or a proposition comes true; the end is one."""
    states = path.automaton_states
    changes = {step for step, (one, other) in enumerate(pairwise(states), start=1) if one != other}
    moves = {0, len(path.controls)} | changes
    labels = (frozenset(), *path.labels)
    events = moves | {step for step in range(1, len(labels)) if labels[step] - labels[step - 1]}
    firsts, before = sorted(events if len(events) <= MOST_PARTS else moves), [None, *path.labels]
    left = [PathPart(states[first], first, last, before[last], before[last - 1]) for first, last in pairwise(firsts)]
    return (*left, PathPart(states[firsts[-1]], firsts[-1], len(path.controls), None, None))


@dataclass(frozen=True)
class PartsDrawing:
    """The parts of a path as they are drawn, over an image and as a list.

    Attributes:
        marks, notes: the text in the circle of each part, and beside its circle in the list.
        is_accepted: whether the path ends in acceptance, which the last circle shows by two rings.
    """

    parts: tuple[PathPart, ...]
    marks: tuple[str, ...]
    notes: tuple[str, ...]
    is_accepted: bool

    @property
    def list_size(self) -> tuple[float, float]:
        """Width and least height of the list, in inches."""
        texts = (*self.notes, *(part.difference for part in self.parts))
        return TEXT_LEFT + max(map(style.text_width, texts)), ROW * len(self.parts)

    def draw_list(self, axes: Any) -> None:
        """The parts from top to bottom, and what ended each at the arrow to the next; axes in inches, y downwards."""
        height, _ = axes.get_ylim()
        row = min(height / len(self.parts), 1.4 * ROW)
        x, top = RADIUS + 0.14, (height - row * len(self.parts)) / 2
        for number, part in enumerate(self.parts):
            y = top + (number + 0.5) * row
            self._draw_mark(axes, number, (x, y), RADIUS)
            style.write(axes, TEXT_LEFT, y, self.notes[number], va="center", colour=style.GREY)
            if part.label is None:
                continue
            tips = (x, y + RADIUS + 0.015), (x, y + row - RADIUS - 0.015)
            axes.add_patch(_arrow(*tips, 2.6, 1.4, color=style.INK, lw=0.8))
            text = style.write(axes, TEXT_LEFT, y + row / 2, part.difference, va="center")
            text.set_label(f"label-{number}")

    def draw_over(self, axes: Any, traces: Sequence[Trace]) -> None:
        """A line for each part that moves, and a circle beside the place where each begins.

        Args:
            axes: show the image, in its pixels, y downwards.
            traces: the pixels that the agent passes in each step of the path.
        """
        if not traces:  # the image itself shows where the agent is
            return
        image = axes.images[0].get_array()
        inch = image.shape[1] / (axes.get_position().width * axes.figure.get_size_inches()[0])  # in pixels
        line = min(LINE, max(0.9, 0.3 * step_length(traces) * style.POINTS / inch))
        lines = self._draw_lines(axes, traces, line, inch)
        ends = [traces[0][0], *(trace[-1] for trace in traces)]
        places = [ends[part.first] for part in self.parts]
        centres = _beside(places, lines, image, RADIUS * inch)
        for number, (place, centre) in enumerate(zip(places, centres, strict=True)):
            ink = style.INK if number == len(self.parts) - 1 else _colour(number)
            leader = FancyArrowPatch(place, centre, arrowstyle="-", color=ink, lw=0.9, zorder=3, shrinkA=0, shrinkB=0)
            leader.set_path_effects(style.halo(1.8))
            axes.add_patch(leader)
            axes.add_patch(
                Circle(tuple(place), 0.8 * line * inch / style.POINTS, fc=ink, ec=style.PAPER, lw=0.5, zorder=3.5)
            )
            self._draw_mark(axes, number, (float(centre[0]), float(centre[1])), RADIUS * inch)

    def _draw_lines(self, axes: Any, traces: Sequence[Trace], line: float, inch: float) -> list[Trace]:
        """Draw the parts that move; the points of each, shape [points, 2]."""
        step, width = step_length(traces), line * inch / style.POINTS
        moving = [number for number, part in enumerate(self.parts) if part.last > part.first]
        lanes = _lanes([self.parts[number] for number in moving], traces)
        apart = min(max(LANE * step, 1.4 * width), 0.6 * step / (1 + 2 * max(lanes)))
        lines = []
        for number, lane in zip(moving, lanes, strict=True):
            part, colour = self.parts[number], _colour(number)
            points = np.concatenate([traces[part.first][:1], *(trace[1:] for trace in traces[part.first : part.last])])
            lines.append(points + lane * apart)
            axes.plot(
                *lines[-1].T, color=colour, lw=line, solid_capstyle="round", solid_joinstyle="round",
                label=f"part-{number}", path_effects=style.halo(line + 1.4), zorder=2,
            )  # fmt: skip
            for tail, tip in _arrows_along(lines[-1], ARROWS_APART * inch, 2.6 * width):
                head = _arrow(tail, tip, 2.6 * line, 1.5 * line, color=colour, lw=0, zorder=2.5)
                head.set_path_effects(style.halo(1.2))
                axes.add_patch(head)
        return lines

    def _draw_mark(self, axes: Any, number: int, centre: tuple[float, float], radius: float) -> None:
        is_last = number == len(self.parts) - 1
        fill = style.PAPER if is_last else _colour(number)
        axes.add_patch(Circle(centre, radius, fc=fill, ec=style.INK if is_last else style.PAPER, lw=0.7, zorder=4))
        if is_last and self.is_accepted:
            axes.add_patch(Circle(centre, 0.82 * radius, fc="none", ec=style.INK, lw=0.5, zorder=4))
        mark = self.marks[number]
        size = {1: 6.0, 2: 5.0}.get(len(mark), 3.8)
        style.write(axes, *centre, mark, size, style.ink_on(fill), ha="center", va="center_baseline", zorder=4)


def step_length(traces: Sequence[Trace]) -> float:
    """Pixels of the shortest move; 1 if nothing moves."""
    lengths = [math.dist(trace[0], trace[-1]) for trace in traces]
    return min((length for length in lengths if length > 0), default=1.0)


def _colour(number: int) -> str:
    return style.PALETTE[number % len(style.PALETTE)]


def _lanes(parts: Sequence[PathPart], traces: Sequence[Trace]) -> list[float]:
    """How far each part runs beside the middle of its way: 0, unless it shares a piece of its way with others."""
    ends = [frozenset({tuple(trace[0].tolist()), tuple(trace[-1].tolist())}) for trace in traces]
    ways = [{piece for piece in ends[part.first : part.last] if len(piece) == 2} for part in parts]
    lanes: list[int] = []
    for way in ways:
        taken = {lane for lane, other in zip(lanes, ways, strict=False) if way & other}
        lanes.append(next(lane for lane in itertools.count() if lane not in taken))
    return [
        lane - max(other for other, also in zip(lanes, ways, strict=True) if also is way or also & way) / 2
        for lane, way in zip(lanes, ways, strict=True)
    ]


def _arrow(tail: Any, tip: Any, length: float, half_width: float, **settings: Any) -> FancyArrowPatch:
    head = f"-|>,head_length={length:g},head_width={half_width:g}"
    return FancyArrowPatch(tail, tip, arrowstyle=head, shrinkA=0, shrinkB=0, mutation_scale=1, **settings)


def _arrows_along(points: Trace, apart: float, length: float) -> list[tuple[Any, Any]]:
    """Tails and tips of arrows along a line; none if it is too short for one."""
    along = _along(points)
    if along[-1] < 4 * length:
        return []
    count = max(1, round(along[-1] / apart))
    middles = (np.arange(count) + 0.5) * along[-1] / count
    pieces = np.searchsorted(along, middles)
    room = np.minimum(2 * length, along[pieces] - along[pieces - 1]) / 2  # keeps arrows off corners
    middles = np.clip(middles, along[pieces - 1] + room, along[pieces] - room)
    directions = points[pieces] - points[pieces - 1]
    half = directions * length / 2 / np.linalg.norm(directions, axis=1, keepdims=True)
    centres = _points_at(points, middles)
    return list(zip((centres - half).tolist(), (centres + half).tolist(), strict=True))


def _along(points: Trace) -> NDArray[np.float64]:
    """The length of a line up to each of its points."""
    return np.concatenate([[0.0], np.linalg.norm(np.diff(points, axis=0), axis=1).cumsum()])


def _points_at(points: Trace, lengths: NDArray[np.float64]) -> Trace:
    """The points of a line at some lengths along it."""
    along = _along(points)
    return np.stack([np.interp(lengths, along, points[:, axis]) for axis in (0, 1)], axis=1)


def _beside(places: Sequence[Any], lines: Sequence[Trace], image: NDArray[Any], radius: float) -> list[Any]:
    """Centres of circles beside their places, where they cover no other, little of the lines and of the image."""
    height, width = image.shape[:2]
    grey = np.asarray(image, np.float64).mean(axis=2)
    samples = [_points_at(line, np.arange(0, _along(line)[-1], radius / 4)) for line in lines]
    way = np.concatenate([*samples, places])
    around = [
        distance * radius * np.array([math.cos(angle), math.sin(angle)])
        for distance in (1.8, 2.6, 3.6)
        for angle in np.arange(-math.pi / 4, 1.75 * math.pi, math.pi / 4)  # to the upper right first
    ]
    centres: list[Any] = []

    def covered(centre: Any) -> float:
        x, y = centre
        if not (radius <= x <= width - radius and radius <= y <= height - radius):
            return math.inf
        others = sum(float(np.linalg.norm(centre - other)) < 2.1 * radius for other in centres)
        under = grey[round(y - radius) : round(y + radius) + 1, round(x - radius) : round(x + radius) + 1]
        on_way = int((np.linalg.norm(way - centre, axis=1) < 1.15 * radius).sum())
        return 100 * others + on_way + float(under.std()) / 10 + float(np.linalg.norm(centre - place)) / radius

    for place in places:
        centres.append(min((place + offset for offset in around), key=covered))
    return centres
