"""What the learner of logic knows of a world too large to explore."""

import numpy as np

from wfairl.automata.automaton import ACCEPTED
from wfairl.automata.rules import visit_in_order
from wfairl.demonstrations.collection import collect
from wfairl.demonstrations.tracing import trace
from wfairl.logic.scenes import _explore_ways, _orders
from wfairl.planning import ExactPlanner, cost_to_go, reverse_graph, unit_cost
from wfairl.worlds.registry import find_task


def test_ways_are_part_of_the_world_and_keep_the_cost_of_going_on():
    task = find_task("doorkey")
    (demonstration,) = collect(task, 1, 0, temperature=0.5, seed=2, n_jobs=1).demonstrations
    world = task.make_world(demonstration.seed)
    orders = _orders([demonstration.labels])
    assert {("key", "door", "goal"), ("door", "key")} <= set(orders)
    assert not any("goal" in order[:-1] for order in orders)  # nobody has been seen to go on
    ways = _explore_ways(world, demonstration, orders, unit_cost)
    number = {ways.state(node): node for node in range(len(ways))}
    assert len(list(trace(demonstration, ways))) == len(demonstration)
    for state, node in number.items():
        for control in range(len(world.controls)):
            after = world.step(state, control)
            assert ways.successors[node, control] == number.get(after, ACCEPTED)
            assert ways.label(node, control) == world.label(state, control, after)
    # From where the demonstrator stood, what is shown next costs what it costs in the whole world.
    for name in ("key", "door", "goal"):
        rule = visit_in_order(name)
        whole = ExactPlanner().solve(world, rule, unit_cost)
        V = ways_cost_to_go(ways, rule)
        state, reading = world.initial_state, 0
        for control, label in zip(demonstration.controls, demonstration.labels, strict=True):
            if not rule.accepting[reading]:
                np.testing.assert_allclose(V[number[state]], whole.control_cost_to_go(state, reading).min())
            state, reading = world.step(state, control), rule.read(reading, label)


def ways_cost_to_go(ways, rule):
    """V of the first state of a rule that waits for one proposition, on the known part of a world alone."""
    wanted = np.array([rule.accepting[rule.read(0, label)] for label in ways.labels])
    successors = np.where(ways.successors == ACCEPTED, -1, ways.successors)
    successors = np.where(wanted[ways.label_index], ACCEPTED, successors).astype(np.int32)
    return cost_to_go(reverse_graph(successors), np.ones(successors.shape)).cost_to_go
