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

from wfairl.core.automata.automaton import DEAD
from wfairl.core.planning.path import Path
from wfairl.pages import style
from wfairl.pages.automata.label_differences import format_difference
from wfairl.pages.text import counted

ROW, RADIUS, TEXT_LEFT = 0.32, 0.08, 0.4
"""Inches of the list of parts: the height of a part, the radius of its circle, and where its text begins."""

LINE = 2.2
"""Width of a path in points; less where the steps are short."""

Trace = NDArray[np.float64]
"""The pixels (x, y) that the agent passes in a step, from where it was to where it is; shape [points, 2]."""


@dataclass(frozen=True)
class PathPart:
    """A stretch of a path."""

    first: int  # the index of its first world state
    last: int  # and of its last one
    note: str  # how many steps it has, in which automaton state; of the last part, how the path ends
    event: str = ""  # what ended it; empty for the last part
    is_accepted: bool = False  # whether it is the last part of a path that is accepted


def split_by_event(path: Path) -> tuple[PathPart, ...]:
    """The parts of a path, which end where the automaton state changes or a proposition comes true; the end is one."""
    states, labels = path.automaton_states, (frozenset(), *path.labels)
    changes = {step for step, (one, other) in enumerate(pairwise(states), start=1) if one != other}
    moves = {0, len(path.controls)} | changes
    events = moves | {step for step, (one, other) in enumerate(pairwise(labels), start=1) if other - one}
    firsts = sorted(events if len(events) <= 16 else moves)  # more parts would not be readable

    def where(step: int) -> str:
        return "after the task is lost" if states[step] == DEAD else f"in automaton state {states[step]}"

    left = []
    for first, last in pairwise(firsts):
        event = format_difference(labels[last - 1], labels[last])
        left.append(PathPart(first, last, f"{counted(last - first, 'step')} {where(first)}", event))
    end, last = "accepted" if path.is_accepted else "end", len(path.controls)
    return (*left, PathPart(last, last, f"{end} {where(last)}", is_accepted=path.is_accepted))


def list_size(parts: Sequence[PathPart]) -> tuple[float, float]:
    """Width and least height of the list of parts, in inches."""
    texts = (text for part in parts for text in (part.note, part.event))
    return TEXT_LEFT + max(map(style.text_width, texts)), ROW * len(parts)


def draw_list(axes: Any, parts: Sequence[PathPart]) -> None:
    """The parts from top to bottom, and what ended each at the arrow to the next; axes in inches, y downwards."""
    height, _ = axes.get_ylim()
    row = min(height / len(parts), 1.4 * ROW)
    x, top = RADIUS + 0.14, (height - row * len(parts)) / 2
    for number, part in enumerate(parts):
        y = top + (number + 0.5) * row
        _draw_mark(axes, part, _colour(number, parts), (x, y), RADIUS)
        style.write(axes, TEXT_LEFT, y, part.note, va="center", colour=style.GREY)
        if part is not parts[-1]:
            tips = (x, y + RADIUS + 0.015), (x, y + row - RADIUS - 0.015)
            axes.add_patch(_arrow(*tips, 2.6, 1.4, color=style.INK, lw=0.8))
            style.write(axes, TEXT_LEFT, y + row / 2, part.event, va="center")


def draw_over(axes: Any, parts: Sequence[PathPart], traces: Sequence[Trace]) -> None:
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
    lines = _draw_lines(axes, parts, traces, line, inch)
    ends = [traces[0][0], *(trace[-1] for trace in traces)]
    places = [ends[part.first] for part in parts]
    centres = _beside(places, lines, image, RADIUS * inch)
    for number, (part, place, centre) in enumerate(zip(parts, places, centres, strict=True)):
        colour = _colour(number, parts)
        ink = style.INK if part is parts[-1] else colour
        leader = FancyArrowPatch(place, centre, arrowstyle="-", color=ink, lw=0.9, zorder=3, shrinkA=0, shrinkB=0)
        leader.set_path_effects(style.halo(1.8))
        axes.add_patch(leader)
        radius = 0.8 * line * inch / style.POINTS
        axes.add_patch(Circle(tuple(place), radius, fc=ink, ec=style.PAPER, lw=0.5, zorder=3.5))
        _draw_mark(axes, part, colour, centre, RADIUS * inch)


def _draw_lines(axes: Any, parts: Sequence[PathPart], traces: Sequence[Trace], line: float, inch: float) -> list[Trace]:
    """Draw the parts that move; the points of each, shape [points, 2]."""
    step, width = step_length(traces), line * inch / style.POINTS
    lanes = _lanes(parts[:-1], traces)
    # between parts that share their way: a ninth of a step, more where lines would touch
    apart = min(max(0.11 * step, 1.4 * width), 0.6 * step / (1 + 2 * max(lanes)))
    lines = []
    for number, (part, lane) in enumerate(zip(parts, lanes, strict=False)):
        colour = _colour(number, parts)
        points = np.concatenate([traces[part.first][:1], *(trace[1:] for trace in traces[part.first : part.last])])
        lines.append(points + lane * apart)
        axes.plot(
            *lines[-1].T, color=colour, lw=line, solid_capstyle="round", solid_joinstyle="round",
            label=f"part-{number}", path_effects=style.halo(line + 1.4), zorder=2,
        )  # fmt: skip
        for tail, tip in _arrows_along(lines[-1], 0.9 * inch, 2.6 * width):
            head = _arrow(tail, tip, 2.6 * line, 1.5 * line, color=colour, lw=0, zorder=2.5)
            head.set_path_effects(style.halo(1.2))
            axes.add_patch(head)
    return lines


def _draw_mark(axes: Any, part: PathPart, fill: str, centre: Any, radius: float) -> None:
    """The circle of a part: the step with which it begins; with two rings where the path is accepted."""
    rim = style.INK if fill == style.PAPER else style.PAPER
    axes.add_patch(Circle(tuple(centre), radius, fc=fill, ec=rim, lw=0.7, zorder=4))
    if part.is_accepted:
        axes.add_patch(Circle(tuple(centre), 0.82 * radius, fc="none", ec=rim, lw=0.5, zorder=4))
    text, (x, y) = str(part.first), centre
    size = {1: 6.0, 2: 5.0}.get(len(text), 3.8)
    style.write(axes, x, y, text, size, style.ink_on(fill), ha="center", va="center_baseline", zorder=4)


def step_length(traces: Sequence[Trace]) -> float:
    """Pixels of the shortest move; 1 if nothing moves."""
    lengths = [math.dist(trace[0], trace[-1]) for trace in traces]
    return min((length for length in lengths if length > 0), default=1.0)


def _colour(number: int, parts: Sequence[PathPart]) -> str:
    """The fill of a part's circle: white for the last one, where the path ends."""
    return style.PAPER if number == len(parts) - 1 else style.PALETTE[number % len(style.PALETTE)]


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
