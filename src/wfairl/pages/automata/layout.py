"""Layout of the states and edges of an automaton in an image; no Graphviz needed.

States stand in columns by their longest path from the initial one, ordered within a column so that few edges cross.
More columns than fit on a screen wind on below, from right to left and back again.
Edges are cubic curves: straight to the next column, otherwise bent to the side with more room, and loops on top of
their state. Labels avoid states, curves and each other. All lengths are in pixels, y downwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Arrow, Automaton, EdgeCounts

RADIUS = 22.0
FONT_SIZE = 14.0
CHARACTER_WIDTH = 8.2
LINE_HEIGHT = 18.0
MARGIN = 26.0
MAX_LINES = 4
"""Labels of parallel edges that are written out; the rest is counted, and of a loop with more of them all are."""

WIDEST = 24
"""Characters of a line; the longer names of events take several."""

TIMES = LOST_TEXT = "\N{MULTIPLICATION SIGN}"
"""Before the number of words that took an edge; and the text of the place where the task is lost."""

WIDEST_BAND = 1_400.0
"""Pixels from the first to the last column of a band: columns that need more wind on below, back and forth."""

SAMPLES = 33
"""Points of a curve with which texts and other curves are compared."""

Point = tuple[float, float]
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class LabelledEdge:
    """An edge: a line for each label that leads from one state to another, with how many words took it if known."""

    source: int
    target: int
    lines: tuple[str, ...]

    @property
    def size(self) -> Point:
        """Width and height of the text."""
        return max(map(len, self.lines)) * CHARACTER_WIDTH, len(self.lines) * LINE_HEIGHT


@dataclass(frozen=True)
class DrawnEdge(LabelledEdge):
    """An edge in its place."""

    curve: NDArray[np.float64]  # control points of a cubic Bezier curve, from rim to rim, shape [4, 2]
    label_centre: Point  # the middle of the text

    def placed_lines(self) -> list[tuple[str, float]]:
        """Each line of the text, and the y of its middle."""
        top = (len(self.lines) - 1) / 2
        return [(line, self.label_centre[1] + (i - top) * LINE_HEIGHT) for i, line in enumerate(self.lines)]


@dataclass(frozen=True)
class AutomatonLayout:
    """An automaton in its places, in an image of a width and a height."""

    # centre of each state and, where edges lose the task, of the place for that; shape [places, 2]
    centres: NDArray[np.float64]
    accepting: NDArray[np.bool_]  # [places]
    edges: tuple[DrawnEdge, ...]
    width: float
    height: float
    states: int  # how many of the places are states
    badge: str = ""  # what loses the task in every state, which no edge shows, in words

    @property
    def badge_place(self) -> Point:
        """Where the badge begins."""
        return MARGIN, self.height - MARGIN / 2

    def name(self, place: int) -> str:
        """The text in a place."""
        return str(place) if place < self.states else LOST_TEXT


def lay_out(automaton: Automaton, edge_counts: EdgeCounts | None = None) -> AutomatonLayout:
    """Place the states and edges of an automaton.

    The loop that reads the last label again, which every state has unless repeats are kept, is left out. Where edges
    lose the task, one more place, behind all states, stands for that; what loses it in every state is a badge.
    """
    never = _always_lost(automaton)
    arrows = [arrow for arrow in automaton.arrows() if arrow.target != DEAD or arrow.text not in never]
    places = automaton.states + any(arrow.target == DEAD for arrow in arrows)
    edges = _gather_edges(arrows, edge_counts or {}, automaton.states)
    depth = _depths(places, edges)
    columns = _order_columns(depth, edges)
    centres = _place_states(columns, depth, edges)
    drawn = _place_edges(centres, depth, edges)
    accepting = np.append(automaton.accepting, np.zeros(places - automaton.states, bool))
    layout = _fit_to_page(centres, accepting, drawn, automaton.states)
    return replace(layout, badge=f"never {', '.join(never)}", height=layout.height + LINE_HEIGHT) if never else layout


def _always_lost(automaton: Automaton) -> tuple[str, ...]:
    """The texts of edges with which every state that is not accepting loses the task."""
    lost: dict[str, set[int]] = {}
    for arrow in automaton.arrows():
        if arrow.target == DEAD:
            lost.setdefault(arrow.text, set()).add(arrow.source)
    live = set(np.flatnonzero(~automaton.accepting).tolist())
    return tuple(text for text, sources in lost.items() if sources >= live)


def _gather_edges(arrows: Sequence[Arrow], counts: EdgeCounts, lost: int) -> list[LabelledEdge]:
    """One edge for all arrows from one place to another; those that lose the task lead to the place `lost`."""
    gathered: dict[tuple[int, int], list[Arrow]] = {}
    for arrow in arrows:
        gathered.setdefault((arrow.source, lost if arrow.target == DEAD else arrow.target), []).append(arrow)
    edges = []
    for (source, target), group in gathered.items():
        texts = [arrow.text + (f"  {TIMES}{times}" if (times := arrow.count(counts)) else "") for arrow in group]
        if len(texts) > MAX_LINES and source == target:
            texts = [f"any of {len(texts)} others"]
        elif len(texts) > MAX_LINES:
            texts = [*texts[: MAX_LINES - 1], f"and {len(texts) - MAX_LINES + 1} more"]
        lines = [line for text in texts for line in _lines(text)]
        edges.append(LabelledEdge(source, target, tuple(lines)))
    return edges


def _lines(text: str) -> list[str]:
    """A text in lines that are not too wide, broken between words only."""
    return wrap(text, WIDEST, break_long_words=False, break_on_hyphens=False) if len(text) > WIDEST else [text]


def _depths(places: int, edges: Sequence[LabelledEdge]) -> NDArray[np.int64]:
    """Most steps from the initial state to each place, not counting edges that close a cycle; [places]."""
    followers = [sorted({edge.target for edge in edges if edge.source == place} - {place}) for place in range(places)]
    finished = _finish_order(followers)
    rank = {state: i for i, state in enumerate(reversed(finished))}  # topological, but for edges back
    depth = np.zeros(places, np.int64)
    for state in reversed(finished):
        for target in followers[state]:
            if rank[target] > rank[state]:
                depth[target] = max(depth[target], depth[state] + 1)
    return depth


def _finish_order(followers: list[list[int]]) -> list[int]:
    """The states in the order in which a depth-first search leaves them, without recursion."""
    order: list[int] = []
    visited: set[int] = set()
    for start in range(len(followers)):  # a hand-made automaton may hold states that 0 does not lead to
        stack = [(start, iter(followers[start]))] if start not in visited else []
        visited.add(start)
        while stack:
            target = next((t for t in stack[-1][1] if t not in visited), None)
            if target is None:
                order.append(stack.pop()[0])
            else:
                visited.add(target)
                stack.append((target, iter(followers[target])))
    return order


def _order_columns(depth: NDArray[np.int64], edges: list[LabelledEdge]) -> list[list[int]]:
    """The states of each column from top to bottom, each near the mean of its neighbours."""
    columns = [[int(state) for state in np.flatnonzero(depth == d)] for d in range(int(depth.max()) + 1)]
    neighbours: dict[int, list[int]] = {state: [] for column in columns for state in column}
    for edge in edges:
        if edge.source != edge.target:
            neighbours[edge.source].append(edge.target)
            neighbours[edge.target].append(edge.source)
    height = {state: i - (len(column) - 1) / 2 for column in columns for i, state in enumerate(column)}
    for sweep in range(8):
        for column in columns if sweep % 2 == 0 else columns[::-1]:
            column.sort(key=lambda s: float(np.mean([height[n] for n in neighbours[s]] or [height[s]])))
            height.update({state: i - (len(column) - 1) / 2 for i, state in enumerate(column)})
    return columns


def _place_states(columns: list[list[int]], depth: NDArray[np.int64], edges: list[LabelledEdge]) -> NDArray[np.float64]:
    centres = np.zeros((len(depth), 2))
    row_gap = 2 * RADIUS + 30 + max((edge.size[1] for edge in edges), default=0.0)
    band = max(map(len, columns)) * row_gap + RADIUS
    x, y, way = 0.0, 0.0, 1
    for d, column in enumerate(columns):
        if d:
            texts = [edge.size[0] for edge in edges if d in (depth[edge.source], depth[edge.target])]
            gap = 2 * RADIUS + 44 + max(texts, default=0.0)
            if 0 <= x + way * gap <= WIDEST_BAND:
                x += way * gap
            else:
                y, way = y + band, -way
        for i, state in enumerate(column):
            centres[state] = x, y + (i - (len(column) - 1) / 2) * row_gap
    return centres


def _place_edges(centres: NDArray[np.float64], depth: NDArray[np.int64], edges: list[LabelledEdge]) -> list[DrawnEdge]:
    pairs = {(edge.source, edge.target) for edge in edges}
    loops = {edge.source: edge for edge in edges if edge.source == edge.target}
    taken = [_reserved(centres[state], loops.get(state)) for state in range(len(centres))]
    curves: list[tuple[LabelledEdge, NDArray[np.float64]]] = []
    ink = np.zeros((0, 2))
    for edge in sorted(edges, key=lambda e: abs(int(depth[e.target] - depth[e.source]))):
        returning = (edge.target, edge.source) in pairs
        candidates = _candidate_curves(edge, centres, depth, returning)
        others = [box for state, box in enumerate(taken) if state not in (edge.source, edge.target)]
        curve = min(candidates, key=lambda points: _crowding(points, others, ink))
        curves.append((edge, curve))
        ink = np.vstack([ink, points_on(curve, SAMPLES)])
    taken = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in centres]
    drawn = []
    for edge, curve in curves:
        centre = _free_spot(curve, edge.size, taken, ink)
        taken.append(_box(centre, edge.size))
        drawn.append(DrawnEdge(**vars(edge), curve=curve, label_centre=centre))
    return drawn


def _reserved(centre: NDArray[np.float64], loop: LabelledEdge | None) -> Box:
    """The box of a state, with that of its loop and the loop's text on top."""
    x, y = centre
    half = RADIUS + 8 if loop is None else max(RADIUS + 8, loop.size[0] / 2)
    above = RADIUS + 8 if loop is None else RADIUS * 2.2 + loop.size[1] + 10
    return float(x - half), float(y - above), float(x + half), float(y + RADIUS + 8)


def _candidate_curves(
    edge: LabelledEdge, centres: NDArray[np.float64], depth: NDArray[np.int64], returning: bool
) -> list[NDArray[np.float64]]:
    """Curves from rim to rim; one for a loop or a plain step to the next column, else bows to both sides."""
    start, end = centres[edge.source], centres[edge.target]
    if edge.source == edge.target:
        side, up = RADIUS * np.array([0.6, -0.8]), np.array([RADIUS * 1.5, -RADIUS * 2.6])
        return [np.array([start + side * (-1, 1), start + up * (-1, 1), start + up, start + side])]
    columns = int(depth[edge.target] - depth[edge.source])
    if columns == 1 and not returning and start[0] != end[0]:
        return [_bow(start, end, 0.0)]
    if abs(columns) == 1:
        return [_bow(start, end, 0.2 * float(np.linalg.norm(end - start)))]
    least = RADIUS * 2 + 34 * max(1, abs(columns))
    return [_bow(start, end, side * least * size) for size in (0.4, 1.0, 1.4, 2.0, 2.8) for side in (1, -1)]


def _bow(start: NDArray[np.float64], end: NDArray[np.float64], height: float) -> NDArray[np.float64]:
    """A curve that leaves its chord by about `height`, to the left of its direction if positive."""
    chord = end - start
    normal = np.array([chord[1], -chord[0]]) / np.linalg.norm(chord)
    first, second = start + chord * 0.3 + normal * height, start + chord * 0.7 + normal * height
    leave, enter = first - start, second - end
    rim_start = start + RADIUS * leave / np.linalg.norm(leave)
    rim_end = end + RADIUS * enter / np.linalg.norm(enter)
    return np.array([rim_start, first, second, rim_end])


def _crowding(curve: NDArray[np.float64], boxes: list[Box], ink: NDArray[np.float64]) -> float:
    """How much a curve runs through the boxes of states and along other curves; longer is worse too."""
    points = points_on(curve, SAMPLES)
    through = sum(int(_inside(points, box).sum()) for box in boxes)
    along = 0
    if len(ink):
        nearest = np.abs(points[:, None, :] - ink[None, :, :]).max(axis=2).min(axis=1)
        along = int((nearest < 9).sum())
    return 1000.0 * through + 60.0 * along + float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def _inside(points: NDArray[np.float64], box: Box) -> NDArray[np.bool_]:
    x0, y0, x1, y1 = box
    x, y = points.T
    inside: NDArray[np.bool_] = (x > x0) & (x < x1) & (y > y0) & (y < y1)
    return inside


def points_on(curve: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Points of a cubic Bezier curve at equally spaced parameters from 0 to 1, shape [count, 2]."""
    t = np.linspace(0, 1, count)[:, None]
    return np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3]) @ curve


def _free_spot(curve: NDArray[np.float64], size: Point, taken: list[Box], ink: NDArray[np.float64]) -> Point:
    """The spot beside the curve, near its middle, where text of a size covers the fewest boxes and lines."""
    best, least, points = (0.0, 0.0), np.inf, points_on(curve, 51)
    for t, aside, away, side in product(
        (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74), (0.0, 0.25, -0.25, 0.55, -0.55), (5.0, 14.0, 26.0), (-1, 1)
    ):
        x, y = points[round(50 * t)].tolist()
        spot = (x + aside * (size[0] + 16), y + side * (size[1] / 2 + away))
        box = _box(spot, size)
        covered = 5 * sum(_overlap(box, other) for other in taken) + 150 * int(_inside(ink, box).sum())
        cost = covered + 60 * abs(t - 0.5) + 20 * abs(aside) + away + (6 if side > 0 else 0)
        if cost < least:
            best, least = spot, cost
    return best


def _box(centre: Point, size: Point) -> Box:
    (x, y), (width, height) = centre, size
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _overlap(a: Box, b: Box) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def _fit_to_page(
    centres: NDArray[np.float64], accepting: NDArray[np.bool_], drawn: list[DrawnEdge], states: int
) -> AutomatonLayout:
    """Shift everything so that the image starts at (0, 0) and nothing is cut off."""
    corners = [centres.min(axis=0) - (RADIUS + 40, RADIUS), centres.max(axis=0) + RADIUS]
    for edge in drawn:
        corners.extend(points_on(edge.curve, 9))
        half = np.array(edge.size) / 2
        corners.extend([np.array(edge.label_centre) - half, np.array(edge.label_centre) + half])
    low, high = np.min(corners, axis=0) - MARGIN, np.max(corners, axis=0) + MARGIN
    moved = tuple(
        replace(edge, curve=edge.curve - low, label_centre=tuple(np.array(edge.label_centre) - low)) for edge in drawn
    )
    return AutomatonLayout(centres - low, accepting, moved, float(high[0] - low[0]), float(high[1] - low[1]), states)
