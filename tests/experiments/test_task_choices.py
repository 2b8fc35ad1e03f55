import numpy as np
import pytest

from experiments.route_choice.choice_models import ExactChoice, SoftChoice
from experiments.route_choice.choices import ImpossibleChoiceError, task_graph
from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.graph import GraphWorld

EDGES = [("home", "hall"), ("home", "home"), ("hall", "home"), ("hall", "water"), ("water", "hall"), ("water", "water")]
WORLD = GraphWorld.from_edges(EDGES, start="home", marks={"home": "home", "water": "water"})
HOME, HALL, WATER = (WORLD.find(name) for name in ("home", "hall", "water"))
TASK = visit_in_order("water", "home")


def trajectory(*steps):
    states, controls = zip(*steps, strict=True)
    return np.array(states), np.array(controls)


THERE_AND_BACK = [(HOME, 0), (HALL, 1), (WATER, 0), (HALL, 0)]


def test_every_step_is_scored_also_after_the_task_is_done():
    graph = task_graph(WORLD, TASK)
    whole = graph.choices([trajectory(*THERE_AND_BACK, (HOME, 1), (HOME, 1), (HOME, 0), (HALL, 1))])
    assert len(whole) == 8
    costs = np.ones(graph.successors.shape)
    found = ExactChoice(1).log_probabilities(whole, costs)
    # Before the task is done a step towards it costs 2 less than one back; at rest all controls cost alike.
    np.testing.assert_allclose(found[4:], -np.log(2))
    np.testing.assert_allclose(found[1], -np.log(1 + np.exp(-2)))
    assert (whole.goals == graph.goal).all()


def test_costs_at_rest_are_those_of_the_controls_alone():
    graph = task_graph(WORLD, TASK)
    choices = graph.choices([trajectory(*THERE_AND_BACK, (HOME, 1))])
    costs = np.ones(graph.successors.shape)
    costs[choices.nodes[-1]] = (3.0, 1.0)
    for model in (ExactChoice(1), SoftChoice()):
        assert model.log_probabilities(choices, costs)[-1] == pytest.approx(-np.log(1 + np.exp(-2)))


def test_without_memory_the_task_begins_again_where_it_ended():
    graph = task_graph(WORLD, visit_in_order("home"), "again")
    choices = graph.choices([trajectory((HOME, 0), (HALL, 0), (HOME, 1), (HOME, 0))])
    assert len(graph.successors) == 4  # three states of the world, and the goal
    assert len(set(choices.nodes[[0, 2, 3]])) == 1  # whoever is at home stands where everybody at home stands
    with pytest.raises(BadInputError, match="cannot begin again"):
        task_graph(
            GraphWorld.from_edges([("a", "b"), ("b", "c"), ("c", "c")], start="a", marks={"b": "x", "c": "y"}),
            visit_in_order("x", "y"),
            "again",
        )


def test_a_trajectory_that_the_automaton_forbids_or_the_world_does_not_know_is_refused():
    graph = task_graph(WORLD, all_of(visit_in_order("home"), avoid("water")))
    with pytest.raises(ImpossibleChoiceError, match="trajectory 0: control 1"):
        graph.choices([trajectory((HOME, 0), (HALL, 1))])
    with pytest.raises(ImpossibleChoiceError, match="not one of this world"):
        graph.choices([trajectory((HALL, 0))])
