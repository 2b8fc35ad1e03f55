import csv
import io
import math
from dataclasses import make_dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from oracles_report import read_page

from experiments.suites.comparisons import comparisons_of
from experiments.suites.figures import Figures
from experiments.suites.page import _automata_blocks, _returns_section
from experiments.suites.paper import ENTRIES, FULL, PAPER, TASKS, paper_automaton, paper_return
from experiments.suites.results import CellResult, Trial, rows_of, standard_error
from experiments.suites.suite import Cell, Entry, digest, register_suite
from experiments.suites.tables import Tables, automata_of, read_tables
from wfairl.core.runs.methods import CHOSEN, METHODS
from wfairl.core.runs.planners import NoAutomaton
from wfairl.core.support.errors import BadInputError, FailedRunError
from wfairl.pages.page import Page, Section, page_html

RETURNS = arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=st.floats(0, 1))


@given(RETURNS)
def test_one_seed_has_the_standard_error_of_its_scenes(returns):
    one = returns[:1]
    expected = np.std(one[0], ddof=1) / math.sqrt(one.shape[1]) if one.shape[1] > 1 else 0.0
    assert standard_error(one) == pytest.approx(expected)


@given(RETURNS, st.randoms(use_true_random=False))
def test_standard_error_does_not_depend_on_any_order_and_treats_seeds_and_scenes_alike(returns, random):
    shuffled = returns[random.sample(range(len(returns)), len(returns))]
    assert standard_error(shuffled) == pytest.approx(standard_error(returns))
    assert standard_error(returns.T) == pytest.approx(standard_error(returns))


def test_standard_error_covers_the_mean_of_random_seeds_and_scenes():
    # Scenes of deviation 0.3, seeds of 0.2, episodes of 0.1: the mean of 3 x 64 returns has a known variance.
    rng = np.random.default_rng(0)
    truth = math.sqrt(0.3**2 / 64 + 0.2**2 / 3 + 0.1**2 / 192)
    estimates = [
        standard_error(rng.normal(0, 0.2, (3, 1)) + rng.normal(0, 0.3, 64) + rng.normal(0, 0.1, (3, 64)))
        for _ in range(2000)
    ]
    assert math.sqrt(np.mean(np.square(estimates))) == pytest.approx(truth, rel=0.03)


def result(task="doorkey", data="D1", method="bc", seed=0, successes=32, trials=(), **facts) -> CellResult:
    cell = Cell(task, data, method, seed, successes)
    return CellResult(PAPER.key(cell, FULL), tuple(trials), None, facts, None)


def trial(variant, chosen, returns, successes, costs=(20.0, 30.0)):
    return Trial("doorkey", variant, chosen, returns, successes, (False,) * len(returns), costs)


GREEDY = trial("greedy", True, (1.0, 0.0), (True, False))
AT_HALF = trial("at 0.5", False, (0.5, 0.5), (True, True))


def test_the_row_of_a_method_holds_the_way_to_act_that_stands_for_it():
    rows = {row.variant: row for row in rows_of(PAPER, [result(method="wfa-irl", trials=(GREEDY, AT_HALF))], 32)}
    assert rows[CHOSEN].mean_return == rows["greedy"].mean_return == 0.5
    assert rows["at 0.5"].success_rate == 1.0
    assert rows[CHOSEN].published == 0.797
    assert rows["greedy"].published is None


def test_the_row_of_a_method_takes_from_each_seed_the_variant_that_did_best_in_validation():
    def trained(variant: str, seed: int, validation: float, returns: tuple[float, float]) -> CellResult:
        cell = Cell("doorkey", "D1", "gail", seed, 32, variant)
        tested = trial(variant, True, returns, (True, False))
        return CellResult(PAPER.key(cell, FULL), (tested,), validation, {}, None)

    results = [
        trained("log D", 0, 0.9, (0.2, 0.4)),
        trained("-log(1 - D)", 0, 0.3, (1.0, 1.0)),  # lucky in the test, which must not count
        trained("log D", 1, 0.1, (0.0, 0.0)),
        trained("-log(1 - D)", 1, 0.2, (0.6, 0.4)),
    ]
    rows = {row.variant: row for row in rows_of(PAPER, results, 32)}
    assert rows[CHOSEN].mean_return == pytest.approx((0.3 + 0.5) / 2)
    assert rows["log D"].mean_return == pytest.approx((0.3 + 0.0) / 2)
    assert rows["-log(1 - D)"].mean_return == pytest.approx((1.0 + 0.5) / 2)
    assert {row.seeds for row in rows.values()} == {2}
    assert rows[CHOSEN].published == 0.483


def test_variants_without_a_validation_are_never_chosen_between():
    cells = [Cell("doorkey", "D1", "gail", 0, 32, variant) for variant in ("log D", "-log(1 - D)")]
    pairs = zip(cells, (0.5, None), strict=True)
    results = [CellResult(PAPER.key(cell, FULL), (GREEDY,), validation, {}, None) for cell, validation in pairs]
    with pytest.raises(FailedRunError, match="validation"):
        rows_of(PAPER, results, 32)


def test_the_papers_figure_stands_beside_its_own_number_of_demonstrations_alone():
    rows = rows_of(PAPER, [result(trials=(GREEDY, AT_HALF)), result(successes=8, trials=(GREEDY, AT_HALF))], 32)
    assert [row.published for row in rows if row.variant == CHOSEN] == [0.364, None]


def test_a_stored_result_is_read_back_for_its_own_key_and_no_other(tmp_path):
    stored = result(trials=(GREEDY, AT_HALF), epoch=3)
    stored.save(tmp_path / "result.json")
    assert CellResult.load(tmp_path / "result.json", stored.key) == stored
    other = {**stored.key, "test_scenes": 8}
    assert CellResult.load(tmp_path / "result.json", other) is None
    assert CellResult.load(tmp_path / "nowhere.json", stored.key) is None


def test_cells_are_distinct_and_have_distinct_keys():
    protocol = replace(FULL, fewer=(2, 4))
    cells = list(PAPER.cells(protocol))
    assert len(set(cells)) == len(cells) == 3 * 3 + 3 * 2 * 6 * 3 + 1 * 2 * 2 * 3
    assert len({digest(PAPER.key(cell, protocol)) for cell in cells}) == len(cells)


def test_settings_of_one_method_leave_the_keys_of_others_alone():
    changed = replace(FULL, settings={"bc": {"epochs": 1}})
    for cell in PAPER.cells(FULL):
        assert (PAPER.key(cell, FULL) == PAPER.key(cell, changed)) == (cell.method != "bc")


def test_a_method_without_a_seed_among_its_settings_is_given_none(monkeypatch):
    class Seedless(NoAutomaton):
        name = "seedless"

        def settings_type(self):
            return make_dataclass("Settings", [("greed", float, 0.5)])

    monkeypatch.setattr(METHODS, "_entries", {**METHODS, "seedless": Seedless()})
    suite = replace(PAPER, entries={"own": Entry("seedless", "own"), "bc": Entry("bc", "cloning")})
    settings = {method: suite.settings_of(Cell("doorkey", "D1", method, 2, 32, ""), FULL) for method in suite.entries}
    assert settings["own"] == {"greed": 0.5}
    assert settings["bc"]["seed"] == 2


def test_a_suite_with_an_unknown_metric_is_refused_when_it_is_registered():
    with pytest.raises(BadInputError, match="unknown metric 'speed'; known are kept, no_plan, regret"):
        register_suite(replace(PAPER, name="mine", metrics=("kept", "speed")))


@pytest.mark.parametrize("wrong", [{"tasks": ("nowhere",)}, {"methods": ("luck",)}, {"data_sets": ("D3",)}])
def test_a_protocol_of_what_the_suite_does_not_have_is_refused(wrong):
    with pytest.raises(BadInputError, match="the suite paper has no"):
        PAPER.check(replace(FULL, **wrong))


def test_the_paper_has_a_figure_for_every_cell_of_its_table():
    for task in TASKS:
        for data in ("D1", "D2"):
            assert all(0 < paper_return(method, task, data) < 1 for method in ENTRIES if method != "rational")
            assert len(paper_automaton(task, data)) == 3
    assert paper_return("wfa-irl", "my-own-task", "D1") is None


MADE = {"date": "2026-01-01", "command": "wfairl reproduce", "machine": "a machine", "versions": {"numpy": "2"}}


def tables() -> Tables:
    results = [
        result(trials=(GREEDY, AT_HALF)),
        result(data="", method="random", successes=0, trials=[trial("random", True, (0.0, 0.0), (False, False))]),
        result(method="wfa-irl", trials=(GREEDY,), rank=5, rows=4, cols=4),
    ]
    protocol = replace(FULL, tasks=("doorkey",), data_sets=("D1",), methods=("wfa-irl", "bc"))
    rows = tuple(rows_of(PAPER, results, protocol.successes))
    return Tables(protocol, rows, automata_of(PAPER, results, protocol.successes), MADE, {"a cell": "it broke"})


def test_every_entry_stands_beside_the_first_in_the_same_scenes(tmp_path):
    results = [
        result(method="wfa-irl", seed=0, trials=(trial("greedy", True, (1.0, 0.5), (True, True)), AT_HALF)),
        result(method="bc", seed=0, trials=(trial("bc", True, (0.5, 0.5), (True, True)),)),
        result(data="", method="optimal", successes=0, trials=(trial("optimal", True, (1.0, 1.0), (True, True)),)),
        result(method="bc", successes=8, trials=(GREEDY,)),  # of the curve, which is not compared
    ]
    protocol = replace(FULL, tasks=("doorkey",), data_sets=("D1",), methods=("wfa-irl", "bc"), test_scenes=2)
    compared = comparisons_of(PAPER, protocol, results)
    assert [(one.data, one.method, one.tasks) for one in compared] == [
        ("D1", "wfa-irl", 1),
        ("D1", "bc", 1),
        ("D1", "optimal", 1),
    ]
    ours, cloned, optimal = compared
    assert (ours.mean.value, ours.beside) == (0.75, None)
    assert (cloned.beside.difference.value, cloned.beside.improvement.value) == (0.25, 0.75)
    assert (optimal.beside.difference.value, optimal.beside.improvement.value) == (-0.25, 0.25)
    made = Tables(protocol, tuple(rows_of(PAPER, results, 32)), (), {**MADE, "core_seconds": 1.0}, {}, compared)
    made.write(tmp_path)
    assert read_tables(tmp_path).comparisons == compared
    assert "| behavioural cloning | 0.500 | +0.250 [+0.000, +0.500] | 0.75 [0.50, 1.00] |" in made.to_markdown()


def test_a_single_episode_has_no_standard_error():
    alone = result(method="bc", trials=(trial("bc", True, (0.5,), (True,), (20.0,)),))
    protocol = replace(FULL, tasks=("doorkey",), data_sets=("D1",), methods=("bc",), test_scenes=1, seeds=1)
    made = Tables(protocol, tuple(rows_of(PAPER, [alone], 32)), (), MADE, {})
    assert "| behavioural cloning, from D1 | 0.500 (0.364) |" in made.to_markdown()
    assert "±" not in made.to_markdown().partition("\n\n|")[2]


def test_csv_and_json_hold_the_same_rows():
    document = tables().to_document()
    read = list(csv.DictReader(io.StringIO(tables().to_csv())))
    assert len(read) == len(document["rows"]) == len(tables().rows)
    for line, row in zip(read, document["rows"], strict=True):
        for name in ("mean_return", "standard_error", "spread", "success_rate"):
            assert float(line[name]) == row[name]
        assert (line["task"], line["data"], line["method"], line["variant"]) == (
            row["task"],
            row["data"],
            row["method"],
            row["variant"],
        )
        assert line["published"] == ("" if row["published"] is None else str(row["published"]))


def test_the_page_shows_the_figures_of_the_text_and_marks_the_best():
    made, no_figures = tables(), Figures((), {})
    blocks = (*_returns_section(made, no_figures).blocks, *_automata_blocks(made, no_figures))
    page = read_page(page_html(Page("suite", "", (Section("Returns", blocks),))))
    shown = [line for body in page.all("tbody") for line in body.all("tr")]
    cells = [[line.one("th").text, *(cell.text for cell in line.all("td"))] for line in shown]
    written = [line for table in made.text_tables for line in table.body]
    assert [["".join(cell.split()) for cell in line] for line in cells] == [
        ["".join(cell.split()) for cell in line] for line in written
    ]
    marked = {line.one("th").text for line in shown if list(line.all("td", class_="highlighted"))}
    assert marked == {"WFA-IRL, from D1", "behavioural cloning, from D1", "\N{EM SPACE}at 0.5"}


def test_markdown_shows_ours_beside_the_papers_and_what_is_missing():
    text = tables().to_markdown()
    assert "| behavioural cloning, from D1 | 0.500 ± 0.500 (0.364) |" in text
    assert "| &nbsp;&nbsp;at 0.5 | 0.500 ± 0.000 |" in text
    assert "| WFA-IRL, from D1 | 0.500 ± 0.500 (0.797) |" in text
    assert "| random | 0.000 ± 0.000 (0.000) |" in text
    assert "| expert | - |" in text
    assert "| from D1 | 5/4/4 (5/4/4) |" in text
    assert "Not computed: a cell: it broke" in text
    assert "2026-01-01" not in text  # the tables are the same whenever they are made
