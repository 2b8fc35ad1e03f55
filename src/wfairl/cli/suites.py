"""`wfairl reproduce`."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from experiments.suites.suite import SUITES, Suite, narrowed
from wfairl.cli.console import out, print_json
from wfairl.cli.options import AsJson
from wfairl.core.support.errors import BadInputError

if TYPE_CHECKING:
    from experiments.suites.reproduction import Reproduction

HELP = """
Compute a suite of experiments, by default the paper's, and show its figures beside the published ones.

A suite consists of every combination of its tasks, data sets and methods, with three training seeds and 64 test scenes.
The tables go to results.json, .csv and .md, the figures to figures/, and everything to report.html, which opens in a
browser.

The paper's suite takes an hour and a half on two cores, most of it for GAIL. An interrupted suite continues when you
start it again, and ends with the same tables; it computes no finished cell again. --quick is a preview that takes
minutes. Examples:

    wfairl reproduce --quick
    wfairl reproduce --suite paper -o runs/paper
    wfairl reproduce --tasks doorkey --methods wfa-irl,bc

The suites labyrinth, borlange and shanghai use public data, converted by `wfairl data`. For them, --data is the
directory of the converted data, and of the other options only --quick, --jobs, --executor and -o apply:

    wfairl reproduce --suite borlange --data public-data
"""


def reproduce_command(
    suite: Annotated[str, typer.Option(help=f"The suite: {', '.join(SUITES)}.")] = "paper",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Output directory. Default: runs/SUITE[-quick]."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One training seed, 16 scenes, small budgets.")] = False,
    tasks: Annotated[str | None, typer.Option(help="Only these tasks, comma-separated.")] = None,
    data: Annotated[
        str | None,
        typer.Option(help="Only these data sets, such as D1; for a suite on public data, their directory."),
    ] = None,
    methods: Annotated[str | None, typer.Option(help="Only these methods, comma-separated.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Training seeds. Default: 3, or 1 with --quick.")] = None,
    cost: Annotated[
        str | None,
        typer.Option(help="Cost model of the methods that learn one. Default: the task's own."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Number of cells to compute in parallel, one per core.")] = 2,
    executor: Annotated[
        str,
        typer.Option(help="Where to compute: local processes, dask://HOST:PORT, or mpi; see docs/paper.md."),
    ] = "local",
    as_json: AsJson = False,
) -> None:
    """Compute a suite."""
    chosen = SUITES.find(suite)
    from experiments.suites.compute import reproduce, reproduce_on_data  # here, because torch is slow to import

    directory = Path("runs", f"{suite}-quick" if quick else suite) if output is None else output
    options = {"--tasks": tasks, "--data": data, "--methods": methods, "--seeds": seeds, "--cost": cost}
    command = command_of(quick, {"--suite": None if suite == "paper" else suite, **options, "-o": output})
    results: Reproduction
    if isinstance(chosen, Suite):
        protocol = narrowed(
            chosen,
            chosen.quick if quick else chosen.full,
            tasks=_names(tasks),
            data_sets=_names(data),
            methods=_names(methods),
            seeds=seeds,
            cost=cost,
        )
        results = reproduce(protocol, directory, jobs, command, executor)
    else:
        refused = [option for option, value in options.items() if value is not None and option != "--data"]
        if refused:
            raise BadInputError(f"the suite {suite} has a fixed protocol: {refused[0]} does not apply")
        data_directory = None if data is None else Path(data)
        results = reproduce_on_data(chosen, data_directory, directory, quick, jobs, command, executor)
    if as_json:
        print_json({**results.to_document(), "made": dict(results.provenance)})
    else:
        print_tables(results, directory)
    if results.failures:
        raise typer.Exit(1)


def command_of(quick: bool, chosen: Mapping[str, object]) -> str:
    """The command that gives the same results in the same directory."""
    options = [part for name, value in chosen.items() if value is not None for part in (name, str(value))]
    return shlex.join(["wfairl", "reproduce", *(["--quick"] if quick else []), *options])


def print_tables(results: "Reproduction", directory: Path) -> None:
    """Print the tables, how they fall short of the full protocol, and the path of the report."""
    from experiments.suites.directory import REPORT

    for table in results.text_tables:
        out.print(_table(table.title, table.head, table.body))
    if results.notice:
        out.print(results.notice)
    out.print(f"report: {directory / REPORT}")


def _names(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(text.split(","))


def _table(title: str, head: Sequence[str], body: Sequence[Sequence[str]]) -> Table:
    table = Table(*(name.replace("`", "") for name in head), title=title)
    for line in body:
        table.add_row(*line)
    return table
