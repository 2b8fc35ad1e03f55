"""`wfairl report`."""

from pathlib import Path
from typing import Annotated

import typer

from wfairl.cli.console import tell
from wfairl.cli.options import AsJson


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The file to write, *.html. Default: RUN/report.html."),
    ] = None,
    scenes: Annotated[
        int, typer.Option(min=1, help="Number of test scenes whose episodes the report shows, failed ones first.")
    ] = 3,
    as_json: AsJson = False,
) -> None:
    """Write the HTML report of a run: results, episodes to step through, automaton, training and configuration.

    RUN is a directory of `wfairl run` or `wfairl train`; `run` writes the report itself. The report is one
    self-contained file, which opens in any browser without a network. Example:

        wfairl report runs/doorkey
    """
    from wfairl.pages.run_page import write_run_report  # here, because it is slow to import

    path = write_run_report(run, output, scenes)
    size = path.stat().st_size
    lines = [f"{path}: {size / 1000:.0f} kB; open it in a browser"]
    tell({"run": str(run), "report": str(path), "bytes": size}, lines, as_json)
