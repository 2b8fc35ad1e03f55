"""A cell: a function of a module with its settings, computed into a directory of its own.

    collected = Cell("doorkey D1", collect, {"task": "doorkey", "temperature": 0.0})
    trained = Cell("doorkey D1 bc", train, {"task": "doorkey", "method": "bc"}, needs={"demonstrations": collected})

    def train(directory, demonstrations, task, method) -> Outcome: ...

A function may leave files in `directory`, and finds those of another cell in that cell's directory. Its outcome is
written last, so that a cell is there whole or not at all; what was killed half-way finds its files again.
"""

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any

from wfairl.core.support.bounds import NotNegative
from wfairl.core.support.documents import Form, parse
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import read_bytes, read_json, write_json

RESULT, TIMING = "result.json", "timing.json"
"""The files of every cell. Its time is apart from the result, which is the same wherever it is computed."""

VERSION = 2
"""An outcome of another version is computed again."""

DIGITS = 8
"""Of the digest in the name of a directory."""

Scalar = bool | int | float | str | None


class BrokenOutcomeError(BadInputError):
    """A file does not hold the outcome of a cell."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a cell.

    Attributes:
        rows: lines of the table of results, each a value by the name of its column.
        facts: what else is to be known, as plain JSON.
    """

    rows: Sequence[Mapping[str, Scalar]] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DataFolder:
    """A folder of recorded data, and the files in it that are read."""

    path: Path
    files: tuple[str, ...]

    @cached_property
    def digest(self) -> str:
        """Of all that is read: other data are another cell."""
        parts = (hashlib.sha256(read_bytes(self.path / name)).hexdigest() for name in self.files)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class Cell:
    """One unit of an experiment.

    Attributes:
        name: unique in the experiment.
        work: a function of a module. Its arguments are `settings`, the directories of `needs`, `data` (the path of the
            folder, where there is one), and `directory`, that of the cell, if it has such an argument.
        settings: plain JSON. Numbers and texts are columns of the table of results too.
        needs: the cells that must be there first, by the name of the argument.
        data: the recorded data that it reads.
    """

    name: str
    work: Callable[..., Outcome]
    settings: Mapping[str, Any] = field(default_factory=dict)
    needs: Mapping[str, "Cell"] = field(default_factory=dict)
    data: DataFolder | None = None

    @cached_property
    def key(self) -> dict[str, Any]:
        """Everything that the outcome follows from, as plain JSON: another key means another outcome."""
        key = {
            "work": f"{self.work.__module__}.{self.work.__qualname__}",
            "settings": self.settings,
            "needs": {argument: cell.digest for argument, cell in self.needs.items()},
            "data": "" if self.data is None else self.data.digest,
            "version": VERSION,
        }
        return dict(json.loads(json.dumps(key)))

    @cached_property
    def digest(self) -> str:
        """A short name for the key."""
        return hashlib.sha256(json.dumps(self.key, sort_keys=True).encode()).hexdigest()[:DIGITS]

    @property
    def path(self) -> Path:
        """Its directory, in that of the experiment."""
        return Path("cells", f"{re.sub('[^a-zA-Z0-9.]+', '-', self.name).strip('-')}-{self.digest}")

    def with_needs(self) -> Iterator["Cell"]:
        """All cells that it needs, itself last."""
        for cell in self.needs.values():
            yield from cell.with_needs()
        yield self

    def compute(self, directory: Path, data: Path | None = None) -> None:
        """Compute the outcome in the directory of an experiment; `data` is where the folder is on this machine."""
        begun = time.process_time()
        places = {argument: directory / cell.path for argument, cell in self.needs.items()}
        if self.data is not None:
            places["data"] = self.data.path if data is None else data
        if "directory" in signature(self.work).parameters:
            places["directory"] = directory / self.path
        outcome = self.work(**places, **self.settings)
        write_json(directory / self.path / TIMING, {"seconds": time.process_time() - begun})
        self.save(outcome, directory)

    def save(self, outcome: Outcome, directory: Path) -> None:
        """Store the outcome; `result.json` is written last."""
        fields = {"key": self.key, "rows": outcome.rows, "facts": outcome.facts}
        FORM.write(directory / self.path / RESULT, fields)

    def stored(self, directory: Path) -> Outcome | None:
        """The outcome, None if it has not been computed."""
        place = directory / self.path
        if not (place / RESULT).exists():
            return None
        stored = FORM.read(place / RESULT)
        if stored.key != self.key:
            return None
        return Outcome(stored.rows, stored.facts)


@dataclass(frozen=True)
class _Stored:
    """An `Outcome` on disk."""

    key: Mapping[str, Any]
    rows: tuple[Mapping[str, Scalar], ...]
    facts: Mapping[str, Any]


FORM = Form(
    "wfairl-cell",
    "the outcome of a cell",
    VERSION,
    _Stored,
    BrokenOutcomeError,
    "remove it, and the same command computes it again",
)


def seconds_of(cell: Cell, directory: Path) -> float:
    """The processor time of a computed cell, without earlier attempts that were killed."""
    times: dict[str, float] = parse(dict[str, NotNegative], read_json(directory / cell.path / TIMING))
    return times.get("seconds", 0.0)
