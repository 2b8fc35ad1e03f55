"""The files in the directory of a suite; no other module knows their names."""

from pathlib import Path

from experiments.suites.suite import DIGITS, Cell, Protocol, digest, find_suite
from wfairl.core.costs.checkpoint import CHECKPOINT
from wfairl.core.runs.pipeline import EXPERIMENT
from wfairl.core.runs.run_directory import CONFIG
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import check_directory

RESULTS, CSV, MARKDOWN = "results.json", "results.csv", "results.md"
REPORT = "report.html"
FIGURES = "figures"
RESULT, TIMING = "result.json", "timing.json"
"""Files of a cell, in its directory. Times are apart from the result, which is the same wherever it is computed."""

MADE = "made.json"
"""When, on what and with which versions the tables were made: apart from them, since they are the same every time."""

DEMONSTRATIONS, TASK_MODELS, RUNS = "demonstrations", "task-models", "runs"

FITS = "fits"
"""What a suite on recorded data has in place of these."""


class UnfinishedReproductionError(BadInputError):
    """A suite was stopped before it had results."""

    def __init__(self, directory: Path):
        super().__init__(
            f"{directory}: this reproduction has not finished; the same `wfairl reproduce -o {directory}` that began it"
            " goes on with it"
        )


def is_reproduction(directory: Path) -> bool:
    """Whether a directory is that of a suite of either kind, finished or not."""
    demonstrations = f"{DEMONSTRATIONS}/*-[0-9]*-[0-9]*-[0-9]*.safetensors"
    cells = f"{RUNS}/*-[0-9]*-[0-9]*-{'[0-9a-f]' * DIGITS}"
    return any(next(directory.glob(pattern), None) is not None for pattern in (RESULTS, demonstrations, cells, FITS))


def is_on_data(directory: Path) -> bool:
    """Whether a reproduction is of a suite on recorded data."""
    return (directory / FITS).is_dir()


def check_free(directory: Path) -> None:
    """Refuse the directory of a run, which is a `BadInputError`."""
    check_directory(directory)
    if any((directory / name).exists() for name in (CONFIG, EXPERIMENT, CHECKPOINT)):
        raise BadInputError(
            f"{directory}: there is a run of `wfairl train` or `wfairl run`; a reproduction needs another directory"
        )


def run_directory(directory: Path, cell: Cell, protocol: Protocol) -> Path:
    """The directory of a cell: a run as `wfairl train` makes it, with the results of its test.

    The digest keeps cells apart that differ in any setting, such as variants.
    """
    key = find_suite(protocol.suite).key(cell, protocol)
    parts = (cell.task, cell.data, cell.method, str(cell.successes), str(cell.seed), digest(key))
    return directory / RUNS / "-".join(part for part in parts if part)


def demonstrations_file(directory: Path, task: str, data: str, seed: int, protocol: Protocol) -> Path:
    """The demonstrations that the cells of a task, data set and seed share."""
    failures = find_suite(protocol.suite).failures_of(data, protocol)
    return directory / DEMONSTRATIONS / f"{task}-{data}-{protocol.successes}-{failures}-{seed}.safetensors"


def shared_files(cell: Cell, protocol: Protocol) -> tuple[Path, Path]:
    """The inputs of a cell, relative to the directory: demonstrations, and the automaton if its method has one."""
    demonstrations = demonstrations_file(Path(), cell.task, cell.data, cell.seed, protocol)
    return demonstrations, task_model_file(Path(), cell, protocol)


def task_model_file(directory: Path, cell: Cell, protocol: Protocol) -> Path:
    """The automaton that the cells of a task, data set, seed, number of demonstrations and learner share."""
    suite = find_suite(protocol.suite)
    learner, failures = suite.entries[cell.method].learner, suite.failures_of(cell.data, protocol)
    return directory / TASK_MODELS / f"{cell.task}-{cell.data}-{learner}-{cell.successes}-{failures}-{cell.seed}.json"


def fit_file(directory: Path, name: str) -> Path:
    """The outcome of a fit."""
    return directory / FITS / f"{name.replace(' ', '-').replace(',', '').replace('/', '-')}.json"
