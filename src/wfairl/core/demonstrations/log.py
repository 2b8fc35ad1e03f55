"""A user's own logs: JSONL, one episode per line; neighbours read other formats (`LOG_FORMATS`).

    {"seed": 7, "controls": ["left", "forward", 5], "score": 1.0}
    {"states": [[2, false], [3, false], [3, true]]}
    {"states": [{"floor": 2, "door": "open"}, {"floor": 2, "door": "closed"}]}
    {"seed": 7, "path": [[1.5, 2.0], [1.6, 2.2], [1.8, 2.3]]}

An episode is given by its controls, each a name or an index, or by its states, as the world has them: tuples and sets
as lists, records (dataclasses, named tuples) as lists or objects, an enum by name or value. The control between two
states is then the one that leads from the first to the second. On a roadmap, an episode may be given by the path of the
robot, its places (x, y) or (x, y, heading) in order, which is matched to the roadmap; the log reports how far apart
they are.

The seed is that of the scene, 0 by default. Without a score, the task's rule decides: 1 for success, 0 for failure. An
`environment_id` must be the task's.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wfairl.core.demonstrations.demonstration import (
    FAILURE_SCORE,
    SUCCESS_SCORE,
    Dataset,
    Demonstration,
    replay,
)
from wfairl.core.support.bounds import LARGEST_SEED
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import parse_json, read_text
from wfairl.core.support.progress import track
from wfairl.core.support.registry import Registry
from wfairl.core.worlds.graph import GraphWorld, state_name
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.world import World, available_controls

FIELDS = ("environment_id", "seed", "controls", "states", "path", "score")
GIVEN_BY = ("controls", "states", "path")


@dataclass(frozen=True)
class PathMatch:
    """The path over a world that is nearest to a recorded path.

    Attributes:
        controls: of the path.
        states: along the path, one more than controls.
        mean_error: the mean distance of the two paths along both, in metres.
        largest_error: the largest distance.
    """

    controls: tuple[int, ...]
    states: tuple[int, ...]
    mean_error: float
    largest_error: float


@runtime_checkable
class PathMatcher(Protocol):
    """The source of a world whose states lie in the plane, so that recorded paths can be matched to it."""

    def match_path(self, path: NDArray[np.float64], start: int) -> PathMatch:
        """Match a recorded path of places (x, y), shape [places, 2], that begins in the state `start`."""
        ...


class MalformedLogError(BadInputError):
    """A line of a log that cannot be read."""


@dataclass(frozen=True)
class Log:
    """The content of a log.

    Attributes:
        dataset: its episodes.
        matches: of paths to a roadmap, by the number of the episode.
    """

    dataset: Dataset
    matches: Mapping[int, PathMatch]


def read_json_lines(path: Path) -> Iterator[tuple[int, Callable[[], Any]]]:
    """The number of each line that is not empty, and a function that parses it."""
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.strip():
            yield number, partial(parse_json, line)


LOG_FORMATS: Registry[Callable[[Path], Iterable[tuple[int, Any]]]] = Registry(
    "format of logs", {".jsonl": read_json_lines}
)
"""By the end of a file's name: each gives the line on which an episode begins, and the episode or what parses it."""


def read_log(path: Path, task: Task) -> Dataset:
    """The episodes of a log as demonstrations of a task; errors as in `read_recordings`."""
    return read_recordings(path, task).dataset


def read_recordings(path: Path, task: Task) -> Log:
    """The episodes of a log as demonstrations of a task, and the matches of paths.

    Raises:
        MalformedLogError: names the file, the line and the fault.
    """
    entries = list(LOG_FORMATS.get(path.suffix, read_json_lines)(path))
    if not entries:
        raise MalformedLogError(f"{path}: there is no episode in it")
    demonstrations, matches = [], {}
    for number, (line, entry) in enumerate(track(entries, "log", total=len(entries))):
        try:
            demonstration, match = _episode(entry() if callable(entry) else entry, task)
        except BadInputError as error:
            raise MalformedLogError(f"{path}: line {line}: {error}") from None
        except RecursionError:
            raise MalformedLogError(f"{path}: line {line}: nested too deeply") from None
        demonstrations.append(demonstration)
        if match is not None:
            matches[number] = match
    return Log(Dataset(task.name, tuple(demonstrations)), matches)


def disagreements(dataset: Dataset, task: Task) -> dict[int, str]:
    """Sentences about demonstrations whose score contradicts the task's rule, by the number of each, from 1."""
    sentences: dict[int, str] = {}
    if task.rule is None:
        return sentences
    for number, demonstration in enumerate(dataset, start=1):
        fulfilled = task.rule.fulfilled_at(demonstration.labels) is not None
        if fulfilled != demonstration.is_success:
            sentences[number] = (
                f"the score {demonstration.score:g} says {'success' if demonstration.is_success else 'failure'},"
                f" and the rule of {task.name} is {'fulfilled' if fulfilled else 'not fulfilled'}"
            )
    return sentences


def _episode(entry: Any, task: Task) -> tuple[Demonstration, PathMatch | None]:
    _check_entry(entry, task)
    seed, match = entry.get("seed", 0), None
    world = task.make_world(seed)
    if "controls" in entry:
        controls = entry["controls"]
    elif "states" in entry:
        controls = _controls_between(world, entry["states"], np.random.default_rng(seed))
    else:
        match = _match(world, entry["path"])
        controls = list(match.controls)
    if "score" in entry:
        return replay(world, controls, _score(entry["score"]), seed), match
    demonstration = replay(world, controls, FAILURE_SCORE, seed)
    return replace(demonstration, score=score_by_rule(task, demonstration)), match


def score_by_rule(task: Task, demonstration: Demonstration) -> float:
    """The score of a demonstration whose source gives none: a task without a rule trusts it."""
    is_right = task.rule is None or task.rule.fulfilled_at(demonstration.labels) is not None
    return SUCCESS_SCORE if is_right else FAILURE_SCORE


def _check_entry(entry: Any, task: Task) -> None:
    if not isinstance(entry, dict):
        raise MalformedLogError('an episode is an object with a list "controls", "states" or "path"')
    unknown = sorted(set(entry) - set(FIELDS))
    if unknown:
        raise MalformedLogError(f"unknown field {unknown[0]!r}; there are {', '.join(FIELDS)}")
    given = [name for name in GIVEN_BY if name in entry]
    if len(given) != 1 or not isinstance(entry[given[0]], list):
        raise MalformedLogError('an episode has either a list "controls" or a list "states" or a list "path"')
    environment_id = getattr(task, "environment_id", None)
    if "environment_id" in entry and entry["environment_id"] != environment_id:
        raise MalformedLogError(
            f"environment_id is {entry['environment_id']!r}, and the task {task.name!r} has {environment_id!r}"
        )
    seed = entry.get("seed", 0)
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= LARGEST_SEED:
        raise MalformedLogError(f"seed must be a whole number between 0 and 2 ** 63 - 1, not {seed!r}")


def _controls_between(world: World[Any], states: Sequence[Any], rng: np.random.Generator) -> list[int]:
    """The controls that lead from each state to the next.

    Where several do, with the label of the first, one of them is drawn: always to take the first would look as if the
    demonstrator preferred it.
    """
    if not states:
        raise MalformedLogError("states must begin with the one in which the scene starts")
    state = world.initial_state
    if not _equals(states[0], state_name(world, state)):
        raise MalformedLogError(f"the scene starts in {state_name(world, state)!r}, not in {json.dumps(states[0])}")
    controls = []
    for step, wanted in enumerate(states[1:]):
        fitting = []
        for control in available_controls(world, state).nonzero()[0].tolist():
            after = world.step(state, control)
            if _equals(wanted, state_name(world, after)):
                fitting.append((world.label(state, control, after), control, after))
        fitting = [one for one in fitting if one[0] == fitting[0][0]]
        if not fitting:
            raise MalformedLogError(
                f"step {step}: no control leads from {state_name(world, state)!r} to {json.dumps(wanted)}"
            )
        _, control, state = fitting[rng.integers(len(fitting))]
        controls.append(control)
    return controls


def _match(world: World[Any], path: Sequence[Any]) -> PathMatch:
    """The path over the roadmap of a world that is nearest to a recorded path."""
    matcher = world.source if isinstance(world, GraphWorld) else world
    if not isinstance(matcher, PathMatcher):
        raise MalformedLogError("a path needs a roadmap, and this task has none; give the controls or the states")
    are_places = all(isinstance(place, list) and len(place) in (2, 3) for place in path)
    numbers = [number for place in path for number in place] if are_places else []
    if not are_places or len(path) < 2 or not all(_is_number(number) for number in numbers):
        raise MalformedLogError("a path has two or more places [x, y] or [x, y, heading], all of them finite numbers")
    return matcher.match_path(np.array([place[:2] for place in path], np.float64), world.initial_state)


def _is_number(value: Any) -> bool:
    """Whether it is a finite number of ordinary size."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _equals(value: Any, state: Any) -> bool:
    """Whether a value of JSON represents a state."""
    names = [one.name for one in fields(state)] if is_dataclass(state) else getattr(state, "_fields", ())
    parts = [getattr(state, name) for name in names] or state
    if isinstance(value, dict):
        return value.keys() == set(names) and all(map(_equals, (value[name] for name in names), parts))
    if isinstance(value, list) and isinstance(state, frozenset):
        return len(value) == len(state) and all(any(_equals(one, member) for member in state) for one in value)
    if isinstance(value, list):
        return isinstance(parts, list | tuple) and len(value) == len(parts) and all(map(_equals, value, parts))
    return value in (state.name, state.value) if isinstance(state, Enum) else bool(value == state)


def _score(score: Any) -> float:
    if not _is_number(score):
        raise MalformedLogError(f"score must be a finite number, not {str(score)[:40]}")
    return float(score)
