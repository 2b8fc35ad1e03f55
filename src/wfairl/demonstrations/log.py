"""A user's own logs: JSONL, one episode per line.

    {"seed": 7, "controls": ["left", "forward", 5], "score": 1.0}
    {"states": [[2, false], [3, false], [3, true]]}

What was done is told by the controls, each a name or an index, or by the states that were passed, as the world has
them: the control between two states is then the one that leads from the first to the second. The seed says which scene
of the task it was, 0 if the task has only one. Without a score, the task's rule decides: 1 for success, 0 for failure.
An `environment_id`, where a line has one, must be the task's.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wfairl.demonstrations.demonstration import (
    FAILURE_SCORE,
    LARGEST_SEED,
    SUCCESS_SCORE,
    Dataset,
    Demonstration,
    control_number,
    replay,
)
from wfairl.errors import BadInputError
from wfairl.files import parse_json, read_text
from wfairl.progress import track
from wfairl.worlds.graph import GraphWorld
from wfairl.worlds.task import Task
from wfairl.worlds.world import World, available_controls

FIELDS = ("environment_id", "seed", "controls", "states", "score")


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


def disagreements(dataset: Dataset, task: Task) -> dict[int, str]:
    """Where a score and the task's rule say otherwise: the number of the demonstration, from 1, and what each says."""
    found = {}
    for number, demonstration in enumerate(dataset, start=1):
        fulfilled = task.rule.fulfilled_at(demonstration.labels) is not None
        if fulfilled != demonstration.is_success:
            found[number] = (
                f"the score {demonstration.score:g} says {'success' if demonstration.is_success else 'failure'},"
                f" and the rule of {task.name} is {'fulfilled' if fulfilled else 'not fulfilled'}"
            )
    return found


def _read_line(path: Path, number: int, line: str, task: Task) -> Demonstration:
    try:
        return _episode(parse_json(line), task)
    except BadInputError as error:
        raise MalformedLogError(f"{path}: line {number}: {error}") from None


def _episode(entry: Any, task: Task) -> Demonstration:
    _check_entry(entry, task)
    seed = entry.get("seed", 0)
    world = task.make_world(seed)
    if "controls" in entry:
        controls = [control_number(world, control, f"step {step}") for step, control in enumerate(entry["controls"])]
    else:
        controls = _controls_between(world, entry["states"])
    if "score" in entry:
        return replay(world, controls, _score(entry["score"]), seed)
    demonstration = replay(world, controls, FAILURE_SCORE, seed)
    succeeded = task.rule.fulfilled_at(demonstration.labels) is not None
    return replace(demonstration, score=SUCCESS_SCORE) if succeeded else demonstration


def _check_entry(entry: Any, task: Task) -> None:
    if not isinstance(entry, dict):
        raise MalformedLogError('an episode is an object with a list "controls" or "states"')
    unknown = sorted(set(entry) - set(FIELDS))
    if unknown:
        raise MalformedLogError(f"unknown field {unknown[0]!r}; there are {', '.join(FIELDS)}")
    told = [name for name in ("controls", "states") if name in entry]
    if len(told) != 1 or not isinstance(entry[told[0]], list):
        raise MalformedLogError('an episode has either a list "controls" or a list "states"')
    environment_id = getattr(task, "environment_id", None)
    if "environment_id" in entry and entry["environment_id"] != environment_id:
        raise MalformedLogError(
            f"environment_id is {entry['environment_id']!r}, and the task {task.name!r} has {environment_id!r}"
        )
    seed = entry.get("seed", 0)
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= LARGEST_SEED:
        raise MalformedLogError(f"seed must be a whole number between 0 and 2 ** 63 - 1, not {seed!r}")


def _controls_between(world: World[Any], states: Sequence[Any]) -> list[int]:
    """The controls that lead from each state to the next; the first that does, where several do."""
    told = [_from_json(state) for state in states]
    if not told:
        raise MalformedLogError("states must begin with the one in which the scene starts")
    state = world.initial_state
    if _named(world, state) != told[0]:
        raise MalformedLogError(f"the scene starts in {_named(world, state)!r}, not in {told[0]!r}")
    controls = []
    for step, wanted in enumerate(told[1:]):
        for control in available_controls(world, state).nonzero()[0].tolist():
            after = world.step(state, control)
            if _named(world, after) == wanted:
                controls.append(control)
                state = after
                break
        else:
            raise MalformedLogError(f"step {step}: no control leads from {_named(world, state)!r} to {wanted!r}")
    return controls


def _named(world: World[Any], state: Any) -> Any:
    return world.name(state) if isinstance(world, GraphWorld) else state


def _from_json(state: Any) -> Hashable:
    """A state as a world has it: lists are tuples there."""
    if isinstance(state, list):
        return tuple(_from_json(part) for part in state)
    if isinstance(state, dict):
        raise MalformedLogError("a state is a number, a text or a list of them, not an object")
    return state


def _score(score: Any) -> float:
    if not isinstance(score, int | float) or isinstance(score, bool):
        raise MalformedLogError(f"score must be a number, not {score!r}")
    try:
        return float(score)
    except OverflowError:
        raise MalformedLogError("score must be a number of ordinary size") from None
