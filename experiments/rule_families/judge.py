"""The judge: the true cost of a plan that keeps the rule, and that of the best one; it knows nothing of the package.

A plan keeps the rule if that is done at one of its steps, and not broken before. The best one is found by a plain
Dijkstra over pairs of a state of the scene and a state of the rule.
"""

import heapq
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from experiments.rule_families.rules import BROKEN, DONE, Rule

if TYPE_CHECKING:
    from experiments.rule_families.scenes import Scene


def judge(scene: "Scene", rule: Rule, controls: Sequence[int]) -> float:
    """The cost of controls until the rule is done; inf if they do not keep it."""
    place, state, cost = scene.initial_state, rule.start, 0.0
    for control in controls:
        step = scene.steps[place][control]
        place, state, cost = step.after, rule.step(state, step.label), cost + step.cost
        if state == DONE:
            return cost
    return inf


def cheapest(scene: "Scene", rule: Rule) -> list[int]:
    """The controls of a cheapest plan that keeps the rule; none if there is no such plan."""
    start = (scene.initial_state, rule.start)
    came: dict[Any, tuple[Any, int]] = {}
    least, queue, pushed = {start: 0.0}, [(0.0, 0, start)], 0
    while queue:
        cost, _, node = heapq.heappop(queue)
        if node[1] == DONE:
            controls = []
            while node != start:
                node, control = came[node]
                controls.append(control)
            return controls[::-1]
        if cost > least[node]:
            continue
        for control, step in scene.steps[node[0]].items():
            after, total = (step.after, rule.step(node[1], step.label)), cost + step.cost
            if after[1] != BROKEN and total < least.get(after, inf):
                least[after], came[after], pushed = total, (node, control), pushed + 1
                heapq.heappush(queue, (total, pushed, after))
    return []
