"""A user's own logs: JSONL, one episode per line; neighbours read other formats (`LOG_FORMATS`).

    {"seed": 7, "controls": ["left", "forward", 5], "score": 1.0}
    {"states": [[2, false], [3, false], [3, true]]}
    {"states": [{"floor": 2, "door": "open"}, {"floor": 2, "door": "closed"}]}
    {"states": [[2, false], [3, false], [3, true]], "controls": ["right", "take"], "battery": 0.8}
    {"seed": 7, "path": [[1.5, 2.0], [1.6, 2.2], [1.8, 2.3]]}

An episode is given by its controls, each a name or an index, by its states, or by both. States are written as the world
has them: tuples and sets as lists, records (dataclasses, named tuples) as lists or objects, an enum by name or value.
Without controls, the control between two states is the one that leads from the first to the second. With both, the log
tells what really happened, and reports where the model is wrong (`recorded_states`). On a roadmap, an episode may be
given by the path of the robot, its places (x, y) or (x, y, heading) in order, which is matched to the roadmap; the log
reports how far apart they are.

The seed is that of the scene, 0 by default. Without a score, the task's rule decides: 1 for success, 0 for failure. An
`environment_id` must be the task's. Other fields are ignored, and named in the report.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from wfairl.core.demonstrations.demonstration import FAILURE_SCORE, SUCCESS_SCORE, Dataset, Demonstration, replay
from wfairl.core.support.bounds import LARGEST_SEED
from wfairl.core.support.errors import BadInputError, did_you_mean
from wfairl.core.support.files import parse_json, read_text
from wfairl.core.support.progress import track
from wfairl.core.support.registry import Registry
from wfairl.core.worlds.graph import GraphWorld
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.world import World
from wfairl.recordings.recorded_states import Recording, read_states

FIELDS = ("environment_id", "seed", "controls", "states", "path", "score")


@dataclass(frozen=True)
class PathMatch:
    """The path over a world that is nearest to a recorded one; see `floors.roadmap.FloorScene.match_path`."""

    controls: tuple[int, ...]  # of the path
    states: tuple[int, ...]  # along the path, one more than controls
    mean_error: float  # the mean distance of the two paths along both, in metres
    largest_error: float  # the largest distance


@dataclass(frozen=True)
class Log:
    """Demonstrations from elsewhere, and how each episode was read, by its number."""

    dataset: Dataset  # the demonstrations
    matches: Mapping[int, PathMatch] = field(default_factory=dict)  # of paths to a roadmap
    recordings: Mapping[int, Recording] = field(default_factory=dict)  # of states
    ignored: tuple[str, ...] = ()  # the names of fields that were not read
    rejected: Mapping[int, str] = field(default_factory=dict)  # why an episode was rejected


def read_json_lines(path: Path) -> list[tuple[int, Callable[[], Any]]]:
    """The number of each line that is not empty, and a function that parses it."""
    lines = enumerate(read_text(path).splitlines(), start=1)
    return [(number, partial(parse_json, line)) for number, line in lines if line.strip()]


LOG_FORMATS: Registry[Callable[[Path], Iterable[tuple[int, Any]]]] = Registry(
    "format of logs", {".jsonl": read_json_lines}
)
"""By the end of a file's name: each gives the line on which an episode begins, and the episode or what parses it."""


def read_log(path: Path, task: Task) -> Dataset:
    """The episodes of a log as demonstrations of a task; errors as in `read_recordings`."""
    return read_recordings(path, task).dataset


def read_recordings(path: Path, task: Task) -> Log:
    """The episodes of a log as demonstrations of a task, and how they were read, or a `BadInputError`."""
    entries = list(LOG_FORMATS.get(path.suffix, read_json_lines)(path))
    if not entries:
        raise BadInputError(f"{path}: there is no episode in it")
    episodes: list[tuple[Demonstration, PathMatch | Recording | None]] = []
    ignored: dict[str, None] = {}
    make_world = lru_cache(8)(task.make_world)  # other episodes may be in the same scene
    for line, entry in track(entries, "log", total=len(entries)):
        try:
            content = entry() if callable(entry) else entry
            episodes.append(_read_episode(content, task, make_world))
            ignored |= dict.fromkeys(name for name in content if name not in FIELDS)
        except BadInputError as error:
            raise BadInputError(f"{path}: line {line}: {error}") from None
        except RecursionError:
            raise BadInputError(f"{path}: line {line}: nested too deeply") from None
    matches = {i: read for i, (_, read) in enumerate(episodes) if isinstance(read, PathMatch)}
    recordings = {i: read for i, (_, read) in enumerate(episodes) if isinstance(read, Recording)}
    return Log(Dataset(task.name, tuple(one for one, _ in episodes)), matches, recordings, tuple(ignored))


def disagreements(dataset: Dataset, task: Task) -> dict[int, str]:
    """Sentences about demonstrations whose score contradicts the task's rule, by the number of each, from 1."""
    return {
        number: (
            f"the score {one.score:g} says {'success' if one.is_success else 'failure'},"
            f" and the rule of {task.name} is {'not ' if one.is_success else ''}fulfilled"
        )
        for number, one in enumerate(dataset, start=1)
        if task.rule is not None and (score_by_rule(task, one) == SUCCESS_SCORE) != one.is_success
    }


def _read_episode(
    entry: Any, task: Task, make_world: Callable[[int], World[Any]]
) -> tuple[Demonstration, PathMatch | Recording | None]:
    _check_entry(entry, task)
    seed = entry.get("seed", 0)
    world, controls = make_world(seed), entry.get("controls")
    read: PathMatch | Recording | None = None
    if "states" in entry:
        read = read_states(world, entry["states"], controls, np.random.default_rng(seed))
        demonstration = Demonstration.of(read.path, FAILURE_SCORE, seed)
    else:
        if controls is None:
            read = _match(world, entry["path"])
            controls = read.controls
        demonstration = replay(world, controls, FAILURE_SCORE, seed)
    score = entry.get("score", score_by_rule(task, demonstration))
    if not _is_number(score):
        raise BadInputError(f"score must be a finite number, not {str(score)[:40]}")
    return replace(demonstration, score=float(score)), read


def score_by_rule(task: Task, demonstration: Demonstration) -> float:
    """The score of a demonstration whose source gives none: a task without a rule trusts it."""
    is_right = task.rule is None or task.rule.fulfilled_at(demonstration.labels) is not None
    return SUCCESS_SCORE if is_right else FAILURE_SCORE


def _check_entry(entry: Any, task: Task) -> None:
    if not isinstance(entry, dict):
        raise BadInputError('an episode is an object with a list "controls", "states" or "path"')
    for name in sorted(set(entry) - set(FIELDS)):
        if meant := did_you_mean(name, FIELDS, similarity=0.8):
            raise BadInputError(f"unknown field {name!r}{meant}")
    given = [name for name in ("controls", "states", "path") if name in entry]
    if not given or ("path" in given and len(given) > 1) or not all(isinstance(entry[name], list) for name in given):
        raise BadInputError('an episode has a list "controls" or a list "states" or both, or a list "path"')
    environment_id = getattr(task, "environment_id", None)
    if "environment_id" in entry and entry["environment_id"] != environment_id:
        raise BadInputError(
            f"environment_id is {entry['environment_id']!r}, and the task {task.name!r} has {environment_id!r}"
        )
    seed = entry.get("seed", 0)
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= LARGEST_SEED:
        raise BadInputError(f"seed must be a whole number between 0 and 2 ** 63 - 1, not {seed!r}")


def _match(world: World[Any], path: Sequence[Any]) -> PathMatch:
    """The path over the roadmap of a world that is nearest to a recorded path."""
    roadmap: Any = world.source if isinstance(world, GraphWorld) else world
    if not hasattr(roadmap, "match_path"):
        raise BadInputError("a path needs a roadmap, and this task has none; give the controls or the states")
    are_places = all(isinstance(place, list) and len(place) in (2, 3) for place in path)
    numbers = [number for place in path for number in place] if are_places else []
    if not are_places or len(path) < 2 or not all(_is_number(number) for number in numbers):
        raise BadInputError("a path has two or more places [x, y] or [x, y, heading], all of them finite numbers")
    match: PathMatch = roadmap.match_path(np.array([place[:2] for place in path], np.float64), world.initial_state)
    return match


def _is_number(value: Any) -> bool:
    """Whether it is a finite number of ordinary size."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
