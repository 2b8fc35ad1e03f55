"""The named tasks, and tasks of one's own."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from experts import solve
from oracles_automata import fulfils_rule

from wfairl.core.automata.rules import avoid, visit_in_order
from wfairl.core.planning.cost import true_cost
from wfairl.core.planning.path import follow
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds import BrokenLawError, GraphWorld, ModelSimulator, ModelTask, TooManyNodesError
from wfairl.minigrid import Carrying, MiniGridTask
from wfairl.minigrid.tasks import PAPER_TASKS as PAPER
from wfairl.runs.task_laws import check_task, with_limit
from wfairl.runs.task_registry import all_tasks, find_task, slipping_task

MEAN_OPTIMAL_STEPS = {"doorkey": 16.73, "multiroom": 20.29, "blocked-unlock-pickup": 22.4}


def agrees_with_the_known_mean(name, seeds):
    task = find_task(name)
    steps = [solve(task.make_world(seed), task.rule).optimal_cost for seed in seeds]
    standard_error = np.std(steps, ddof=1) / np.sqrt(len(steps))
    return abs(np.mean(steps) - MEAN_OPTIMAL_STEPS[name]) <= 3 * standard_error


@pytest.mark.parametrize("name", ["doorkey", "multiroom"])
def test_the_mean_optimal_steps_are_those_of_the_protocol(name):
    assert agrees_with_the_known_mean(name, range(200))


@pytest.mark.slow
def test_the_mean_optimal_steps_of_the_hardest_task_are_those_of_the_protocol():
    assert agrees_with_the_known_mean("blocked-unlock-pickup", range(200))


@pytest.mark.slow
def test_a_few_scenes_of_the_hardest_task_agree_with_the_protocol_too():
    assert agrees_with_the_known_mean("blocked-unlock-pickup", range(4))


@pytest.mark.parametrize("task", PAPER, ids=lambda task: task.name)
def test_the_propositions_and_the_initial_labels_are_what_the_paper_says(task):
    expected = {
        "doorkey": ("key", "door", "goal"),
        "multiroom": ("door1", "door2", "door3", "goal"),
        "blocked-unlock-pickup": ("ball", "key", "door", "box"),
    }[task.name]
    assert task.propositions == expected
    for seed in range(20):
        world = task.make_world(seed)
        after_a_turn = world.step(world.initial_state, 0)
        assert world.label(world.initial_state, 0, after_a_turn) == frozenset()


def test_the_doors_of_multiroom_are_counted_along_the_rooms():
    """Along a shortest path to the goal they open in the order of their numbers."""
    task = find_task("multiroom")
    for seed in range(20):
        world = task.make_world(seed)
        controls, _ = solve(world, task.rule).act(0.0, task.horizon, np.random.default_rng(0))
        labels = follow(world, controls).labels
        first_open = [next(t for t, label in enumerate(labels) if f"door{i}" in label) for i in (1, 2, 3)]
        assert first_open == sorted(first_open)
        assert "goal" in labels[-1]


def test_the_real_environment_ends_a_task_exactly_when_its_rule_says_so():
    for task in PAPER:
        env = task.make_environment(seed=4)
        world = task.make_world(seed=4)
        controls, _ = solve(world, task.rule).act(0.5, task.horizon, np.random.default_rng(0))
        labels = []
        state = world.initial_state
        for control in controls:
            _, reward, terminated, _, _ = env.step(control)
            following = world.step(state, control)
            labels.append(world.label(state, control, following))
            state = following
            assert terminated == (task.rule.fulfilled_at(labels) is not None)
            assert (reward > 0) == terminated
        assert terminated


@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_our_own_tasks_obey_the_laws_and_say_what_they_are(task):
    check_task(task)
    assert task.name in task.title
    assert task.summary
    if task in PAPER:
        assert (task.default_cost, task.true_cost) == ("auto", None)


def priced(task, seed):
    """The controls of the expert, what it says that they cost, and what the floor of the real environment says."""
    expert = solve(task.make_world(seed), task.rule, true_cost(task))
    controls, succeeded = expert.act(0.0, task.horizon, np.random.default_rng(0))
    assert succeeded
    env, paid = task.make_environment(seed).unwrapped, 0.0
    for control in controls:
        env.step(control)
        floor = env.grid.get(*env.agent_pos)
        paid += (
            {"yellow": 3.0, "red": 10.0}.get(floor.color, 1.0) if floor is not None and floor.type == "floor" else 1.0
        )
    return controls, expert.optimal_cost, paid


@pytest.mark.parametrize("name", ["terrain", "doorkey-terrain"])
def test_floor_costs_what_its_colour_says(name):
    """And the fewest steps are sometimes dearer than the expert's path."""
    task, detours = find_task(name), 0
    for seed in range(6):
        controls, expected, paid = priced(task, seed)
        assert expected == pytest.approx(paid)
        detours += len(controls) > solve(task.make_world(seed), task.rule).optimal_cost
    assert detours > 0


@pytest.mark.parametrize(
    ("name", "order"), [("ordered-pickup", ("red", "green", "blue")), ("errand", ("corner", "goal"))]
)
def test_an_order_that_nothing_enforces_is_kept_by_the_expert(name, order):
    task = find_task(name)
    for seed in range(4):
        world = task.make_world(seed)
        controls, succeeded = solve(world, task.rule).act(0.0, task.horizon, np.random.default_rng(0))
        assert succeeded
        labels = follow(world, controls).labels
        assert fulfils_rule(labels, order, ())
        assert not fulfils_rule(labels[:-1], order, ())


FETCH = MiniGridTask(
    name="fetch-a-key",
    summary="pick up the key",
    environment_id="MiniGrid-DoorKey-5x5-v0",
    scene_propositions=lambda _: {"key": Carrying("key")},
    rule=visit_in_order("key"),
    horizon=30,
)


def test_a_task_of_ones_own_in_minigrid_works_like_the_others():
    check_task(FETCH)
    assert FETCH.propositions == ("key",)
    controls, succeeded = solve(FETCH.make_world(3), FETCH.rule).act(0.0, FETCH.horizon, np.random.default_rng(0))
    assert succeeded
    assert controls[-1] == 3  # pickup


def ring(length, propositions=("a", "b")):
    """A ring of nodes, the first of which shows a and the second b."""
    edges = [(i, (i + step) % length) for i in range(length) for step in (1, -1)]
    return GraphWorld.from_edges(edges, start=2, marks={0: ["a"], 1: ["b"]}, propositions=propositions)


RING = ModelTask("ring", "to the first node", ("a", "b"), visit_in_order("b", "a"), 9, lambda seed: ring(4 + seed))


def test_a_task_of_ones_own_world_is_explored_once_and_acted_in():
    check_task(RING)
    assert (RING.title, RING.default_cost) == ("ring", "auto")
    plain = dataclasses.replace(RING, scene=lambda seed: Plain(ring(4 + seed)))
    for seed in range(3):
        world = plain.make_world(seed)
        assert isinstance(world, GraphWorld)
        assert solve(world, plain.rule).optimal_cost == solve(RING.make_world(seed), RING.rule).optimal_cost == 2
    assert isinstance(plain.make_simulator(0), ModelSimulator)


class Endless:
    """A world whose states count the steps."""

    controls, propositions, initial_state = ("on",), ("a", "b"), 0

    def __init__(self):
        self.steps = 0

    def step(self, state, control):
        self.steps += 1
        return state + 1

    def label(self, state, control, after):
        return frozenset()

    def features(self, state, control, after):
        return np.ones(1)


def test_a_task_is_checked_without_exploring_its_worlds():
    world = Endless()
    endless = dataclasses.replace(RING, scene=lambda seed: world)
    check_task(endless)
    assert world.steps < 5_000
    for task in (endless, slipping_task(endless, 0.1)):
        with pytest.raises(TooManyNodesError, match="more than 70 states of the world"):
            with_limit(task, 70).make_world(0)


def test_a_task_slips_once():
    with pytest.raises(BadInputError, match=r"'ring-slip-0\.1' slip already"):
        slipping_task(slipping_task(RING, 0.1), 0.2)


class Plain:
    """A world that hides that it is compiled."""

    def __init__(self, world):
        for name in ("controls", "propositions", "initial_state", "step", "label", "features", "is_available"):
            setattr(self, name, getattr(world, name))


@pytest.mark.parametrize(
    ("change", "law"),
    [
        ({"rule": visit_in_order("gold")}, "task 'ring': rule: it reads gold, which the task does not have"),
        ({"rule": visit_in_order("aa")}, r"it reads aa, which the task does not have \(did you mean 'a'\?\)"),
        ({"rule": avoid("a")}, "task 'ring': rule: it is fulfilled before anything happens"),
        ({"rule": "visit a"}, "task 'ring': rule: it must be an automaton or None, not a str"),
        ({"scene": lambda seed: 1 / 0}, r"make_world: the scene of seed 0 cannot be made \(ZeroDivisionError"),
        ({"scene": lambda seed: object()}, "contract: object has no controls"),
        ({"scene": lambda seed: ring(4, ("b", "a"))}, "propositions: the task has a, b, the world of seed 0 b, a"),
        ({"scene": lambda seed: GraphWorld.from_edges([(0, 1)], start=0)}, "dangling: no edge leads out of 1"),
    ],
)
def test_a_task_that_breaks_a_law_is_refused_in_one_line(change, law):
    with pytest.raises(BadInputError, match=law) as caught:
        check_task(dataclasses.replace(RING, **change))
    assert "\n" not in str(caught.value)


def test_an_object_that_is_no_task_is_refused_with_what_it_lacks():
    with pytest.raises(BrokenLawError, match="contract: SimpleNamespace is no task: it has no title, summary"):
        check_task(SimpleNamespace(name="half"))


@pytest.mark.parametrize("horizon", [0, 10**400], ids=["none", "endless"])
@pytest.mark.parametrize("task", [RING, FETCH], ids=lambda task: task.name)
def test_a_horizon_must_leave_time_for_something_and_end(task, horizon):
    with pytest.raises(BadInputError, match="horizon"):
        dataclasses.replace(task, horizon=horizon)


def test_an_unknown_task_is_refused_with_the_known_ones():
    with pytest.raises(BadInputError, match=r"'doorkeys' \(did you mean 'doorkey'\?\); known are doorkey, multiroom"):
        find_task("doorkeys")
