"""Formats of suites, and of the public data that some of them read."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from public_data_files import write_labyrinth, write_shanghai

from experiments.public_data import labyrinth
from experiments.public_data.shanghai import read_shanghai
from experiments.public_data.trajectories import load_trajectories, save_trajectories
from experiments.suites import data_suite, reproduction, results
from experiments.suites.data_results import DataResults
from experiments.suites.data_suite import Outcome
from experiments.suites.directory import MADE, RESULTS
from experiments.suites.metrics import Recovery
from experiments.suites.paper import FULL, PAPER
from experiments.suites.results import TIMES, CellResult, Row, Trial
from experiments.suites.suite import Cell
from experiments.suites.tables import AutomataRanks, Tables, read_tables
from fuzz import text_mutations
from fuzz.file_format import FileFormat, sealed, tensors

CELL = Cell("doorkey", "D1", "wfa-irl", 0, 32)


def cell_result() -> CellResult:
    trials = tuple(
        Trial("doorkey", variant, variant == "greedy", (0.5, 0.25), (True, False), (False, False), (20.0, 30.0))
        for variant in ("greedy", "at 0.5")
    )
    facts = {"rank": 5, "rows": 4, "cols": 4, "epoch": 3}
    return CellResult(PAPER.key(CELL, FULL), trials, 0.75, facts, Recovery(0.9, 4, 3))


def suite_tables() -> Tables:
    protocol = replace(FULL, tasks=("doorkey",), data_sets=("D1",), methods=("wfa-irl", "bc"))
    row = Row("doorkey", "D1", "wfa-irl", 32, "", 0.7, 0.02, 0.01, 0.9, 3, 0.797, 0.0, None, 0.95, 4.5, 3)
    made = {
        "date": "2026-01-01",
        "command": "wfairl reproduce",
        "machine": "one",
        "versions": {"numpy": "2"},
        "core_seconds": 5.0,
    }
    return Tables(protocol, (row,), (AutomataRanks("doorkey", "D1", ((5, 4, 4),)),), made, {"a cell": "it broke"})


OUTCOME = Outcome({"bits": 1.5, "trips": 3}, {"why": ["a", 1]}, {"map": np.arange(4.0)})

DATA_RESULTS = {
    "suite": "borlange",
    "quick": True,
    "fits": {"a": {"measured": {"bits": 1.5}, "facts": {}}},
    "tables": [{"title": "t", "head": ["", "bits"], "body": [["a", "1.5"]]}],
    "failures": {"b": "it broke"},
}


def read_suite(path: Path) -> Any:
    """As `report` does."""
    found = read_tables(path.parent)
    return found, found.to_markdown(), found.to_csv()


def write_fit(path: Path) -> None:
    OUTCOME.save(path.with_suffix(".json"), {"name": "a"})


def write_roads(path: Path) -> None:
    save_trajectories(read_shanghai(write_shanghai(path.parent / "roads")), path.parent)


def read_roads(path: Path) -> Any:
    """As suites on public data do."""
    found = load_trajectories(path.parent, path.stem)
    return found, [found.split(name) for name in found.splits], [found.demonstration(i) for i in range(len(found))]


def write_mice(pickled: bool) -> Callable[[Path], None]:
    return lambda path: write_labyrinth(path.parent, pickled) and None


def read_plain_mice(path: Path) -> str:
    """What is compared with the digest of published figures."""
    return labyrinth._digest(labyrinth._from_npz(path))


def read_pickled_mice(path: Path) -> str:
    return labyrinth._digest(labyrinth._from_authors(path.parent, "restricted", path))


FORMATS: tuple[FileFormat, ...] = (
    sealed(
        "result of a cell",
        "result.json",
        lambda p: cell_result().save(p),
        lambda p: CellResult.load(p, cell_result().key),
        results.FORM,
    ),
    sealed("times", "timing.json", lambda p: TIMES.write(p, {"seconds": 1.5}), TIMES.read, TIMES),
    sealed("results", RESULTS, lambda p: suite_tables().write(p.parent), read_suite, Tables.form),
    sealed("provenance", MADE, lambda p: suite_tables().write(p.parent), read_suite, reproduction.PROVENANCE),
    sealed("outcome of a fit", "fit.json", lambda p: OUTCOME.save(p, {"name": "a"}), Outcome.load, data_suite.FORM),
    sealed(
        "results on data",
        RESULTS,
        lambda p: DataResults.form.write(p, DATA_RESULTS),
        DataResults.form.read,
        DataResults.form,
    ),
    tensors("arrays of a fit", "fit.safetensors", write_fit, lambda p: Outcome.load(p.with_suffix(".json"))),
    tensors("trajectories", "shanghai.safetensors", write_roads, read_roads),
    FileFormat("mice, arrays", "restricted.npz", write_mice(False), read_plain_mice, text_mutations.BYTES),
    FileFormat(
        "mice, pickled", "water_restricted_mice_trajs.pickle", write_mice(True), read_pickled_mice, text_mutations.BYTES
    ),
)
