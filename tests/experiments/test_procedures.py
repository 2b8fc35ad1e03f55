"""Laws of the experiments on procedures: what they draw, how they judge, and that each lists its cells."""

import lzma

import numpy as np
import pandas as pd
import pytest

from experiments.harness import Options
from experiments.harness.experiment import EXPERIMENTS
from experiments.harness.tables import mean_table, to_texts
from experiments.method_comparison.training import first_successes
from experiments.procedures import (
    active_questions,
    priced_worlds,
    process_discovery,
    rational_inference,
    slipping_worlds,
)
from experiments.procedures.unseen_scenes import measure_policy
from experiments.rule_families.rules import cheapest, judge
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.planning import PlannedPolicy, expert_policy
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.plan import find_plan
from wfairl.core.planning.product import build_product
from wfairl.core.support.errors import BadInputError
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task

PROCEDURES = [
    name
    for name in EXPERIMENTS
    if name not in ("paper", "logic-and-cost", "labyrinth", "borlange", "shanghai", "sobti", "captaincook")
]


@pytest.mark.parametrize("name", PROCEDURES)
def test_a_quick_look_is_a_part_of_the_experiment(name, tmp_path):
    """Every cell has a name of its own, and the full experiment has more of them, or larger ones."""
    experiment = EXPERIMENTS.find(name)
    if "data" in experiment.options and name != "outcomes":  # which also draws logs of its own
        with pytest.raises(BadInputError, match="--data"):
            experiment.cells(Options())
    quick, full = (experiment.cells(Options(quick=quick, data=tmp_path)) for quick in (True, False))
    for cells in (quick, full):
        assert len({cell.name for cell in cells}) == len(cells)
    assert len(quick) <= len(full)


@pytest.mark.parametrize("name", ["random-office-coffee", "cliff-walking", "patrol", "blocks"])
def test_a_policy_that_is_followed_succeeds_and_pays_as_the_planner_expects(name):
    task = slipping_worlds.task_of(name)
    product = build_product(task.make_world(5000), task.rule)
    costs = unit_cost(product)
    plan, best = find_plan(product, costs), product.cost_to_go(costs).best_control
    assert slipping_worlds.follow(product, best, task.rule, costs) == pytest.approx((plan.success, plan.cost), abs=1e-5)


@pytest.mark.parametrize("family", priced_worlds.FAMILIES)
def test_the_judge_of_priced_worlds_agrees_with_the_planner_on_the_best_plan(family):
    problem = priced_worlds.PricedProblem(family, 3)
    task = problem.task()
    for seed in range(2):
        plan = find_plan(product := build_product(task.make_world(seed), task.rule), problem.cost(product))
        scene = problem.scene(seed)
        assert plan.cost == pytest.approx(judge(scene, problem.rule, cheapest(scene, problem.rule)))
        assert plan.cost == pytest.approx(judge(scene, problem.rule, plan.path.controls))


def test_the_expert_keeps_every_rule_without_regret():
    task = find_task("random-office-coffee")
    found = measure_policy(task, expert_policy(task, 0.0), range(5000, 5004))
    assert (found["kept"], found["regret"]) == (1, 0)
    other = measure_policy(
        task, PlannedPolicy("mail", find_task("random-office-mail").rule, unit_cost, 0.0), range(5000, 5004)
    )
    assert other["kept"] < 1


def test_means_are_over_the_rows_of_a_line():
    frame = pd.DataFrame({"task": ["a", "b", "a"], "x": [1.0, 5.0, 2.0]})
    assert to_texts(mean_table(frame, ["task"], ["x"], "")) == [["", "x"], ["a", "1.500"], ["b", "5.000"]]


def test_a_number_of_demonstrations_is_the_beginning_of_a_larger_one():
    everything = collect(find_task("office-coffee"), 4, 3, 0.5, 0, n_jobs=1)
    shown = first_successes(everything, 2).demonstrations
    assert shown[:2] == everything.demonstrations[:2]
    assert [one.is_success for one in shown] == [True] * 2 + [False] * 3


def test_the_rule_of_disss_task_does_not_differ_from_itself():
    task = rational_inference.diss_task()
    assert list(rational_inference.differences(TaskModel.of_automaton(task.rule, "by hand"), task.rule)) == []
    assert task.rule.fulfilled_at([frozenset({"blue"}), frozenset({"green"}), frozenset({"yellow"})]) is not None
    assert task.rule.fulfilled_at([frozenset({"blue"}), frozenset({"yellow"})]) is None


@pytest.mark.parametrize("temperature", ["0.1", "unknown"])
def test_disss_task_is_found_up_to_what_its_demonstrations_leave_open(temperature):
    (row,) = rational_inference.diss(temperature).rows
    assert row["states with dead"] == 4
    assert row["pairs that differ"] == row["of which untested"] == 1


def test_automata_are_the_same_if_they_read_all_labels_alike():
    coffee, mail = (find_task(f"random-office-{name}").rule for name in ("coffee", "mail"))
    assert active_questions.reads(coffee) == active_questions.reads(find_task("office-coffee").rule)
    assert active_questions.reads(coffee) != active_questions.reads(mail)


def test_the_better_trace_of_two_is_told_from_a_log_of_the_process(tmp_path):
    """Base traces are those of the process, test traces the same with an event lost, or the other way round."""
    rng = np.random.default_rng(0)

    def line(log, number, flag, events):
        return f"{log}\t{number}\t{flag}\t{' '.join(events)}\n"

    text = ""
    for number in range(300):
        good = ["a", *rng.permutation(["b", "c"]).tolist(), "d", *["e"] * int(rng.integers(1, 3))]
        worse = good[: (at := int(rng.integers(4)))] + good[at + 1 :]
        flag = number % 2
        text += line("train-00000000", number, "?", good) + line("test-000000", number, flag, good if flag else worse)
        text += line("base-000000", number, "?", worse if flag else good)
    with lzma.open(tmp_path / process_discovery.LOGS, "wt", encoding="utf-8") as file:
        file.write(text)
    for method in ("relations", "alignments", "n-grams"):
        (row,) = process_discovery.measure(tmp_path, "000000", "noise-free", method).rows
        assert row["F"] == 1
