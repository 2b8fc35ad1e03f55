"""The curves of cars, by OMPL's state spaces; needs the extra `ompl`.

    draw_roadmap(plan, 500, steering=dubins(radius=0.8))

This is the only module that imports OMPL.
"""

from __future__ import annotations

import atexit
import math
from collections.abc import Sequence
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.errors import BadInputError, MissingExtraError
from wfairl.floors.shapes import Chains, Points, join_chains
from wfairl.floors.steering import Configurations

CHORD = 0.05
"""The longest segment of a curve in metres. It deviates from a curve of 1 m radius by a third of a millimetre, and cuts
the tip where a car reverses by at most half of its length."""


def dubins(radius: float) -> OmplCurves:
    """The steering of a car that only drives forward, by its turning radius in metres."""
    _check_radius(radius)
    base = _import_ompl()
    return OmplCurves(base.DubinsStateSpace(radius), is_symmetric=False)


def reeds_shepp(radius: float) -> OmplCurves:
    """The steering of a car that also drives backward, by its turning radius in metres."""
    _check_radius(radius)
    base = _import_ompl()
    return OmplCurves(base.ReedsSheppStateSpace(radius), is_symmetric=True)


class OmplCurves:
    """A `Steering` along the curves of one of OMPL's state spaces of poses."""

    dimensions = 3

    def __init__(self, space: Any, is_symmetric: bool):
        self.space, self.is_symmetric = space, is_symmetric
        self._one, self._other, self._between = (space.allocState() for _ in range(3))
        _alive.add(self)

    def lengths(self, starts: Configurations, ends: Configurations) -> NDArray[np.float64]:
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return np.array([self._distance(one, other) for one, other in pairs], np.float64)

    def chains(self, starts: Configurations, ends: Configurations) -> Chains:
        return join_chains([self.path(one, other) for one, other in zip(starts, ends, strict=True)])

    def path(self, start: Points, end: Points) -> Configurations:
        steps = max(1, math.ceil(self._distance(start.tolist(), end.tolist()) / CHORD))
        points = [start, *(self._interpolate(i / steps) for i in range(1, steps)), end]
        return np.array(points, np.float64)

    def _distance(self, start: Sequence[float], end: Sequence[float]) -> float:
        for state, (x, y, heading) in ((self._one, start), (self._other, end)):
            state.setXY(x, y)
            state.setYaw(heading)
        return float(self.space.distance(self._one, self._other))

    def _interpolate(self, part: float) -> tuple[float, float, float]:
        self.space.interpolate(self._one, self._other, part, self._between)
        return self._between.getX(), self._between.getY(), self._between.getYaw()


_alive: WeakSet[OmplCurves] = WeakSet()


@atexit.register
def _release() -> None:
    """Drop OMPL's objects before Python exits: its bindings complain about those that are left."""
    for curves in _alive:
        del curves.space, curves._one, curves._other, curves._between


def _check_radius(radius: float) -> None:
    if not 0 < radius < math.inf:
        raise BadInputError(f"a turning radius is a number of metres above zero, not {radius}")


def _import_ompl() -> Any:
    """OMPL's state spaces, or a `MissingExtraError` that says what to install."""
    try:
        from ompl import base
    except ImportError:
        raise MissingExtraError("OMPL", "ompl") from None
    return base
