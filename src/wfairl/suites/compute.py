"""The experiments of a suite from the first to the last, in a directory:

    demonstrations -> automata -> trainings and tests, several at a time -> tables -> figures -> report

Everything that is finished stays in the directory and is not computed again, and what was killed goes on where it
was: a suite that is started again ends with the same tables.
"""

from functools import partial
from pathlib import Path

from wfairl.executors import LOCAL, open_workers
from wfairl.files import hold, write_atomically
from wfairl.logic.learners import find_learner
from wfairl.methods import find_method
from wfairl.report.figures import write_figures
from wfairl.report.page import check_page_file, write_page
from wfairl.report.provenance import provenance
from wfairl.suites.cell import gather, learn_task, run_cell, stored_result
from wfairl.suites.comparisons import comparisons_of
from wfairl.suites.directory import (
    CSV,
    FIGURES,
    MARKDOWN,
    REPORT,
    RESULTS,
    TIMING,
    UnfinishedReproductionError,
    check_free,
    demonstrations_file,
    run_directory,
    shared_files,
    task_model_file,
)
from wfairl.suites.figures import draw_figures
from wfairl.suites.jobs import Failure, Job, run_jobs
from wfairl.suites.page import reproduction_page
from wfairl.suites.results import TIMES, rows_of
from wfairl.suites.suite import REFERENCES, Cell, Protocol, find_suite
from wfairl.suites.tables import Tables, automata_of, read_tables, write_results
from wfairl.worlds.workers import worker_setup

COLLECTION_SECONDS, AUTOMATON_SECONDS, REFERENCE_SECONDS = 5.0, 5.0, 5.0
"""How long a job may take, as a first guess for the display of what is left; methods have their own."""


def reproduce(
    protocol: Protocol,
    directory: Path,
    n_jobs: int = 2,
    command: str = "wfairl reproduce",
    executor: str = LOCAL,
) -> Tables:
    """Compute everything that is not there yet, and write tables, figures and report.

    Args:
        protocol: what to compute.
        directory: where everything goes.
        n_jobs: cells to work on at once, each in a process of its own; it changes nothing in the result.
        command: what to type to have the same again, for the report.
        executor: what works on them instead of processes of this machine, see `open_workers`; likewise.

    Raises:
        BadInputError: the directory is that of a run, or an entry names a method or learner that does not exist.
        MissingExtraError: a method is asked for whose extra is not installed.
    """
    check_free(directory)
    suite = find_suite(protocol.suite)
    for entry in (suite.entries[name] for name in protocol.methods):  # rather than in every cell
        find_method(entry.method).check_available()
        find_learner(entry.learner)
    with hold(directory):
        return _compute(protocol, directory, n_jobs, command, executor)


def _compute(protocol: Protocol, directory: Path, n_jobs: int, command: str, executor: str) -> Tables:
    with open_workers(executor, n_jobs, worker_setup()) as workers:
        failures = run_jobs(_collections(protocol, directory), directory, workers, "demonstrations")
        failures += run_jobs(_automata(protocol, directory), directory, workers, "automata")
        failures += run_jobs(_trainings(protocol, directory), directory, workers, "training and test")
    tables = _tables(protocol, directory, failures, command)
    write_results(tables, directory)
    write_atomically(directory / CSV, tables.to_csv())
    write_atomically(directory / MARKDOWN, tables.to_markdown())
    write_report(directory)
    return tables


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
    tables = read_tables(directory)
    figures = draw_figures(tables, directory)
    write_figures(figures.drawn, directory / FIGURES)
    write_page(reproduction_page(tables, figures, directory), path)
    return path


def _collections(protocol: Protocol, directory: Path) -> list[Job]:
    """What has to be demonstrated before anything can be learned."""
    return [
        Job(f"{task} {data}, seed {seed}", COLLECTION_SECONDS, partial(gather, task, data, seed, protocol))
        for task in protocol.tasks
        for data in protocol.data_sets
        for seed in range(protocol.seeds)
        if not demonstrations_file(directory, task, data, seed, protocol).exists()
    ]


def _automata(protocol: Protocol, directory: Path) -> list[Job]:
    """The automata that cells share, of which each is learned once."""
    suite = find_suite(protocol.suite)
    jobs: dict[Path, Job] = {}
    for cell in suite.cells(protocol):
        if cell.method in REFERENCES or not find_method(suite.entries[cell.method].method).needs_task_model:
            continue
        path = task_model_file(directory, cell, protocol)
        if not path.exists() and stored_result(cell, protocol, directory) is None:
            work = partial(_learn_task, cell, protocol)
            jobs.setdefault(path, Job(path.stem, AUTOMATON_SECONDS, work, (shared_files(cell, protocol)[0],)))
    return list(jobs.values())


def _learn_task(cell: Cell, protocol: Protocol, directory: Path) -> None:
    learn_task(cell, protocol, directory)


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


def _tables(protocol: Protocol, directory: Path, failures: tuple[Failure, ...], command: str) -> Tables:
    suite = find_suite(protocol.suite)
    stored = (stored_result(cell, protocol, directory) for cell in suite.cells(protocol))
    results = [result for result in stored if result is not None]
    places = [run_directory(directory, result.cell, protocol) for result in results]
    return Tables(
        protocol,
        tuple(rows_of(suite, results, protocol.successes)),
        automata_of(results, protocol.successes),
        {**provenance(command), "core_seconds": sum(map(_seconds_of, places))},
        {failure.name: failure.reason for failure in failures},
        comparisons_of(suite, protocol, results),
    )


def _seconds_of(run: Path) -> float:
    """Processor time of a training and its test, without what an attempt before took that was killed."""
    return TIMES.read(run / TIMING).seconds if (run / TIMING).exists() else 0.0
