"""The whole command on the smallest protocol that has everything in it but GAIL, which has slow tests of its own."""

import csv
import io
import json
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from oracles_report import numbers_in, player_data, read_page

from experiments.suites.cell import collect_demonstrations, first_successes, run_cell, stored_result
from experiments.suites.compute import reproduce
from experiments.suites.directory import CSV, FIGURES, MARKDOWN, REPORT, RESULT, RESULTS, run_directory
from experiments.suites.figures import draw_figures
from experiments.suites.page import reproduction_page
from experiments.suites.paper import FULL, PAPER
from experiments.suites.results import BrokenResultsError, rows_of
from experiments.suites.scope import included, shortfall
from experiments.suites.suite import narrowed
from experiments.suites.tables import read_tables
from wfairl.cli.suites import print_tables
from wfairl.core.demonstrations import collect
from wfairl.core.runs.evaluation import EVALUATION
from wfairl.core.runs.methods import CHOSEN
from wfairl.core.support.files import read_json
from wfairl.core.worlds.task_registry import find_task

pytestmark = pytest.mark.slow  # `test_logic_and_cost` computes a suite in the fast tier

SMALL = replace(
    FULL,
    tasks=("doorkey",),
    methods=("wfa-irl", "no-automaton", "bc"),
    seeds=1,
    successes=8,
    failures=16,
    test_scenes=4,
    fewer=(4,),
    fewer_methods=("wfa-irl",),
    settings={
        "wfa-irl": {"epochs": 2},
        "no-automaton": {"epochs": 1},
        "bc": {"networks": 2, "epochs": 2, "validation_scenes": 4},
    },
)

IN_A_PROCESS = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from test_reproduce import SMALL
from experiments.suites.compute import reproduce

if __name__ == "__main__":
    reproduce(SMALL, Path(sys.argv[1]), n_jobs=2)
"""


@pytest.fixture(scope="module")
def killed_and_resumed(tmp_path_factory):
    """The directory of a reproduction that was killed when some cells were finished and others were not."""
    directory = tmp_path_factory.mktemp("reproduction")
    script = directory / "script.py"
    script.write_text(IN_A_PROCESS)
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    process = subprocess.Popen([sys.executable, str(script), str(directory), *paths], stderr=subprocess.DEVNULL)
    cells = list(PAPER.cells(SMALL))

    def finished() -> int:
        return sum(stored_result(cell, SMALL, directory) is not None for cell in cells)

    deadline = time.monotonic() + 240
    while finished() < 2:
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline, "nothing was ever finished"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert finished() < len(cells), "it was killed too late"
    reproduce(SMALL, directory, n_jobs=2)
    return directory


def test_a_reproduction_that_was_killed_ends_with_the_tables_of_one_that_was_not(killed_and_resumed, tmp_path):
    for data in SMALL.data_sets:
        collect_demonstrations("doorkey", data, 0, SMALL, tmp_path)
    for cell in PAPER.cells(SMALL):  # one after the other, in this process
        run_cell(cell, SMALL, tmp_path)
    results = [stored_result(cell, SMALL, tmp_path) for cell in PAPER.cells(SMALL)]
    document = read_json(killed_and_resumed / RESULTS)
    assert document["rows"] == [asdict(row) for row in rows_of(PAPER, results, SMALL.successes)]
    assert document["failures"] == {}
    for cell in PAPER.cells(SMALL):
        for name in (RESULT, EVALUATION):
            ours, theirs = (run_directory(place, cell, SMALL) / name for place in (tmp_path, killed_and_resumed))
            assert ours.read_bytes() == theirs.read_bytes()


def test_a_finished_cell_is_not_computed_again(killed_and_resumed):
    cell = next(cell for cell in PAPER.cells(SMALL) if cell.method == "bc")
    files = sorted(run_directory(killed_and_resumed, cell, SMALL).rglob("*"))
    before = [(path, path.stat().st_mtime_ns) for path in files]
    run_cell(cell, SMALL, killed_and_resumed)
    assert [(path, path.stat().st_mtime_ns) for path in files] == before


def test_learned_policies_are_at_least_in_their_right_place(killed_and_resumed):
    rows = {(row.method, row.data): row for row in read_tables(killed_and_resumed).rows if row.variant == CHOSEN}
    assert rows["optimal", ""].success_rate == 1
    assert rows["random", ""].mean_return < 0.3
    for method in ("wfa-irl", "no-automaton"):
        assert rows[method, "D1"].mean_return == pytest.approx(rows["optimal", ""].mean_return)


def test_all_files_hold_the_same_numbers(killed_and_resumed):
    tables = read_tables(killed_and_resumed)
    written = read_json(killed_and_resumed / RESULTS)
    assert json.loads(json.dumps(tables.to_document())).items() <= written.items()
    assert (killed_and_resumed / MARKDOWN).read_text() == tables.to_markdown()
    read = csv.DictReader(io.StringIO((killed_and_resumed / CSV).read_text()))
    assert [float(line["mean_return"]) for line in read] == [row.mean_return for row in tables.rows]


METHOD_OF_TITLE = {
    "optimal (fewest steps)": "optimal",
    "WFA-IRL": "wfa-irl",
    "WFA-IRL without WFA": "no-automaton",
    "behavioural cloning": "bc",
}


def test_the_numbers_of_the_page_are_those_of_the_json(killed_and_resumed):
    rows = read_json(killed_and_resumed / RESULTS)["rows"]
    page = read_page((killed_and_resumed / REPORT).read_text())
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
        (row,) = [
            row
            for row in rows
            if (row["method"], row["data"], row["variant"]) == (kind, data, variant)
            and row["successes"] in (SMALL.successes, 0)
        ]
        expected = [
            row["mean_return"],
            row["standard_error"],
            *([] if row["published"] is None else [row["published"]]),
        ]
        assert numbers == expected


def test_what_stands_out_is_the_best_that_is_shown_of_a_data_set(killed_and_resumed):
    page = read_page((killed_and_resumed / REPORT).read_text())
    returns, marked, data = {}, set(), ""
    for number, line in enumerate(next(iter(page.one("section", id="returns").all("tbody"))).all("tr")):
        name = line.one("th").text
        data = data if name.startswith("\N{EM SPACE}") else name.partition(", from ")[2]
        returns.setdefault(data, {})[number] = numbers_in(line)[0]
        marked |= {number for _ in line.all("td", class_="highlighted")}
    learned = {data: found for data, found in returns.items() if data}
    assert marked == {
        number for found in learned.values() for number, one in found.items() if one == max(found.values())
    }


def test_the_page_plays_every_method(killed_and_resumed):
    page = read_page((killed_and_resumed / REPORT).read_text())
    (player,) = [element for element in page.all() if "data-player" in element.attributes]
    played = {episode["policy"] for episode in player_data(player)["episodes"]}
    assert played == {"WFA-IRL", "WFA-IRL without WFA", "behavioural cloning", "expert"}


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1200, "light")])
def test_the_page_opens_in_a_browser_and_fits_it(opened, killed_and_resumed, width, scheme):
    page = opened(killed_and_resumed / REPORT, viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("[...document.images].every((image) => image.complete && image.naturalWidth > 0)")


def test_every_figure_is_drawn_or_its_absence_explained(killed_and_resumed):
    names = {path.stem for path in (killed_and_resumed / FIGURES).glob("*.svg")}
    assert {"environments", "returns", "policies", "trajectory", "training"} <= names
    assert {"automaton-doorkey", "demonstrations-doorkey"} <= names
    text = (killed_and_resumed / REPORT).read_text()
    assert "costs-doorkey" not in names  # every step costs its expert 1
    assert "There are no maps of the cost of doorkey: no preference found" in text
    assert ("unseen-word" in names) != ("No scene shows an agent that does not know the word of the expert" in text)
    assert "Search other scenes" not in text  # that is advice for who draws, not for who reads


def test_every_figure_of_what_was_learned_says_from_what(killed_and_resumed):
    captions = {
        name: words["caption"] for name, words in read_json(killed_and_resumed / FIGURES / "captions.json").items()
    }
    for name in ("trajectory", "automaton-doorkey", "policies"):
        assert "data set D2 of doorkey, training seed 0." in captions.pop(name)
    if "unseen-word" in captions:
        assert "data set D1 of doorkey, training seed 0." in captions.pop("unseen-word")
    assert "data set D2, training seed 0." in captions.pop("training")
    assert "data set D2, the means over 1 training seed." in captions.pop("demonstrations-doorkey")
    assert set(captions) == {"environments", "returns"}  # in which no automaton is shown


def test_what_is_smaller_than_in_the_paper_is_said_wherever_the_tables_are(killed_and_resumed, capsys):
    tables = read_tables(killed_and_resumed)
    told = shortfall(SMALL)
    assert "only T1 doorkey" in told
    assert "little trained" in told
    page = read_page((killed_and_resumed / REPORT).read_text())
    header = page.one("header")
    assert header.one("p", class_="notice").text == told
    assert included(SMALL) in header.one("p", class_="subtitle").text
    assert (killed_and_resumed / MARKDOWN).read_text().startswith(f"**{told}**")
    print_tables(tables, killed_and_resumed)
    assert told in capsys.readouterr().out.splitlines()
    assert "largest difference" not in page.text
    assert "1 training seeds" not in page.text


def test_the_whole_protocol_has_no_notice(killed_and_resumed):
    tables = replace(read_tables(killed_and_resumed), protocol=FULL)
    assert tables.to_markdown().startswith("Mean return")


def test_a_reproduction_without_an_automaton_has_no_empty_sections(killed_and_resumed):
    protocol = narrowed(PAPER, SMALL, methods=("bc",))
    tables = replace(read_tables(killed_and_resumed), protocol=protocol, automata=())
    page = reproduction_page(tables, draw_figures(tables, killed_and_resumed), killed_and_resumed)
    titles = [section.title for section in page.sections]
    assert all(section.blocks for section in page.sections)
    assert "Automata" not in titles
    assert "The cost" not in titles


def test_results_that_are_none_are_refused(tmp_path):
    (tmp_path / RESULTS).write_text('{"format": "something else", "version": 1}')
    with pytest.raises(BrokenResultsError, match="not the results of a reproduction"):
        read_tables(tmp_path)


def test_fewer_demonstrations_are_the_first_ones_with_all_failures():
    dataset = collect(find_task("doorkey"), 3, 2, 0.5, 0)
    fewer = first_successes(dataset, 2)
    assert fewer.demonstrations == (*dataset.demonstrations[:2], *dataset.demonstrations[3:])
    assert fewer.temperature == 0.5


def test_another_cost_model_changes_the_cells_that_learn_a_cost_and_no_others():
    paper = narrowed(PAPER, SMALL, cost="paper")
    assert paper.settings["wfa-irl"] == {"epochs": 2, "cost": "paper"}
    for cell in PAPER.cells(SMALL):
        same = run_directory(Path(), cell, SMALL) == run_directory(Path(), cell, paper)
        assert same == (cell.method not in ("wfa-irl", "no-automaton"))
