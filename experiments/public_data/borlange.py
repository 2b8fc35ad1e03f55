"""Routes of drivers in Borlänge, the standard data of recursive logit models (Fosgerau et al. 2013).

A state is a link, a control one of the next links. Every destination is a link of its own without a successor.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.public_data.source import PublicSource, published_files
from experiments.public_data.trajectories import BrokenTrajectoriesError, TrajectorySet, from_routes, transition_table
from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.support.files import read_text
from wfairl.core.worlds.transitions import TransitionTable

FEATURES = ("travel time", "left turn", "link constant", "U-turn")

LEFT, U_TURN = -0.5236, 3.1
"""Angles in radians: below the first a turn is to the left, beyond the second in size it is a U-turn."""

INCIDENCE, TIME, ANGLE, ROUTES = (
    "linkIncidence.txt",
    "ATTRIBUTEestimatedtime.txt",
    "ATTRIBUTEturnangles.txt",
    "observationsForEstimBAI.txt",
)


def read_borlange(directory: Path) -> TrajectorySet:
    """The network with its four attributes and the observed trips; state k is link k + 1 of the files.

    Raises:
        BrokenTrajectoriesError: the files do not match, or are not tables of numbers.
    """
    incidence, times, angles, observed = (_rows(directory / name) for name in (INCIDENCE, TIME, ANGLE, ROUTES))
    pairs = np.unique(incidence[:, :2].astype(np.int64), axis=0)
    links = int(pairs[:, 0].max())  # higher numbers are destinations
    time_of, angle_of = _by_pair(times), _by_pair(angles)
    features = np.zeros((len(pairs), len(FEATURES)))
    for row, (link, after) in zip(features, pairs.tolist(), strict=True):
        if after <= links:
            if (link, after) not in time_of:
                raise BrokenTrajectoriesError(f"{directory / TIME}: no travel time from link {link} to {after}")
            row[:] = _attributes(time_of[link, after], angle_of.get((link, after), 0.0))
    table = _table(pairs - 1, features)
    routes = _routes(observed, directory / ROUTES)
    return from_routes("borlange", table, routes, {"all": np.arange(len(routes))})


def _rows(path: Path) -> NDArray[np.float64]:
    """A table of three columns."""
    try:
        rows = np.loadtxt(read_text(path).splitlines(), ndmin=2)
    except ValueError as error:
        raise BrokenTrajectoriesError(f"{path}: not a table of numbers ({error})") from None
    if rows.shape[1:] != (3,):
        raise BrokenTrajectoriesError(f"{path}: not a table of three columns")
    return rows


def _by_pair(rows: NDArray[np.float64]) -> dict[tuple[int, int], float]:
    return {(int(link), int(after)): value for link, after, value in rows.tolist()}


def _attributes(time: float, angle: float) -> tuple[float, float, float, float]:
    """The features of the step from one link to the next; see `FEATURES`."""
    return time, float(-U_TURN < angle < LEFT), 1.0, float(abs(angle) > U_TURN)


def _table(pairs: NDArray[np.int64], features: NDArray[np.float64]) -> TransitionTable:
    """In a state, control i leads to the target of its i-th pair; pairs are sorted."""
    source, target = pairs.T
    control = np.arange(len(pairs)) - np.searchsorted(source, source)
    shape = (int(pairs.max()) + 1, int(control.max()) + 1)
    successors = np.full(shape, UNAVAILABLE, np.int32)
    successors[source, control] = target
    return transition_table(tuple(f"link {i}" for i in range(shape[1])), successors, features, FEATURES)


def _routes(observed: NDArray[np.float64], path: Path) -> list[list[int]]:
    """The links of each trip in order, the destination last; in the file it stands first."""
    trips: dict[int, dict[int, int]] = {}
    for trip, position, link in observed.astype(np.int64).tolist():
        trips.setdefault(trip, {})[position] = link - 1
    routes = []
    for trip, links in sorted(trips.items()):
        route = [links.get(position, -1) for position in range(2, len(links) + 1)]
        if not route or -1 in route or route[-1] != links[1]:
            raise BrokenTrajectoriesError(f"{path}: trip {trip} has gaps, or does not end at its destination")
        routes.append(route)
    return routes


BORLANGE = PublicSource(
    title="Routes of drivers in Borlänge",
    where="Input/ of github.com/maitien86/RecursiveLogit.Classical.V2, commit 43ce934",
    files=published_files("borlange"),
    read=read_borlange,
)
