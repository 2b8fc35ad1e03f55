"""Logs of what really happened, where the model says that it cannot: kept, counted, and no evidence about the task."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies_planning import TableWorld, worlds

from wfairl.core.automata.minimisation import to_table
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.costs.scene import prepare_scenes
from wfairl.core.demonstrations.demonstration import Dataset, Demonstration
from wfairl.core.planning import build_product, unit_cost
from wfairl.core.rational.evidence import Evidence
from wfairl.core.rational.observations import observe
from wfairl.core.rational.settings import RationalSettings
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds import ModelSimulator, ModelTask, Observation, explore_world
from wfairl.core.worlds.world import slips
from wfairl.recordings.commands import _surprises
from wfairl.recordings.log import read_recordings
from wfairl.recordings.recorded_states import ELSEWHERE, STAYED, count_detours, read_states
from wfairl.recordings.slip_estimate import estimate_slip
from wfairl.runs.collection import collect
from wfairl.runs.data_sets import load, save
from wfairl.runs.task_registry import slipping_task


@dataclass(frozen=True)
class Told(TableWorld):
    """Labels and features tell where the agent really came."""

    def label(self, state, control, next_state):
        both = TableWorld.label(self, state, control, next_state)
        return frozenset(one for one in both if (ord(one) + int(next_state[1:])) % 2)


def told(world: TableWorld) -> Told:
    return Told(world.next_states, world.masks, world.propositions)


def wander(world, states, steps, rng):
    """Controls and states of an agent that is now and then put anywhere."""
    visited, controls = [world.initial_state], []
    for _ in range(steps):
        available = [u for u in range(len(world.controls)) if world.is_available(visited[-1], u)]
        controls.append(int(rng.choice(available)))
        visited.append(str(rng.choice(states)) if rng.random() < 0.3 else world.step(visited[-1], controls[-1]))
    return controls, visited


@given(worlds(), st.integers(0, 10**6))
def test_a_log_of_states_and_controls_is_kept_as_it_happened(tmp_path_factory, world, seed):
    world, rng = told(world), np.random.default_rng(seed)
    explored = explore_world(world)
    controls, visited = wander(world, explored.table.states, 12, rng)
    recording = read_states(explored, visited, controls, rng)
    steps = list(zip(visited, controls, visited[1:], strict=False))
    assert [explored.name(one) for one in recording.path.states] == visited
    assert list(recording.path.labels) == [world.label(*one) for one in steps]
    assert recording.path.controls == tuple(controls)
    unforeseen = [i for i, (state, u, after) in enumerate(steps) if world.step(state, u) != after]
    assert [one.step for one in recording.surprises] == unforeseen
    assert not recording.unknown

    demonstration = Demonstration.of(recording.path, 1.0, 3)
    assert demonstration.follow(explored).states == recording.path.states
    assert (demonstration.effects == ()) == (unforeseen == [])
    path = tmp_path_factory.mktemp("surprises") / "x.safetensors"
    save(Dataset("any", (demonstration,)), path)
    assert load(path).demonstrations == (demonstration,)


SIDE = 5


class Courier:
    """A robot on a grid; the parcel lies in one corner and home is another."""

    controls, propositions, initial_state = ("up", "right", "down", "left"), ("parcel", "home"), (2, 2)

    def step(self, state, control):
        x, y = state[0] + (0, 1, 0, -1)[control], state[1] + (-1, 0, 1, 0)[control]
        return min(max(x, 0), SIDE - 1), min(max(y, 0), SIDE - 1)

    def label(self, state, control, next_state):
        return frozenset({"parcel"} if next_state == (4, 0) else {"home"} if next_state == (0, 4) else ())

    def features(self, state, control, next_state):
        return np.ones(1)


class SlipperyFloor(ModelSimulator):
    """With probability 0.15 another control is taken."""

    def step(self, control):
        taken = int(self.rng.choice([u for u in range(4) if u != control])) if self.rng.random() < 0.15 else control
        before, self.state = self.state, self.world.step(self.state, taken)
        return Observation(self.state, self.world.label(before, control, self.state), False)

    def __init__(self, world, rng):
        super().__init__(world)
        self.rng = rng


COURIER = ModelTask(
    "courier", "fetch the parcel", Courier.propositions, visit_in_order("parcel", "home"), 60, lambda _: Courier(),
    simulator=SlipperyFloor,
)  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_a_surprise_is_no_evidence_and_what_follows_it_is(seed):
    """The evidence is that of the controls at the pairs of states in which they were taken."""
    world, rule, eta, rng = Courier(), COURIER.rule, 2.0, np.random.default_rng(seed)
    explored = explore_world(world)
    product = build_product(explored, rule)
    Q = product.cost_to_go(unit_cost(product)).control_cost_to_go
    visited, controls, q, expected = [world.initial_state], [], 0, 0.0
    while not rule.accepting[q]:
        at = Q[product.find(explored.find(visited[-1]), q)]
        controls.append(int(rng.choice(4, p=np.exp(-at) / np.exp(-at).sum())))
        expected += -at[controls[-1]] / eta - np.logaddexp.reduce(-at / eta)
        after = world.step(visited[-1], controls[-1])
        if rng.random() < 0.3:
            after = explored.name(int(rng.integers(SIDE**2)))
        q = rule.read(q, world.label(visited[-1], controls[-1], after))
        visited.append(after)
    recording = read_states(explored, [list(one) for one in visited], controls, rng)
    demonstration = Demonstration.of(recording.path, 1.0, 0)
    settings = RationalSettings(temperature=eta, outlier_probability=1e-30)
    evidence = Evidence(observe([demonstration], lambda _: explored), np.array([eta]), settings)
    assert evidence.of_scenes(to_table(rule, evidence.labels))[0, 0] == pytest.approx(expected, abs=0.05)
    (scene,) = prepare_scenes([demonstration], lambda _: explored, rule, 0.5).scenes
    assert [explored.name(product.state(node)) for node in scene.nodes] == visited[:-1]
    assert demonstration.effects == () or min(demonstration.effects) < 0


def log_of(dataset, path, *more):
    """The states and controls of demonstrations, with other fields, as a robot logs them."""
    world = COURIER.make_world(0)
    lines = [
        {
            "states": [world.name(state) for state in one.follow(world).states],
            "controls": [world.controls[u] for u in one.controls],
            "battery": 0.7,
        }
        for one in dataset
    ]
    path.write_text("\n".join(map(json.dumps, [*lines, *more])))
    return path


@pytest.fixture(scope="module")
def drives():
    return collect(COURIER, 24, 0, 0.5, 0)


def test_demonstrations_are_collected_in_the_simulator(drives):
    assert any(one.effects for one in drives)
    assert all(COURIER.rule.fulfilled_at(one.labels) is not None for one in drives)


def test_a_log_comes_back_and_says_where_the_model_is_wrong(drives, tmp_path):
    log = read_recordings(log_of(drives, tmp_path / "log.jsonl"), COURIER)
    assert [one.labels for one in log.dataset] == [one.labels for one in drives]
    assert [one.effects for one in log.dataset] == [one.effects for one in drives]
    assert log.ignored == ("battery",)
    surprises = [one for recording in log.recordings.values() for one in recording.surprises]
    assert len(surprises) == sum(effect < 0 for one in drives for effect in one.effects) > 0
    assert {one.like for one in surprises} <= {*Courier.controls, STAYED}
    estimate = estimate_slip(log.recordings.values())
    assert estimate.low < 0.15 < estimate.high


def test_unknown_states_are_left_out_with_the_controls_taken_in_them(tmp_path):
    entry = {
        "states": [[2, 2], [3, 2], [9, 9], [9, 8], [4, 4], [4, 3]],
        "controls": ["right", "up", "left", "down", "up"],
    }
    log = read_recordings(log_of((), tmp_path / "log.jsonl", entry), COURIER)
    (recording,) = log.recordings.values()
    assert recording.unknown == ([9, 9], [9, 8])
    (surprise,) = recording.surprises
    assert (surprise.control, surprise.state, surprise.next_state, surprise.like) == ("up", (3, 2), (4, 4), ELSEWHERE)
    (demonstration,) = log.dataset
    assert demonstration.controls == (1, 0, 0)


def test_a_log_of_states_alone_draws_the_controls_of_surprises_and_says_so(tmp_path):
    path = log_of((), tmp_path / "log.jsonl", *({"states": [[2, 2], [4, 4], [4, 3]]} for _ in range(1)))
    log = read_recordings(path, COURIER)
    (surprise,) = log.recordings[0].surprises
    assert surprise.control is None
    assert log.dataset.demonstrations[0].controls[1] == 0
    with pytest.raises(BadInputError):
        estimate_slip(log.recordings.values())


def test_the_estimate_of_a_slip_is_that_of_a_coin_where_every_control_leads_elsewhere():
    world, rng = explore_world(Courier()), np.random.default_rng(0)
    inside = [world.find((x, y)) for x in (1, 2, 3) for y in (1, 2, 3)]
    kinds, heads = [], 0
    for _ in range(60):
        state, slipped = int(rng.choice(inside)), bool(rng.random() < 0.3)
        heads += slipped
        after = world.step(state, int(rng.integers(1, 4)) if slipped else 0)
        scene = world.scene(start=world.name(state))
        kinds.append(read_states(scene, [world.name(state), world.name(after)], [0], rng))
    assert estimate_slip(kinds).probability == pytest.approx((heads + 1) / 62, abs=1e-4)


def test_states_alone_are_refused_where_the_world_slips(tmp_path):
    slippery = ModelTask(
        "icy", "", Courier.propositions, COURIER.rule, 60, lambda _: COURIER.make_world(0).slipping(0.1)
    )
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"states": [[2, 2], [3, 2]]}))
    with pytest.raises(BadInputError, match="states alone do not tell the controls"):
        read_recordings(path, slippery)
    path.write_text(json.dumps({"states": [[2, 2], [3, 2], [0, 0]], "controls": ["up", "up"]}))
    (surprise,) = read_recordings(path, slippery).recordings[0].surprises
    assert surprise.step == 1  # the first step is a slip, which the model foresees
    with pytest.raises(BadInputError, match="the model slips already"):
        estimate_slip(read_recordings(path, slippery).recordings.values())


def test_where_a_model_slips_too_seldom_the_way_to_the_right_chances_is_named(tmp_path):
    controls = ["up", "down"] * 50
    states = [[2, 2]]
    for control in controls:  # both slip, to the right and back
        states.append([3, 2] if control == "up" else [2, 2])
    path = log_of((), tmp_path / "log.jsonl", {"states": states, "controls": controls})
    for task, advice in (
        (slipping_task(COURIER, 0.1), f"import the log for {COURIER.name}, with --estimate-slip"),
        (replace(COURIER, name="icy", slip=0.1), "change the chances in the world's `outcomes`, or the `slip`"),
    ):
        said = " ".join(map(str, _surprises(read_recordings(path, task), None)))
        assert "the model says 10.0%. To plan with what happened" in said
        assert advice in said


@pytest.mark.parametrize("slip", [0.1, 0.3])
def test_a_model_that_slips_too_seldom_is_told_from_one_that_slips_as_it_says(slip):
    world, rng = explore_world(Courier()).slipping(0.1), np.random.default_rng(0)
    inside, slips, recordings = [world.find((x, y)) for x in (1, 2, 3) for y in (1, 2, 3)], 0, []
    for _ in range(300):
        state, slipped = int(rng.choice(inside)), bool(rng.random() < slip)
        slips += slipped
        after = world.after(state, int(rng.integers(1, 4)) if slipped else 0)
        recordings.append(
            read_states(world.scene(start=world.name(state)), [world.name(state), world.name(after)], [0], rng)
        )
    assert count_detours(recordings) == (300, slips, pytest.approx(30), slip > 0.1)


def test_slips_that_are_not_alike_are_named_and_not_averaged(tmp_path):
    world, rng = COURIER.make_world(0), np.random.default_rng(0)
    state, controls, states = (2, 2), [], [(2, 2)]
    for _ in range(300):
        controls.append(int(rng.integers(4)))
        state = Courier().step(state, (controls[-1] + (rng.random() < 0.15)) % 4)  # it slips to the right
        states.append(state)
    recording = read_states(world, [list(one) for one in states], controls, rng)
    with pytest.raises(BadInputError, match=r"controls do not slip alike: .*: right "):
        estimate_slip([recording])
    staying = read_states(world, [[2, 2], [2, 2], [3, 2]], [1, 1], rng)
    with pytest.raises(BadInputError, match="no other control explains 1 of 1 slips: right: stayed 1 times"):
        estimate_slip([staying])


def test_the_estimate_is_offered_where_it_would_be_made_and_a_robot_that_stays_is_to_be_modelled(drives, tmp_path):
    slipped = read_recordings(log_of(drives, tmp_path / "log.jsonl"), COURIER)
    entry = {"states": [[2, 2], [2, 2], [3, 2]], "controls": ["right", "right"]}
    stayed = read_recordings(log_of((), tmp_path / "other.jsonl", entry), COURIER)
    share = f"{estimate_slip(slipped.recordings.values()).probability:.1%}"
    for log, word in ((slipped, f"in {share} of the steps"), (stayed, "`outcomes`")):
        (advice,) = [one for one in _surprises(log, None) if str(one).startswith("To plan for them")]
        assert word in advice
        assert ("--estimate-slip" in advice) == (log is slipped)


def test_where_a_task_has_a_simulator_a_slip_is_the_models_and_happens_once():
    slipping, real = slipping_task(COURIER, 0.15).make_simulator(3), COURIER.make_simulator(3)
    assert slips(slipping.world)
    controls = np.random.default_rng(0).integers(4, size=200).tolist()
    assert [slipping.step(u).state for u in controls] == [real.step(u).state for u in controls]
