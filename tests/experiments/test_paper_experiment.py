"""The paper's experiment on the smallest protocol that has all in it but GAIL, which has slow tests of its own."""

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from oracles_report import numbers_in, read_page

from experiments.harness import Options, run_experiment
from experiments.harness.cell import RESULT
from experiments.harness.computing import missing_cells
from experiments.harness.results import CSV, MARKDOWN, REPORT
from experiments.harness.tables import to_texts
from experiments.method_comparison.paper import ENTRIES, FULL, PAPER
from experiments.method_comparison.protocol import Curve
from experiments.method_comparison.tables import ComparisonTables
from experiments.method_comparison.training import first_successes
from wfairl.runs.collection import collect
from wfairl.runs.evaluation import EVALUATION
from wfairl.runs.methods import CHOSEN
from wfairl.runs.task_registry import find_task

slow = pytest.mark.slow  # `test_logic_and_cost` computes an experiment in the fast tier

SMALL = replace(
    FULL,
    tasks=("doorkey",),
    entries={
        "wfa-irl": ENTRIES["wfa-irl"].changed(epochs=2),
        "no-automaton": ENTRIES["no-automaton"].changed(epochs=1),
        "bc": ENTRIES["bc"].changed(networks=2, epochs=2, validation_scenes=4),
    },
    seeds=1,
    successes=8,
    failures=16,
    test_scenes=4,
    curve=Curve((4,), ("doorkey",), ("wfa-irl",), "D2"),
)

COMPARISON = replace(PAPER, quick=SMALL)

IN_A_PROCESS = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from test_paper_experiment import COMPARISON
from experiments.harness import Options, run_experiment

if __name__ == "__main__":
    run_experiment(COMPARISON.experiment, Options(quick=True), Path(sys.argv[1]), n_jobs=2)
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results of an experiment that was killed when some cells were finished and others were not."""
    directory = tmp_path_factory.mktemp("paper")
    script = directory / "script.py"
    script.write_text(IN_A_PROCESS)
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    process = subprocess.Popen([sys.executable, str(script), str(directory), *paths], stderr=subprocess.DEVNULL)
    cells = list(SMALL.cells())

    def finished() -> int:
        return sum((directory / cell.path / RESULT).exists() for cell in cells)

    deadline = time.monotonic() + 240
    while finished() < 2:
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline, "nothing was ever finished"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert finished() < len(cells), "it was killed too late"
    return run_experiment(COMPARISON.experiment, Options(quick=True), directory, n_jobs=2)


@pytest.fixture(scope="module")
def tables(results):
    return ComparisonTables(COMPARISON, results)


@slow
def test_an_experiment_that_was_killed_ends_with_the_tables_of_one_that_was_not(results, tmp_path):
    for cell in missing_cells(list(SMALL.cells()), tmp_path):  # one after the other, in this process
        cell.compute(tmp_path)
    assert results.failures == {}
    for cell in SMALL.cells():
        for name in (RESULT, EVALUATION):
            assert (tmp_path / cell.path / name).read_bytes() == (results.directory / cell.path / name).read_bytes()
    again = run_experiment(COMPARISON.experiment, Options(quick=True), tmp_path)
    assert again.to_markdown() == (results.directory / MARKDOWN).read_text()


@slow
def test_learned_policies_are_at_least_in_their_right_place(tables):
    lines = tables.main[tables.main.acting == CHOSEN].set_index(["method", "data"])
    assert lines.loc["optimal", ""].success_rate == 1
    assert lines.loc["random", ""].mean_return < 0.3
    for method in ("wfa-irl", "no-automaton"):
        assert lines.loc[method, "D1"].mean_return == pytest.approx(lines.loc["optimal", ""].mean_return)


@slow
def test_all_files_hold_the_same_numbers(results):
    assert (results.directory / MARKDOWN).read_text() == results.to_markdown()
    written = pd.read_csv(results.directory / CSV, keep_default_na=False)
    assert list(written["return"]) == list(results.table["return"])
    assert list(written["cell"]) == list(results.table["cell"])


METHOD_OF_TITLE = {
    "optimal (fewest steps)": "optimal",
    "WFA-IRL": "wfa-irl",
    "WFA-IRL without WFA": "no-automaton",
    "behavioural cloning": "bc",
}


@slow
def test_the_numbers_of_the_page_are_those_of_the_summary(results, tables):
    page = read_page((results.directory / REPORT).read_text())
    lines = tables.main.set_index(["method", "data", "acting"])
    table, *_ = page.one("section", id="returns").all("table")
    shown = {}
    method = None
    for line in table.one("tbody").all("tr"):
        name = line.one("th").text
        if name.startswith("\N{EM SPACE}"):
            shown[(*method, name.strip())] = numbers_in(line)
        else:
            kind, _, data = name.partition(", from ")
            method = METHOD_OF_TITLE.get(kind, kind), data
            shown[(*method, CHOSEN)] = numbers_in(line)
    assert len(shown) >= 3 + 3 * 2
    for (kind, data, variant), numbers in shown.items():
        line = lines.loc[kind, data, variant]
        published = [] if pd.isna(line.published) else [line.published]
        expected = [line.mean_return, line.standard_error, *published]
        assert numbers == expected


@slow
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1200, "light")])
def test_the_page_opens_in_a_browser_and_fits_it(opened, results, width, scheme):
    page = opened(results.directory / REPORT, viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("[...document.images].every((image) => image.complete && image.naturalWidth > 0)")


@slow
def test_fewer_demonstrations_say_of_which_data_set_they_are(tables):
    (curve,) = tables.curves()
    assert "demonstrations of data set D2" in curve.caption
    head, *lines = to_texts(curve)
    assert (head[1:], [line[0] for line in lines]) == (["4", "8"], [f"{find_task('doorkey').title}, WFA-IRL"])


@slow
def test_what_is_less_than_the_paper_is_said_wherever_the_tables_are(results):
    told = results.notice
    assert "little trained" in told
    page = read_page((results.directory / REPORT).read_text())
    assert page.one("header").one("p", class_="notice").text == told
    assert (results.directory / MARKDOWN).read_text().startswith(f"**{told}**")
    assert "1 training seeds" not in page.text


@slow
def test_a_page_without_an_automaton_has_no_empty_sections(results):
    options = Options(quick=True, methods=("bc",))
    fewer = run_experiment(COMPARISON.experiment, options, results.directory)
    shown = [title for title, parts in fewer.sections.items() if parts]
    assert "Returns" in shown
    assert not {"Automata", "Failures"} & set(shown)


def test_fewer_demonstrations_are_the_first_ones_with_all_failures():
    dataset = collect(find_task("doorkey"), 3, 2, 0.5, 0)
    fewer = first_successes(dataset, 2)
    assert fewer.demonstrations == (*dataset.demonstrations[:2], *dataset.demonstrations[3:])
    assert fewer.temperature == 0.5
