"""Logs in JSONL become demonstrations, or errors that name the line."""

import dataclasses
import json
from dataclasses import dataclass
from enum import Enum

import numpy as np
import pytest

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.demonstrations import Dataset, replay
from wfairl.core.planning.path import follow
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds import ModelTask
from wfairl.recordings.log import disagreements, read_log
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task

TASK = find_task("doorkey")
ENVIRONMENT = TASK.environment_id


def write(path, *entries):
    path.write_text("\n".join(entry if isinstance(entry, str) else json.dumps(entry) for entry in entries))
    return path


def test_the_log_of_a_collection_gives_the_collection_back(tmp_path):
    """Controls by index or by name; the score by hand or by the rule."""
    names = TASK.make_world(0).controls
    collected = collect(TASK, 3, 3, 0.5, seed=0)
    entries = [
        {
            "environment_id": ENVIRONMENT,
            "seed": item.seed,
            "controls": [names[u] if number % 2 else u for u in item.controls],
            **({"score": item.score} if number % 3 else {}),
        }
        for number, item in enumerate(collected)
    ]
    assert read_log(write(tmp_path / "log.jsonl", *entries), TASK) == Dataset("doorkey", collected.demonstrations)


GOOD = {"environment_id": ENVIRONMENT, "seed": 1, "controls": ["left"]}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{broken", "line 2: not JSON"),
        ("[1, 2]", "line 2: an episode is an object"),
        ({**GOOD, "environment_id": "CartPole-v1"}, "line 2: environment_id is 'CartPole-v1', and the task 'doorkey'"),
        ({**GOOD, "path": [0]}, 'line 2: an episode has a list "controls" or a list "states" or both'),
        ({"seed": 1}, 'line 2: an episode has a list "controls" or a list "states" or both'),
        ({"seed": 1, "controls": "left"}, 'line 2: an episode has a list "controls"'),
        ({"seed": 1, "states": []}, "line 2: states must begin with the one in which the scene starts"),
        ({"seed": 1, "states": [0, 1]}, r"line 2: the scene starts in \d+, not in 0"),
        ({"seed": 1, "states": [{"x": 1}]}, r'line 2: the scene starts in \d+, not in {"x": 1}'),
        ({**GOOD, "sorce": 1}, "line 2: unknown field 'sorce'"),
        ({**GOOD, "seed": -1}, "line 2: seed must be a whole number"),
        ({**GOOD, "seed": 2**63}, "line 2: seed must be a whole number"),
        ("[" * 100_000, "line 2: not JSON"),
        ('{"seed": ' + "1" * 5_000 + "}", "line 2: not JSON"),
        ({**GOOD, "score": 10**400}, "line 2: score must be a finite number"),
        ({**GOOD, "seed": "7"}, "line 2: seed must be a whole number"),
        ({**GOOD, "controls": ["left", "jump"]}, "line 2: seed 1: step 1: 'jump' is not a control; there are 6, left"),
        ({**GOOD, "controls": [6]}, "line 2: seed 1: step 0: 6 is not a control"),
        ({**GOOD, "score": "good"}, "line 2: score must be a finite number"),
        (json.dumps({**GOOD, "score": float("nan")}), "line 2: .*finite"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, entry, message):
    with pytest.raises(BadInputError, match=f"log.jsonl: {message}"):
        read_log(write(tmp_path / "log.jsonl", GOOD, entry), TASK)


def test_an_empty_log_is_named(tmp_path):
    with pytest.raises(BadInputError, match="there is no episode in it"):
        read_log(write(tmp_path / "log.jsonl", ""), TASK)


class Corridor:
    """Cells 0 to 4 with two floors; states are nested tuples, and stairs lie at cell 2."""

    controls = ("left", "right", "stairs")
    propositions = ("end",)
    initial_state = (0, (0, "down"))

    def is_available(self, state, control):
        return control < 2 or state[0] == 2

    def step(self, state, control):
        cell, (_, floor) = state
        if control == 2:
            return cell, (0, "up" if floor == "down" else "down")
        return min(max(cell + 2 * control - 1, 0), 4), (0, floor)

    def label(self, state, control, next_state):
        return frozenset({"end"} if next_state == (4, (0, "up")) else ())

    def features(self, state, control, next_state):
        return np.ones(1)


CORRIDOR = ModelTask("floors", "", ("end",), visit_in_order("end"), 20, lambda _: Corridor())
PASSED = [[0, [0, "down"]], [1, [0, "down"]], [2, [0, "down"]], [2, [0, "up"]], [3, [0, "up"]], [4, [0, "up"]]]


def test_a_log_of_states_without_a_seed_tells_the_controls(tmp_path):
    told = {"controls": ["right", "right", "stairs", "right", "right"]}
    entries = [{"states": PASSED}, {"states": PASSED[:4]}, {"states": PASSED[:1]}, told, {**told, "seed": 3}]
    dataset = read_log(write(tmp_path / "log.jsonl", *entries), CORRIDOR)
    assert [item.controls for item in dataset] == [(1, 1, 2, 1, 1), (1, 1, 2), (), (1, 1, 2, 1, 1), (1, 1, 2, 1, 1)]
    assert dataset.scores == (1.0, 0.0, 0.0, 1.0, 1.0)
    assert [item.seed for item in dataset] == [0, 0, 0, 0, 3]
    assert dataset.demonstrations[0] == replay(Corridor(), [1, 1, 2, 1, 1], 1.0, 0)


class Door(Enum):
    OPEN = 0
    CLOSED = 1


@dataclass(frozen=True)
class Cabin:
    floor: int
    door: Door
    aboard: frozenset[str] = frozenset()


class Lift:
    """States are records, with an enum and a set in them."""

    controls = ("up", "toggle", "board")
    propositions = ("end",)
    initial_state = Cabin(0, Door.CLOSED)

    def step(self, state, control):
        if control == 0:
            return dataclasses.replace(state, floor=min(state.floor + 1, 3))
        if control == 1:
            return dataclasses.replace(state, door=Door(1 - state.door.value))
        return dataclasses.replace(state, aboard=frozenset({"ann", "bob"}))

    def label(self, state, control, next_state):
        return frozenset({"end"} if next_state.floor == 3 else ())

    def features(self, state, control, next_state):
        return np.ones(1)


@pytest.mark.parametrize(
    "states",
    [
        [[0, "CLOSED", []], [0, 0, []], [0, "OPEN", ["bob", "ann"]], [1, 0, ["ann", "bob"]]],
        [
            {"floor": 0, "door": "CLOSED", "aboard": []},
            {"floor": 0, "door": 0, "aboard": []},
            {"aboard": ["ann", "bob"], "floor": 0, "door": "OPEN"},
            {"floor": 1, "door": "OPEN", "aboard": ["bob", "ann"]},
        ],
    ],
)
def test_states_that_are_records_are_told_by_lists_or_objects(tmp_path, states):
    task = ModelTask("lift", "", ("end",), visit_in_order("end"), 20, lambda _: Lift())
    (item,) = read_log(write(tmp_path / "log.jsonl", {"states": states}), task)
    assert item.controls == (1, 2, 0)
    with pytest.raises(BadInputError, match="the scene starts in"):
        read_log(write(tmp_path / "log.jsonl", {"states": states[1:]}), task)


def test_a_log_of_a_minigrid_may_tell_its_states(tmp_path):
    world = TASK.make_world(3)
    states = follow(world, [0, 2, 1, 2]).states
    (item,) = read_log(write(tmp_path / "log.jsonl", {"seed": 3, "states": states}), TASK)
    assert item.follow(world).states == states


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"states": PASSED, "controls": ["right"]}, "1 controls and 6 states: there must be one state more"),
        ({"states": PASSED[:2], "controls": ["stairs"]}, "step 0: the control 'stairs' is not available there"),
        ({"states": [PASSED[1]]}, "the scene starts in"),
        ({"controls": ["right", "stairs"]}, "step 1: the control 'stairs' is not available there"),
        ({"environment_id": "MiniGrid-Empty-5x5-v0", "controls": []}, "and the task 'floors' has None"),
    ],
)
def test_what_cannot_have_happened_is_named(tmp_path, entry, message):
    with pytest.raises(BadInputError, match=f"log.jsonl: line 1: .*{message}"):
        read_log(write(tmp_path / "log.jsonl", entry), CORRIDOR)


def test_demonstrations_whose_score_and_rule_disagree_are_named(tmp_path):
    solved = next(iter(collect(TASK, 1, 0, 0.0, seed=0)))
    right = {"seed": solved.seed, "controls": list(map(int, solved.controls))}
    wrong = {"seed": solved.seed, "controls": ["left"]}
    entries = [right, {**right, "score": 0}, wrong, {**wrong, "score": 1}, {**right, "score": 1}]
    found = disagreements(read_log(write(tmp_path / "log.jsonl", *entries), TASK), TASK)
    assert list(found) == [2, 4]
    assert "score 0 says failure, and the rule of doorkey is fulfilled" in found[2]
    assert "score 1 says success, and the rule of doorkey is not fulfilled" in found[4]


class Waiting:
    """A robot waits in any of three ways, or goes on."""

    controls = ("wait", "rest", "stay", "go on")
    propositions = ("end",)
    initial_state = 0

    def step(self, state, control):
        return min(state + 1, 40) if control == 3 else state

    def label(self, state, control, next_state):
        return frozenset({"end"}) if next_state == 40 else frozenset()

    def features(self, state, control, next_state):
        return np.ones(1)


def test_a_log_of_states_shows_no_preference_among_controls_that_do_the_same(tmp_path):
    task = ModelTask("waiting", "wait", ("end",), visit_in_order("end"), 200, lambda seed: Waiting())
    states = [one for state in range(40) for one in (state, state, state)] + [40]
    (found,) = read_log(write(tmp_path / "log.jsonl", {"states": states}), task)
    waits = [control for control in found.controls if control != 3]
    assert len(waits) == 80
    assert all(15 <= waits.count(control) <= 40 for control in range(3))
    (again,) = read_log(tmp_path / "log.jsonl", task)
    assert again.controls == found.controls
