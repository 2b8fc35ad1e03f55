"""The paper's experiments from the first to the last, in a directory:

    demonstrations -> trainings and tests, several at a time -> tables -> figures -> report

Everything that is finished stays in the directory and is not computed again, and what was killed goes on where it
was: a reproduction that is started again ends with the same tables.
"""

from functools import partial
from pathlib import Path

from wfairl.baselines.gail import check_extra
from wfairl.files import write_atomically, write_json
from wfairl.methods import GAIL
from wfairl.report.figures import write_figures
from wfairl.report.page import check_page_file, write_page
from wfairl.report.provenance import provenance
from wfairl.reproduction.cell import gather, run_cell, stored_result
from wfairl.reproduction.figures import draw_figures
from wfairl.reproduction.jobs import Failure, Job, run_jobs
from wfairl.reproduction.layout import (
    CSV,
    FIGURES,
    MARKDOWN,
    REPORT,
    RESULTS,
    UnfinishedReproductionError,
    check_free,
    demonstrations_file,
)
from wfairl.reproduction.page import reproduction_page
from wfairl.reproduction.protocol import Protocol
from wfairl.reproduction.results import rows_of
from wfairl.reproduction.tables import Tables, automata_of, read_tables

SECONDS = {"gail": 180.0, "bc": 85.0, "no-automaton": 30.0, "wfa-irl": 10.0, "collect": 5.0}
"""How long a job of a method may take, as a first guess for the display of what is left."""
OTHER_SECONDS = 5.0

QUICK = Protocol(
    seeds=1,
    test_scenes=16,
    fewer=(4,),
    settings={
        "wfa-irl": {"epochs": 10},
        "no-automaton": {"epochs": 2},
        "bc": {"networks": 2, "epochs": 60, "validation_scenes": 16},
        "gail": {"pretraining": 40, "iterations": 6, "fresh_scenes": 64, "validation_scenes": 16},
    },
)
"""A look at everything in minutes: one training seed, a few test scenes, small budgets."""


def reproduce(protocol: Protocol, directory: Path, n_jobs: int = 2, command: str = "wfairl reproduce") -> Tables:
    """Compute everything that is not there yet, and write tables, figures and report.

    Args:
        protocol: what to compute.
        directory: where everything goes.
        n_jobs: cells to work on at once, each in a process of its own; it changes nothing in the result.
        command: what to type to have the same again, for the report.

    Raises:
        BadInputError: the directory is that of a run.
        MissingExtraError: GAIL is asked for, and Stable-Baselines3 is not installed.
    """
    check_free(directory)
    if GAIL in protocol.methods:
        check_extra()  # rather than in every cell
    failures = run_jobs(_collections(protocol, directory), n_jobs, "demonstrations")
    failures += run_jobs(_trainings(protocol, directory), n_jobs, "training and test")
    tables = _tables(protocol, directory, failures, command)
    write_json(directory / RESULTS, tables.to_document())
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
    tables = read_tables(directory / RESULTS)
    figures = draw_figures(tables, directory)
    write_figures(figures.drawn, directory / FIGURES)
    write_page(reproduction_page(tables, figures, directory), path)
    return path


def _collections(protocol: Protocol, directory: Path) -> list[Job]:
    """What has to be demonstrated before anything can be learned."""
    return [
        Job(f"{task} {data}, seed {seed}", SECONDS["collect"], partial(gather, task, data, seed, protocol, directory))
        for task in protocol.tasks
        for data in protocol.data_sets
        for seed in range(protocol.seeds)
        if not demonstrations_file(directory, task, data, seed, protocol).exists()
    ]


def _trainings(protocol: Protocol, directory: Path) -> list[Job]:
    """The cells that have not been computed."""
    return [
        Job(cell.name, SECONDS.get(cell.method, OTHER_SECONDS), partial(run_cell, cell, protocol, directory))
        for cell in protocol.cells()
        if stored_result(cell, protocol, directory) is None
    ]


def _tables(protocol: Protocol, directory: Path, failures: tuple[Failure, ...], command: str) -> Tables:
    results = [result for cell in protocol.cells() if (result := stored_result(cell, protocol, directory)) is not None]
    return Tables(
        protocol,
        tuple(rows_of(results, protocol.successes)),
        automata_of(results, protocol.successes),
        {**provenance(command), "core_seconds": sum(result.seconds for result in results)},
        {failure.name: failure.reason for failure in failures},
    )
