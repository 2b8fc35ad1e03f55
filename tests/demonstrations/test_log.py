"""Logs in JSONL become demonstrations, or errors that name the line."""

import json

import pytest

from wfairl.demonstrations import Dataset, collect, read_log
from wfairl.demonstrations.log import MalformedLogError
from wfairl.worlds import find_task

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
        ({"seed": 1, "controls": []}, "line 2: 'environment_id' is missing"),
        ({**GOOD, "sorce": 1}, "line 2: unknown field 'sorce'"),
        ({**GOOD, "seed": -1}, "line 2: seed must be a whole number"),
        ({**GOOD, "seed": 2**63}, "line 2: seed must be a whole number"),
        ("[" * 100_000, "line 2: not JSON"),
        ('{"seed": ' + "1" * 5_000 + "}", "line 2: not JSON"),
        ({**GOOD, "score": 10**400}, "line 2: score must be a number of ordinary size"),
        ({**GOOD, "seed": "7"}, "line 2: seed must be a whole number"),
        ({**GOOD, "controls": ["left", "jump"]}, "line 2: step 1: 'jump' is not a control; there are 6, left"),
        ({**GOOD, "controls": [6]}, "line 2: step 0: 6 is not a control"),
        ({**GOOD, "score": "good"}, "line 2: score must be a number"),
        (json.dumps({**GOOD, "score": float("nan")}), "line 2: .*finite"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, entry, message):
    with pytest.raises(MalformedLogError, match=f"log.jsonl: {message}"):
        read_log(write(tmp_path / "log.jsonl", GOOD, entry), TASK)


def test_an_empty_log_is_named(tmp_path):
    with pytest.raises(MalformedLogError, match="there is no episode in it"):
        read_log(write(tmp_path / "log.jsonl", ""), TASK)
