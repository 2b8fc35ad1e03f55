"""Where a reproduction keeps what: the only place that knows the names in its directory."""

from pathlib import Path

from wfairl.reproduction.protocol import Cell, Protocol, digest

RESULTS, CSV, MARKDOWN = "results.json", "results.csv", "results.md"
REPORT = "report.html"
FIGURES = "figures"
RESULT = "result.json"
"""Of one cell, in its directory."""


def run_directory(directory: Path, cell: Cell, protocol: Protocol) -> Path:
    """The directory of a cell: a run as `wfairl train` makes it, with the results of its test.

    Cells that differ in any setting have different directories, so that a reproduction with other settings goes
    beside the one that is there.
    """
    # The digest tells variants apart.
    parts = (cell.task, cell.data, cell.method, str(cell.successes), str(cell.seed), digest(protocol.key(cell)))
    return directory / "runs" / "-".join(part for part in parts if part)


def demonstrations_file(directory: Path, task: str, data: str, seed: int, protocol: Protocol) -> Path:
    """The demonstrations that the cells of a task, data set and seed share."""
    name = f"{task}-{data}-{protocol.successes}-{protocol.failures}-{seed}.safetensors"
    return directory / "demonstrations" / name
