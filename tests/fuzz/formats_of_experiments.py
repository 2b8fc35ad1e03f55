"""Formats of experiments, and of the public data that some of them read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from public_data_files import write_labyrinth

from experiments.harness import Cell, Outcome
from experiments.harness.cell import FORM, RESULT
from experiments.public_data import labyrinth_data as labyrinth
from fuzz import text_mutations
from fuzz.file_format import FileFormat, sealed

OUTCOME = Outcome([{"bits": 1.5, "trips": 3, "kept": True, "data": "D1"}], {"why": ["a", 1]})

CELL = Cell("a cell", labyrinth.read_mice, {"mice": "restricted"})


def write_outcome(path: Path) -> None:
    CELL.save(OUTCOME, path.parents[2])


def read_outcome(path: Path) -> Any:
    """As an experiment that goes on does."""
    found = CELL.stored(path.parents[2])
    return None if found is None else (found.rows, found.facts)


def write_mice(pickled: bool) -> Callable[[Path], None]:
    return lambda path: write_labyrinth(path.parent, pickled) and None


def read_plain_mice(path: Path) -> str:
    """What is compared with the digest of published figures."""
    return labyrinth._digest(labyrinth._from_npz(path))


def read_pickled_mice(path: Path) -> str:
    return labyrinth._digest(labyrinth._from_authors(path.parent, "restricted", path))


FORMATS: tuple[FileFormat, ...] = (
    sealed("outcome of a cell", str(CELL.path / RESULT), write_outcome, read_outcome, FORM),
    FileFormat("mice, arrays", "restricted.npz", write_mice(False), read_plain_mice, text_mutations.BYTES),
    FileFormat(
        "mice, pickled", "water_restricted_mice_trajs.pickle", write_mice(True), read_pickled_mice, text_mutations.BYTES
    ),
)
