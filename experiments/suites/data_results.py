"""The results of a suite on recorded data: an outcome per fit, and the tables that the suite makes of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from experiments.suites.data_suite import DataSuite, Outcome, Outcomes, find_data_suite
from experiments.suites.directory import MADE, RESULTS, fit_file
from experiments.suites.reproduction import AGAIN, PROVENANCE, Reproduction, TextTable
from experiments.suites.results import BrokenResultsError
from wfairl.core.support.documents import Form


@dataclass(frozen=True)
class _Stored:
    """`DataResults` on disk; the outcomes of fits are in files of their own, and here for the reader."""

    suite: str
    quick: bool
    fits: Mapping[str, Mapping[str, Any]]
    tables: tuple[TextTable, ...]
    failures: Mapping[str, str]

    def __post_init__(self) -> None:
        find_data_suite(self.suite)


@dataclass(frozen=True)
class DataResults(Reproduction):
    """What came of a suite.

    Attributes:
        suite: what was computed.
        quick: whether only part of it was.
        outcomes: of the fits that ended.
    """

    suite: DataSuite
    quick: bool
    outcomes: Outcomes
    failures: Mapping[str, str]
    provenance: Mapping[str, Any]
    form: ClassVar[Form[_Stored]] = Form(
        "wfairl-data-suite", "the results of a suite on data", 2, _Stored, BrokenResultsError, AGAIN
    )

    @property
    def notice(self) -> str:
        return "A quick look: a part of the protocol's fits only." if self.quick else ""

    @property
    def text_tables(self) -> tuple[TextTable, ...]:
        return tuple(table for table in self.suite.tables(self.outcomes) if table.body)

    def to_document(self) -> dict[str, Any]:
        return {
            "suite": self.suite.name,
            "quick": self.quick,
            "fits": {name: {"measured": one.measured, "facts": one.facts} for name, one in self.outcomes.items()},
            "tables": [asdict(table) for table in self.text_tables],
            "failures": dict(self.failures),
        }

    def csv_lines(self) -> Iterator[Sequence[Any]]:
        """See `Reproduction`; one line per fit and number."""
        yield "fit", "measured", "value"
        for name, outcome in self.outcomes.items():
            yield from ((name, quantity, value) for quantity, value in outcome.measured.items())


def read_data_results(directory: Path) -> DataResults:
    """The results that were written for a suite in a directory.

    Raises:
        BrokenResultsError: the files are not such.
    """
    stored, provenance = DataResults.form.read(directory / RESULTS), PROVENANCE.read(directory / MADE)
    outcomes = {name: outcome for name in stored.fits if (outcome := Outcome.load(fit_file(directory, name)))}
    return DataResults(find_data_suite(stored.suite), stored.quick, outcomes, stored.failures, asdict(provenance))
