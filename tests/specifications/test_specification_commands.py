"""The commands that show, exchange, compare and question a task, as a user types them."""

import json
import os
import runpy
import subprocess
import sys
from io import BytesIO
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from wfairl.core.automata.automaton import DEAD
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.planning import build_product, find_plan
from wfairl.core.planning.cost import unit_cost
from wfairl.events.constraints import EventConstraint
from wfairl.events.declare import automaton_of_rule
from wfairl.events.learned_rule import LearnedRule, SupportedConstraint
from wfairl.pages.automata.figures import automaton_png, sentences_picture
from wfairl.runs.task_registry import find_task
from wfairl.specifications.symbolic import same_words

RULE = all_of(visit_in_order("f", "g"), avoid("n"))


@pytest.fixture
def task(tmp_path):
    path = tmp_path / "task.json"
    TaskModel.of_automaton(RULE, "rule").save(path)
    return path


@pytest.mark.parametrize("suffix", ["svg", "png", "dot", "hoa"])
def test_draw_writes_the_format_of_the_suffix(wfairl, task, tmp_path, suffix):
    output = tmp_path / f"drawing.{suffix}"
    drawn = json.loads(wfairl("draw", task, "-o", output, "--json").stdout)
    assert drawn == {"path": str(output), "format": suffix, "states": RULE.states, "edges": len(RULE.arrows())}
    start = {"svg": b"<svg", "png": b"\x89PNG", "dot": b"digraph", "hoa": b"HOA: v1"}[suffix]
    assert output.read_bytes().startswith(start)


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_groups_of_sentences_whose_automaton_is_too_large_are_drawn_as_sentences(wfairl, tmp_path, suffix):
    parts = [[("exactly once", "a"), ("response", "b", "c")], [("existence", "d"), ("at most once", "e")]]
    terms = [tuple(SupportedConstraint.of(EventConstraint.of(*one), 1, 0, 1.0) for one in term) for term in parts]
    rule = LearnedRule(tuple(terms), 4, 0.0)
    _, finite = automaton_of_rule(rule, [frozenset({name}) for name in "abcde"], 256)
    TaskModel.of_automaton(finite, "declare", stated=rule.sentences, record=rule).save(tmp_path / "task.json")
    output = tmp_path / f"rule.{suffix}"
    drawn = json.loads(wfairl("draw", tmp_path / "task.json", "-o", output, "--json").stdout)
    assert drawn == {"path": str(output), "format": suffix, "states": finite.states, "sentences": 4}
    assert finite.states > 8
    if suffix == "png":
        assert max(Image.open(output).size) < 2_000
    else:
        assert ElementTree.fromstring(output.read_text()).tag.endswith("svg")


def test_a_long_automaton_and_a_long_rule_fit_on_a_screen():
    labels = tuple(frozenset({f"check the ticket of customer {i}"}) for i in range(18))
    steps, ends = np.full((19, 18), DEAD, np.int32), np.arange(19) == 18
    np.fill_diagonal(steps, np.arange(1, 19))
    automaton = FiniteAutomaton(labels, steps, ends, ends.astype(float), (None,) * 19)
    for picture in (
        automaton_png(automaton),
        sentences_picture([f"close happens only after check {i}" for i in range(120)], "png"),
    ):
        width, height = Image.open(BytesIO(picture)).size
        assert width <= 1920
        assert height <= 1080


@pytest.mark.parametrize(("name", "suffix"), [("hoa", ".hoa"), ("ltlf", ".ltlf"), ("reward-machine", ".rm")])
def test_what_is_exported_is_imported_again(wfairl, task, tmp_path, name, suffix):
    text = wfairl("export", task, "--as", name).stdout
    output, again = tmp_path / f"spec{suffix}", tmp_path / "again.json"
    exported = json.loads(wfairl("export", task, "-o", output, "--json").stdout)
    assert exported == {"path": str(output), "format": name, "states": RULE.states, "edges": len(RULE.arrows())}
    assert output.read_text() == text
    imported = json.loads(wfairl("import", output, "-o", again, "--json").stdout)
    assert (imported["propositions"], imported["counts_steps"]) == (["f", "g", "n"], False)
    assert same_words(TaskModel.load(again).finite, RULE)
    assert wfairl("diff", task, again).returncode == 0


def test_the_python_module_runs_alone(wfairl, task, tmp_path):
    output = tmp_path / "task.py"
    assert wfairl("export", task, "-o", output).returncode == 0
    module = runpy.run_path(str(output))
    assert module["accepts"]([{"f"}, set(), {"g"}])
    assert not module["accepts"]([{"f"}, {"n"}, {"g"}])


def test_export_to_prism_tells_the_optimum_of_the_scene(wfairl, task, tmp_path):
    output = tmp_path / "scene.prism"
    facts = json.loads(
        wfairl("export", task, "--task", "random-office-coffee", "--seed", 3, "-o", output, "--json").stdout
    )
    product = build_product(find_task("random-office-coffee").make_world(3), RULE)
    assert facts["optimal_cost"] == find_plan(product, unit_cost(product)).cost
    assert facts["product_states"] == len(product)
    assert "mdp" in output.read_text().splitlines()


def test_an_import_replaces_no_model_that_was_not_named(wfairl, task, monkeypatch):
    monkeypatch.chdir(task.parent)
    before = task.read_bytes()
    refused = wfairl("import", "--ltlf", "F goal")
    assert (refused.returncode, task.read_bytes()) == (2, before)
    assert "task.json exists already" in refused.stderr
    assert wfairl("import", "--ltlf", "F goal", "-o", "task.json").returncode == 0


def test_a_formula_can_be_planned_with(wfairl, tmp_path):
    model = tmp_path / "task.json"
    said = wfairl("import", "--ltlf", "F (f & F g) & G !n", "-o", model)
    assert said.stdout.splitlines() == [f"{model}: 3 states over f, g, n"]
    plan = json.loads(wfairl("plan", "random-office-coffee", "--seed", 3, "--task-model", model, "--json").stdout)
    product = build_product(find_task("random-office-coffee").make_world(3), RULE)
    assert plan["cost"] == find_plan(product, unit_cost(product)).cost


def test_import_warns_of_what_counts_steps_and_of_what_is_done_before_it_begins(wfairl, tmp_path):
    said = wfairl("import", "--ltlf", "G (a -> X[!] b)", "-o", tmp_path / "task.json").stdout
    assert "how long a label lasts" in said
    assert "accepts the empty word" in said


def test_diff_shows_the_words_and_draws_both(wfairl, task, tmp_path):
    other = tmp_path / "other.json"
    wfairl("import", "--ltlf", "F (f & F g)", "-o", other)
    result = wfairl("diff", task, other, "-o", tmp_path / "diff.png", "--json")
    document = json.loads(result.stdout)
    assert result.returncode == 1
    assert not document["same"]
    word = [frozenset(label) for label in document["words"][0]["word"]]
    assert RULE.accepts(word) != TaskModel.load(other).finite.accepts(word)
    with Image.open(tmp_path / "diff.png") as picture:
        assert picture.width > 500
    assert "lost at label" in wfairl("diff", task, other).stdout


def test_diff_lists_the_same_words_for_every_hash_seed(tmp_path):
    any_order = all_of(*map(visit_in_order, "acd"))
    for name, rule in {"one": any_order, "other": visit_in_order("a", "c", "d")}.items():
        word = tuple(map(frozenset, "acd"))
        TaskModel.of_automaton(rule, "rule", [word], [1.0]).save(tmp_path / f"{name}.json")
    command = [sys.executable, "-m", "wfairl", "diff", tmp_path / "one.json", tmp_path / "other.json", "--json"]
    said = {
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=False).stdout
        for seed in "12"
    }
    assert len(said) == 1
    assert json.loads(said.pop())["known_labels"]


def test_explain_takes_words_as_they_are_printed_and_as_json(wfairl, task):
    printed = wfairl("explain", task, "-, f, g")
    assert printed.returncode == 0
    assert printed.stdout == wfairl("explain", task, '[[], "f", ["g"]]').stdout
    assert printed.stdout.splitlines()[-1] == "The word is accepted."
    document = json.loads(wfairl("explain", task, "-, hen & n", "--json").stdout)
    assert document["accepted"] is False
    assert document["labels"][-1] == {"label": ["hen", "n"], "state": 0, "after": -1, "untested": False}
    assert document["unknown_propositions"] == ["hen"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["export"], "the format is missing: give it with --as"),
        (["export", "--as", "yaml"], "'yaml' is none of the formats svg"),
        (["export", "--as", "png"], "name a file with -o"),
        (["export", "--as", "prism"], "give its task with --task"),
        (["export", "--as", "hoa", "--task", "doorkey"], "--task and --cost are for the format prism"),
        (["export", "--as", "hoa", "--json"], "--json needs -o"),
        (["explain", "f,,g"], "write a word as"),
        (["explain", "[3]"], "neither a string nor a list"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_code_two(wfairl, task, arguments, reason):
    command, *rest = arguments
    result = wfairl(command, task, *rest)
    assert result.returncode == 2
    assert reason in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_bad_imports_are_one_line_and_exit_code_two(wfairl, tmp_path):
    (tmp_path / "spec.hoa").write_text("HOA: v2")
    for arguments, reason in [
        ([], "give either a file or a formula"),
        (["--ltlf", "F (a"], "its end where ')'"),
        (["--ltlf", "a & !a"], "no word is accepted"),
        ([tmp_path / "spec.hoa"], "spec.hoa: no HOA"),
        ([tmp_path / "spec.pdf"], "'.pdf' is none of the formats"),
    ]:
        result = wfairl("import", *arguments, "-o", tmp_path / "task.json")
        assert result.returncode == 2
        assert reason in result.stderr
        assert len(result.stderr.splitlines()) == 1
        assert not (tmp_path / "task.json").exists()
