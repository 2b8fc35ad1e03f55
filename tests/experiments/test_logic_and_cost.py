"""The experiment on which the logic and the cost matter, on the smallest protocol that has all in it but networks."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments.harness import Options, run_experiment
from experiments.harness.computing import missing_cells
from experiments.harness.results import CSV, MARKDOWN, REPORT
from experiments.harness.tables import to_texts
from experiments.method_comparison.logic_and_cost import ENTRIES, FULL, LOGIC_AND_COST, QUICK, TASKS, TRANSFERS
from experiments.method_comparison.protocol import Curve
from experiments.method_comparison.tables import ComparisonTables
from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.rational.compact_automaton import compact
from wfairl.questions.corrections import restrict
from wfairl.runs.methods import CHOSEN
from wfairl.runs.task_registry import find_task

LITTLE = {name: ENTRIES[name].changed(epochs=2) for name in ("rational", "spectral", "no-automaton")}

SMALL = replace(
    FULL,
    tasks=("office-coffee", "terrain"),
    data_sets={name: FULL.data_sets[name] for name in ("D2", "S2")},
    entries={**LITTLE, "unit-cost": ENTRIES["unit-cost"]},
    seeds=1,
    successes=8,
    failures=8,
    test_scenes=4,
    curve=Curve((4,), ("office-coffee",), ("rational",), "S2"),
)

COMPARISON = replace(LOGIC_AND_COST, full=SMALL)


@pytest.fixture(scope="module")
def results(shared_place):
    """Everything computed in this process, one cell after the other, and the tables and the page written."""
    with shared_place("logic-and-cost") as place:
        for cell in missing_cells(list(SMALL.cells()), place):
            cell.compute(place)
        assert missing_cells(list(SMALL.cells()), place) == []
        return run_experiment(COMPARISON.experiment, Options(), place, n_jobs=1)


@pytest.fixture(scope="module")
def tables(results):
    return ComparisonTables(COMPARISON, results)


def line(tables, task, data, method):
    lines = tables.main[tables.main.acting == CHOSEN].set_index(["task", "data", "method"])
    return lines.loc[task, data, method]


def test_the_rule_is_kept_with_the_automaton_and_broken_without(tables):
    assert line(tables, "office-coffee", "D2", "rational").success_rate == 1
    assert line(tables, "office-coffee", "D2", "no-automaton").success_rate < 0.5


def test_the_optimal_policy_has_no_regret_and_nobody_has_less(tables):
    for task in ("office-coffee", "terrain", "terrain-16"):
        assert line(tables, task, "", "optimal").regret == pytest.approx(0, abs=1e-12)
    assert (tables.summary.regret.dropna() >= -1e-9).all()


def test_the_tables_say_what_the_optimal_policy_minimises(tables):
    without_training = next(table for table in tables.acting() if "learn nothing" in table.caption)
    assert to_texts(without_training)[0][1:] == ["optimal (least true cost, else fewest steps)", "expert", "random"]
    priced = ComparisonTables(replace(COMPARISON, full=replace(SMALL, tasks=("terrain",))), tables.results)
    assert priced.title("optimal") == "optimal (least true cost)"


def test_what_was_learned_on_small_maps_is_tested_on_large_ones(tables):
    assert line(tables, "terrain-16", "D2", "rational").success_rate == 1
    assert ("terrain-16", "S2", "rational") not in tables.main.set_index(["task", "data", "method"]).index
    assert tables.task_title("terrain-16") == "terrain-16 (learned on terrain)"


def test_recovery_is_told_of_learned_automata_alone(tables):
    assert line(tables, "office-coffee", "D2", "rational").agreement > 0.9
    assert line(tables, "office-coffee", "D2", "rational").least_states == 3
    assert np.isnan(line(tables, "office-coffee", "D2", "no-automaton").agreement)


def test_cells_that_share_an_automaton_learn_it_once():
    cells = {one.path: one for cell in SMALL.cells() for one in cell.with_needs()}
    automata = [cell.name for cell in cells.values() if " automaton, " in cell.name]
    assert "office-coffee D2 rational automaton, 8 demonstrations, seed 0" in automata
    assert len(set(automata)) == len(automata) == 2 * 2 * 2 + 1  # tasks, data sets, learners; and the curve's


def test_all_files_hold_the_same_figures(results, tables):
    assert (results.directory / MARKDOWN).read_text() == results.to_markdown()
    written = pd.read_csv(results.directory / CSV, keep_default_na=False)
    assert len(written) == len(results.table)
    assert list(written["return"]) == list(results.table["return"])
    page = (results.directory / REPORT).read_text()
    for table in (*tables.acting(), *tables.rules()):
        assert all(cell in page for line in to_texts(table)[1:] for cell in line)


def test_a_cell_of_another_test_is_computed_again(results):
    cell = next(cell for cell in SMALL.cells() if cell.settings["method"] == "rational")
    assert cell.stored(results.directory) is not None
    more = next(cell for cell in replace(SMALL, test_scenes=5).cells() if cell.settings["method"] == "rational")
    assert more.stored(results.directory) is None


def test_cells_are_distinct_and_networks_learn_from_one_data_set():
    cells = list(FULL.cells())
    assert len({cell.path for cell in cells}) == len({cell.name for cell in cells}) == len(cells)
    learned = [cell.settings for cell in cells if "data" in cell.settings]
    for method in ("bc", "gail"):
        assert {one["data"] for one in learned if one["method"] == method} == {"D2"}
    curve = {one["successes"] for one in learned if (one["method"], one["data"]) == ("rational", "S2")}
    assert curve == {1, 2, 4, 8, 16, 32}


def test_protocols_name_tasks_and_methods_that_there_are():
    for name in (*TASKS, *(other for others in TRANSFERS.values() for other in others)):
        assert find_task(name).name == name
    for protocol in (FULL, QUICK):
        assert set(protocol.curve.tasks) <= set(protocol.tasks)
        assert set(protocol.curve.entries) <= set(protocol.entries)
        assert protocol.curve.data in protocol.data_sets


def test_curve_is_not_tested_elsewhere():
    def transfers(task, data, successes):
        return FULL.training(task, data, "rational", 0, successes).settings["transfers"]

    assert transfers("terrain", "D2", 32) == ["terrain-16"]
    assert transfers("terrain", "D2", 4) == transfers("terrain", "S2", 32) == transfers("office-mail", "D2", 32) == []


def test_a_restricted_rule_judges_words_of_its_labels_as_the_whole_one():
    rule = all_of(visit_in_order("a", "b"), avoid("n"))
    labels = [frozenset(one) for one in ((), ("a",), ("b",), ("n",))]
    small = compact(restrict(rule, labels)).to_guarded()
    assert len(small.arrows()) == 4 < len(rule.arrows())
    rng = np.random.default_rng(0)
    for _ in range(200):
        word = [labels[i] for i in rng.integers(len(labels), size=6)]
        assert small.fulfilled_at(word) == rule.fulfilled_at(word)
