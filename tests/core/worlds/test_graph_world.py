"""A world as arrays is the world that it was made from: the same transitions, products and plans."""

from dataclasses import dataclass, replace
from itertools import pairwise

import networkx
import numpy as np
import pytest
from experts import solve
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies_planning import Problem, TableWorld, draw_costs, problems, random_walk, rule, worlds

from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.automata.rules import all_of, avoid, visit_all, visit_in_order
from wfairl.core.planning import RandomPolicy, build_product, find_plan, probabilities, sample_control, unit_cost
from wfairl.core.planning.agent import Agent
from wfairl.core.planning.cost import feature_cost
from wfairl.core.planning.plan import UnsatisfiableTaskError
from wfairl.core.planning.shortest_path import cost_to_go
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds import GraphWorld, TooManyNodesError, TransitionTable, check_world, compiled, explore_world
from wfairl.core.worlds.rendering import Places, Rendering, Tiles
from wfairl.core.worlds.world import BrokenLawError, available_controls


@given(worlds())
def test_an_explored_world_steps_like_the_plain_one(world: TableWorld):
    explored = explore_world(world)
    for number in range(len(explored.table.successors)):
        state = explored.name(number)
        assert explored.find(state) == number
        assert available_controls(explored, number).tolist() == available_controls(world, state).tolist()
        for control in np.flatnonzero(available_controls(world, state)).tolist():
            after, next_state = explored.step(number, control), world.step(state, control)
            assert explored.name(after) == next_state
            assert explored.label(number, control, after) == world.label(state, control, next_state)
            assert explored.features(number, control, after).tolist() == (
                world.features(state, control, next_state).tolist()
            )
    assert explored.name(explored.initial_state) == world.initial_state
    assert len(set(explored.table.labels)) == len(explored.table.labels)
    assert len(np.unique(explored.table.features, axis=0)) == len(explored.table.features)
    assert check_world(explored) == len(explored.table.successors)


def plan_or_why_not(product, costs):
    try:
        plan = find_plan(product, costs)
        return plan.cost, plan.path.controls, plan.path.word
    except UnsatisfiableTaskError as error:
        return str(error)


@given(problems())
def test_the_product_and_the_plan_of_a_graph_are_those_of_the_plain_world(problem: Problem):
    plain = build_product(problem.world, problem.automaton)
    graph = explore_world(problem.world)
    compiled = build_product(graph, problem.automaton)
    assert [graph.name(compiled.state(node)) for node in range(len(compiled))] == list(plain.states)
    np.testing.assert_array_equal(compiled.automaton_states, plain.automaton_states)
    np.testing.assert_array_equal(compiled.successors, plain.successors)
    for node, control in np.argwhere(plain.available):
        assert compiled.label(node, control) == plain.label(node, control)
    costs = [feature_cost(lambda features: 1 + features.sum(axis=1))(product) for product in (plain, compiled)]
    np.testing.assert_array_equal(costs[0][plain.available], costs[1][plain.available])
    expected, found = (plan_or_why_not(*both) for both in zip((plain, compiled), costs, strict=True))
    assert found == expected


@given(problems(), st.data())
def test_marks_hold_on_arriving_besides_what_a_transition_shows(problem: Problem, data):
    graph = explore_world(problem.world)
    marked = data.draw(st.dictionaries(st.sampled_from(graph.table.states), st.frozensets(st.sampled_from("ab"))))
    start = data.draw(st.sampled_from(graph.table.states))
    scene = graph.scene(start=start, marks=marked)

    class Marked(TableWorld):
        initial_state = start

        def label(self, state, control, next_state):
            return super().label(state, control, next_state) | marked.get(next_state, frozenset())

    expected = build_product(Marked(problem.world.next_states, problem.world.masks), problem.automaton)
    product = build_product(scene, problem.automaton)
    assert [scene.name(product.state(node)) for node in range(len(product))] == list(expected.states)
    np.testing.assert_array_equal(product.successors, expected.successors)
    for node, control in np.argwhere(expected.available):
        assert product.label(node, control) == expected.label(node, control)
        state, after = product.state(node), scene.step(product.state(node), control)
        assert scene.label(state, control, after) == expected.label(node, control)


def test_scenes_share_their_arrays():
    base = GraphWorld.from_edges([("x", "y"), ("y", "z"), ("z", "x")], start="x", propositions=("here", "there"))
    scenes = [base.scene(start=one, marks={other: ["here"]}) for one in "xyz" for other in "xyz"]
    for scene in scenes:
        assert scene.table is base.table
        assert scene.table.successors is base.table.successors
        assert scene.table.features is base.table.features
    assert base.marks == {}
    assert {scene.initial_state for scene in scenes} == {0, 1, 2}
    assert [solve(scene, rule(["here"])).optimal_cost for scene in scenes[:3]] == [3, 1, 2]


@st.composite
def road_networks(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(2, 12))
    graph = networkx.gnp_random_graph(count, 0.3, seed=int(rng.integers(2**31)), directed=draw(st.booleans()))
    graph.add_edges_from((node, node) for node in list(graph))  # so that nobody is stuck
    for _, _, data in graph.edges(data=True):
        data["length"] = float(rng.integers(1, 9))
    return graph, int(rng.integers(count)), int(rng.integers(count))


@given(road_networks())
def test_roads_are_as_long_as_networkx_says(network):
    """From node to node by at least one edge, from the graph itself and from the list of its edges."""
    graph, start, goal = network
    directed = graph.to_directed()
    edges = list(directed.edges(data="length"))
    listed = GraphWorld.from_edges(
        [(one, other) for one, other, _ in edges],
        start=start,
        marks={goal: ["goal"]},
        features=np.array([[length] for *_, length in edges]),
    )
    graph.nodes[goal]["label"] = "goal"
    taken = GraphWorld.from_networkx(graph, start=start, features=("length",))
    assert taken.feature_names == ("length",)
    lengths = networkx.single_source_dijkstra_path_length(directed, start, weight="length")
    if goal == start:
        lengths[goal] = directed.edges[start, start]["length"]
        lengths[goal] = min(
            length + networkx.dijkstra_path_length(directed, other, goal, weight="length")
            for _, other, length in directed.out_edges(start, data="length")
            if networkx.has_path(directed, other, goal)
        )
    for world in (listed, taken):
        product = build_product(world, rule(["goal"]))
        costs = feature_cost(lambda features: features[:, 0])(product)
        if goal not in lengths:
            with pytest.raises(UnsatisfiableTaskError):
                find_plan(product, costs)
            continue
        plan = find_plan(product, costs)
        assert plan.cost == pytest.approx(lengths[goal])
        path = [world.name(state) for state in plan.path.states]
        assert (path[0], path[-1]) == (start, goal)
        assert all(directed.has_edge(one, other) for one, other in pairwise(path))


def test_what_an_edge_shows_holds_when_it_is_taken():
    graph = networkx.DiGraph()
    graph.add_edge("yard", "street", label=["gate"])
    graph.add_edge("street", "yard")
    graph.add_edge("street", "market", label=("toll", "bridge"))
    graph.add_edge("market", "street")
    graph.nodes["market"]["label"] = ["market"]
    world = GraphWorld.from_networkx(graph, start="yard")
    assert world.propositions == ("bridge", "gate", "market", "toll")
    product = build_product(world, rule(["gate", "market"]))
    assert find_plan(product, unit_cost(product)).path.labels == (
        frozenset({"gate"}),
        frozenset({"toll", "bridge", "market"}),
    )
    with pytest.raises(UnsatisfiableTaskError):
        solve(world, all_of(visit_in_order("market"), avoid("toll")))


@pytest.mark.parametrize("temperature", [0.0, 0.5, 3.0, np.inf])
@settings(max_examples=30)
@given(problem=problems())
def test_what_cannot_be_chosen_has_probability_0_at_every_temperature(temperature: float, problem: Problem):
    for world in (problem.world, explore_world(problem.world)):
        product = build_product(world, problem.automaton)
        Q = cost_to_go(product.graph, draw_costs("uniform", product.successors.shape, problem.rng)).control_cost_to_go
        assert np.isinf(Q[~product.available]).all()
        live = np.isfinite(Q).any(axis=1) if temperature < np.inf else np.ones(len(Q), bool)
        policy = probabilities(Q[live], temperature, product.available[live])
        assert (policy[~product.available[live]] == 0).all()
        assert policy.sum(axis=1) == pytest.approx(1)
        for node in np.flatnonzero(live)[:3]:
            draws = {sample_control(Q[node], temperature, problem.rng, product.available[node]) for _ in range(20)}
            assert product.available[node][list(draws)].all()


@settings(max_examples=40)
@given(problem=problems(), temperature=st.sampled_from([0.0, 1.0, np.inf]))
def test_agents_experts_and_random_walkers_take_only_what_can_be_chosen(problem: Problem, temperature: float):
    """The world itself refuses anything else."""
    world = explore_world(problem.world)
    random = RandomPolicy().actor(world, problem.rng)
    assert (random.probabilities() > 0).tolist() == available_controls(world, world.initial_state).tolist()
    actors = [random]
    try:
        agent = Agent(problem.automaton, unit_cost, temperature, problem.rng)
        agent.start(world)
        actors.append(agent)
        solve(world, problem.automaton).act(temperature, 10, problem.rng)
    except UnsatisfiableTaskError:
        pass
    for actor in actors:
        state = world.initial_state
        for _ in range(10):
            control = actor.choose()
            assert actor.probabilities()[control] > 0
            before, state = state, world.step(state, control)
            if actor.observe(state, world.label(before, control, state)).value != "running":
                break


def test_a_control_that_cannot_be_chosen_is_refused_by_name():
    world = GraphWorld.from_edges([("x", "y"), ("x", "x"), ("y", "x")], start="x")
    with pytest.raises(BadInputError, match="the control 'edge 1' is not available in state 'y'"):
        world.step(world.find("y"), 1)
    with pytest.raises(BadInputError, match="control 2 is out of range: there are 2"):
        world.step(0, 2)


@pytest.mark.parametrize("count", [64, 100])
def test_many_propositions_cost_nothing(count: int):
    """A ring with a proposition of its own on every node; some nodes show all of them."""
    names = [f"p{i}" for i in range(count)]
    ring = GraphWorld.from_edges(
        [(i, (i + step) % count) for i in range(count) for step in (1, -1)],
        start=0,
        marks={i: [name] for i, name in enumerate(names)},
        propositions=names,
    )
    assert solve(ring, rule([names[3], names[-1]])).optimal_cost == 3 + 4
    crowded = ring.scene(marks={count // 2: names, 1: names[:-1]})
    assert solve(crowded, rule(names[:3])).optimal_cost == 1
    assert solve(crowded, rule([names[-1]])).optimal_cost == count // 2
    assert solve(ring, visit_all(names[2], names[-2])).optimal_cost == 2 + 4


def make_line(step=lambda _, state, control: state + 1, features=lambda *_: np.zeros(1)):
    return type("Line", (), {
        "controls": ("on",), "propositions": (), "initial_state": 0,
        "step": step, "label": lambda *_: frozenset(), "features": features,
    })()  # fmt: skip


def test_laws_broken_far_from_the_start_are_named_with_the_place():
    with pytest.raises(BrokenLawError, match=r"exploring fails at state 300 under control 'on' \(KeyError: 300"):
        explore_world(make_line(step=lambda _, state, control: state + 1 if state < 300 else {}[state]))
    ends = make_line(
        step=lambda _, state, control: min(state + 1, 400), features=lambda _, state, *__: np.zeros(1 + state // 300)
    )
    with pytest.raises(BrokenLawError, match="features: they must have the same length everywhere, not both 1 and 2"):
        explore_world(ends)


def test_exploring_stops_at_its_limits():
    endless = make_line()
    with pytest.raises(TooManyNodesError, match="more than 500 states"):
        explore_world(endless, max_states=500)
    ring = GraphWorld.from_edges([(i, (i + 1) % 9) for i in range(9)], start=0)
    assert len(ring.explore(max_nodes=9).states) == 9
    with pytest.raises(TooManyNodesError, match="more than 8 states"):
        ring.explore(max_nodes=8)


@dataclass(frozen=True)
class Seat:
    """A place in a row, and the time."""

    row: int
    clock: int


@pytest.mark.parametrize("part", ["its entry 1", "its field 'clock'"])
def test_a_world_without_end_names_the_part_of_its_states_that_grows(part):
    make, clock = (Seat, lambda at: at.clock) if "field" in part else (lambda *both: both, lambda at: at[1])
    ticking = make_line(step=lambda _, state, control: make(1, clock(state) + 1))
    type(ticking).initial_state = make(0, 0)
    with pytest.raises(TooManyNodesError, match=rf"\({part} takes 50 values or more, such as 49\)"):
        explore_world(ticking, max_states=50)


def test_too_many_labels_are_a_named_outcome(monkeypatch):
    monkeypatch.setattr(compiled, "MAX_LABELS", 3)
    with pytest.raises(TooManyNodesError, match="more than 3 distinct labels"):
        GraphWorld.from_edges([(0, 0)] * 3, start=0, labels=["a", "b", "c"])


def test_a_world_that_breaks_a_law_is_not_explored():
    moody = replace(TableWorld(np.array([[0]]), np.array([[0]])), propositions=("a", "a"))
    with pytest.raises(BadInputError, match="propositions: they must be distinct"):
        explore_world(moody)


def test_an_explored_world_shows_what_its_source_shows():
    class Shown(TableWorld):
        @property
        def rendering(self):
            places = Places(
                lambda state: (float(state[1:]), 0.0),
                heading=lambda state: 90.0 * int(state[1:]),
            )
            tiles = Tiles(lambda state: np.full((1, 1), int(state[1:])), lambda key: np.full((2, 2, 3), key, np.uint8))
            return Rendering(lambda state: np.full((2, 2, 3), int(state[1:])), places, tiles)

    tables = np.array([[1], [0]]), np.array([[0], [0]])
    rendering = explore_world(Shown(*tables)).rendering
    assert rendering.render(1).tolist() == np.full((2, 2, 3), 1).tolist()
    assert rendering.places.locate(1) == (1.0, 0.0)
    assert rendering.places.heading(1) == 90.0
    assert rendering.tiles.keys(1).tolist() == [[1]]
    assert rendering.tiles.render(7).tolist() == np.full((2, 2, 3), 7).tolist()
    assert explore_world(TableWorld(*tables)).rendering is None


def test_features_have_names():
    world = GraphWorld.from_edges([(0, 0)], start=0, features=np.array([[1.0, 2.0]]))
    assert world.feature_names == ("feature 0", "feature 1")
    named = GraphWorld.from_edges([(0, 0)], start=0, features=np.array([[1.0]]), feature_names=["length"])
    assert named.feature_names == ("length",)


TABLE = {
    "controls": ("on", "back"),
    "successors": np.array([[1, UNAVAILABLE], [0, 1]], np.int32),
    "label_index": np.zeros((2, 2), np.uint16),
    "labels": (frozenset(),),
    "feature_index": np.zeros((2, 2), np.int32),
    "features": np.ones((1, 1)),
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"successors": np.array([[5, 0], [0, 1]])}, "dangling: from state 0 'on' leads to 5, which is none of the 2"),
        ({"successors": np.array([[0, -1], [0, 1]])}, "dangling: from state 0 'back' leads to -1"),
        ({"successors": np.zeros(4, int)}, r"successors have the shape \(4,\)"),
        ({"controls": ("on",)}, "successors have the shape"),
        ({"label_index": np.zeros((1, 2), np.uint16)}, r"label_index has the shape \(1, 2\)"),
        ({"label_index": np.full((2, 2), 3, np.uint16)}, "label_index goes up to 3, and there are 1 labels"),
        ({"feature_index": np.zeros((2, 3), np.int32)}, "feature_index has the shape"),
        ({"feature_index": np.full((2, 2), 1)}, "feature_index goes beyond the 1 rows"),
        ({"features": np.array([[np.nan]])}, "features must be finite"),
        ({"features": np.ones(1)}, "features must be finite numbers of the shape"),
        ({"states": ("x",)}, "1 names for 2 states"),
        ({"feature_names": ("x", "y")}, "2 names for 1 features"),
    ],
)
def test_arrays_that_make_no_world_are_refused_in_one_line(change, message):
    GraphWorld(TransitionTable(**TABLE), ())
    with pytest.raises(BadInputError, match=message) as caught:
        TransitionTable(**{**TABLE, **change})
    assert "\n" not in str(caught.value)


SQUARE = [("x", "y"), ("y", "x")]


def no_length():
    graph = networkx.Graph([(0, 1)])
    return GraphWorld.from_networkx(graph, start=0, features=["length"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GraphWorld.from_edges([], start="x"), "no edge at the start 'x'"),
        (lambda: GraphWorld.from_edges(SQUARE, start="z"), "no edge at the start 'z'"),
        (lambda: GraphWorld.from_edges([("x", "y")], start="x"), "dangling: no edge leads out of 'y'; give it one"),
        (lambda: GraphWorld.from_edges([(0, 1), (0, 2)], start=0), "no edge leads out of 1 and 1 more"),
        (lambda: GraphWorld.from_edges(SQUARE, start="x", marks={"z": "a"}), "dangling: the mark on 'z'"),
        (lambda: GraphWorld.from_edges(SQUARE, start="x", labels=["a"]), "one for each of the 2 edges"),
        (lambda: GraphWorld.from_edges(SQUARE, start="x", features=np.ones((3, 1))), "one for each of the 2 edges"),
        (lambda: GraphWorld.from_edges(SQUARE, start="x", features=np.ones(2)), r"shape \[edges, features\]"),
        (lambda: GraphWorld.from_edges(SQUARE, start="x", labels=["a", "b"], propositions=["a"]), "labels hold b"),
        (lambda: GraphWorld.from_edges(SQUARE, start="x").scene(start="q"), "dangling: 'q' is none of the 2"),
        (lambda: GraphWorld.from_edges(SQUARE, start="x").scene(marks={"q": "a"}), "dangling: 'q' is none of the 2"),
        (lambda: GraphWorld.from_edges(SQUARE, start="x").scene(marks={"x": "a"}), "labels hold a, which is not"),
        (lambda: GraphWorld(TransitionTable(**TABLE), (), initial_state=2), "dangling: 2 is none of the 2 states"),
        (lambda: GraphWorld(TransitionTable(**TABLE), ()).scene(start=2), "dangling: 2 is none of the 2 states"),
        (no_length, "an edge has no attribute 'length'"),
    ],
)
def test_a_graph_that_makes_no_world_is_refused_in_one_line(make, message):
    with pytest.raises(BadInputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_states_without_names_are_their_numbers():
    world = GraphWorld(TransitionTable(**TABLE), ())
    assert world.scene(start=np.int64(1)).initial_state == 1
    assert world.name(1) == 1
    assert random_walk(world, 3, np.random.default_rng(0))[0] == 0
