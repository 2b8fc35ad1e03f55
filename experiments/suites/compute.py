"""A suite from the first job to its page, in a directory:

    experiments       demonstrations -> automata -> trainings and tests
    recorded data     fits                                               -> tables -> figures -> page

Jobs run several at a time. Everything that is finished stays in the directory and is not computed again, and what was
killed resumes: a suite that is started again ends with the same tables.
"""

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from experiments.figures.files import write_figures
from experiments.public_data.trajectories import load_trajectories
from experiments.suites.cell import collect_demonstrations, learn_task, run_cell, stored_result
from experiments.suites.comparisons import comparisons_of
from experiments.suites.data_results import DataResults, read_data_results
from experiments.suites.data_suite import OUTCOME_VERSION, DataSuite, Fit, Outcome
from experiments.suites.directory import (
    FIGURES,
    FITS,
    REPORT,
    RESULTS,
    TIMING,
    UnfinishedReproductionError,
    check_free,
    demonstrations_file,
    fit_file,
    is_on_data,
    run_directory,
    shared_files,
    task_model_file,
)
from experiments.suites.figures import Figures, draw_figures
from experiments.suites.jobs import Job, run_jobs
from experiments.suites.page import data_page, reproduction_page
from experiments.suites.reproduction import Reproduction
from experiments.suites.results import TIMES, rows_of
from experiments.suites.suite import REFERENCES, Cell, Protocol, find_suite
from experiments.suites.tables import Tables, automata_of, read_tables
from wfairl.core.demonstrations.learners import find_learner
from wfairl.core.runs.methods import find_method
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.executors import LOCAL, open_workers
from wfairl.core.support.files import hold, read_bytes
from wfairl.core.worlds.workers import worker_setup
from wfairl.pages.page import check_page_file, write_page
from wfairl.pages.provenance import provenance

COLLECTION_SECONDS, AUTOMATON_SECONDS, REFERENCE_SECONDS = 5.0, 5.0, 5.0
"""How long a job may take, as a first guess for the display of the time left; methods have their own."""

Results = TypeVar("Results", bound=Reproduction)


class NoDataError(BadInputError):
    """A suite on recorded data was started without them."""


def reproduce(
    protocol: Protocol,
    directory: Path,
    n_jobs: int = 2,
    command: str = "wfairl reproduce",
    executor: str = LOCAL,
) -> Tables:
    """Compute everything that is not there yet, and write tables, figures and page.

    Args:
        protocol: what to compute.
        directory: where everything goes.
        n_jobs: cells to compute at once, each in a process of its own; it changes nothing in the result.
        command: what to type to have the same again, for the page.
        executor: what computes them instead of processes of this machine, see `open_workers`; likewise.

    Raises:
        BadInputError: the directory is that of a run, or an entry names a method or learner that does not exist.
        MissingExtraError: a method is asked for whose extra is not installed.
    """
    check_free(directory)
    suite = find_suite(protocol.suite)
    for entry in (suite.entries[name] for name in protocol.methods):  # rather than in every cell
        find_method(entry.method).check_available()
        find_learner(entry.learner)
    phases = {
        "demonstrations": partial(_collections, protocol, directory),
        "automata": partial(_automata, protocol, directory),
        "training and test": partial(_trainings, protocol, directory),
    }
    return _compute(phases, partial(_tables, protocol, directory, command), directory, n_jobs, executor)


def reproduce_on_data(
    suite: DataSuite,
    data: Path | None,
    directory: Path,
    quick: bool,
    n_jobs: int = 2,
    command: str = "wfairl reproduce",
    executor: str = LOCAL,
) -> DataResults:
    """The same for a suite on recorded data.

    Args:
        suite: what to compute.
        data: where `wfairl data` put the data set.
        quick: only a part of it.
        directory, n_jobs, command, executor: as for `reproduce`.

    Raises:
        NoDataError: there are no data; says where to get them.
        BadInputError: the directory is that of a run.
    """
    check_free(directory)
    name = f"{suite.name}.safetensors"
    if data is None or not (data / name).is_file():
        missing = "" if data is None else f"{data / name}: no such file. "
        raise NoDataError(
            f"{missing}The suite {suite.name} measures on public data, which are not part of this package. Get"
            f" {suite.source.where}, then `wfairl data {suite.name} SOURCE -o DIR`, then"
            f" `wfairl reproduce --suite {suite.name} --data DIR`"
        )
    file = data.resolve() / name
    digest = hashlib.sha256(read_bytes(file)).hexdigest()
    fits = [(fit, _key(fit, digest)) for fit in suite.fits(quick)]

    def jobs() -> list[Job]:
        (directory / FITS).mkdir(exist_ok=True)  # tells the kind of suite, even if every fit fails
        return [
            Job(fit.name, fit.seconds, partial(_run_fit, suite.name, fit, key, file.parent), (file,))
            for fit, key in fits
            if Outcome.load(fit_file(directory, fit.name), key) is None
        ]

    def collect(failures: Mapping[str, str]) -> DataResults:
        stored = {fit.name: Outcome.load(fit_file(directory, fit.name), key) for fit, key in fits}
        outcomes = {name: outcome for name, outcome in stored.items() if outcome is not None}
        return DataResults(suite, quick, outcomes, failures, provenance(command))

    return _compute({suite.name: jobs}, collect, directory, n_jobs, executor)


def _compute(
    phases: Mapping[str, Callable[[], list[Job]]],
    collect: Callable[[Mapping[str, str]], Results],
    directory: Path,
    n_jobs: int,
    executor: str,
) -> Results:
    """Run the jobs of one phase after the other, and write what `collect` makes of their results and failures."""
    failures: dict[str, str] = {}
    with hold(directory):
        with open_workers(executor, n_jobs, worker_setup()) as workers:
            for title, jobs in phases.items():
                failures |= run_jobs(jobs(), directory, workers, title)
        results = collect(failures)
        results.write(directory)
        write_report(directory)
    return results


def write_report(directory: Path, output: Path | None = None) -> Path:
    """Draw the figures and write the page of a reproduction, from its results.

    Raises:
        UnfinishedReproductionError: there are no results yet.
        BadInputError: the page cannot be written there.
    """
    path = directory / REPORT if output is None else output
    check_page_file(path)
    if not (directory / RESULTS).exists():
        raise UnfinishedReproductionError(directory)
    if is_on_data(directory):
        results = read_data_results(directory)
        figures = Figures(tuple(results.suite.figures(results.outcomes)), {})
        page = data_page(results, figures)
    else:
        tables = read_tables(directory)
        figures = draw_figures(tables, directory)
        page = reproduction_page(tables, figures, directory)
    write_figures(figures.drawn, directory / FIGURES)
    write_page(page, path)
    return path


def _collections(protocol: Protocol, directory: Path) -> list[Job]:
    """The demonstrations that have not been collected."""
    jobs = []
    for task, data, seed in product(protocol.tasks, protocol.data_sets, range(protocol.seeds)):
        if not demonstrations_file(directory, task, data, seed, protocol).exists():
            work = partial(collect_demonstrations, task, data, seed, protocol)
            jobs.append(Job(f"{task} {data}, seed {seed}", COLLECTION_SECONDS, work))
    return jobs


def _automata(protocol: Protocol, directory: Path) -> list[Job]:
    """The automata that cells share and that have not been learned."""
    suite = find_suite(protocol.suite)
    jobs: dict[Path, Job] = {}
    for cell in suite.cells(protocol):
        if cell.method in REFERENCES or not find_method(suite.entries[cell.method].method).needs_task_model:
            continue
        path = task_model_file(directory, cell, protocol)
        if not path.exists() and stored_result(cell, protocol, directory) is None:
            work = partial(learn_task, cell, protocol)
            jobs.setdefault(path, Job(path.stem, AUTOMATON_SECONDS, work, (shared_files(cell, protocol)[0],)))
    return list(jobs.values())


def _trainings(protocol: Protocol, directory: Path) -> list[Job]:
    """The cells that have not been computed."""
    return [
        Job(
            cell.name,
            _expected_seconds(protocol, cell),
            partial(run_cell, cell, protocol),
            () if cell.method in REFERENCES else shared_files(cell, protocol),
        )
        for cell in find_suite(protocol.suite).cells(protocol)
        if stored_result(cell, protocol, directory) is None
    ]


def _expected_seconds(protocol: Protocol, cell: Cell) -> float:
    if cell.method in REFERENCES:
        return REFERENCE_SECONDS
    return find_method(find_suite(protocol.suite).entries[cell.method].method).expected_seconds


def _tables(protocol: Protocol, directory: Path, command: str, failures: Mapping[str, str]) -> Tables:
    suite = find_suite(protocol.suite)
    stored = (stored_result(cell, protocol, directory) for cell in suite.cells(protocol))
    results = [result for result in stored if result is not None]
    seconds = sum(_seconds_of(run_directory(directory, result.cell, protocol)) for result in results)
    return Tables(
        protocol,
        tuple(rows_of(suite, results, protocol.successes)),
        automata_of(suite, results, protocol.successes),
        {**provenance(command), "core_seconds": seconds},
        failures,
        comparisons_of(suite, protocol, results),
    )


def _seconds_of(run: Path) -> float:
    """Processor time of a training and its test, without earlier attempts that were killed."""
    return TIMES.read(run / TIMING).seconds if (run / TIMING).exists() else 0.0


def _run_fit(suite: str, fit: Fit, key: Mapping[str, Any], data: Path, directory: Path) -> None:
    """Compute a fit and leave its outcome in the directory, which has the data too if they travelled there."""
    place = directory if (directory / f"{suite}.safetensors").exists() else data
    fit.run(load_trajectories(place, suite)).save(fit_file(directory, fit.name), key)


def _key(fit: Fit, digest: str) -> dict[str, Any]:
    """Everything that an outcome follows from."""
    return {"name": fit.name, "settings": dict(fit.settings), "data": digest, "version": OUTCOME_VERSION}
