"""What comes from OMPL (the extra `ompl`): curves of cars, and its planners for what a floor plan asks.

    draw_roadmap(plan, 500, steering=dubins(radius=0.8))
    plan_with_ompl(plan, start, goals, forbidden, prices, seconds=1.0)

This is the only module that imports OMPL. Its planners call back into Python, where a whole motion is checked and
priced by one compiled call.
"""

from __future__ import annotations

import atexit
import math
import time
from collections.abc import Sequence
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from wfairl.errors import BadInputError, FailedRunError, MissingExtraError
from wfairl.worlds.continuous.floor_plan import FloorPlan
from wfairl.worlds.continuous.shapes import Chains, Points, Shape, ShapeSet, join_chains
from wfairl.worlds.continuous.steering import Configurations

CHORD = 0.05
"""Metres, at most, of a segment of a curve. It leaves a curve of 1 m radius by a third of a millimetre, and cuts the
tip off where a car turns back, by half of it at most."""

PLANNERS = ("BITstar", "InformedRRTstar", "RRTstar")
"""Those that optimise; PRM* and SORRT* of the wheel of OMPL 2.0.1 do not always come back when their time is over."""

GOALS_AROUND = 12
"""Places near the edge of a goal region that OMPL may aim at, besides its middle."""

JUST_INSIDE = 0.98
"""Where these are, as a part of the way from the middle to the edge."""


class NoPathError(FailedRunError):
    """OMPL has found no path in its time."""


def dubins(radius: float) -> OmplCurves:
    """The steering of a car that only goes forward, by its turning radius in metres."""
    _check_radius(radius)
    base, _ = _import_ompl()
    return OmplCurves(base.DubinsStateSpace(radius), is_symmetric=False)


def reeds_shepp(radius: float) -> OmplCurves:
    """The steering of a car that also goes backward, by its turning radius in metres."""
    _check_radius(radius)
    base, _ = _import_ompl()
    return OmplCurves(base.ReedsSheppStateSpace(radius), is_symmetric=True)


class OmplCurves:
    """A `Steering` along the curves of one of OMPL's state spaces of places with a heading.

    Args:
        space: OMPL's state space.
        is_symmetric: whether the way back is the same.
    """

    dimensions = 3

    def __init__(self, space: Any, is_symmetric: bool):
        self.space, self.is_symmetric = space, is_symmetric
        self._one, self._other, self._between = (space.allocState() for _ in range(3))
        _alive.add(self)

    def lengths(self, starts: Configurations, ends: Configurations) -> NDArray[np.float64]:
        """See `Steering`."""
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return np.array([self._distance(one, other) for one, other in pairs], np.float64)

    def chains(self, starts: Configurations, ends: Configurations) -> Chains:
        """See `Steering`."""
        return join_chains([self.path(one, other) for one, other in zip(starts, ends, strict=True)])

    def path(self, start: Points, end: Points) -> Configurations:
        """See `Steering`."""
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
def _let_go() -> None:
    """Drop what is OMPL's before Python ends: its bindings complain about what is left."""
    for curves in _alive:
        del curves.space, curves._one, curves._other, curves._between


def plan_with_ompl(
    plan: FloorPlan,
    start: Points,
    goals: Sequence[Shape],
    forbidden: Sequence[Shape],
    prices: NDArray[np.float64],
    seconds: float,
    planner: str = "BITstar",
) -> Points:
    """A cheap path of straight lines that visits regions one after the other, by one of OMPL's planners.

    Each leg ends in one of some places in its region, and the next begins there; it has a part of the time that goes by
    the distance between the regions. OMPL draws its random numbers by itself: another call finds another path.

    Args:
        plan: the floor; what its own regions mean does not matter here.
        start: a place (x, y).
        goals: what to visit, in order.
        forbidden: what not to enter.
        prices: of a metre outside the zones and in each of them, above zero; shape [1 + zones].
        seconds: of the processor, for all legs together.
        planner: one of `PLANNERS`.

    Returns:
        The corners of the path, shape [corners, 2].

    Raises:
        NoPathError: a leg was not found in its time.
    """
    if planner not in PLANNERS:
        raise BadInputError(f"unknown planner {planner!r} of OMPL; known are {', '.join(PLANNERS)}")
    stops = np.array([np.asarray(start)[:2], *(goal.vertices.mean(axis=0) for goal in goals)])
    apart = np.linalg.norm(np.diff(stops, axis=0), axis=1) + 1.0
    path = [stops[0]]
    for goal, share in zip(goals, apart / apart.sum(), strict=True):
        path += _plan_leg(plan, path[-1], goal, forbidden, prices, seconds * share, planner)[1:]
    return np.array(path)


def _plan_leg(
    plan: FloorPlan,
    start: Points,
    goal: Shape,
    forbidden: Sequence[Shape],
    prices: NDArray[np.float64],
    seconds: float,
    planner: str,
) -> list[Points]:
    """The corners of a path into a region."""
    if ShapeSet([goal]).contain(start[None])[0, 0]:
        return [start]
    base, geometric = _import_ompl()
    information = base.SpaceInformation(_plane(base, plan))
    _check_motions_at_once(base, information, plan, ShapeSet(forbidden))
    information.setup()
    problem = base.ProblemDefinition(information)
    problem.addStartState(_state(information, start))
    targets = base.GoalStates(information)
    for place in _places_in(goal):
        if plan.is_free(place[None]):
            targets.addState(_state(information, place))
    problem.setGoal(targets)
    problem.setOptimizationObjective(_objective(base, information, plan, prices))
    search = getattr(geometric, planner)(information)
    search.setProblemDefinition(problem)
    search.setup()
    until = time.process_time() + float(seconds)
    search.solve(base.PlannerTerminationCondition(lambda: time.process_time() > until))
    if not problem.hasExactSolution():
        raise NoPathError(f"OMPL's {planner} has found no path in {seconds:.2g} s")
    found = problem.getSolutionPath()
    return [np.array([state[0], state[1]]) for state in found.getStates()]


def _places_in(goal: Shape) -> list[Points]:
    middle = goal.vertices.mean(axis=0)
    edge = goal.vertices[:: max(1, len(goal.vertices) // GOALS_AROUND)]
    return [middle, *(middle + JUST_INSIDE * (edge - middle))]


def _plane(base: Any, plan: FloorPlan) -> Any:
    left, bottom, right, top = plan.bounds
    bounds = base.RealVectorBounds(2)
    for number, (low, high) in enumerate(((left, right), (bottom, top))):
        bounds.setLow(number, low)
        bounds.setHigh(number, high)
    space = base.RealVectorStateSpace(2)
    space.setBounds(bounds)
    return space


def _state(information: Any, place: Points) -> Any:
    state = information.allocState()
    state[0], state[1] = float(place[0]), float(place[1])
    return state


def _segment(one: Any, other: Any) -> Chains:
    return Chains(np.array([[one[0], one[1]], [other[0], other[1]]]), _ENDS)


_ENDS = np.array([0, 2])


def _check_motions_at_once(base: Any, information: Any, plan: FloorPlan, forbidden: ShapeSet) -> None:
    """Have OMPL ask for a whole motion, which is exact, and not for states along it."""

    class Motions(base.MotionValidator):
        def checkMotion(self, one: Any, other: Any) -> bool:  # noqa: N802 - OMPL's own name
            segment = _segment(one, other)
            return bool(plan.are_free(segment)[0] and not forbidden.are_hit(segment)[0])

    def is_valid(state: Any) -> bool:
        point = np.array([[state[0], state[1]]])
        return not plan.obstacle_set.contain(point).any() and not forbidden.contain(point).any()

    information.setStateValidityChecker(is_valid)
    information.setMotionValidator(Motions(information))


def _objective(base: Any, information: Any, plan: FloorPlan, prices: NDArray[np.float64]) -> Any:
    """The price of a motion in units of the lowest price, so that its length is a lower bound, as OMPL assumes."""
    relative = np.asarray(prices, np.float64) / np.min(prices)

    class Priced(base.PathLengthOptimizationObjective):
        def motionCost(self, one: Any, other: Any) -> Any:  # noqa: N802 - OMPL's own name
            return base.Cost(float(plan.all_metres(_segment(one, other))[0] @ relative))

        def motionCostHeuristic(self, one: Any, other: Any) -> Any:  # noqa: N802
            return base.Cost(math.hypot(one[0] - other[0], one[1] - other[1]))

        def motionCostBestEstimate(self, one: Any, other: Any) -> Any:  # noqa: N802
            return base.Cost(math.hypot(one[0] - other[0], one[1] - other[1]))

    return Priced(information)


def _check_radius(radius: float) -> None:
    if not 0 < radius < math.inf:
        raise BadInputError(f"a turning radius is a number of metres above zero, not {radius}")


def _import_ompl() -> tuple[Any, Any]:
    """OMPL's base and its geometric planners.

    Raises:
        MissingExtraError: says which extra to install.
    """
    try:
        from ompl import base, geometric, util
    except ImportError:
        raise MissingExtraError("OMPL", "ompl") from None
    util.setLogLevel(util.LogLevel.LOG_ERROR)
    return base, geometric
