"""The contract of a suite on recorded data: independent fits, what they measure, and published figures.

    suite = find_data_suite("borlange")
    wfairl reproduce --suite borlange --data DIR

A fit is one estimation and its test. Its outcome is a record of numbers; tables and figures are made from these records
alone, so that a page can be written again without the data.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.public_data.source import PublicSource
from experiments.public_data.sources import SOURCES
from experiments.public_data.trajectories import TrajectorySet
from experiments.suites.reproduction import TextTable
from experiments.suites.results import AGAIN, BrokenResultsError
from experiments.suites.suite import SUITES
from wfairl.core.support.documents import Form, Whole
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.safetensors_files import read_arrays, write_arrays
from wfairl.pages.captioned_figure import CaptionedFigure

ARRAYS_FORMAT = "wfairl-fit"

OUTCOME_VERSION = 1
"""An outcome of another version is computed again."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a fit.

    Attributes:
        measured: numbers by name, such as `bits` or `edit distance`.
        facts: further facts, as plain JSON.
        arrays: for figures.
    """

    measured: Mapping[str, float]
    facts: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def save(self, path: Path, key: Mapping[str, Any]) -> None:
        """Write it as JSON, and its arrays beside it."""
        if self.arrays:
            write_arrays(path.with_suffix(".safetensors"), ARRAYS_FORMAT, OUTCOME_VERSION, dict(key), self.arrays)
        FORM.write(path, {"key": key, "measured": self.measured, "facts": self.facts, "arrays": bool(self.arrays)})

    @classmethod
    def load(cls, path: Path, key: Mapping[str, Any] | None = None) -> "Outcome | None":
        """The stored outcome; None if there is none, or only one of another key.

        Raises:
            BrokenResultsError: the file holds something else.
        """
        if not path.exists():
            return None
        stored = FORM.read(path)
        if key is not None and stored.key != key:
            return None
        arrays: dict[str, NDArray[Any]] = {}
        if stored.arrays:
            file = path.with_suffix(".safetensors")
            _, arrays = read_arrays(file, ARRAYS_FORMAT, OUTCOME_VERSION, BadInputError)
        return cls(stored.measured, stored.facts, arrays)


@dataclass(frozen=True)
class _Stored:
    """An `Outcome` on disk; `arrays` tells whether it has any."""

    key: Mapping[str, Any]
    measured: Mapping[str, Whole | float]
    facts: Mapping[str, Any]
    arrays: bool


FORM = Form(ARRAYS_FORMAT, "the outcome of a fit", 2, _Stored, BrokenResultsError, AGAIN)


@dataclass(frozen=True)
class Fit:
    """One estimation and its test.

    Attributes:
        name: unique within the suite.
        work: a function of a module, whose keyword arguments are `settings`.
        settings: plain JSON: other settings are another fit.
        seconds: how long it may take, as a first guess.
    """

    name: str
    work: Callable[..., Outcome]
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 30.0

    def run(self, data: TrajectorySet) -> Outcome:
        """Estimate and test."""
        return self.work(data, **self.settings)


Outcomes = Mapping[str, Outcome]
"""By the name of the fit; those that failed are missing."""


@dataclass(frozen=True)
class DataSuite:
    """A published protocol on recorded data.

    Attributes:
        name: on the command line.
        title: of its page.
        summary: one line about it.
        source: where the data come from.
        fits: from whether it is a quick look to what to compute.
        tables: from outcomes to tables, ours beside published figures.
        figures: from outcomes to figures.
        notes: paragraphs of the page: the protocol, and what may be claimed.
    """

    name: str
    title: str
    summary: str
    source: PublicSource
    fits: Callable[[bool], Sequence[Fit]]
    tables: Callable[[Outcomes], Sequence[TextTable]]
    figures: Callable[[Outcomes], Sequence[CaptionedFigure]]
    notes: tuple[str, ...]


def find_data_suite(name: str) -> DataSuite:
    """The suite on recorded data of a name; an unknown name is a `BadInputError`."""
    suite = SUITES.find(name)
    if not isinstance(suite, DataSuite):
        raise BadInputError(f"the suite {name} does not measure on recorded data")
    return suite


def register_data_suite(suite: DataSuite) -> DataSuite:
    """Register a suite of your own and its data, in a file that `--tasks` names or in the program that runs it.

    Raises:
        BadInputError: a name is taken.
    """
    SUITES.register(suite.name, suite)
    SOURCES.register(suite.source.name, suite.source)
    return suite


def measured_of(outcomes: Outcomes, names: Iterable[str], quantity: str) -> list[float]:
    """A measured quantity of those of some fits that have it."""
    records = [outcomes[name].measured for name in names if name in outcomes]
    return [measured[quantity] for measured in records if quantity in measured]


def mean_and_spread(values: Sequence[float], digits: int = 3) -> str:
    """The mean over splits and its standard deviation: `0.187 ± 0.002`; a single value without the latter."""
    if not values:
        return "-"
    mean = f"{np.mean(values):.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {np.std(values, ddof=1):.{digits}f}"
