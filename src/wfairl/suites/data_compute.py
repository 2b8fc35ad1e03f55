"""A suite on public data from the first fit to its page, in a directory:

    fits, several at a time -> tables -> figures -> page

A fit that is finished stays in the directory and is not computed again.
"""

import csv
import hashlib
import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from wfairl import __version__
from wfairl.documents import Form, unchanged
from wfairl.errors import BadInputError
from wfairl.executors import LOCAL, Workers, open_workers
from wfairl.files import hold, read_bytes, write_atomically
from wfairl.public_data.trajectories import load_trajectories
from wfairl.report.blocks import Command, Facts, figure_of, prose
from wfairl.report.figures import write_figures
from wfairl.report.page import Block, Page, Section, check_page_file, write_page
from wfairl.report.provenance import provenance
from wfairl.suites.data_suite import OUTCOME_VERSION, DataSuite, Fit, Outcome, Outcomes, find_data_suite
from wfairl.suites.directory import (
    CSV,
    FIGURES,
    MADE,
    MARKDOWN,
    REPORT,
    RESULTS,
    UnfinishedReproductionError,
    check_free,
)
from wfairl.suites.jobs import Job, run_jobs
from wfairl.suites.results import BrokenResultsError
from wfairl.suites.tables import AGAIN, PROVENANCE, TextTable
from wfairl.worlds.workers import worker_setup

FITS = "fits"


class NoDataError(BadInputError):
    """A suite on public data was started without them."""


@dataclass(frozen=True)
class DataResults:
    """What came of a suite.

    Attributes:
        suite: its name.
        quick: whether it is a look at part of it.
        outcomes: of the fits that ended.
        failures: why the others did not.
        made: when, on what and with which versions.
    """

    suite: str
    quick: bool
    outcomes: Outcomes
    failures: Mapping[str, str]
    made: Mapping[str, Any]

    @property
    def tables(self) -> tuple[TextTable, ...]:
        """For people."""
        return tuple(table for table in find_data_suite(self.suite).tables(self.outcomes) if table.body)

    def to_document(self) -> dict[str, Any]:
        """As one JSON object."""
        return {
            "suite": self.suite,
            "quick": self.quick,
            "fits": {name: {"measured": one.measured, "facts": one.facts} for name, one in self.outcomes.items()},
            "tables": [asdict(table) for table in self.tables],
            "failures": dict(self.failures),
        }

    def to_csv(self) -> str:
        """One line per fit and number."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("fit", "measured", "value"))
        for name, outcome in self.outcomes.items():
            writer.writerows((name, what, value) for what, value in outcome.measured.items())
        return stream.getvalue()

    def to_markdown(self) -> str:
        """The tables, ours beside published figures."""
        parts = [f"**{notice(self.quick)}**"] if self.quick else []
        for table in self.tables:
            parts += [table.title, table.to_markdown()]
        parts += [f"Not computed: {name}: {reason.splitlines()[-1]}" for name, reason in self.failures.items()]
        return "\n\n".join(parts) + "\n"


def reproduce_on_data(
    suite: DataSuite,
    data: Path | None,
    directory: Path,
    quick: bool,
    n_jobs: int,
    command: str,
    executor: str = LOCAL,
) -> DataResults:
    """Compute every fit that is not there yet, and write tables, figures and page.

    Args:
        suite: what to compute.
        data: where `wfairl data` put the data set.
        directory: where everything goes.
        quick: only a part of it.
        n_jobs: fits to work on at once, each in a process of its own; it changes nothing in the result.
        command: what to type to have the same again, for the page.
        executor: what works on them instead of processes of this machine, see `open_workers`; likewise.

    Raises:
        NoDataError: there are no data; says where to get them.
        BadInputError: the directory is that of a run.
    """
    check_free(directory)
    if data is None or not (data / f"{suite.name}.safetensors").is_file():
        missing = "" if data is None else f"{data / suite.name}.safetensors: no such file. "
        raise NoDataError(
            f"{missing}The suite {suite.name} measures on public data, which are not part of this package. Get"
            f" {suite.source.where}, then `wfairl data {suite.name} SOURCE -o DIR`, then"
            f" `wfairl reproduce --suite {suite.name} --data DIR`"
        )
    file = data.resolve() / f"{suite.name}.safetensors"
    with hold(directory), open_workers(executor, n_jobs, worker_setup()) as workers:
        return _compute(suite, file, directory, quick, workers, command)


def _compute(suite: DataSuite, file: Path, directory: Path, quick: bool, workers: Workers, command: str) -> DataResults:
    fits, digest = suite.fits(quick), hashlib.sha256(read_bytes(file)).hexdigest()
    jobs = [
        Job(fit.name, fit.seconds, partial(run_fit, suite.name, fit, file.parent, digest), (file,))
        for fit in fits
        if Outcome.load(fit_file(directory, fit.name), key_of(fit, digest)) is None
    ]
    failures = {failure.name: failure.reason for failure in run_jobs(jobs, directory, workers, suite.name)}
    stored = {fit.name: Outcome.load(fit_file(directory, fit.name), key_of(fit, digest)) for fit in fits}
    outcomes = {name: one for name, one in stored.items() if one is not None}
    results = DataResults(suite.name, quick, outcomes, failures, provenance(command))
    PROVENANCE.write(directory / MADE, results.made)
    FORM.write(directory / RESULTS, results.to_document())
    write_atomically(directory / CSV, results.to_csv())
    write_atomically(directory / MARKDOWN, results.to_markdown())
    write_data_report(directory)
    return results


def run_fit(suite: str, fit: Fit, data: Path, digest: str, directory: Path) -> None:
    """Compute a fit and leave its outcome in the directory, where the data are if they travelled."""
    place = directory if (directory / f"{suite}.safetensors").exists() else data
    fit.run(load_trajectories(place, suite)).save(fit_file(directory, fit.name), key_of(fit, digest))


def key_of(fit: Fit, digest: str) -> dict[str, Any]:
    """Everything that an outcome follows from."""
    return {"name": fit.name, "settings": dict(fit.settings), "data": digest, "version": OUTCOME_VERSION}


def fit_file(directory: Path, name: str) -> Path:
    """Where the outcome of a fit is kept."""
    return directory / FITS / f"{name.replace(' ', '-').replace(',', '').replace('/', '-')}.json"


def is_data_reproduction(directory: Path) -> bool:
    """Whether a directory is that of a suite on public data, finished or not."""
    return (directory / FITS).is_dir()


def write_data_report(directory: Path, output: Path | None = None) -> Path:
    """Draw the figures and write the page, from what is stored.

    Raises:
        UnfinishedReproductionError: there are no results yet.
        BadInputError: the results are of another version, or the page cannot be written there.
    """
    path = directory / REPORT if output is None else output
    check_page_file(path)
    if not (directory / RESULTS).exists():
        raise UnfinishedReproductionError(directory)
    results = _read(directory)
    figures = list(find_data_suite(results.suite).figures(results.outcomes))
    write_figures(figures, directory / FIGURES)
    blocks = [figure_of(figure) for figure in figures]
    write_page(_page(results, blocks), path)
    return path


def _read(directory: Path) -> DataResults:
    stored = FORM.read(directory / RESULTS)
    kept = {name: Outcome.load(fit_file(directory, name)) for name in stored.fits}
    outcomes = {name: outcome for name, outcome in kept.items() if outcome is not None}
    made = asdict(PROVENANCE.read(directory / MADE))
    return DataResults(stored.suite, stored.quick, outcomes, stored.failures, made)


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


FORM = Form(
    "wfairl-data-suite", "the results of a suite on data", 2, _Stored, BrokenResultsError, AGAIN, {1: unchanged}
)


def _page(results: DataResults, figures: list[Any]) -> Page:
    suite, made = find_data_suite(results.suite), results.made
    tables: list[Block] = [table.to_block() for table in results.tables]
    missing = [prose(f"Not computed: {name}: {reason}") for name, reason in results.failures.items()]
    facts = (
        ("Data", suite.source.where),
        ("Licence of the data", suite.source.licence),
        ("Date", made["date"]),
        ("Machine", made["machine"]),
        *((name, version) for name, version in made["versions"].items()),
    )
    text = "Started again, the command computes only what is missing, and ends with the same tables:"
    sections = (
        Section("Results", (*tables, *missing)),
        Section("Figures", tuple(figures)),
        Section("Protocol, and what may be claimed", (prose(*suite.notes),)),
        Section("How it was made", (prose(text), Command(made["command"]), Facts(facts))),
    )
    return Page(
        title=suite.title,
        subtitle=f"{suite.summary}.",
        sections=tuple(section for section in sections if section.blocks),
        notice=notice(results.quick),
        kind=f"wfairl · suite {suite.name}",
        footer=f"Made by wfairl {__version__} on {made['date']}. This page is one file and loads nothing else.",
    )


def notice(quick: bool) -> str:
    """What a reader has to know of a quick look."""
    return "A quick look: a part of the protocol's fits only." if quick else ""
