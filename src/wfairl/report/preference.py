"""Does a learned cost say anything? Maps of one that does not would show the noise of its training.

What a cost prefers shows in what it is worth: how much more the plan that counts every step alike pays under it than
its own plan,

    preference = mean over scenes of  c(plan of equal costs) / c(plan of c) - 1.

Costs that only rescale all steps have none, and the many small differences that training leaves where there is nothing
to learn cancel along a path: they may differ by 86 % from place to place and still be worth 0.5 %. A cost that is real
but changes no plan, since there is no other way, counts as none too.
"""

import math
from collections.abc import Sequence

from wfairl.automata.automaton import Automaton
from wfairl.errors import FailedRunError
from wfairl.planning.auto import AutoPlanner
from wfairl.planning.cost import Cost, path_cost, unit_cost
from wfairl.planning.plan import UnsatisfiableTaskError
from wfairl.worlds.task import Task

LEAST_PREFERENCE = 0.03
"""More than twice what training finds where there is nothing to find: of 33 costs that were learned from experts to
whom every step costs 1, the largest preference is 1.2 %. The terrain of hidden cost has 9.8 % from four demonstrations
and 32 % from 32. See docs/learning.md."""

SCENES = 8


class NoPreferenceError(FailedRunError):
    """A learned cost is worth no more than noise."""

    def __init__(self, found: float, scenes: Sequence[int]):
        super().__init__(
            f"no preference found. By the learned cost, the plan that counts every step alike pays {found:.1%} more"
            f" than the best one (mean of {len(scenes)} scenes from {scenes[0]} on), and up to {LEAST_PREFERENCE:.0%}"
            " is what training finds where there is nothing to find"
        )


def check_preference(task: Task, scenes: Sequence[int], automaton: Automaton, cost: Cost) -> None:
    """See that a learned cost prefers something in scenes of a task, of which the first few are looked at.

    Raises:
        NoPreferenceError: it does not.
        UnsatisfiableTaskError: the automaton cannot be satisfied in any of the scenes.
    """
    looked_at = scenes[:SCENES]
    found = preference(task, looked_at, automaton, cost)
    if found < LEAST_PREFERENCE:
        raise NoPreferenceError(found, looked_at)


def preference(task: Task, scenes: Sequence[int], automaton: Automaton, cost: Cost) -> float:
    """What a cost is worth in the scenes of a task that can be done; errors as in `check_preference`."""
    worth, refused = [], None
    for seed in scenes:
        world = task.make_world(seed)
        try:
            equal, own = (AutoPlanner().solve(world, automaton, one).plan() for one in (unit_cost, cost))
        except UnsatisfiableTaskError as error:
            refused = error
            continue
        paid = path_cost(cost, world, equal.path.states, equal.path.controls)
        worth.append(max(paid / own.cost - 1, 0.0))  # below zero it is rounding
    if refused is not None and not worth:
        raise refused
    return math.fsum(worth) / len(worth)
