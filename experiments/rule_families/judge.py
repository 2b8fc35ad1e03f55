"""The judge: what became of a plan under the true rule, and what the best plan costs; it knows nothing of the package.

A plan is kept if the rule is done at one of its steps, and not broken before. The best plan is that of a plain Dijkstra
over pairs of a state of the scene and a state of the rule.
"""

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from experiments.rule_families.rules import BROKEN, DONE, Rule

if TYPE_CHECKING:
    from experiments.rule_families.scenes import Scene


class Verdict(NamedTuple):
    """Whether a plan keeps the rule, and its true cost until it is done."""

    is_kept: bool
    cost: float


class CheapestPath(NamedTuple):
    """The controls of a path, and its true cost."""

    controls: list[int]
    cost: float


def judge(scene: "Scene", rule: Rule, controls: Sequence[int], horizon: int | None = None) -> Verdict:
    """The verdict on controls; those beyond the horizon are not taken."""
    place, state, cost = scene.initial_state, rule.start, 0.0
    for control in controls[:horizon]:
        step = scene.steps[place][control]
        place, state, cost = step.after, rule.step(state, step.label), cost + step.cost
        if state in (DONE, BROKEN):
            break
    return Verdict(state == DONE, cost)


def cheapest(scene: "Scene", rule: Rule) -> CheapestPath | None:
    """A cheapest path that keeps the rule; None if there is none."""
    start = (scene.initial_state, rule.start)
    came: dict[Any, tuple[Any, int]] = {}
    least, closed = {start: 0.0}, set()
    queue: list[tuple[float, int, Any]] = [(0.0, 0, start)]
    pushed = 0
    while queue:
        cost, _, node = heapq.heappop(queue)
        if node in closed:
            continue
        closed.add(node)
        place, state = node
        if state == DONE:
            controls = []
            while node != start:
                node, control = came[node]
                controls.append(control)
            return CheapestPath(controls[::-1], cost)
        for control, step in scene.steps[place].items():
            after = (step.after, rule.step(state, step.label))
            if after[1] != BROKEN and cost + step.cost < least.get(after, float("inf")):
                least[after], came[after] = cost + step.cost, (node, control)
                pushed += 1
                heapq.heappush(queue, (least[after], pushed, after))
    return None
