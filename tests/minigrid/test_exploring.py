"""The part of a world too large to explore that the learner of logic explores."""

import numpy as np

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning import ExactPlanner, cost_to_go, reverse_graph, unit_cost
from wfairl.minigrid.focused.exploring import likely_orders
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task


def test_explored_paths_are_part_of_the_world_and_keep_its_cost_to_go():
    task = find_task("doorkey")
    (demonstration,) = collect(task, 1, 0, temperature=0.5, seed=2, n_jobs=1).demonstrations
    world = task.make_world(demonstration.seed)
    orders = likely_orders([demonstration.labels])
    assert {("key", "door", "goal"), ("door", "key")} <= set(orders)
    assert not any("goal" in order[:-1] for order in orders)  # no demonstration goes on after it
    path = demonstration.follow(world)
    states, labels = path.states, path.labels
    part = world.own_planning().explore_paths(states, labels, [demonstration.labels], unit_cost)
    number = {part.state(node): node for node in range(len(part))}
    assert len(demonstration.nodes(part)) == len(demonstration) + 1
    for state, node in number.items():
        for control in range(len(world.controls)):
            after = world.step(state, control)
            assert part.successors[node, control] == number.get(after, ACCEPTED)
            assert part.label(node, control) == world.label(state, control, after)
    # From every demonstrated state, the next proposition costs what it costs in the whole world.
    for name in ("key", "door", "goal"):
        rule = visit_in_order(name)
        whole = ExactPlanner().solve(world, rule, unit_cost)
        V = cost_to_go_in(part, rule)
        state, rule_state = world.initial_state, 0
        for control, label in zip(demonstration.controls, demonstration.labels, strict=True):
            if not rule.accepting[rule_state]:
                np.testing.assert_allclose(V[number[state]], whole.control_cost_to_go(state, rule_state).min())
            state, rule_state = world.step(state, control), rule.read(rule_state, label)


def cost_to_go_in(part, rule):
    """V of the first state of a rule that waits for one proposition, on the explored part of a world alone."""
    wanted = np.array([rule.accepting[rule.read(0, label)] for label in part.labels])
    successors = np.where(part.successors == ACCEPTED, -1, part.successors)
    successors = np.where(wanted[part.label_index], ACCEPTED, successors).astype(np.int32)
    return cost_to_go(reverse_graph(successors), np.ones(successors.shape)).cost_to_go
