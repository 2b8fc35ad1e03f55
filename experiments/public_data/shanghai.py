"""Routes of taxis in Shanghai (Zhao and Liang 2023), with the authors' five splits.

A state is a link, a control one of eight compass directions relative to the heading; a trip is done when it arrives at
its last link.
"""

import csv
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.public_data.source import PublicSource, published_files
from experiments.public_data.trajectories import BrokenTrajectoriesError, TrajectorySet, from_routes, transition_table
from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.support.files import read_bytes, read_text
from wfairl.core.worlds.transitions import TransitionTable

CONTROLS = ("ahead", "half right", "right", "sharp right", "back", "sharp left", "left", "half left")

CLASSES = ("primary", "secondary", "tertiary", "residential")

FEATURES = (
    "link constant",
    *(f"length on {name} roads, km" for name in (*CLASSES, "other")),
    "right turn",
    "left turn",
    "U-turn",
)
"""Of the link that is entered, and of the turn into it. Half turns follow the road and count as none."""

RIGHT_TURNS, U_TURN, LEFT_TURNS = (2, 3), 4, (5, 6)

SPLITS, SIZES = range(5), (100, 1_000, 10_000)

LINKS, NODES, TRANSITIONS, ROUTES = "edge.txt", "node.txt", "transit.npy", "cross_validation"


def test_split(split: int) -> str:
    """The name of the routes to test on."""
    return f"test_CV{split}"


def training_split(split: int, size: int) -> str:
    """The name of the routes to learn from."""
    return f"train_CV{split}_size{size}"


def read_shanghai(directory: Path) -> TrajectorySet:
    """The network and the routes of all splits that are there.

    Raises:
        BrokenTrajectoriesError: the files do not match, or are not such tables.
    """
    links = _table_rows(directory / LINKS, ("u", "v", "highway", "length", "n_id"))
    table = _table(links, _transitions(directory / TRANSITIONS, len(links)), _positions(directory / NODES, links))
    routes: list[list[int]] = []
    splits: dict[str, NDArray[np.int64]] = {}
    for path in sorted((directory / ROUTES).glob("*.csv")):
        of_split = [_route(row["path"], path, len(links)) for row in _table_rows(path, ("path",))]
        splits[path.stem] = np.arange(len(routes), len(routes) + len(of_split))
        routes += of_split
    return from_routes("shanghai", table, routes, splits)


def _table_rows(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    rows = list(csv.DictReader(io.StringIO(read_text(path))))
    missing = [name for name in columns if not rows or rows[0].get(name) is None]
    if missing:
        raise BrokenTrajectoriesError(f"{path}: not a table with a column {missing[0]!r}")
    return rows


def _transitions(path: Path, links: int) -> NDArray[np.int32]:
    """The successor of each link and control, shape [links, controls]."""
    try:
        rows = np.load(io.BytesIO(read_bytes(path)), allow_pickle=False)
    except ValueError as error:
        raise BrokenTrajectoriesError(f"{path}: not an array of numbers ({error})") from None
    if rows.ndim != 2 or rows.shape[1] != 3 or not np.issubdtype(rows.dtype, np.integer):
        raise BrokenTrajectoriesError(f"{path}: not rows of link, control and next link")
    if rows.min() < 0 or rows[:, [0, 2]].max() >= links or rows[:, 1].max() >= len(CONTROLS):
        raise BrokenTrajectoriesError(f"{path}: a link is none of the {links}, or a control none of {len(CONTROLS)}")
    successors = np.full((links, len(CONTROLS)), UNAVAILABLE, np.int32)
    successors[rows[:, 0], rows[:, 1]] = rows[:, 2]
    return successors


def _positions(path: Path, links: list[dict[str, str]]) -> NDArray[np.float64]:
    """The middle of each link, in degrees."""
    nodes = {row["osmid"]: (float(row["x"]), float(row["y"])) for row in _table_rows(path, ("osmid", "x", "y"))}
    try:
        return np.array([np.mean([nodes[link["u"]], nodes[link["v"]]], axis=0) for link in links])
    except KeyError as error:
        raise BrokenTrajectoriesError(f"{path}: no node {error}") from None


def _table(
    links: list[dict[str, str]], successors: NDArray[np.int32], positions: NDArray[np.float64]
) -> TransitionTable:
    names = [link["highway"] for link in links]
    kilometres = np.array([float(link["length"]) for link in links]) / 1000
    road = np.array([CLASSES.index(name) if name in CLASSES else len(CLASSES) for name in names])
    state, control = np.nonzero(successors != UNAVAILABLE)
    entered = successors[state, control]
    features = np.zeros((len(state), len(FEATURES)))
    features[:, 0] = 1.0
    features[np.arange(len(state)), 1 + road[entered]] = kilometres[entered]
    features[:, -3] = np.isin(control, RIGHT_TURNS)
    features[:, -2] = np.isin(control, LEFT_TURNS)
    features[:, -1] = control == U_TURN
    return transition_table(CONTROLS, successors, features, FEATURES, positions)


def _route(text: str, path: Path, links: int) -> list[int]:
    try:
        route = [int(link) for link in text.split("_")]
    except ValueError:
        route = []
    if len(route) < 2 or not 0 <= min(route) <= max(route) < links:
        raise BrokenTrajectoriesError(f"{path}: {text[:40]!r} is not a route over the {links} links")
    return route


SHANGHAI = PublicSource(
    title="Routes of taxis in Shanghai",
    where="data/ of github.com/liangchunyaobing/RCM-AIRL, commit 02d4005",
    files=published_files("shanghai"),
    read=read_shanghai,
)
