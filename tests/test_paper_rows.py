"""The cache of `benchmarks/paper_rows.py`: rows are used again for the same settings, and for no others."""

import sys
from argparse import Namespace
from pathlib import Path

import pytest

from wfairl.worlds.tasks import find_task

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import paper_rows


def test_rows_of_other_settings_or_scenes_are_computed_again(tmp_path, monkeypatch):
    calls = []

    def rows_of(**settings):
        def work():
            calls.append(settings)
            return [settings]

        return paper_rows.once(tmp_path / "rows.json", settings, work)

    assert rows_of(epochs=1) == rows_of(epochs=1) == [{"epochs": 1}]
    assert len(calls) == 1
    assert rows_of(epochs=2) == [{"epochs": 2}]
    assert rows_of(epochs=1) == [{"epochs": 1}]
    assert len(calls) == 3
    monkeypatch.setattr(paper_rows, "TEST_SEEDS", range(7, 9))
    rows_of(epochs=1)
    assert len(calls) == 4
    (tmp_path / "rows.json").write_text('[{"epochs": 1}]')  # as older versions wrote them
    rows_of(epochs=1)
    assert len(calls) == 5


@pytest.mark.slow
def test_other_epochs_give_other_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(paper_rows, "TEST_SEEDS", range(5_000, 5_002))

    def epochs_of(epochs):
        arguments = Namespace(output=tmp_path, cost="local", epochs=epochs, held_out=0.0, jobs=2)
        return [row["epoch"] for row in paper_rows.learned_rows(find_task("doorkey"), "D2", 0, arguments)]

    assert epochs_of(1) == epochs_of(1) == [1, 1]
    assert epochs_of(2) == [2, 2]
