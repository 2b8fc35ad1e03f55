"""A user's own logs: JSONL, one episode a line.

    {"environment_id": "MiniGrid-DoorKey-8x8-v0", "seed": 7, "controls": ["left", "forward", 5], "score": 1.0}

A control is a name or an index. Without a score, the task's rule decides: 1 for success, 0 for failure.
The states and labels come from replaying the controls in the scene of that seed.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wfairl.demonstrations.demonstration import (
    FAILURE_SCORE,
    LARGEST_SEED,
    SUCCESS_SCORE,
    Dataset,
    Demonstration,
    replay,
)
from wfairl.errors import BadInputError
from wfairl.files import parse_json, read_text
from wfairl.progress import track
from wfairl.worlds.tasks import Task


class MalformedLogError(BadInputError):
    """A line of a log that cannot be understood."""


def read_log(path: Path, task: Task) -> Dataset:
    """The episodes of a log as demonstrations of a task.

    Raises:
        MalformedLogError: names the file, the line and the fault.
    """
    lines = [(number, line) for number, line in enumerate(read_text(path).splitlines(), start=1) if line.strip()]
    if not lines:
        raise MalformedLogError(f"{path}: there is no episode in it")
    return Dataset(task.name, tuple(_read_line(path, number, line, task) for number, line in track(lines, "log")))


def _read_line(path: Path, number: int, line: str, task: Task) -> Demonstration:
    try:
        return _episode(parse_json(line), task)
    except BadInputError as error:
        raise MalformedLogError(f"{path}: line {number}: {error}") from None


def _episode(entry: Any, task: Task) -> Demonstration:
    if not isinstance(entry, dict) or not isinstance(entry.get("controls"), list):
        raise MalformedLogError('an episode is an object with "environment_id", "seed" and a list "controls"')
    for name in ("environment_id", "seed"):
        if name not in entry:
            raise MalformedLogError(f"{name!r} is missing")
    unknown = sorted(set(entry) - {"environment_id", "seed", "controls", "score"})
    if unknown:
        raise MalformedLogError(f"unknown field {unknown[0]!r}; there are environment_id, seed, controls and score")
    if entry.get("environment_id") != task.environment_id:
        raise MalformedLogError(
            f"environment_id is {entry.get('environment_id')!r}, and the task {task.name!r} has {task.environment_id!r}"
        )
    seed = entry.get("seed")
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= LARGEST_SEED:
        raise MalformedLogError(f"seed must be a whole number between 0 and 2 ** 63 - 1, not {seed!r}")
    world = task.make_world(seed)
    controls = [_control(step, control, world.controls) for step, control in enumerate(entry["controls"])]
    if "score" in entry:
        return replay(world, controls, _score(entry["score"]), seed)
    demonstration = replay(world, controls, FAILURE_SCORE, seed)
    return replace(demonstration, score=SUCCESS_SCORE) if task.rule.succeeds(demonstration.labels) else demonstration


def _control(step: int, control: Any, names: Sequence[str]) -> int:
    if isinstance(control, str) and control in names:
        return list(names).index(control)
    if isinstance(control, int) and not isinstance(control, bool) and 0 <= control < len(names):
        return control
    raise MalformedLogError(f"step {step}: {control!r} is not a control; there are {len(names)}, {', '.join(names)}")


def _score(score: Any) -> float:
    if not isinstance(score, int | float) or isinstance(score, bool):
        raise MalformedLogError(f"score must be a number, not {score!r}")
    try:
        return float(score)
    except OverflowError:
        raise MalformedLogError("score must be a number of ordinary size") from None
