import numpy as np
import pytest

from wfairl.automata.automaton import ACCEPTED
from wfairl.planning.astar import search_plan
from wfairl.planning.cost import unit_cost
from wfairl.planning.plan import find_plan
from wfairl.planning.product import build_product
from wfairl.planning.shortest_path import cost_to_go, reverse_graph
from wfairl.worlds.minigrid.environment import make_environment, reset
from wfairl.worlds.minigrid.propositions import AgentAt, AgentOn, AwayFromDoor, Carrying, DoorOpen, Facing
from wfairl.worlds.minigrid.tasks import TASKS
from wfairl.worlds.minigrid.world import MiniGridWorld

SCENES = {
    "MiniGrid-DoorKey-5x5-v0": {"key": Carrying("key"), "door": DoorOpen(), "goal": AgentOn("goal")},
    "MiniGrid-DoorKey-6x6-v0": {"near": AwayFromDoor("key", 3), "facing": Facing("door"), "corner": AgentAt(1, 1)},
    "MiniGrid-UnlockPickup-v0": {"key": Carrying("key"), "door": DoorOpen(), "box": Carrying("box")},
    "MiniGrid-LavaGapS5-v0": {"lava": AgentOn("lava"), "goal": AgentOn("goal")},
}


@pytest.mark.parametrize("environment_id", SCENES)
def test_no_label_comes_sooner_than_its_bound_and_some_bounds_are_exact(environment_id: str):
    environment = make_environment(environment_id)
    reset(environment, 0)
    world = MiniGridWorld.from_environment(environment, SCENES[environment_id])
    explored = world.explore()
    truth = np.array([[name in label for name in world.propositions] for label in explored.labels])
    nodes = np.random.default_rng(0).choice(len(explored.states), min(2_000, len(explored.states)), replace=False)
    bounds = np.array([world.steps_to_change(world.unpack(explored.states[node])) for node in nodes])
    exact = []
    for proposition, value in np.ndindex(truth.shape[1], 2):
        wanted = (truth[:, proposition] == value)[explored.label_index]
        graph = reverse_graph(np.where(wanted, ACCEPTED, explored.successors))
        steps = cost_to_go(graph, np.ones(explored.successors.shape)).cost_to_go[nodes]
        bound = bounds[:, 0 if value else 1, proposition]
        assert (bound <= steps).all()
        exact.extend((bound == steps)[(steps > 3) & np.isfinite(steps)])
    assert any(exact)


@pytest.mark.parametrize("task", TASKS[:2], ids=lambda task: task.name)
@pytest.mark.parametrize("seed", range(3))
def test_a_star_in_minigrid_finds_the_length_of_the_plan_and_expands_less(task, seed: int):
    world = task.make_world(seed)
    automaton = task.rule
    product = build_product(world, automaton)
    search = search_plan(world, automaton)
    assert search.plan.cost == find_plan(product, unit_cost(product)).cost
    uninformed = search_plan(world, automaton, least_cost=1e-9)
    assert uninformed.plan.cost == search.plan.cost
    assert search.expansions < uninformed.expansions
