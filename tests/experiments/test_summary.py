import math
from dataclasses import make_dataclass, replace

import numpy as np
import pytest
from comparison_results import line_of, results_of, rows, tables_of
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from oracles_report import read_page

from experiments.harness import Options
from experiments.harness.tables import to_markdown, to_texts
from experiments.method_comparison.paper import ENTRIES, FULL, PAPER
from experiments.method_comparison.protocol import Entry
from experiments.method_comparison.tables import standard_error, summarise, trials_of, with_error
from wfairl.core.support.errors import BadInputError
from wfairl.pages.page import Page, Section, page_html
from wfairl.pages.run_result import PAPER_TASKS
from wfairl.runs.methods import CHOSEN, METHODS
from wfairl.runs.planning_methods import NoAutomaton

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


KEY = ("doorkey", "D1", "wfa-irl")
GREEDY = rows((1.0, 0.0), (True, False))
AT_HALF = rows((0.5, 0.5), acting="at 0.5", chosen=False)


def test_the_line_of_a_method_holds_the_way_to_act_that_stands_for_it():
    results = results_of({KEY: [*GREEDY, *AT_HALF]})
    assert line_of(results, "wfa-irl").mean_return == line_of(results, "wfa-irl", "greedy").mean_return == 0.5
    assert line_of(results, "wfa-irl", "at 0.5").success_rate == 1.0
    assert line_of(results, "wfa-irl").published == 0.797
    assert np.isnan(line_of(results, "wfa-irl", "greedy").published)


def test_the_papers_figure_stands_beside_its_own_number_of_demonstrations_alone():
    results = results_of({("doorkey", "D1", "bc"): GREEDY, ("doorkey", "D1", "bc", 0, 8): GREEDY})
    summary = summarise(PAPER, FULL, trials_of(results))
    published = {line.successes: line.published for line in summary[summary.acting == CHOSEN].itertuples()}
    assert published[32] == 0.364
    assert np.isnan(published[8])


def test_cells_are_distinct_and_have_distinct_directories():
    cells = list(replace(FULL, curve=replace(FULL.curve, successes=(2, 4))).cells())
    expected = 3 * 3 + 3 * 2 * 5 * 3 + 1 * 2 * 2 * 3
    assert len({cell.name for cell in cells}) == len({cell.path for cell in cells}) == len(cells) == expected


def test_settings_of_one_method_leave_the_cells_of_others_alone():
    changed = replace(FULL, entries={**ENTRIES, "bc": ENTRIES["bc"].changed(epochs=1)})
    for one, other in zip(FULL.cells(), changed.cells(), strict=True):
        assert (one.path == other.path) == (one.settings["method"] != "bc")


def test_a_method_without_a_seed_among_its_settings_is_given_none(monkeypatch):
    class Seedless(NoAutomaton):
        name = "seedless"

        def settings_type(self):
            return make_dataclass("Settings", [("greed", float, 0.5)])

    monkeypatch.setattr(METHODS, "_entries", {**METHODS, "seedless": Seedless()})
    protocol = replace(FULL, entries={"own": Entry("seedless", "own"), "bc": Entry("bc", "cloning")})
    own, cloned = (protocol.training("doorkey", "D1", name, 2, 32).settings["settings"] for name in ("own", "bc"))
    assert own == {"greed": 0.5}
    assert cloned["seed"] == 2


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"tasks": ("nowhere",)}, "has no task 'nowhere'; it has doorkey"),
        ({"methods": ("luck",)}, "has no method 'luck'"),
        ({"data_sets": ("D3",)}, "has no data set 'D3'"),
    ],
)
def test_what_an_experiment_does_not_have_is_refused(wrong, told):
    for quick in (False, True):
        with pytest.raises(BadInputError, match=told):
            PAPER.protocol(Options(quick=quick, **wrong))


def test_a_quick_look_has_any_task_of_the_full_protocol():
    small = replace(PAPER, quick=replace(PAPER.quick, tasks=("multiroom",)))
    assert small.protocol(Options(quick=True)).tasks == ("multiroom",)
    assert small.protocol(Options(quick=True, tasks=("doorkey",))).tasks == ("doorkey",)


def test_the_paper_has_a_figure_for_every_cell_of_its_table():
    for task in PAPER_TASKS:
        for data in ("D1", "D2"):
            returns = [PAPER.published_returns[method, task, data] for method in ENTRIES if method != "rational"]
            assert all(0 < one < 1 for one in returns)
            assert len(PAPER.published_automata[task, data]) == 3


SMALL = {"tasks": ("doorkey",), "data_sets": {"D1": FULL.data_sets["D1"]}, "test_scenes": 2}
ENTERED = {name: ENTRIES[name] for name in ("wfa-irl", "bc")}


def small_tables():
    cells = {
        ("doorkey", "D1", "bc"): [*GREEDY, *AT_HALF],
        ("doorkey", "", "random"): rows((0.0, 0.0), (False, False), acting="random"),
        ("doorkey", "D1", "wfa-irl"): GREEDY,
    }
    training = {"training": {"rank": 5, "rows": 4, "cols": 4}}
    return tables_of(results_of(cells, {("doorkey", "D1", "wfa-irl"): training}), entries=ENTERED, **SMALL)


def test_a_single_episode_has_no_standard_error():
    results = results_of({("doorkey", "D1", "bc"): rows((0.5,))})
    table = tables_of(results, entries={"bc": ENTRIES["bc"]}, **{**SMALL, "test_scenes": 1}, seeds=1).returns()
    assert to_texts(table)[-1] == ["behavioural cloning, from D1", "0.500 (0.364)"]


def test_the_page_shows_the_figures_of_the_text():
    tables = small_tables()
    blocks = (tables.returns(), *tables.automata())
    page = read_page(page_html(Page("experiment", "", (Section("Returns", blocks),))))
    shown = [line for body in page.all("tbody") for line in body.all("tr")]
    cells = [[line.one("th").text, *(cell.text for cell in line.all("td"))] for line in shown]
    written = [line for table in blocks for line in to_texts(table)[1:]]
    assert [["".join(cell.split()) for cell in line] for line in cells] == [
        ["".join(cell.split()) for cell in line] for line in written
    ]


def test_markdown_shows_ours_beside_the_papers():
    text = "\n".join(to_markdown(table) for table in (small_tables().returns(), *small_tables().automata()))
    assert "| behavioural cloning, from D1 | 0.500 ± 0.500 (0.364) |" in text
    assert "| &nbsp;&nbsp;at 0.5 | 0.500 ± 0.000 |" in text
    assert "| WFA-IRL, from D1 | 0.500 ± 0.500 (0.797) |" in text
    assert "| random | 0.000 ± 0.000 (0.000) |" in text
    assert "| expert | - |" in text
    assert "| from D1 | 5/4/4 (5/4/4) |" in text


def test_a_mean_is_written_with_its_error():
    assert [part if isinstance(part, str) else part.text for part in with_error(0.79512, 0.0049)] == [
        "0.795",
        " ± ",
        "0.005",
    ]
