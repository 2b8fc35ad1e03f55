"""Whether a learned cost prefers some paths to others; maps of one that does not would show the noise of training.

The preference of a cost c is the relative excess cost, under c, of the plan for equal costs over the plan for c:

    preference = mean over scenes of  c(plan of equal costs) / c(plan of c) - 1.

A cost that only rescales all steps has none. The small differences that training leaves where there is nothing to learn
cancel along a path. A cost that changes no plan, since there is no other path, counts as none too.
"""

import math
from collections.abc import Sequence

from wfairl.core.automata.automaton import Automaton
from wfairl.core.planning.cost import Cost, path_cost, unit_cost
from wfairl.core.planning.plan import UnsatisfiableTaskError
from wfairl.core.planning.planner import AutoPlanner
from wfairl.core.support.errors import FailedRunError
from wfairl.core.worlds.task import Task

LEAST_PREFERENCE = 0.03
"""More than twice what training finds where there is nothing to learn: of 33 costs learned from experts to whom every
step costs 1, the largest preference is 1.2 %. The terrain with a hidden cost has 9.8 % from four demonstrations and
32 % from 32. See docs/learning-the-cost.md."""

SCENES = 8


class NoPreferenceError(FailedRunError):
    """The preference of a learned cost is no larger than noise."""

    def __init__(self, value: float, scenes: Sequence[int]):
        super().__init__(
            f"no preference found. Under the learned cost, the plan for equal costs is {value:.1%} more expensive than"
            f" the best one (mean of {len(scenes)} scenes from {scenes[0]} on); up to {LEAST_PREFERENCE:.0%} may be"
            " noise of training"
        )


def check_preference(task: Task, scenes: Sequence[int], automaton: Automaton, cost: Cost) -> None:
    """Check that a learned cost has a preference in the first few of some scenes.

    Raises:
        NoPreferenceError: it has none.
        UnsatisfiableTaskError: the automaton cannot be satisfied in any of the scenes.
    """
    value = preference(task, scenes[:SCENES], automaton, cost)
    if value < LEAST_PREFERENCE:
        raise NoPreferenceError(value, scenes[:SCENES])


def preference(task: Task, scenes: Sequence[int], automaton: Automaton, cost: Cost) -> float:
    """The preference over the solvable scenes. Raises `UnsatisfiableTaskError` if there are none."""
    excesses, unsolvable = [], None
    for seed in scenes:
        world = task.make_world(seed)
        try:
            equal, own = (AutoPlanner().solve(world, automaton, one).plan() for one in (unit_cost, cost))
        except UnsatisfiableTaskError as error:
            unsolvable = error
            continue
        equal_cost = path_cost(cost, equal.path)
        excesses.append(max(equal_cost / own.cost - 1, 0.0))  # below zero it is rounding
    if unsolvable is not None and not excesses:
        raise unsolvable
    return math.fsum(excesses) / len(excesses)
