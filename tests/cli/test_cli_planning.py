import json
from pathlib import Path

import pytest
from PIL import Image
from posteriors import model_with, posterior_over

from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.runs.task_registry import find_task

WORD = tuple(map(frozenset, ([], ["key"], ["key", "door"], ["key", "door", "goal"])))


@pytest.fixture
def task_model(tmp_path: Path) -> Path:
    path = tmp_path / "task.json"
    SpectralTaskLearner().fit([WORD, WORD[:2], WORD[:3]], [1.0, 0.0, 0.0]).model.save(path)
    return path


@pytest.mark.parametrize("search", [(), ("--planner", "focused")])
def test_plan_works_in_the_real_environment(wfairl, task_model: Path, search):
    code, output, _ = wfairl("plan", "doorkey", "--seed", 5, "--task-model", task_model, "--json", *search)
    plan = json.loads(output)
    assert code == 0
    assert plan["word"] == [sorted(label) for label in WORD]
    assert plan["cost"] == plan["steps"] == len(plan["controls"]) == len(plan["automaton_states"]) - 1
    environment = find_task("doorkey").make_environment(5)
    names = list(find_task("doorkey").make_world(5).controls)
    ends = [environment.step(names.index(control))[2] for control in plan["controls"]]
    assert ends == [False] * (len(ends) - 1) + [True]


def test_plan_for_people_shows_word_cost_and_where_the_picture_went(wfairl, task_model: Path, tmp_path: Path):
    picture = tmp_path / "plan.png"
    code, output, _ = wfairl("plan", "doorkey", "--task-model", task_model, "-o", picture)
    assert code == 0
    assert "word  -, key, door & key, door & goal & key" in output
    assert "accepted" in output
    assert str(picture) in output.replace("\n", "")
    with Image.open(picture) as image:
        assert image.format == "PNG"


def test_without_a_model_the_rule_of_the_task_is_planned_for(wfairl):
    code, output, _ = wfairl("plan", "multiroom", "--json")
    assert code == 0
    assert json.loads(output)["word"][-1] == ["door1", "door2", "door3", "goal"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("nonsense",), 2, "unknown task"),
        (("doorkey", "--task-model", "nowhere.json"), 2, "nowhere.json: no such file"),
        (("doorkey", "-o", "plan.bmp"), 2, ".png or .gif"),
        (("doorkey", "--max-states", 10, "--planner", "exact"), 2, "more than 10 states"),
        (("doorkey", "--max-states", 3, "--planner", "focused"), 1, "met more than 3 nodes"),
    ],
)
def test_what_cannot_be_done_is_one_line_on_standard_error(wfairl, arguments, code: int, message: str):
    found, output, error = wfairl("plan", *arguments)
    assert found == code
    assert output == ""
    assert message in error
    assert "Traceback" not in error
    assert error.count("\n") == 1


def test_a_model_of_another_task_names_what_the_world_lacks(wfairl, task_model: Path):
    code, _, error = wfairl("plan", "multiroom", "--task-model", task_model)
    assert code == 2
    assert "door, key" in error


def test_a_task_that_cannot_be_satisfied_names_the_label_that_never_comes(wfairl, tmp_path: Path):
    word = (frozenset(), frozenset(["key", "goal"]))  # the goal lies behind the door
    model = tmp_path / "task.json"
    SpectralTaskLearner().fit([word, word[:1]], [1.0, 0.0]).model.save(model)
    code, _, error = wfairl("plan", "doorkey", "--task-model", model)
    assert code == 1
    assert "waits for 'goal & key'" in error


def test_json_of_two_runs_is_the_same(wfairl, task_model: Path):
    first, again = (wfairl("plan", "doorkey", "--task-model", task_model, "--json") for _ in range(2))
    assert first == again


def test_a_plan_states_its_doubt_and_a_rule_that_cannot_be_satisfied_here(wfairl, tmp_path: Path):
    goal = visit_in_order("goal")
    rule = all_of(goal, avoid("key"))  # the goal lies behind the door
    model = tmp_path / "task.json"
    model_with(posterior_over((rule, 0.2), (goal, 0.8, "goal"))).save(model)
    code, output, _ = wfairl("plan", "doorkey", "--task-model", model)
    assert code == 0
    assert "doubt 2.4%, that this plan breaks the rule" in output
    assert "the most probable rule cannot be satisfied in this scene" in output
    assert json.loads(wfairl("plan", "doorkey", "--task-model", model, "--json")[1])["doubt"] == pytest.approx(1 / 41)
