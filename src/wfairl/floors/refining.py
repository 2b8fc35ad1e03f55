"""Plans on a roadmap refined in the plane: cheaper, with the same word.

Stations stand along the plan, and some places are drawn around each station: a band. The cheapest path through
the band that touches no obstacle and has the word of the plan, letter by letter, is found exactly. It is the next plan,
and the next band is narrower. The plan itself is a path through its band, so that the cost never rises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.words import Word
from wfairl.core.support.errors import BadInputError
from wfairl.floors.floor_plan import subdivide
from wfairl.floors.matching import cheapest_path
from wfairl.floors.shapes import Points, lines_between

if TYPE_CHECKING:
    from wfairl.floors.roadmap import FloorScene

FOREIGN_LABEL = -1
"""The number of a label that a word does not have."""

ROUNDS = 10
"""Number of bands, one after the other."""

STATIONS, AROUND, REACH = 48, 4, 5
"""Stations along the plan, places at each with the plan's own, and stations that one step of a path may span."""

FIRST_WIDTH, LAST_WIDTH = 0.4, 0.01
"""Metres: the standard deviation of the places around a station in the first and the last band."""


@dataclass(frozen=True, eq=False)
class RefinedPath:
    """A path in the plane."""

    path: Points  # its corners, shape [points, 2]
    metres: NDArray[np.float64]  # outside the zones and in each of them, shape [1 + zones]
    cost: float  # of the metres
    word: Word  # of the path, from its first point on


def refine_path(
    scene: FloorScene,
    places: Points,
    prices: NDArray[np.float64],
    rounds: int = ROUNDS,
) -> RefinedPath:
    """A cheaper path with the same start and word as a plan.

    Args:
        scene: the floor, with the propositions of its regions.
        places: of the plan, such as its vertices; the lines between them touch no obstacle.
        prices: of a metre outside the zones and in each of them, above zero; shape [1 + zones].
        rounds: number of bands.

    Raises:
        BadInputError: the prices do not fit the floor.
    """
    rng, roadmap = np.random.default_rng(0), scene.roadmap
    if len(prices) != len(roadmap.plan.feature_names) or not (np.asarray(prices) > 0).all():
        raise BadInputError(f"prices are one above zero for each of {', '.join(roadmap.plan.feature_names)}")
    best = np.asarray(places, np.float64)
    word = scene.shown_word(best)
    for width in np.geomspace(FIRST_WIDTH, LAST_WIDTH, rounds).tolist():
        best = _refine_once(scene, best, word, prices, width, rng)
    metres = roadmap.plan.metres(best)
    return RefinedPath(best, metres, float(metres @ prices), scene.shown_word(best))


def _refine_once(
    scene: FloorScene,
    rough: Points,
    word: Word,
    prices: NDArray[np.float64],
    width: float,
    rng: np.random.Generator,
) -> Points:
    """The cheapest path through one band."""
    metres = np.linalg.norm(np.diff(rough, axis=0), axis=1)
    steps = np.maximum(1, np.ceil(metres / max(metres.sum() / STATIONS, 1e-9))).astype(np.int64)
    spine, corners = subdivide(rough, steps), np.cumsum([0, *steps])
    station = np.repeat(np.arange(len(spine)), AROUND)
    drawn = spine[station] + width * rng.normal(size=(len(station), spine.shape[1]))
    is_own = np.arange(len(station)) % AROUND == 0
    drawn[is_own | (station == 0)] = spine[station[is_own | (station == 0)]]
    source, target = _pairs(station, corners * AROUND)
    plan, lines = scene.roadmap.plan, lines_between(drawn[source], drawn[target])
    number = {label: i for i, label in enumerate(dict.fromkeys(word))}
    labels = np.array([number.get(label, FOREIGN_LABEL) for label in scene.shown_labels(drawn)])
    changes = scene.meaningful.count_crossings(lines).sum(axis=1)
    is_edge = (changes == (labels[source] != labels[target])) & plan.are_free(lines)
    costs = plan.all_metres(lines)[is_edge] @ prices
    letters = np.array([number[label] for label in word])
    path, _ = cheapest_path(source[is_edge], target[is_edge], costs, labels, letters, 0, np.arange(len(drawn)))
    return drawn[path]


def _pairs(station: NDArray[np.int64], corners: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs (from, to) of places, up to `REACH` stations ahead, and of any two of the plan's own; each once."""
    count = len(station)
    near_one, ahead = np.nonzero(np.ones((count, REACH * AROUND), bool))
    near_other = (station[near_one] + 1) * AROUND + ahead
    within = near_other < count
    far_one, far_other = (corners[side] for side in np.triu_indices(len(corners), 1))
    keys = np.concatenate([near_one[within] * count + near_other[within], far_one * count + far_other])
    distinct = np.unique(keys)
    return distinct // count, distinct % count
