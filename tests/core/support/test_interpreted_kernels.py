"""A kernel that is interpreted at first gives the same bits as when it is compiled."""

import math
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from numba.core.registry import CPUDispatcher
from strategies_planning import Graph, graphs

from wfairl import find_learner, find_task
from wfairl.core.planning.planner import PLANNERS
from wfairl.core.planning.shortest_path import cost_to_go, reverse_graph
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.support import compiling
from wfairl.core.support.compiling import njit
from wfairl.core.worlds.task import rule_of
from wfairl.runs.collection import collect


def run_both(monkeypatch: pytest.MonkeyPatch, run: Callable[[], tuple]) -> None:
    """Runs something interpreted and compiled, and compares the arrays and numbers that it returns."""
    run()  # imports and remembers what it needs
    kernels = [
        one
        for name, module in list(sys.modules.items())
        if name.startswith("wfairl.")
        for one in vars(module).values()
        if isinstance(one, CPUDispatcher) and hasattr(one, "interpreted_for")
    ]
    with monkeypatch.context() as patch:
        patch.setattr(compiling, "PATIENCE", math.inf)
        patch.setattr(compiling, "LARGEST_INTERPRETED", math.inf)
        for kernel in kernels:
            kernel.__class__, kernel.interpreted_for = compiling._Interpreted, 1.0
        interpreted = run()
        assert any(kernel.interpreted_for > 1.0 for kernel in kernels)
        for kernel in kernels:
            kernel.__class__ = CPUDispatcher
        compiled = run()
    for one, other in zip(interpreted, compiled, strict=True):
        np.testing.assert_array_equal(one, other)
        assert type(one) is type(other)
        assert np.asarray(one).dtype == np.asarray(other).dtype


@settings(max_examples=50)
@given(graphs())
def test_searches_in_random_graphs_agree(graph: Graph):
    def run() -> tuple:
        reversed_graph = reverse_graph(graph.successors)
        solved = cost_to_go(reversed_graph, graph.costs)
        return (
            *(reversed_graph.order, reversed_graph.first, reversed_graph.source, reversed_graph.transition),
            *(solved.cost_to_go, solved.control_cost_to_go, solved.best_control),
        )

    run_both(pytest.MonkeyPatch(), run)


@pytest.mark.parametrize("name", ["multiroom", "errand", "terrain", "office-coffee", "coffee-and-mail"])
def test_plans_agree(name: str, monkeypatch: pytest.MonkeyPatch):
    task = find_task(name)

    def run() -> tuple:
        plan = PLANNERS.find("exact")(100_000).solve(task.make_world(3), rule_of(task), unit).plan()
        return plan.cost, plan.path.controls, plan.path.automaton_states, *plan.statistics.values()

    def unit(batch):
        return np.ones((len(batch), len(task.make_world(3).controls)))

    run_both(monkeypatch, run)


def test_learned_rules_agree(monkeypatch: pytest.MonkeyPatch):
    task = find_task("office-coffee")
    dataset = collect(task, successes=2, failures=0, temperature=0.5, seed=0)

    def run() -> tuple:
        found = posterior_of(find_learner("rational").learn(dataset, task))
        return found.log_posterior, found.temperature, *(one.text for one in found.alternatives)

    run_both(monkeypatch, run)


def test_a_kernel_is_compiled_once_it_has_taken_long_or_its_arrays_are_large(monkeypatch: pytest.MonkeyPatch):
    def doubled():
        @njit(cache=False, exact=True)
        def double(values):
            return 2 * values.sum()

        return double

    large, slow, small = doubled(), doubled(), doubled()
    assert small(np.ones(10)) == large(np.ones(compiling.LARGEST_INTERPRETED + 1)[:10]) == 20
    assert not small.signatures
    large(np.ones(compiling.LARGEST_INTERPRETED + 1))
    assert large.signatures
    slow(np.ones(10))
    monkeypatch.setattr(compiling, "PATIENCE", 0.0)
    slow(np.ones(10))
    assert slow.signatures


def test_an_interpreted_kernel_returns_numbers_of_python():
    @njit(cache=False, exact=True)
    def first(values):
        return values[0], values[1] * values[1]

    found = first(np.array([1 << 63, 1 << 40], np.uint64))
    assert found == (1 << 63, 0)
    assert all(type(one) is int for one in found)
