"""OMPL's BIT*, for visiting regions of a floor in order at least cost.

Our compiled code checks and prices a whole motion exactly, in one call. The planners in OMPL 2.0.1's wheel sometimes
crash the process (BIT*) or do not return when their time is over (PRM*, SORRT*), so BIT* runs in a separate process.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ompl import base, geometric, util

from wfairl.floors import FloorPlan
from wfairl.floors.shapes import Chains, Points, Shape, ShapeSet, corners_of

GOALS_AROUND = 12
"""Places near the edge of a goal region that OMPL may aim at, besides its middle."""

JUST_INSIDE = 0.98
"""Where these are, as a part of the way from the middle to the edge."""

TRIES = 3
"""Before a crash counts as a path that was not found."""

util.setLogLevel(util.LogLevel.LOG_ERROR)


class NoPathError(Exception):
    """OMPL has found no path in its time."""


class SafeOmpl:
    """Runs `plan_with_ompl` in another process, and again where that ends by itself."""

    def __init__(self) -> None:
        self.crashes = 0
        self._start()

    def _start(self) -> None:
        self._executor = ProcessPoolExecutor(1, mp_context=get_context("spawn"))

    def plan(self, *arguments: Any) -> Points:
        """See `plan_with_ompl`."""
        for _ in range(TRIES):
            try:
                return self._executor.submit(plan_with_ompl, *arguments).result()
            except BrokenProcessPool:
                self.crashes += 1
                self._start()
        raise NoPathError("OMPL ends the process")


def plan_with_ompl(
    plan: FloorPlan,
    start: Points,
    goals: Sequence[Shape],
    forbidden: Sequence[Shape],
    prices: NDArray[np.float64],
    seconds: float,
) -> Points:
    """A cheap path of straight lines that visits regions one after the other, by OMPL's BIT*.

    Each leg ends in one of some places in its region, and the next begins there; it has a part of the time that goes by
    the distance between the regions. OMPL draws its random numbers by itself: another call finds another path.

    Args:
        plan: the floor; what its own regions mean does not matter here.
        start: a place (x, y).
        goals: what to visit, in order.
        forbidden: what not to enter.
        prices: of a metre outside the zones and in each of them, above zero; shape [1 + zones].
        seconds: of the processor, for all legs together.

    Returns:
        The corners of the path, shape [corners, 2].

    Raises:
        NoPathError: a leg was not found in its time.
    """
    stops = np.array([np.asarray(start)[:2], *(corners_of(goal).mean(axis=0) for goal in goals)])
    apart = np.linalg.norm(np.diff(stops, axis=0), axis=1) + 1.0
    path = [stops[0]]
    for goal, share in zip(goals, apart / apart.sum(), strict=True):
        path += _plan_leg(plan, path[-1], goal, forbidden, prices, seconds * share)[1:]
    return np.array(path)


def _plan_leg(
    plan: FloorPlan,
    start: Points,
    goal: Shape,
    forbidden: Sequence[Shape],
    prices: NDArray[np.float64],
    seconds: float,
) -> list[Points]:
    """The corners of a path into a region."""
    if ShapeSet([goal]).contain(start[None])[0, 0]:
        return [start]
    information = base.SpaceInformation(_plane(plan))
    _check_motions_at_once(information, plan, ShapeSet(forbidden))
    information.setup()
    problem = base.ProblemDefinition(information)
    problem.addStartState(_state(information, start))
    targets = base.GoalStates(information)
    for place in _places_in(goal):
        if plan.is_free(place[None]):
            targets.addState(_state(information, place))
    problem.setGoal(targets)
    problem.setOptimizationObjective(_objective(information, plan, prices))
    search = geometric.BITstar(information)
    search.setProblemDefinition(problem)
    search.setup()
    until = time.process_time() + float(seconds)
    search.solve(base.PlannerTerminationCondition(lambda: time.process_time() > until))
    if not problem.hasExactSolution():
        raise NoPathError(f"OMPL's BIT* has found no path in {seconds:.2g} s")
    found = problem.getSolutionPath()
    return [np.array([state[0], state[1]]) for state in found.getStates()]


def _places_in(goal: Shape) -> list[Points]:
    middle = corners_of(goal).mean(axis=0)
    edge = corners_of(goal)[:: max(1, len(corners_of(goal)) // GOALS_AROUND)]
    return [middle, *(middle + JUST_INSIDE * (edge - middle))]


def _plane(plan: FloorPlan) -> Any:
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


def _check_motions_at_once(information: Any, plan: FloorPlan, forbidden: ShapeSet) -> None:
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


def _objective(information: Any, plan: FloorPlan, prices: NDArray[np.float64]) -> Any:
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
