"""`python -m experiments`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table as Printed

from experiments.harness.experiment import EXPERIMENTS, Options, run_experiment
from wfairl.cli.app import HELP_OPTIONS
from wfairl.cli.console import out

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, context_settings=HELP_OPTIONS)

HELP = f"""
Compute an experiment, by default the paper's, and show its figures beside the published ones.

NAME is one of {", ".join(EXPERIMENTS)}, or one of your own from the file of --load. The table of all results goes to
results.csv, the tables to results.md, and everything to report.html, which opens in a browser. `wfairl report CELL`
shows the run in a cell of the paper's experiment: its automaton, its cost and its episodes.

The paper's experiment takes an hour and a half on two cores, most of it for GAIL. An interrupted experiment continues
when you start it again, and ends with the same tables; it computes no finished cell again. --quick is a preview that
takes minutes. Examples:

    python -m experiments --quick
    python -m experiments paper --tasks doorkey --methods wfa-irl,bc
    python -m experiments borlange --data RecursiveLogit.Classical.V2/Input

labyrinth, borlange and shanghai measure on public data, which are not part of this project because their licences are
unclear. --data is the folder with the authors' files, of which every one is checked. Reading the labyrinth's pickles
executes no code. The folders are these:

    labyrinth   github.com/97aditi/dynamic_irl, 58b7225: data/mouse_data
    borlange    github.com/maitien86/RecursiveLogit.Classical.V2,
                43ce934: Input
    shanghai    github.com/liangchunyaobing/RCM-AIRL, 02d4005: data
"""


def _names(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(text.split(","))


@app.command(help=HELP)
def run_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The experiment.")] = "paper",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Output directory. Default: runs/NAME[-quick]."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One training seed, 16 scenes, small budgets.")] = False,
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="The folder with public data.")] = None,
    tasks: Annotated[str | None, typer.Option(help="Only these tasks, comma-separated.")] = None,
    data_sets: Annotated[str | None, typer.Option(help="Only these data sets, such as D1.")] = None,
    methods: Annotated[str | None, typer.Option(help="Only these methods, comma-separated.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Training seeds. Default: 3, or 1 with --quick.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Number of cells to compute in parallel, one per core.")] = 2,
    executor: Annotated[
        str, typer.Option(help="Where to compute: local processes, or dask://HOST:PORT; see docs/paper.md.")
    ] = "local",
    load: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE|MODULE", help="Your own tasks and experiments. Repeat it for several."),
    ] = None,
) -> None:
    """Compute an experiment."""
    if load:
        from wfairl.runs.task_registry import load_tasks

        for source in load:
            load_tasks(source)
    directory = Path("runs", f"{name}-quick" if quick else name) if output is None else output
    options = Options(quick, data, _names(tasks), _names(data_sets), _names(methods), seeds)
    results = run_experiment(EXPERIMENTS.find(name), options, directory, jobs, executor)

    from experiments.harness.results import REPORT
    from experiments.harness.tables import to_texts

    for table in results.tables:
        head, *body = to_texts(table)
        printed = Printed(*(text.replace("`", "") for text in head), title=str(table.caption))
        for line in body:
            printed.add_row(*line)
        out.print(printed)
    if results.notice:
        out.print(results.notice)
    out.print(f"{len(results.outcomes)} cells, {results.seconds / 60:.1f} minutes of processor time")
    out.print(f"report: {directory / REPORT}")
    if results.failures:
        raise typer.Exit(1)
