"""The contract of steering: the shortest path from one configuration to another in free space.

A configuration is a place (x, y), or a pose (x, y, radians) for a robot that cannot turn on the spot. Straight lines
are here; the curves of Dubins and of Reeds and Shepp are OMPL's (`ompl_steering`).
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wfairl.floors.shapes import Chains, Points, straight_chains

Configurations = NDArray[np.float64]
"""Shape [configurations, 2] or [configurations, 3]."""


class Steering(Protocol):
    """How a robot gets from one configuration to another.

    Attributes:
        dimensions: 2 for places, 3 for poses.
        is_symmetric: whether the path back is the same.
    """

    dimensions: int
    is_symmetric: bool

    def lengths(self, starts: Configurations, ends: Configurations) -> NDArray[np.float64]:
        """Metres from each start to each end, shape [pairs]."""
        ...

    def chains(self, starts: Configurations, ends: Configurations) -> Chains:
        """The paths from each start to each end, as chains of short segments."""
        ...

    def path(self, start: Points, end: Points) -> Configurations:
        """One such path, with its headings; shape [points, dimensions]."""
        ...


class Straight:
    """A robot that moves in straight lines."""

    dimensions = 2
    is_symmetric = True

    def lengths(self, starts: Configurations, ends: Configurations) -> NDArray[np.float64]:
        return np.linalg.norm(ends - starts, axis=1)

    def chains(self, starts: Configurations, ends: Configurations) -> Chains:
        return straight_chains(starts, ends)

    def path(self, start: Points, end: Points) -> Configurations:
        return np.array([start, end])


STRAIGHT = Straight()
