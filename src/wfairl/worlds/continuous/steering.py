"""The contract of steering: the shortest way from one configuration to another where nothing is in between.

A configuration is a place (x, y), or a place with a heading (x, y, radians) for what cannot turn on the spot. Straight
lines are here; Dubins' and Reeds and Shepp's curves are OMPL's (`ompl_steering`).
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wfairl.worlds.continuous.shapes import Chains, Points, straight_chains

Configurations = NDArray[np.float64]
"""Shape [configurations, 2] or [configurations, 3]."""


class Steering(Protocol):
    """How a robot gets from one configuration to another.

    Attributes:
        dimensions: 2 for places, 3 for places with a heading.
        is_symmetric: whether the way back is the same.
    """

    dimensions: int
    is_symmetric: bool

    def lengths(self, starts: Configurations, ends: Configurations) -> NDArray[np.float64]:
        """Metres from each start to each end, shape [pairs]."""
        ...

    def chains(self, starts: Configurations, ends: Configurations) -> Chains:
        """The ways from each start to each end, as chains of short segments."""
        ...

    def path(self, start: Points, end: Points) -> Configurations:
        """One such way, with the headings that it has; shape [points, dimensions]."""
        ...


class Straight:
    """A robot that goes straight to where it wants to be."""

    dimensions = 2
    is_symmetric = True

    def lengths(self, starts: Configurations, ends: Configurations) -> NDArray[np.float64]:
        """See `Steering`."""
        return np.linalg.norm(ends - starts, axis=1)

    def chains(self, starts: Configurations, ends: Configurations) -> Chains:
        """See `Steering`."""
        return straight_chains(starts, ends)

    def path(self, start: Points, end: Points) -> Configurations:
        """See `Steering`."""
        return np.array([start, end])


STRAIGHT = Straight()
