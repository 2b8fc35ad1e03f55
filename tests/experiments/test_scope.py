"""What a reproduction says of itself: nothing is called smaller that is not, and what is smaller is named."""

from dataclasses import replace

import pytest

from experiments.suites.paper import ENTRIES, FULL, PAPER, QUICK
from experiments.suites.scope import changed_settings, included, is_comparable, shortfall
from experiments.suites.suite import narrowed
from wfairl.core.runs.methods import find_method


def test_the_full_protocol_lacks_nothing():
    assert shortfall(FULL) == ""
    assert included(FULL) == "every task, data set and method"
    assert is_comparable(FULL)
    assert is_comparable(replace(FULL, seeds=5))


def test_settings_that_are_the_defaults_are_no_change():
    same = {name: find_method(entry.method).default_settings() for name, entry in ENTRIES.items()}
    assert changed_settings(replace(FULL, settings=same)) == []
    assert shortfall(replace(FULL, settings=same)) == ""


def test_a_quick_look_says_that_it_is_no_reproduction():
    text = shortfall(QUICK)
    assert "1 training seed instead of 3; 16 test scenes instead of 64" in text
    assert "little trained: these are not the figures of the full protocol" in text
    assert "only" not in text  # it has everything in it
    assert included(QUICK) == included(FULL)
    assert not is_comparable(QUICK)


def test_a_part_of_the_protocol_names_what_is_in_it_and_stays_comparable():
    part = narrowed(
        PAPER, FULL, tasks=("doorkey", "multiroom"), data_sets=("D2",), methods=("wfa-irl", "no-automaton", "bc")
    )
    assert included(part) == (
        "T1 doorkey and T2 multiroom, from D2, by WFA-IRL, WFA-IRL without WFA and behavioural cloning"
    )
    assert shortfall(part) == (
        "Smaller than the full protocol: only T1 doorkey and T2 multiroom; only D2;"
        " only WFA-IRL, WFA-IRL without WFA and behavioural cloning."
    )
    assert is_comparable(part)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seeds": 2}, "2 training seeds instead of 3"),
        ({"test_scenes": 1}, "1 test scene instead of 64"),
        ({"successes": 8}, "8 demonstrations instead of 32"),
        ({"failures": 16}, "16 failed demonstrations instead of 128"),
        ({"settings": {"gail": {"iterations": 60}}}, "Not the default: GAIL: iterations 60 instead of 100."),
        ({"settings": {"gail": {"iterations": 6}}}, "The networks are little trained"),
    ],
)
def test_every_change_is_told_and_ends_the_comparison(changes, told):
    changed = replace(FULL, **changes)
    assert told in shortfall(changed)
    assert not is_comparable(changed)


def test_another_cost_is_not_called_smaller():
    learn_a_cost = ("WFA-IRL", "WFA-IRL, rational logic", "WFA-IRL without WFA")
    told = "; ".join(f"{entry}: cost paper instead of the task's own" for entry in learn_a_cost)
    assert shortfall(narrowed(PAPER, FULL, cost="paper")) == f"Not the default: {told}."
    assert shortfall(narrowed(PAPER, QUICK, cost="paper")) == f"{shortfall(QUICK)} Not the default: {told}."


def test_settings_of_a_method_that_is_left_out_are_not_told():
    assert "trained" not in shortfall(
        narrowed(PAPER, replace(FULL, settings={"bc": {"epochs": 1}}), methods=("wfa-irl",))
    )
