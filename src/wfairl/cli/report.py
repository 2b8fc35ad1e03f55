"""`wfairl report`."""

from pathlib import Path
from typing import Annotated

import typer

from wfairl.cli.app import AsJson, command_group, out, print_json

app = command_group()

REPORT_EXAMPLE = """
Write the page of a run: its results, episodes to step through, the automaton, the training and the configuration.

RUN is the directory that `wfairl run`, `wfairl train` or `wfairl reproduce` made; `run` and `reproduce` write the
page by themselves. It is one file that needs nothing else and opens in any browser, also without a network. Examples:

    wfairl report runs/doorkey
    wfairl report runs/reproduction
"""


@app.command("report", help=REPORT_EXAMPLE)
def report_command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run or a reproduction.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The file, *.html. Default: RUN/report.html.")
    ] = None,
    scenes: Annotated[
        int,
        typer.Option(
            min=1,
            help="Test scenes in which a run acts once more, to show the chance of each control; all others are played"
            " back without it.",
        ),
    ] = 3,
    as_json: AsJson = False,
) -> None:
    """Write the page of a run."""
    from wfairl.report.run_page import write_run_report  # torch is slow to import
    from wfairl.suites.compute import write_report
    from wfairl.suites.directory import is_reproduction

    path = write_report(run, output) if is_reproduction(run) else write_run_report(run, output, scenes)
    if as_json:
        print_json({"run": str(run), "report": str(path), "bytes": path.stat().st_size})
    else:
        out.print(f"{path}: {path.stat().st_size / 1000:.0f} kB; open it in a browser")
