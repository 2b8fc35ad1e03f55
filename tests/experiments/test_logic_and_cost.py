"""The suite on which the logic and the cost matter, on the smallest protocol that has everything in it but networks."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from experiments.suites.cell import stored_result
from experiments.suites.compute import _automata, _collections, _trainings, reproduce
from experiments.suites.directory import CSV, FIGURES, MARKDOWN, REPORT
from experiments.suites.logic_and_cost import ENTRIES, FULL, LOGIC_AND_COST, QUICK, TASKS
from experiments.suites.scope import shortfall
from experiments.suites.suite import Cell, Protocol, digest, find_suite, narrowed
from experiments.suites.tables import read_tables
from wfairl.core.automata.guarded import restrict
from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.support.files import read_json
from wfairl.core.worlds.task_registry import find_task

SMALL = Protocol(
    suite="logic-and-cost",
    tasks=("office-coffee", "terrain"),
    data_sets=("D2", "S2"),
    methods=("rational", "spectral", "no-automaton", "unit-cost"),
    seeds=1,
    successes=8,
    failures=8,
    test_scenes=4,
    fewer=(4,),
    fewer_tasks=("office-coffee",),
    fewer_methods=("rational",),
    fewer_data="S2",
    settings={entry: {"epochs": 2} for entry in ("rational", "spectral", "no-automaton")},
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Everything computed in this process, one job after the other, and the tables and the page written."""
    place = tmp_path_factory.mktemp("suite")
    for jobs in (_collections, _automata, _trainings):
        for job in jobs(SMALL, place):
            job.work(place)
    assert _automata(SMALL, place) == _trainings(SMALL, place) == []
    reproduce(SMALL, place, n_jobs=1)
    return place


@pytest.fixture(scope="module")
def tables(directory):
    return read_tables(directory)


def test_the_rule_is_kept_with_the_automaton_and_broken_without(tables):
    assert tables.row("office-coffee", "D2", "rational").success_rate == 1
    assert tables.row("office-coffee", "D2", "no-automaton").success_rate < 0.5


def test_the_optimal_policy_has_no_regret_and_nobody_has_less(tables):
    for task in ("office-coffee", "terrain", "terrain-16"):
        assert tables.row(task, "", "optimal").regret == pytest.approx(0, abs=1e-12)
    assert all(row.regret >= -1e-9 for row in tables.rows if row.regret is not None)


def test_the_tables_say_what_the_optimal_policy_minimises(tables):
    without_training = next(table for table in tables.text_tables if "learn nothing" in table.title)
    assert without_training.head[1:] == ("optimal (least true cost, else fewest steps)", "expert", "random")
    priced = replace(tables, protocol=replace(SMALL, tasks=("terrain",)))
    assert priced.title("optimal") == "optimal (least true cost)"


def test_what_was_learned_on_small_maps_is_tested_on_large_ones(tables):
    learned = tables.row("terrain-16", "D2", "rational")
    assert learned.success_rate == 1
    assert tables.row("terrain-16", "S2", "rational") is None
    assert tables.task_title("terrain-16") == "terrain-16 (learned on terrain)"


def test_recovery_is_told_of_learned_automata_alone(tables):
    assert tables.row("office-coffee", "D2", "rational").agreement > 0.9
    assert tables.row("office-coffee", "D2", "rational").least_states == 3
    assert tables.row("office-coffee", "D2", "no-automaton").agreement is None


def test_cells_that_share_an_automaton_learn_it_once(directory):
    models = {path.name for path in (directory / "task-models").iterdir()}
    assert "office-coffee-D2-rational-8-8-0.json" in models
    assert len(models) == 2 * 2 * 2 + 1  # tasks, data sets, learners; and the curve's


def test_all_files_hold_the_same_figures(directory, tables):
    assert (directory / MARKDOWN).read_text() == tables.to_markdown()
    read = list(csv.DictReader(io.StringIO((directory / CSV).read_text())))
    for line, row in zip(read, tables.rows, strict=True):
        assert float(line["success_rate"]) == row.success_rate
        assert line["regret"] == ("" if row.regret is None else str(row.regret))
    page = (directory / REPORT).read_text()
    for table in (*tables.acting_tables(), *tables.rule_tables()):
        assert all(cell in page for line in table.body for cell in line)


def test_the_page_draws_rules_beside_true_ones_and_costs(directory):
    names = {path.stem for path in (directory / FIGURES).glob("*.svg")}
    assert {"automaton-office-coffee", "costs-terrain-true", "environments"} <= names
    # Eight demonstrations and few epochs may find nothing.
    unseen = "There are no maps of the cost of terrain: no preference found" in (directory / REPORT).read_text()
    assert ("costs-terrain" in names) != unseen
    captions = read_json(directory / FIGURES / "captions.json")
    assert "data set D2 of office-coffee" in captions["automaton-office-coffee"]["caption"]
    assert "Rule kept" in (directory / REPORT).read_text()


def test_a_result_of_another_version_is_computed_again(directory):
    cell = next(cell for cell in LOGIC_AND_COST.cells(SMALL) if cell.method == "rational")
    assert stored_result(cell, SMALL, directory) is not None
    assert stored_result(cell, replace(SMALL, test_scenes=5), directory) is None


def test_cells_are_distinct_and_networks_learn_from_one_data_set():
    cells = list(LOGIC_AND_COST.cells(FULL))
    assert len({digest(LOGIC_AND_COST.key(cell, FULL)) for cell in cells}) == len(set(cells)) == len(cells)
    for method in ("bc", "gail"):
        assert {cell.data for cell in cells if cell.method == method} == {"D2"}
    curve = {cell.successes for cell in cells if cell.method == "rational" and cell.data == "S2"}
    assert curve == {1, 2, 4, 8, 16, 32}


def test_protocols_are_of_the_suite_and_the_quick_one_says_that_it_is_smaller():
    assert LOGIC_AND_COST.check(FULL) is FULL
    assert LOGIC_AND_COST.check(QUICK) is QUICK
    assert shortfall(FULL) == ""
    assert "1 training seed instead of 3" in shortfall(QUICK)
    for name in (*TASKS, *(other for others in LOGIC_AND_COST.transfers.values() for other in others)):
        assert find_task(name).name == name
    assert set(narrowed(LOGIC_AND_COST, FULL, methods=("bc",)).methods) <= set(ENTRIES)


def test_curve_and_references_are_not_tested_elsewhere():
    suite = find_suite("logic-and-cost")
    assert suite.transfers_of(Cell("terrain", "D2", "rational", 0, 32), FULL) == ("terrain-16",)
    assert suite.transfers_of(Cell("terrain", "D2", "rational", 0, 4), FULL) == ()
    assert suite.transfers_of(Cell("terrain", "", "optimal", 0, 0), FULL) == ()
    assert suite.transfers_of(Cell("office-mail", "D2", "rational", 0, 32), FULL) == ()


def test_a_restricted_rule_judges_words_of_its_labels_as_the_whole_one():
    rule = all_of(visit_in_order("a", "b"), avoid("n"))
    labels = [frozenset(one) for one in ((), ("a",), ("b",), ("n",))]
    small = restrict(rule, labels)
    assert len(small.arrows()) == 4 < len(rule.arrows())
    rng = np.random.default_rng(0)
    for _ in range(200):
        word = [labels[i] for i in rng.integers(len(labels), size=6)]
        assert small.fulfilled_at(word) == rule.fulfilled_at(word)
