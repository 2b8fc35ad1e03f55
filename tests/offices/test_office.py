"""The office: its map, the scenes that are drawn from it, and its picture."""

import subprocess
import sys
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from experts import solve

from wfairl.offices.office import (
    EXTRA_COST,
    OBJECTS,
    OFFICE_RULES,
    carpet_office,
    crowded_office,
    published_office,
    random_office,
)
from wfairl.offices.office_map import MOVES, PUBLISHED, cells, neighbour
from wfairl.runs.task_registry import find_task

OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}


def passages() -> nx.Graph:
    return nx.Graph(
        (cell, neighbour(cell, move)) for cell in cells() for move in MOVES if neighbour(cell, move) != cell
    )


def test_a_move_that_succeeds_can_be_undone():
    for cell in cells():
        for move, opposite in OPPOSITE.items():
            there = neighbour(cell, move)
            assert there == cell or neighbour(there, opposite) == cell


def test_twelve_rooms_are_joined_by_twelve_doors():
    graph = passages()
    assert len(graph) == 9 * 12
    assert nx.is_connected(graph)
    doors = [(one, other) for one, other in graph.edges if (one[0] // 3, one[1] // 3) != (other[0] // 3, other[1] // 3)]
    assert len(doors) == 12
    rooms = nx.Graph(graph)
    rooms.remove_edges_from(doors)
    assert sorted(map(len, nx.connected_components(rooms))) == [9] * 12


@pytest.mark.parametrize("name", ["coffee", "mail", "coffee-mail"])
def test_the_optimal_cost_is_that_of_shortest_walks_between_objects(name: str):
    """Decorations end a task, so that walks go around them."""
    graph = passages()
    graph.remove_nodes_from([cell for cell, thing in PUBLISHED.items() if thing == "n"])
    at = {thing: [cell for cell, one in PUBLISHED.items() if one == thing] for thing in "efg"}
    orders = {"coffee": ["fg"], "mail": ["eg"], "coffee-mail": ["efg", "feg"]}[name]

    def walk(start, order):
        if not order:
            return 0
        return min(nx.shortest_path_length(graph, start, one) + walk(one, order[1:]) for one in at[order[0]])

    for seed in range(5):
        world = published_office(seed)
        start = world.name(world.initial_state)
        expected = min(walk(start, order) for order in orders)
        assert solve(world, OFFICE_RULES[name][1]).optimal_cost == expected


def test_random_offices_have_the_same_objects_and_can_be_done():
    for seed in range(20):
        world = random_office(seed, OFFICE_RULES["patrol"][1])
        assert Counter(next(iter(mark)) for mark in world.marks.values()) == Counter(PUBLISHED.values())
        assert np.isfinite(solve(world, OFFICE_RULES["patrol"][1]).optimal_cost)


def test_a_crowd_shows_in_the_features_alone():
    plain, crowded = random_office(3, OFFICE_RULES["coffee"][1]), crowded_office(3)
    np.testing.assert_array_equal(plain.table.successors, crowded.table.successors)
    assert (plain.marks, plain.initial_state) == (crowded.marks, crowded.initial_state)
    into = crowded.table.features[crowded.table.feature_index][..., 1]
    assert 0.1 < into.mean() < 0.4
    assert find_task("crowded-office-coffee").true_cost(np.array([[1.0, 0.0], [1.0, 1.0]])).tolist() == [1, 4]


def test_the_robot_is_drawn_where_it_is_located():
    rendering = published_office(0).rendering
    one, other = rendering.render(0), rendering.render(50)
    ys, xs = np.nonzero((one != other).any(axis=2))
    for state in (0, 50):
        x, y = rendering.places.locate(state)
        assert xs.min() <= x <= xs.max() + 1
        assert ys.min() <= y <= ys.max() + 1


def test_an_office_is_made_without_anything_that_draws():
    make = "from wfairl.offices.office import published_office; published_office(0)"
    code = f"import sys; {make}; print('PIL' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_carpet_office_has_its_objects_and_a_price_on_its_carpets():
    task = find_task("coffee-and-mail")
    for seed in range(5):
        world = carpet_office(seed)
        assert Counter(name for label in world.marks.values() for name in label) == OBJECTS
        carpet, table = world.source.carpet, world.table
        assert 6 <= len(carpet) <= 36
        for state, cell in enumerate(table.states):
            for control, move in enumerate(MOVES):
                features = table.features[table.feature_index[state, control]]
                onto = neighbour(cell, move) in carpet
                assert features.tolist() == [1.0, float(onto)]
                assert task.true_cost(features[None])[0] == (1.0 + EXTRA_COST * onto)
        image = world.rendering.render(world.initial_state)
        x, y = world.rendering.places.locate(world.initial_state)
        assert tuple(image[int(y), int(x)]) == (213, 94, 0)  # the robot
