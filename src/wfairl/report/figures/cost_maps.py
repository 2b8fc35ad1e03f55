"""What does each control cost, and where? The learned cost over the grid of one scene.

One map a control, for the moment at which the plan enters an automaton state: things lie where they lie then, the
agent carries what it carries then, and the agent itself is put everywhere. A cell is four triangles, one for each
direction that the agent may face; the one at the right is the cost when it faces right.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from wfairl.automata.finite import FiniteAutomaton
from wfairl.automata.words import format_label
from wfairl.errors import BadInputError
from wfairl.planning.cost import Cost
from wfairl.planning.plan import find_plan
from wfairl.planning.product import build_product
from wfairl.report.figures.drawn import DrawnFigure
from wfairl.report.figures.frame import Frame, photograph, show_frame
from wfairl.report.figures.style import (
    COST_COLOURS,
    FONT,
    NORMAL,
    PAGE,
    PALE,
    PAPER,
    QUIET,
    SMALL,
    new_figure,
    place,
    without_frame,
    write_at,
)
from wfairl.report.text import counted
from wfairl.worlds.minigrid.view import DIRECTIONS, HANDS, view_states
from wfairl.worlds.task import Task

MAPS_PER_ROW = 3
SCENE, GAP, TITLE, SCALE, TALLEST = 1.7, 0.14, 0.19, 0.5, 1.6
"""Inches: width of the scene, between maps, of the titles, of the colour scale, and of a map that is tall."""

NARROWEST = 0.02
"""Costs that differ by less than this are drawn as equal, not spread over all colours."""


@dataclass(frozen=True, eq=False)
class CostMaps:
    """The cost of every control wherever the agent could be at one moment of a task.

    Attributes:
        costs: NaN where the agent cannot be; shape [controls, height, width, directions].
        controls: the names of the controls.
        automaton_state: the state of the moment.
        step: the plan gets there with this step.
        carried: what the agent carries then.
        prefix: the controls up to there.
        label: what was true when the state was entered, for people.
    """

    costs: NDArray[np.float64]
    controls: tuple[str, ...]
    automaton_state: int
    step: int
    carried: str
    prefix: tuple[int, ...]
    label: str


def map_costs(
    task: Task, seed: int, automaton: FiniteAutomaton, cost: Cost, automaton_state: int | None = None
) -> CostMaps:
    """The costs at the moment when the cheapest plan enters an automaton state.

    Args:
        task: the task.
        seed: the scene.
        automaton: the task as it was learned.
        cost: the cost as it was learned.
        automaton_state: which; the one that the plan spends most steps in if None.

    Raises:
        BadInputError: the plan does not go through that state, or ends there.
    """
    world = task.make_world(seed)
    product = build_product(world, automaton)
    table = cost(product)
    plan = find_plan(product, table)
    nodes = product.walk(plan.path.controls)[:-1]
    visited = [int(product.modes[node]) for node in nodes]
    if automaton_state is None:
        automaton_state = max(dict.fromkeys(visited), key=visited.count)
    if automaton_state not in visited:
        raise BadInputError(
            f"the plan in scene {seed} of {task.name} takes no step in automaton state {automaton_state}; it takes"
            f" some in {', '.join(map(str, dict.fromkeys(visited)))}"
        )
    step = visited.index(automaton_state)
    view = view_states(world, np.asarray(product.states))
    here = nodes[step]
    alike = (
        (product.modes == automaton_state)
        & (view.grid_numbers == view.grid_numbers[here])
        & (view.carried == view.carried[here])
    )
    _, height, width = view.grids.shape
    costs = np.full((len(world.controls), height * width, DIRECTIONS), np.nan)
    costs[:, view.cells[alike], view.directions[alike]] = table[alike].T
    return CostMaps(
        costs=costs.reshape(len(world.controls), height, width, DIRECTIONS),
        controls=tuple(world.controls),
        automaton_state=automaton_state,
        step=step,
        carried=HANDS[view.carried[here]],
        prefix=plan.path.controls[:step],
        label=format_label(plan.path.labels[step - 1]) if step else "the start",
    )


def draw_cost_maps(
    task: Task,
    seed: int,
    automaton: FiniteAutomaton,
    cost: Cost,
    automaton_state: int | None = None,
    name: str = "costs",
) -> DrawnFigure:
    """The scene, and one map a control with one scale for all; arguments as for `map_costs`."""
    maps = map_costs(task, seed, automaton, cost, automaton_state)
    environment = task.make_environment(seed, render_mode="rgb_array")
    for taken in maps.prefix:
        environment.step(taken)
    frame = photograph(environment)
    window = _window(maps.costs)
    _, _, columns, lines = window
    room = (PAGE - SCENE - SCALE - GAP * MAPS_PER_ROW) / MAPS_PER_ROW
    inches = min(room / columns, TALLEST / lines)  # of a cell
    rows = -(-len(maps.controls) // MAPS_PER_ROW)
    map_height = inches * lines + TITLE
    scene_height = SCENE * frame.height / frame.width
    figure = new_figure(PAGE, max(rows * map_height + (rows - 1) * GAP, scene_height + TITLE))
    write_at(figure, 0, 0.02, f"automaton state {maps.automaton_state}", NORMAL, va="top")
    _draw_scene(place(figure, 0, TITLE, SCENE, scene_height), frame, window)
    scale = _scale(maps.costs)
    for number, control in enumerate(maps.controls):
        row, column = divmod(number, MAPS_PER_ROW)
        left, top = SCENE + GAP + column * (room + GAP), row * (map_height + GAP)
        write_at(figure, left, top + 0.02, control, NORMAL, va="top")
        axes = place(figure, left, top + TITLE, inches * columns, inches * lines)
        _draw_map(axes, maps.costs[number], window, scale, control)
    _draw_scale(figure, scale)
    return DrawnFigure(name, figure, _caption(task, seed, maps), _alt(task, maps))


def _window(costs: NDArray[np.float64]) -> tuple[int, int, int, int]:
    """The cells within one of where the agent can be: left, top, columns, rows."""
    possible = np.isfinite(costs).any(axis=(0, 3))
    ys, xs = np.nonzero(possible)
    left, top = max(0, int(xs.min()) - 1), max(0, int(ys.min()) - 1)
    right, bottom = min(possible.shape[1], int(xs.max()) + 2), min(possible.shape[0], int(ys.max()) + 2)
    return left, top, right - left, bottom - top


def _draw_scene(axes: Any, frame: Frame, window: tuple[int, int, int, int]) -> None:
    """The scene, with a rim around the part that the maps show."""
    show_frame(axes, frame)
    left, top, columns, rows = window
    rim = Rectangle((left - 0.5, top - 0.5), columns, rows, fc="none", ec=PAPER, lw=1.0, ls=(0, (3, 1.5)))
    axes.add_patch(rim)


def _scale(costs: NDArray[np.float64]) -> Normalize:
    low, high = float(np.nanmin(costs)), float(np.nanmax(costs))
    if high - low < NARROWEST:
        low, high = (low + high - NARROWEST) / 2, (low + high + NARROWEST) / 2
    return Normalize(low, high)


def _draw_map(
    axes: Any, costs: NDArray[np.float64], window: tuple[int, int, int, int], scale: Normalize, control: str
) -> None:
    """Four triangles a cell where the agent can be; hatched elsewhere."""
    without_frame(axes)
    axes.set_facecolor(PAPER)
    left, top, columns, rows = window
    axes.set_xlim(left - 0.5, left + columns - 0.5)
    axes.set_ylim(top + rows - 0.5, top - 0.5)
    ys, xs, directions = (axis.tolist() for axis in np.nonzero(np.isfinite(costs)))
    cells = [(left + x, top + y) for y, x in np.ndindex(rows, columns)]
    impossible = [_square(x, y) for x, y in cells if not np.isfinite(costs[y, x]).any()]
    axes.add_collection(
        PolyCollection(impossible, facecolors=PAPER, edgecolors=PALE, hatch="////", linewidths=0, label="impossible")
    )
    triangles = PolyCollection(
        [_triangle(x, y, d) for x, y, d in zip(xs, ys, directions, strict=True)],
        array=costs[ys, xs, directions],
        cmap=COST_COLOURS,
        norm=scale,
        edgecolors="face",  # no seams of paper between neighbours
        linewidths=0.2,
        label=f"costs-{control}",
    )
    axes.add_collection(triangles)
    reached = np.unique(np.stack([xs, ys], axis=1), axis=0)
    axes.add_collection(
        PolyCollection([_square(x, y) for x, y in reached], facecolors="none", edgecolors=PAPER, linewidths=0.8)
    )


_CORNERS = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
"""Of a cell, y downwards, from the upper left one on."""

_FACING = ((1, 2), (2, 3), (3, 0), (0, 1))
"""The corners of the side that the agent faces: right, down, left, up."""


def _square(x: int, y: int) -> NDArray[np.float64]:
    return _CORNERS + np.array([x, y])


def _triangle(x: int, y: int, direction: int) -> NDArray[np.float64]:
    return np.array([(0.0, 0.0), *_CORNERS[list(_FACING[direction])]]) + np.array([x, y])


def _draw_scale(figure: Any, scale: Normalize) -> None:
    height = figure.get_size_inches()[1]
    axes = place(figure, PAGE - SCALE + 0.08, TITLE, 0.09, height - 2 * TITLE)
    bar = figure.colorbar(ScalarMappable(scale, colormaps[COST_COLOURS]), cax=axes)
    bar.outline.set_visible(False)
    bar.set_ticks(_ticks(scale))
    axes.tick_params(labelsize=SMALL, labelfontfamily=FONT, length=2, width=0.6, color=QUIET, pad=2)
    axes.set_title("cost", size=SMALL, family=FONT, loc="left", pad=4)


def _ticks(scale: Normalize) -> list[float]:
    """About five round numbers within the scale."""
    low, high = float(scale.vmin or 0.0), float(scale.vmax or 0.0)
    return [float(tick) for tick in MaxNLocator(5).tick_values(low, high) if low <= tick <= high]


def _caption(task: Task, seed: int, maps: CostMaps) -> str:
    low, high = float(np.nanmin(maps.costs)), float(np.nanmax(maps.costs))
    return (
        f"The learned cost of each control in {task.name} (scene {seed}) at the moment when the plan enters automaton"
        f" state {maps.automaton_state}, after {counted(maps.step, 'step')} ({maps.label}); the agent carries"
        f" {maps.carried if maps.carried == HANDS[0] else f'a {maps.carried}'}."
        " The agent is put everywhere that it could be in this state with everything else as it is: each cell has"
        " one triangle for each direction, the right one for an agent that faces right. Hatched: it cannot be there."
        " The maps show the part of the scene within the dashed line."
        f" One scale for all maps; costs range from {low:.3g} to {high:.3g}, the dearest {high / low - 1:.0%} above the"
        " cheapest."
    )


def _alt(task: Task, maps: CostMaps) -> str:
    means = ", ".join(
        f"{control} {np.nanmean(costs):.2f}" for control, costs in zip(maps.controls, maps.costs, strict=True)
    )
    return f"A scene of {task.name} and a heat map of the cost of each control over its cells; mean costs: {means}."
