"""Cells: what they follow from, what they need, and what they leave."""

import pytest

from experiments.harness import Cell, DataFolder, Outcome
from experiments.harness.cell import RESULT, BrokenOutcomeError
from experiments.harness.computing import missing_cells


def count(directory, start, words):
    directory.mkdir(parents=True)
    (directory / "count.txt").write_text(str(start))
    return Outcome([{"words": len(words)}], {"first": words[0]})


def double(counted, factor):
    return Outcome([{"doubled": factor * int((counted / "count.txt").read_text())}])


def size(data):
    return Outcome([{"bytes": sum(path.stat().st_size for path in data.iterdir())}])


COUNT = Cell("count words", count, {"start": 21, "words": ["a", "bc"]})
DOUBLE = Cell("double", double, {"factor": 2}, needs={"counted": COUNT})


def test_an_outcome_is_stored_with_its_facts(tmp_path):
    assert COUNT.stored(tmp_path) is None
    COUNT.compute(tmp_path)
    stored = COUNT.stored(tmp_path)
    assert [dict(row) for row in stored.rows] == [{"words": 2}]
    assert stored.facts == {"first": "a"}


def test_a_cell_finds_the_files_of_what_it_needs(tmp_path):
    for cell in DOUBLE.with_needs():
        cell.compute(tmp_path)
    assert DOUBLE.stored(tmp_path).rows[0] == {"doubled": 42}


@pytest.mark.parametrize(
    "other",
    [
        Cell("double", double, {"factor": 3}, needs={"counted": COUNT}),
        Cell("double", double, {"factor": 2}, needs={"counted": Cell("count words", count, {"start": 1, "words": []})}),
        Cell("double", count, {"factor": 2}, needs={"counted": COUNT}),
    ],
)
def test_another_setting_need_or_function_is_another_cell(tmp_path, other):
    for cell in DOUBLE.with_needs():
        cell.compute(tmp_path)
    assert other.path != DOUBLE.path
    assert other.stored(tmp_path) is None


def test_other_data_are_another_cell(tmp_path):
    (tmp_path / "trips.csv").write_text("1,2")
    before = Cell("size", size, data=DataFolder(tmp_path, ("trips.csv",))).path
    (tmp_path / "trips.csv").write_text("1,3")
    assert Cell("size", size, data=DataFolder(tmp_path, ("trips.csv",))).path != before
    (tmp_path / "beside.csv").write_text("nobody reads it")
    (tmp_path / "trips.csv").write_text("1,2")
    assert Cell("size", size, data=DataFolder(tmp_path, ("trips.csv",))).path == before


def test_what_is_there_is_not_computed_again_nor_is_what_only_it_needed(tmp_path):
    assert [cell.name for cell in missing_cells([DOUBLE], tmp_path)] == ["count words", "double"]
    COUNT.compute(tmp_path)
    assert [cell.name for cell in missing_cells([DOUBLE], tmp_path)] == ["double"]
    DOUBLE.compute(tmp_path)
    (tmp_path / COUNT.path / RESULT).unlink()
    assert missing_cells([DOUBLE], tmp_path) == []


def test_a_damaged_outcome_is_refused_with_advice(tmp_path):
    COUNT.compute(tmp_path)
    path = tmp_path / COUNT.path / RESULT
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(BrokenOutcomeError, match=RESULT):
        COUNT.stored(tmp_path)


def test_the_same_cell_leaves_the_same_bytes(tmp_path):
    for place in ("one", "other"):
        COUNT.compute(tmp_path / place)
    one, other = (tmp_path / place / COUNT.path / RESULT for place in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()
