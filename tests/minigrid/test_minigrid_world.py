"""The MiniGrid model: exploration, labels, packing and refusals, against the real environment."""

import gymnasium
import numpy as np
import pytest
from experts import solve
from minigrid.core.world_object import Ball, Door, WorldObj
from minigrid.minigrid_env import MiniGridEnv
from minigrid.wrappers import NoDeath, StochasticActionWrapper
from oracles_worlds import RandomScene, features_by_hand, fingerprint, reachable
from strategies_planning import rule

from wfairl.core.automata.automaton import ACCEPTED, DEAD
from wfairl.core.automata.rules import all_of, avoid, before, visit_all
from wfairl.core.planning.path import follow
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds import TooManyNodesError, check_world
from wfairl.minigrid import (
    AgentAt,
    AgentOn,
    AwayFromDoor,
    Carrying,
    DoorOpen,
    Facing,
    MiniGridWorld,
    UnknownPhysicsError,
)
from wfairl.minigrid.environment import make_environment, reset
from wfairl.minigrid.renderer import TILE_PIXELS
from wfairl.runs.task_registry import find_task


def random_scene(seed, **settings):
    env = RandomScene(**settings)
    env.reset(seed=seed)
    return env


@pytest.mark.parametrize("seed", range(60))
def test_random_scenes_with_every_kind_of_object_stay_in_lockstep(seed):
    env = random_scene(seed, things=9)
    world = MiniGridWorld.from_environment(env)
    rng = np.random.default_rng(seed)
    state = world.initial_state
    for control in rng.choice(6, size=200, p=[0.12, 0.12, 0.3, 0.16, 0.12, 0.18]):
        _, _, terminated, _, _ = env.step(control)
        state = world.step(state, int(control))
        scene = world.encode(state)
        np.testing.assert_array_equal(scene.grid, env.grid.encode())
        assert scene.position == tuple(map(int, env.agent_pos))
        assert scene.direction == env.agent_dir
        assert scene.carried == (None if env.carrying is None else env.carrying.encode())
        assert scene.terminated == terminated
        assert world.state_of(env) == state
        if terminated:
            return


@pytest.mark.parametrize("seed", range(8))
def test_exploration_finds_the_states_and_transitions_that_copies_of_the_environment_find(seed):
    env = random_scene(seed, size=4, things=2)
    world = MiniGridWorld.from_environment(env)
    expected = reachable(env)
    explored = world.explore()
    assert len(explored.states) == len(expected)
    node_of = {world.unpack(words): node for node, words in enumerate(explored.states)}
    # Walk both graphs together from the start: every transition must lead to the same place.
    pairs = {fingerprint(env): 0}
    queue = [fingerprint(env)]
    for key in queue:
        for control, following in enumerate(expected[key]):
            node = int(explored.successors[pairs[key], control])
            assert node_of[world.step(world.unpack(explored.states[pairs[key]]), control)] == node
            if following in pairs:
                assert pairs[following] == node
            else:
                pairs[following] = node
                queue.append(following)
    assert len(pairs) == len(expected)


def test_indistinguishable_objects_make_one_state():
    """Two balls in a 2 x 2 room: the agent in one cell, the balls in an unordered pair of places."""
    env = random_scene(0, size=4, things=0)
    free = [(x, y) for x in (1, 2) for y in (1, 2) if (x, y) != tuple(env.agent_pos)]
    for cell in free[:2]:
        env.put_obj(Ball("red"), *cell)
    explored = MiniGridWorld.from_environment(env).explore()
    assert len(explored.states) == len(reachable(env))


def test_the_unsolved_states_of_the_hardest_task_are_as_many_as_known(hardest):
    explored = hardest.explore(rule(["box"]))
    assert len(explored.states) == 508_144
    assert explored.successors.size == 3_048_864


@pytest.fixture(scope="module")
def hardest():
    return find_task("blocked-unlock-pickup").make_world(seed=1)


def test_exploration_stops_at_its_limit(hardest):
    with pytest.raises(TooManyNodesError, match="more than 1,000 states"):
        hardest.explore(max_nodes=1_000)


@pytest.mark.parametrize(
    "environment_id", ["MiniGrid-LavaCrossingS9N1-v0", "MiniGrid-ObstructedMaze-1Dlh-v0", "BabyAI-BossLevel-v0"]
)
def test_a_minigrid_obeys_the_laws_of_a_world(environment_id):
    env = make_environment(environment_id)
    reset(env, 3)
    assert check_world(MiniGridWorld.from_environment(env), max_states=150) == 150


def object_in_front(env):
    return env.grid.get(*env.front_pos)


def is_kind(obj, kind, color=None):
    return obj is not None and obj.type == kind and color in (None, obj.color)


def away_from_door(env, kind, distance):
    cells = [
        (i % env.width, i // env.width)
        for i, obj in enumerate(env.grid.grid)
        if is_kind(obj, kind)
        or (is_kind(env.carrying, kind) and tuple(env.agent_pos) == (i % env.width, i // env.width))
    ]
    (door,) = [(i % env.width, i // env.width) for i, t in enumerate(env.grid.grid) if is_kind(t, "door")]
    return all(abs(x - door[0]) + abs(y - door[1]) >= distance for x, y in cells)


QUESTIONS = {
    "carries": (Carrying("key"), lambda env: is_kind(env.carrying, "key")),
    "carries purple": (Carrying("ball", "purple"), lambda env: is_kind(env.carrying, "ball", "purple")),
    "open": (DoorOpen(), lambda env: any(is_kind(t, "door") and t.is_open for t in env.grid.grid)),
    "on door": (AgentOn("door"), lambda env: is_kind(env.grid.get(*env.agent_pos), "door")),
    "at": (AgentAt(2, 2), lambda env: tuple(env.agent_pos) == (2, 2)),
    "faces ball": (Facing("ball"), lambda env: is_kind(object_in_front(env), "ball")),
    "faces door": (Facing("door"), lambda env: is_kind(object_in_front(env), "door")),
    "apart": (AwayFromDoor("ball", 2), lambda env: away_from_door(env, "ball", 2)),
}


def test_propositions_agree_with_the_real_environment():
    env = make_environment("MiniGrid-BlockedUnlockPickup-v0").unwrapped
    reset(env, 11)
    ball = next(obj for obj in env.grid.grid if is_kind(obj, "ball"))
    ball.color = "purple"
    world = MiniGridWorld.from_environment(env, {name: question for name, (question, _) in QUESTIONS.items()})
    rng = np.random.default_rng(1)
    seen = dict.fromkeys(QUESTIONS, 0)
    state = world.initial_state
    for _ in range(6_000):
        control = int(rng.choice(6, p=[0.12, 0.12, 0.36, 0.16, 0.08, 0.16]))
        MiniGridEnv.step(env, control)
        following = world.step(state, control)
        expected = frozenset(name for name, (_, holds) in QUESTIONS.items() if holds(env))
        assert world.label(state, control, following) == expected
        for name in expected:
            seen[name] += 1
        state = following
    assert all(0 < count < 6_000 for count in seen.values()), seen


@pytest.mark.parametrize(
    ("proposition", "message"),
    [
        (Carrying("sword"), "unknown kind of object 'sword'"),
        (Carrying("key", "mauve"), "unknown colour 'mauve'"),
        (AgentOn("lava"), "no lava to stand on"),
        (AgentOn("door", "grey"), "no grey door to stand on"),
        (DoorOpen(at=(1, 1)), r"no door at \(1, 1\)"),
        (AgentAt(99, 0), "lies outside"),
        (Facing("door", "grey"), "no grey door"),
    ],
)
def test_a_proposition_about_nothing_in_the_scene_is_refused(proposition, message):
    env = make_environment("MiniGrid-BlockedUnlockPickup-v0")
    reset(env, 11)
    with pytest.raises(BadInputError, match=message):
        MiniGridWorld.from_environment(env, {"p": proposition})


def test_several_doors_need_a_cell_or_a_colour():
    env = make_environment("MiniGrid-MultiRoom-N4-S5-v1")
    reset(env, 0)
    with pytest.raises(BadInputError, match=r"say which with at=\(x, y\)"):
        MiniGridWorld.from_environment(env, {"p": DoorOpen()})


class Teleporting(RandomScene):
    """Overrides step with a rule of its own."""

    def step(self, action):
        result = super().step(action)
        self.agent_pos = (1, 1)
        return result


class Counting(RandomScene):
    """Overrides step and leaves the physics alone."""

    def step(self, action):
        self.calls = getattr(self, "calls", 0) + 1
        return super().step(action)


def unknown_object():
    env = random_scene(0)
    env.grid.set(1, 1, WorldObj("unseen", "red"))
    return env


def wall_in_a_box():
    from minigrid.core.world_object import Box, Wall

    env = random_scene(0, things=0)
    env.put_obj(Box("red", Wall()), 1, 1)
    return env


class Whimsical(gymnasium.Wrapper):
    """A wrapper that ignores its controls."""

    def step(self, action):
        return self.env.step(0)


class JammedDoor(Door):
    """A door that never opens."""

    def toggle(self, env, pos):
        return False


def jammed_door():
    env = random_scene(0, things=0)
    env.put_obj(JammedDoor("red"), 1, 1)
    return env


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Whimsical(random_scene(0)), "wrapper Whimsical has a step of its own"),
        (jammed_door, "does not know the class JammedDoor of a door"),
        (unknown_object, "does not know the object 'unseen'"),
        (wall_in_a_box, "does not know a wall inside a box"),
        (lambda: StochasticActionWrapper(random_scene(0)), "wrapper StochasticActionWrapper changes what controls do"),
        (lambda: NoDeath(random_scene(0), ("lava",)), "wrapper NoDeath"),
        (lambda: gymnasium.make("CartPole-v1"), "CartPoleEnv is not a MiniGrid"),
        (RandomScene, "has not been reset|RandomScene"),
        (lambda: _reset(Teleporting()), "Teleporting overrides step"),
    ],
)
def test_what_the_model_does_not_know_is_refused_by_name(make, message):
    with pytest.raises((UnknownPhysicsError, AttributeError), match=message):
        MiniGridWorld.from_environment(make())


def _reset(env):
    env.reset(seed=0)
    return env


def test_an_own_step_that_leaves_the_physics_alone_is_accepted():
    assert MiniGridWorld.from_environment(_reset(Counting())).explore(max_nodes=10**6)


@pytest.mark.parametrize("control", [-1, 6, 99])
def test_a_control_out_of_range_is_refused(hardest, control):
    with pytest.raises(BadInputError, match=f"control {control} is out of range: there are 6, left, right"):
        hardest.step(hardest.initial_state, control)


@pytest.mark.parametrize("state", [-1, 2**64, 2**63, "left"])
def test_something_that_is_no_state_is_refused(hardest, state):
    with pytest.raises(BadInputError, match="is not a state of this world"):
        hardest.step(state, 0)


def test_another_scene_is_not_this_world(hardest):
    env = make_environment("MiniGrid-DoorKey-8x8-v0")
    reset(env, 0)
    with pytest.raises(UnknownPhysicsError, match="not those of this world"):
        hardest.state_of(env)


def random_walk(env, world, steps, rng):
    """States and controls of a random walk, with the environment stepped along; it yields before each step."""
    state = world.initial_state
    for _ in range(steps):
        control = int(rng.choice(6, p=[0.12, 0.12, 0.3, 0.16, 0.12, 0.18]))
        yield state, control
        if world.is_final(state):
            return
        env.step(control)
        state = world.step(state, control)


@pytest.mark.parametrize("seed", range(12))
def test_a_state_is_rendered_as_the_real_environment_renders_it(seed):
    env = random_scene(seed, things=9)
    world = MiniGridWorld.from_environment(env)
    rendering = world.rendering
    for state, _ in random_walk(env, world, 40, np.random.default_rng(seed)):
        expected = env.get_full_render(highlight=False, tile_size=TILE_PIXELS)
        np.testing.assert_array_equal(rendering.render(state), expected)
        x, y = (int(pixel // TILE_PIXELS) for pixel in rendering.places.locate(state))
        assert (x, y) == tuple(env.agent_pos)


@pytest.mark.parametrize("seed", range(12))
def test_features_are_what_the_real_agent_carries_and_the_floor_or_door_it_arrives_on(seed):
    env = random_scene(seed, things=9)
    world = MiniGridWorld.from_environment(env)
    for state, control in random_walk(env, world, 60, np.random.default_rng(seed)):
        after = world.step(state, control)
        found = dict(zip(world.feature_names, world.features(state, control, after), strict=True))
        assert {name for name, value in found.items() if value} == features_by_hand(env, world.encode(after).position)
        assert set(found.values()) <= {0.0, 1.0}


@pytest.mark.parametrize("seed", range(4))
def test_features_of_many_transitions_are_those_of_each(seed):
    world = MiniGridWorld.from_environment(random_scene(seed, size=5, things=4))
    explored = world.explore()
    rng = np.random.default_rng(seed)
    transitions = rng.integers(explored.successors.size, size=300)
    number, features = world.transition_features(explored.states, transitions)
    assert len(np.unique(features, axis=0)) == len(features)
    for transition, row in zip(transitions, features[number], strict=True):
        node, control = divmod(int(transition), 6)
        state = world.unpack(explored.states[node])
        np.testing.assert_array_equal(row, world.features(state, control, world.step(state, control)))


RULES = {
    "visit all": visit_all("key", "near"),
    "avoid": all_of(rule(["key", "door"]), avoid("near")),
    "before": all_of(rule(["goal"]), before("near", "key")),
}


@pytest.mark.parametrize("name", RULES)
def test_exploring_with_a_rule_is_plain_breadth_first_search(name):
    env = make_environment("MiniGrid-DoorKey-5x5-v0")
    reset(env, 2)
    questions = {"key": Carrying("key"), "door": DoorOpen(), "goal": AgentOn("goal"), "near": Facing("door")}
    world, task = MiniGridWorld.from_environment(env, questions), RULES[name]
    explored = world.explore(task)
    pairs = {(world.initial_state, 0): 0}
    queue = list(pairs)
    for node, (state, automaton_state) in enumerate(queue):
        assert (world.unpack(explored.states[node]), explored.automaton_states[node]) == (state, automaton_state)
        for control in range(6):
            following = world.step(state, control)
            label = world.label(state, control, following)
            assert explored.labels[explored.label_index[node, control]] == label
            after = task.read(automaton_state, label)
            if after == DEAD or task.accepting[after]:
                assert explored.successors[node, control] == (DEAD if after == DEAD else ACCEPTED)
                continue
            expected = pairs.setdefault((following, after), len(queue))
            if expected == len(queue):
                queue.append((following, after))
            assert explored.successors[node, control] == expected
    assert len(explored.states) == len(queue)
    assert {DEAD, ACCEPTED} & set(explored.successors.ravel().tolist())


def test_64_propositions_fit_a_scene_and_one_more_does_not():
    env = make_environment("MiniGrid-Empty-16x16-v0")
    reset(env, 0)
    cells = [(x, y) for y in range(1, 15) for x in range(1, 15)][:65]
    questions = {f"at {x} {y}": AgentAt(x, y) for x, y in cells}
    with pytest.raises(BadInputError, match="at most 64 propositions, not 65"):
        MiniGridWorld.from_environment(env, questions)
    names = list(questions)[:64]
    world = MiniGridWorld.from_environment(env, {name: questions[name] for name in names})
    assert solve(world, rule([names[-1]])).optimal_cost == 7 + 1 + 4  # from (1, 1), facing right, to (8, 5)
    labels = follow(world, [2, 2, 1, 2]).labels
    assert labels == (frozenset({"at 2 1"}), frozenset({"at 3 1"}), frozenset({"at 3 1"}), frozenset({"at 3 2"}))
