"""Worlds of scenes, kept once they are made.

Most take milliseconds; some, such as a roadmap that has to be drawn, seconds. Those of pages are made in a process of
their own, so that neither pages nor learning wait for them.
"""

import pickle
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from wfairl.studio.assignment import Assignment
from wfairl.studio.workers import Report
from wfairl.worlds.world import World

MOST_KEPT = 256
"""Worlds that are kept, those that were used last."""


class SceneStore:
    """Worlds by assignment and seed."""

    def __init__(self) -> None:
        self._worlds: OrderedDict[tuple[str, int], World[Any]] = OrderedDict()

    def world(self, assignment: Assignment, seed: int) -> World[Any]:
        """A world; one that is not kept is made here and now."""
        key = assignment.scenery, seed
        if key not in self._worlds:
            self._worlds[key] = assignment.task.make_world(seed)
        self._worlds.move_to_end(key)
        while len(self._worlds) > MOST_KEPT:
            self._worlds.popitem(last=False)
        return self._worlds[key]

    def missing(self, assignment: Assignment, seeds: Iterable[int]) -> list[int]:
        """The seeds whose worlds would have to be made."""
        return sorted(seed for seed in seeds if (assignment.scenery, seed) not in self._worlds)

    def unpack(self, assignment: Assignment, packed: bytes | None) -> None:
        """Keep what `make_scenes` has made, if it could travel."""
        if packed is None:
            return
        try:
            worlds: dict[int, World[Any]] = pickle.loads(packed)  # noqa: S301 - a child process of ours wrote it
        except (pickle.PickleError, AttributeError, ImportError, TypeError):
            return  # it is made here when it is needed
        self._worlds.update({(assignment.scenery, seed): world for seed, world in worlds.items()})


def make_scenes(report: Report, assignment: Assignment, seeds: Sequence[int]) -> bytes | None:
    """The worlds of seeds for another process; None if they are not of a kind that can travel.

    Raises:
        BadInputError: a scene lacks what the assignment speaks of.
    """
    worlds = {}
    for seed in seeds:
        worlds[seed] = assignment.task.make_world(seed)
        report()
    try:
        return pickle.dumps(worlds)
    except (pickle.PickleError, AttributeError, TypeError):
        return None
