"""A cache of worlds. A thread makes those that pages need: some, such as a sampled roadmap, take seconds."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from wfairl.core.worlds.world import World
from wfairl.studio.task_spec import TaskSpec
from wfairl.studio.workers import CancelledJobError, QueuedJob

CAPACITY = 256
"""Worlds in the cache; the least recently used goes first."""


class WorldCache:
    """Worlds by task spec and seed."""

    def __init__(self) -> None:
        self._worlds: OrderedDict[tuple[str, int], World[Any]] = OrderedDict()
        self._thread = ThreadPoolExecutor(1)

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

    def make(self, spec: TaskSpec, seeds: Sequence[int]) -> QueuedJob:
        """Make worlds in the thread; they are in the cache when the job is done.

        It fails with a `BadInputError` if a scene lacks an object of a proposition.
        """
        cancelled = threading.Event()

        def work() -> None:
            for seed in seeds:
                if cancelled.is_set():
                    raise CancelledJobError("cancelled")
                if self.missing(spec, [seed]):  # an earlier job may have made it
                    self._worlds[spec.world_key, seed] = spec.task.make_world(seed)

        return QueuedJob(self._thread.submit(work), cancelled.set)
