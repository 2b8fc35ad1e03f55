"""The figures of suites, without computing any suite."""

from inspect import signature

import pytest

from experiments.suites.compute import write_report
from experiments.suites.directory import FIGURES, REPORT
from experiments.suites.figures import FigureSource, _figures
from experiments.suites.suite import find_suite, narrowed
from experiments.suites.tables import Tables

MADE = {"date": "2026-01-01", "command": "wfairl reproduce", "machine": "a machine", "versions": {}, "core_seconds": 1}


@pytest.mark.parametrize("name", ["paper", "logic-and-cost"])
def test_every_figure_of_a_page_is_drawn_with_its_name_alone(name, tmp_path):
    suite = find_suite(name)
    for protocol in (suite.full, suite.quick):
        figures = _figures(FigureSource(Tables(protocol, (), (), MADE, {}), tmp_path))
        assert "environments" in figures
        for title, draw in figures.items():
            signature(draw).bind(title)  # raises if an argument is missing, or one too many


def test_the_page_of_the_paper_is_written_without_results_and_draws_what_needs_none(tmp_path):
    protocol = narrowed(find_suite("paper"), find_suite("paper").quick, tasks=("doorkey",))
    Tables(protocol, (), (), MADE, {}).write(tmp_path)
    write_report(tmp_path)
    assert {"environments", "policies"} <= {path.stem for path in (tmp_path / FIGURES).glob("*.svg")}
    assert "There is no figure trajectory: " in (tmp_path / REPORT).read_text()
