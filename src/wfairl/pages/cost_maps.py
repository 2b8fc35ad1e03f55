"""Maps of a cost over the places of one scene, one per control.

For one state of the automaton, a map shows at each place of the agent the mean cost of the control over the world
states there. If the world tells the agent's heading, a place is four triangles, one per heading: the right one is the
cost when the agent faces right. If it does not, one more map shows the cost of arriving at a place. Where the
demonstrations leave open whether a control costs more or less than a plain step, a map is grey.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton
from wfairl.core.automata.words import format_label
from wfairl.core.planning.cost import Cost
from wfairl.core.planning.path import nodes_along
from wfairl.core.planning.plan import find_plan
from wfairl.core.planning.product import Product, build_product
from wfairl.core.worlds.rendering import Places
from wfairl.core.worlds.task import Task
from wfairl.pages import style
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.text import counted
from wfairl.pages.world_drawing import need_places, need_rendering

MAPS_PER_ROW = 3
SCENE, GAP, TITLE, SCALE, TALLEST = 1.7, 0.14, 0.19, 0.5, 1.6
"""Inches: width of the scene, gap between maps, titles, colour scale, and maximum height of a map."""

ARRIVING_MAP = "arriving"


@dataclass(frozen=True, eq=False)
class CostMaps:
    """The cost of every control at every place, in one automaton state."""

    names: tuple[str, ...]  # of the maps: the controls, preceded by `ARRIVING_MAP` if headings are unknown
    places: NDArray[np.float64]  # pixels (x, y), [places, 2]
    headings: NDArray[np.float64]  # of the agent in degrees, NaN if unknown, [places]
    costs: NDArray[np.float64]  # means, NaN where a control is unavailable, nothing arrives or unknown; [maps, places]
    unknown: NDArray[np.bool_]  # whether the cost is unknown, [maps, places]
    automaton_state: int
    step: int  # of the plan, where it enters the automaton state
    label: str  # that it reads there
    image: NDArray[np.uint8]  # of the scene at that moment, [height, width, 3]


Known = Callable[[Product], NDArray[np.bool_]]
"""From a product to whether the cost of each transition is known, shape [nodes, controls]."""


def map_costs(task: Task, seed: int, automaton: Automaton, cost: Cost, is_known: Known | None = None) -> CostMaps:
    """The costs over one scene, in the automaton state in which the plan takes most steps.

    Args:
        is_known: which costs are known; all if None.

    Raises:
        NoRendererError: the world does not tell where the agent is.
    """
    world = task.make_world(seed)
    agent = need_places(world)
    product = build_product(world, automaton)
    table = cost(product)
    plan = find_plan(product, table)
    nodes = nodes_along(product, plan.path.controls)[:-1]
    visited = [int(product.automaton_states[node]) for node in nodes]
    automaton_state = max(dict.fromkeys(visited), key=visited.count)
    step = visited.index(automaton_state)
    inside = np.flatnonzero(product.automaton_states == automaton_state)
    inside = inside[:: -(-len(inside) // 20_000)]  # of more nodes, a regular sample
    is_oriented = agent.heading is not None
    poses = _poses(agent, product, inside)
    known = np.ones(table.shape, bool) if is_known is None else is_known(product)
    arrivals, moves = (poses[:0], (inside[:0], inside[:0])) if is_oriented else _arrivals(agent, product, inside)
    places, number = np.unique(np.concatenate([poses, arrivals]), axis=0, return_inverse=True)
    at, to = np.split(number.reshape(-1), [len(poses)])
    means = []
    for values in (table, known.astype(np.float64)):
        acting = _means(np.where(product.available[inside], values[inside], np.nan), at, len(places))
        arriving = [] if is_oriented else [_means(values[moves], to, len(places))]
        means.append(np.array([*arriving, *acting.T]))
    unknown = means[1] < 0.5  # not where it is NaN
    return CostMaps(
        names=(*([] if is_oriented else [ARRIVING_MAP]), *world.controls),
        places=places[:, :2],
        headings=places[:, 2] if is_oriented else np.full(len(places), np.nan),
        costs=np.where(unknown, np.nan, means[0]),
        unknown=unknown,
        automaton_state=automaton_state,
        step=step,
        label=format_label(plan.path.labels[step - 1]) if step else "the start",
        image=need_rendering(world).render(plan.path.states[step]),
    )


def _poses(agent: Places, product: Product, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
    """x, y and heading of the agent in product states, [nodes, 3]; 0 for an unknown heading."""
    states = [product.state(int(node)) for node in nodes]
    heading = agent.heading or (lambda _: 0.0)
    return np.array([(*agent.locate(state), heading(state)) for state in states])


def _means(costs: NDArray[np.float64], number: NDArray[np.int64], places: int) -> NDArray[np.float64]:
    """The mean of the finite costs at each place, shape [places, ...]."""
    finite = np.isfinite(costs)
    sums, counts = np.zeros((places, *costs.shape[1:])), np.zeros((places, *costs.shape[1:]))
    np.add.at(sums, number, np.where(finite, costs, 0.0))
    np.add.at(counts, number, finite)
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)


def _arrivals(
    agent: Places, product: Product, nodes: NDArray[np.int64]
) -> tuple[NDArray[np.float64], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The transitions that move the agent: targets as in `_poses`, [moves, 3], nodes and controls, [moves]."""
    targets, moves = [], []
    for row, control in np.argwhere(product.available[nodes]).tolist():
        state = product.state(int(nodes[row]))
        there = agent.locate(product.world.step(state, control))
        if there != agent.locate(state):
            targets.append((*there, 0.0))
            moves.append((nodes[row], control))
    of_nodes, controls = np.reshape(np.array(moves, np.int64), (-1, 2)).T
    return np.reshape(targets, (-1, 3)), (of_nodes, controls)


def draw_cost_maps(
    task: Task, seed: int, automaton: Automaton, cost: Cost, is_known: Known | None = None
) -> CaptionedFigure:
    """The scene, and one map per control on a common scale; arguments and errors are those of `map_costs`."""
    maps = map_costs(task, seed, automaton, cost, is_known)
    known = maps.costs[np.isfinite(maps.costs)]
    low, high = (float(known.min()), float(known.max())) if known.size else (1.0, 1.0)
    side = _side(maps)
    left, top, width, height = _window(maps, side)
    room = (style.PAGE - SCENE - SCALE - GAP * MAPS_PER_ROW) / MAPS_PER_ROW
    inches = min(room / width, TALLEST / height)  # of a pixel
    rows = -(-len(maps.names) // MAPS_PER_ROW)
    map_height = inches * height + TITLE
    scene_height = SCENE * maps.image.shape[0] / maps.image.shape[1]
    figure = style.new_figure(style.PAGE, max(rows * map_height + (rows - 1) * GAP, scene_height + TITLE))
    style.write_at(figure, 0, 0.02, f"automaton state {maps.automaton_state}", style.TEXT, va="top")
    scene = style.place(figure, 0, TITLE, SCENE, scene_height)
    style.show_image(scene, maps.image)
    scene.add_patch(Rectangle((left, top), width, height, fc="none", ec=style.VERMILLION, lw=1.0, ls=(0, (3, 1.5))))
    margin = max(0.02 - (high - low), 0.0) / 2  # smaller differences are not spread over all colours
    colours = ScalarMappable(Normalize(low - margin, high + margin), style.COST_COLOURS)
    for number, title in enumerate(maps.names):
        row, column = divmod(number, MAPS_PER_ROW)
        x, y = SCENE + GAP + column * (room + GAP), row * (map_height + GAP)
        style.write_at(figure, x, y + 0.02, title, style.TEXT, va="top")
        axes = style.place(figure, x, y + TITLE, inches * width, inches * height)
        style.show_image(axes, maps.image, fading=0.72)
        axes.set_xlim(left, left + width)
        axes.set_ylim(top + height, top)
        _colour_places(axes, maps, number, side, colours)
    _draw_scale(figure, colours)
    return CaptionedFigure("costs", figure, _caption(task, seed, maps, low, high), _alt(task, maps))


def _side(maps: CostMaps) -> float:
    """Pixels of the side of a place: the least distance between two places in a row or column, unless tiny."""
    gaps = [np.diff(np.unique(axis)) for axis in maps.places.T]
    least = min((float(gap.min()) for gap in gaps if len(gap)), default=float(maps.image.shape[1]))
    return max(least, 0.015 * maps.image.shape[1])


def _window(maps: CostMaps, side: float) -> tuple[float, float, float, float]:
    """The part of the image around all places: left, top, width, height."""
    height, width = maps.image.shape[:2]
    left, top = np.maximum(maps.places.min(axis=0) - 1.5 * side, 0)
    right, bottom = np.minimum(maps.places.max(axis=0) + 1.5 * side, (width, height))
    return float(left), float(top), float(right - left), float(bottom - top)


def _colour_places(axes: Any, maps: CostMaps, number: int, side: float, colours: ScalarMappable) -> None:
    """A square for each place with a cost, or a triangle for each heading at it; grey where the cost is unknown."""
    shapes = [place + side * _shape(heading) for place, heading in zip(maps.places, maps.headings, strict=True)]
    drawn, unknown = np.flatnonzero(np.isfinite(maps.costs[number])), np.flatnonzero(maps.unknown[number])
    common: dict[str, Any] = {"rasterized": True, "zorder": 2}  # in an SVG, thousands of shapes take more room
    coloured = PolyCollection(
        [shapes[i] for i in drawn],
        array=maps.costs[number, drawn],
        cmap=colours.cmap,
        norm=colours.norm,
        edgecolors="face" if np.isfinite(maps.headings).any() else style.PAPER,  # no seams between triangles
        linewidths=0.2,
        label=f"costs-{maps.names[number]}",
        **common,
    )
    axes.add_collection(coloured)
    axes.add_collection(PolyCollection([shapes[i] for i in unknown], facecolors=style.GREY, alpha=0.5, **common))


_CORNERS = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
"""Of a place, y downwards, clockwise from the upper left."""


def _shape(heading: float) -> NDArray[np.float64]:
    """The corners of a place, or of the triangle on the side that the agent faces."""
    if np.isnan(heading):
        return _CORNERS
    quarter = round(heading / 90)
    return np.array([(0.0, 0.0), _CORNERS[(1 + quarter) % 4], _CORNERS[(2 + quarter) % 4]])


def _draw_scale(figure: Any, colours: ScalarMappable) -> None:
    height = figure.get_size_inches()[1]
    axes = style.place(figure, style.PAGE - SCALE + 0.08, TITLE, 0.09, height - 2 * TITLE)
    bar = figure.colorbar(colours, cax=axes)
    bar.outline.set_visible(False)
    low, high = colours.get_clim()
    bar.set_ticks([float(tick) for tick in MaxNLocator(5).tick_values(low, high) if low <= tick <= high])
    axes.tick_params(labelsize=style.NOTE, labelfontfamily=style.FONT, length=2, width=0.6, color=style.GREY, pad=2)
    axes.tick_params(labelcolor=style.INK)
    axes.set_title("cost", size=style.NOTE, family=style.FONT, color=style.INK, loc="left", pad=4)


def _caption(task: Task, seed: int, maps: CostMaps, low: float, high: float) -> str:
    grey = " Grey: the demonstrations leave open whether it costs more than a plain step." if maps.unknown.any() else ""
    shapes = (
        "each place has one triangle per heading, the right one for an agent that faces right"
        if np.isfinite(maps.headings).any()
        else f"the map '{ARRIVING_MAP}' shows what it costs to get to a place"
    )
    return (
        f"The learned cost of each control in {task.name} (scene {seed}) in automaton state {maps.automaton_state},"
        f" which the plan enters after {counted(maps.step, 'step')} ({maps.label}). At each place that the agent can be"
        f" at in this state, the mean over the world states there; {shapes}. The maps show the part of the scene within"
        f" the dashed line. One scale for all maps; costs range from {low:.3g} to {high:.3g}, the highest"
        f" {high / low - 1:.0%} above the lowest.{grey}"
    )


def _alt(task: Task, maps: CostMaps) -> str:
    known = ((name, costs[np.isfinite(costs)]) for name, costs in zip(maps.names, maps.costs, strict=True))
    means = ", ".join(f"{name} {costs.mean():.2f}" for name, costs in known if costs.size)
    return f"A scene of {task.name} and a heat map of the cost of each control over its places; mean costs: {means}."
