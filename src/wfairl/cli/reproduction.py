"""`wfairl reproduce`."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from wfairl.cli.app import AsJson, app, out, print_json

if TYPE_CHECKING:
    from wfairl.reproduction.tables import Tables

EXAMPLE = """
Make the paper's experiments again, and put the results beside the paper's.

That is every task, data set and method, three training seeds and 64 test scenes. Tables go to results.json, .csv and
.md, figures to figures/, and all of it to report.html, a page that opens from disk.

It takes an hour and a half on two cores, GAIL most of it. Stopped at any moment and started again, it goes on where
it was and ends with the same tables; a finished cell is not computed again. --quick is a look at everything in
minutes. Examples:

    wfairl reproduce --quick
    wfairl reproduce -o runs/reproduction
    wfairl reproduce --tasks doorkey --methods wfa-irl,bc
"""


@app.command("reproduce", help=EXAMPLE)
def reproduce_command(
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Where all goes. Default: runs/reproduction[-quick]."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One training seed, 16 scenes, small budgets.")] = False,
    tasks: Annotated[str | None, typer.Option(help="Only these, with commas between them.")] = None,
    data: Annotated[str | None, typer.Option(help="Only D1 or D2.")] = None,
    methods: Annotated[
        str | None, typer.Option(help="Only these of wfa-irl, no-automaton, bc and gail, with commas between them.")
    ] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Training seeds. Default: 3, or 1 with --quick.")] = None,
    cost: Annotated[
        str | None,
        typer.Option(help="The cost model of wfa-irl and no-automaton: local (default), paper, linear or tabular."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Cells to compute at once, each on a core of its own.")] = 2,
    as_json: AsJson = False,
) -> None:
    """Make the paper's experiments again."""
    from wfairl.reproduction.protocol import Protocol, narrowed
    from wfairl.reproduction.reproduce import QUICK, reproduce

    protocol = narrowed(
        QUICK if quick else Protocol(),
        tasks=_names(tasks),
        data_sets=_names(data),
        methods=_names(methods),
        seeds=seeds,
        cost=cost,
    )
    directory = Path("runs", "reproduction-quick" if quick else "reproduction") if output is None else output
    chosen = {"--tasks": tasks, "--data": data, "--methods": methods, "--seeds": seeds, "--cost": cost, "-o": output}
    tables = reproduce(protocol, directory, jobs, command_of(quick, chosen))
    if as_json:
        print_json(tables.to_document())
    else:
        print_tables(tables, directory)
    if tables.failures:
        raise typer.Exit(1)


def command_of(quick: bool, chosen: Mapping[str, object]) -> str:
    """What to type to have the same again, in the same place."""
    options = [part for name, value in chosen.items() if value is not None for part in (name, str(value))]
    return shlex.join(["wfairl", "reproduce", *(["--quick"] if quick else []), *options])


def print_tables(tables: "Tables", directory: Path) -> None:
    """The paper's two tables, what they are smaller in than the full protocol, and where the page is."""
    from wfairl.reproduction.layout import REPORT
    from wfairl.reproduction.scope import shortfall

    for title, (head, body) in (
        ("mean return ± standard error (paper)", tables.returns_table()),
        ("rank/rows/cols (paper)", tables.automata_table()),
    ):
        out.print(_table(title, head, body))
    if smaller := shortfall(tables.protocol):
        out.print(smaller)
    out.print(f"report: {directory / REPORT}")


def _names(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(text.split(","))


def _table(title: str, head: list[str], body: list[list[str]]) -> Table:
    table = Table(*(name.replace("`", "") for name in head), title=title)
    for line in body:
        table.add_row(*(cell.replace("&nbsp;", " ") for cell in line))
    return table
