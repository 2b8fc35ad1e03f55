"""Cells in other processes, those first that others need; with the progress on standard error.

A cell reads and writes files of one directory. Where workers share no disk with the caller, its inputs are sent to a
directory there and its files come back, so that the directory holds the same whatever computed the cells. A cell that
fails stops no other but those that need it.
"""

import pickle
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.progress import Progress

from experiments.harness.cell import RESULT, Cell
from experiments.harness.workers import Sources, Workers, portable_sources, set_up
from wfairl.core.support.errors import NO_MEMORY, WfairlError, is_out_of_memory
from wfairl.core.support.files import write_atomically
from wfairl.core.support.progress import progress_bar
from wfairl.processes.executors import WorkerDiedError

AHEAD = 2
"""Cells that are submitted for each worker: one to run and one to follow."""

REFRESH_SECONDS = 0.5
"""How often the display is updated."""

DATA = "data"
"""Where a worker that shares no disk has the recorded data."""


@dataclass(frozen=True)
class Ended:
    """How a cell ended: seconds, why it failed, and what it wrote where no disk is shared, the outcome last."""

    seconds: float
    reason: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)


def compute_cells(cells: Sequence[Cell], directory: Path, workers: Workers) -> dict[str, str]:
    """Compute those cells that are not there yet, and what they need; returns why cells failed, by their names."""
    waiting, failures = missing_cells(cells, directory), dict[str, str]()
    submitted: dict[Future[Ended], Cell] = {}
    unfinished = {cell.path for cell in waiting}
    with progress_bar() as bar:
        meter = bar.add_task("cells", total=len(waiting))
        while waiting or submitted:
            room = AHEAD * max(1, workers.count()) - len(submitted)
            ready = [cell for cell in waiting if not any(one.path in unfinished for one in cell.needs.values())]
            for cell in ready[: max(0, room)]:
                waiting.remove(cell)
                submitted[_submit(cell, directory, workers)] = cell
            wait(submitted, REFRESH_SECONDS, FIRST_COMPLETED)
            for future in [one for one in submitted if one.done()]:
                cell, ended = submitted.pop(future), _ended(future)
                for path, content in ended.files.items():
                    write_atomically(directory / path, content)
                bar.advance(meter)
                _tell(bar, cell, ended)
                unfinished.discard(cell.path)
                if ended.reason is not None:
                    failures[cell.name] = ended.reason
                    for other in [one for one in waiting if any(cell.path == need.path for need in one.with_needs())]:
                        waiting.remove(other)
                        unfinished.discard(other.path)
                        failures[other.name] = f"it needs {cell.name}, which failed"
    return failures


def missing_cells(cells: Sequence[Cell], directory: Path) -> list[Cell]:
    """The cells without an outcome and the cells that they need, which come first."""
    missing = {cell.path: cell for cell in cells if cell.stored(directory) is None}
    needed = {need.path: need for cell in missing.values() for need in cell.with_needs() if need is not cell}
    todo = {path: cell for path, cell in {**needed, **missing}.items() if cell.stored(directory) is None}
    return sorted(todo.values(), key=lambda cell: cell.path not in needed)


def _submit(cell: Cell, directory: Path, workers: Workers) -> Future[Ended]:
    if workers.share_disk:
        return workers.executor.submit(_compute, cell, directory)
    places = [one.path for one in cell.with_needs()]
    paths = [path for place in places for path in (directory / place).rglob("*") if path.is_file()]
    files = {str(path.relative_to(directory)): path.read_bytes() for path in paths}
    if cell.data is not None:
        files |= {f"{DATA}/{name}": (cell.data.path / name).read_bytes() for name in cell.data.files}
    return workers.executor.submit(_compute_remotely, pickle.dumps(cell), files, portable_sources())


def _ended(future: Future[Ended]) -> Ended:
    try:
        return future.result()
    except WorkerDiedError as error:
        return Ended(0.0, str(error))
    except CancelledError:
        return Ended(0.0, "it was cancelled on the cluster")
    except Exception as error:  # the cluster's own, such as a cell that killed one worker after the other
        return Ended(0.0, f"{type(error).__name__}: {error}")


def _compute(cell: Cell, directory: Path, data: Path | None = None) -> Ended:
    """On a worker; errors come back as text, since not every exception can be pickled."""
    begun, reason = time.monotonic(), None
    try:
        cell.compute(directory, data)
    except WfairlError as error:
        reason = str(error)
    except Exception as error:
        reason = NO_MEMORY if is_out_of_memory(error) else traceback.format_exc()
    return Ended(time.monotonic() - begun, reason)


def _compute_remotely(packed: bytes, files: Mapping[str, bytes], sources: Sources) -> Ended:
    """On a worker of a cluster, in a temporary directory."""
    with TemporaryDirectory(prefix="wfairl-") as name:
        directory = Path(name)
        set_up(sources)  # before the cell is unpacked, whose function may be in one of these files
        cell: Cell = pickle.loads(packed)  # noqa: S301 - a message, as those of the executor itself
        for path, content in files.items():
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            (directory / path).write_bytes(content)
        ended = _compute(cell, directory, directory / DATA)
        written = sorted(filter(Path.is_file, directory.rglob("*")), key=lambda path: path.name == RESULT)
        contents = {str(path.relative_to(directory)): path.read_bytes() for path in written}
        return replace(ended, files={path: one for path, one in contents.items() if files.get(path) != one})


def _tell(bar: Progress, cell: Cell, ended: Ended) -> None:
    """A line for a cell that failed, and where there is no bar, as in a log, for every cell."""
    if not sys.stderr.isatty():
        sys.stderr.write(f"{cell.name}: {ended.reason or f'{ended.seconds:.0f} s'}\n")
    elif ended.reason is not None:
        bar.console.print(f"failed: {cell.name}: {ended.reason}", highlight=False, markup=False, soft_wrap=True)
