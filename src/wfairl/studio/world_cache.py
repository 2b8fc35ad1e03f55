"""A cache of worlds, and the job that makes them.

Most worlds take milliseconds to make; some, such as a sampled roadmap, take seconds. A process of its own makes those
that pages need, so that neither pages nor learning wait for them.
"""

import pickle
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from wfairl.core.worlds.world import World
from wfairl.studio.task_spec import TaskSpec
from wfairl.studio.workers import Tick

CAPACITY = 256
"""Worlds in the cache; the least recently used goes first."""


class WorldCache:
    """Worlds by task spec and seed."""

    def __init__(self) -> None:
        self._worlds: OrderedDict[tuple[str, int], World[Any]] = OrderedDict()

    def world(self, spec: TaskSpec, seed: int) -> World[Any]:
        """A world; one that is missing is made here and now."""
        key = spec.world_key, seed
        if key not in self._worlds:
            self._worlds[key] = spec.task.make_world(seed)
        self._worlds.move_to_end(key)
        while len(self._worlds) > CAPACITY:
            self._worlds.popitem(last=False)
        return self._worlds[key]

    def missing(self, spec: TaskSpec, seeds: Iterable[int]) -> list[int]:
        """The seeds of worlds that are not in the cache."""
        return sorted(seed for seed in seeds if (spec.world_key, seed) not in self._worlds)

    def add_pickled(self, spec: TaskSpec, pickled: bytes | None) -> None:
        """Add the worlds that `make_worlds` made, if they could be pickled."""
        if pickled is None:
            return
        try:
            worlds: dict[int, World[Any]] = pickle.loads(pickled)  # noqa: S301 - a child process of ours wrote it
        except (pickle.PickleError, AttributeError, ImportError, TypeError):
            return  # `world` makes it when it is needed
        self._worlds.update({(spec.world_key, seed): world for seed, world in worlds.items()})


def make_worlds(tick: Tick, spec: TaskSpec, seeds: Sequence[int]) -> bytes | None:
    """The pickled worlds of seeds; None if they cannot be pickled.

    Raises:
        BadInputError: a scene lacks an object of a proposition.
    """
    worlds = {}
    for seed in seeds:
        worlds[seed] = spec.task.make_world(seed)
        tick()
    try:
        return pickle.dumps(worlds)
    except (pickle.PickleError, AttributeError, TypeError):
        return None
