"""`wfairl report`."""

from pathlib import Path
from typing import Annotated

import typer

from wfairl.cli.app import AsJson, app, out, print_json

REPORT_EXAMPLE = """
Writes the page of a run: its results, episodes to step through, the automaton, the training and the configuration.

RUN is the directory that `wfairl run` or `wfairl train` made; `run` writes the page by itself. It is one file that
needs nothing else and opens in any browser, also without a network. Example:

    wfairl report runs/doorkey
"""


@app.command("report", help=REPORT_EXAMPLE)
def report_command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The file. Default: RUN/report.html.")
    ] = None,
    scenes: Annotated[int, typer.Option(min=1, help="Scenes to show each policy in.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Write the page of a run."""
    from wfairl.report.run_page import write_run_report  # torch is slow to import

    path = write_run_report(run, output, scenes)
    if as_json:
        print_json({"run": str(run), "report": str(path), "bytes": path.stat().st_size})
    else:
        out.print(f"{path}: {path.stat().st_size / 1000:.0f} kB; open it in a browser")
