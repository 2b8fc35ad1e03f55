import json

import numpy as np
import pytest
from PIL import Image

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.costs import CostSettings
from wfairl.core.planning.path import follow
from wfairl.core.rational.logic_with_cost import learn_cost
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.questions import cost_question
from wfairl.questions.answer_files import read_answers
from wfairl.questions.commands import Reply, _reply
from wfairl.questions.cost_question import find_cost_question
from wfairl.questions.question import CostQuestion
from wfairl.runs.collection import collect
from wfairl.runs.data_sets import save
from wfairl.runs.task_registry import find_task

TASK = find_task("random-office-mail")
SCENES = ("--scenes", "11900000:11900004")


@pytest.fixture(scope="module")
def learned():
    """Four demonstrations that do not tell whether decorations matter, and what is learned from them."""
    dataset = collect(TASK, 4, 0, 0.5, seed=10, n_jobs=1)
    return dataset, RationalLearner().learn(dataset, TASK, n_jobs=1)


@pytest.fixture
def demos(learned, tmp_path):
    path = tmp_path / "demos.safetensors"
    save(learned[0], path)
    return path


@pytest.fixture
def model(learned, tmp_path):
    path = tmp_path / "task.json"
    learned[1].save(path)
    return path


def test_an_answer_is_kept_and_learned_from(wfairl, demos, model, tmp_path):
    answers = tmp_path / "demos.answers.jsonl"
    code, output, error = wfairl("ask", demos, "--task-model", model, *SCENES, "--json")
    question = json.loads(output)
    assert (code, error) == (0, "")
    assert question["answer"] is question["after"] is None
    assert not answers.exists()
    labels = [frozenset(label) for label in question["labels"]]
    reply = "yes" if TASK.rule.fulfilled_at(labels) else "no"
    code, output, _ = wfairl("ask", demos, "--task-model", model, *SCENES, "--answer", reply, "--json")
    answered = json.loads(output)
    assert code == 0
    assert answered["controls"] == question["controls"]  # the same question until it is answered
    assert answered["answer"] is (reply == "yes")
    assert answered["answers"] == 1
    (kept,) = read_answers(answers)
    assert (kept.labels, kept.is_right) == (tuple(labels), reply == "yes")
    assert answered["after"][0] != answered["before"][0]
    assert TaskModel.load(model).sentence == answered["after"][0]["rule"]
    again = tmp_path / "again.json"
    for given in (("--answers", answers), ()):  # those beside the demonstrations are found
        code, _, _ = wfairl("learn-task", demos, *given, "-o", again, "--json")
        assert code == 0
        assert TaskModel.load(again).record.to_document() == TaskModel.load(model).record.to_document()


def test_where_the_world_slips_it_asks_about_what_may_happen(wfairl, tmp_path):
    task, demos = find_task("random-office-mail-slip-0.1"), tmp_path / "demos.safetensors"
    save(collect(task, 2, 0, 0.5, seed=10, n_jobs=1), demos)
    asking = ("ask", demos, "--task-model", tmp_path / "task.json", *SCENES)
    code, output, error = wfairl(*asking, "--json")
    question = json.loads(output)
    assert (code, error) == (0, "")
    labels = [frozenset(label) for label in question["labels"]]
    world = task.make_world(question["seed"])
    happening = {world.initial_state}  # the states in which controls and labels may have led, walked by hand
    for control, label in zip(question["controls"], labels, strict=True):
        after = {(state, one) for state in happening for _, one in world.outcomes(state, control)}
        happening = {one for state, one in after if world.label(state, control, one) == label}
    assert happening
    reply = "yes" if task.rule.fulfilled_at(labels) else "no"
    code, output, _ = wfairl(*asking, "--answer", reply, "-o", tmp_path / "drawn.png")
    assert code == 0
    assert "an episode that was drawn" in output.replace("\n", " ")
    assert read_answers(tmp_path / "demos.answers.jsonl")[0].labels == tuple(labels)


def test_a_question_for_people_shows_plan_opinions_and_picture(wfairl, demos, model, tmp_path):
    picture = tmp_path / "question.gif"
    code, output, _ = wfairl("ask", demos, "--task-model", model, *SCENES, "-o", picture)
    assert code == 0
    assert "Would this have been right" in output
    assert "yes, with" in output
    assert "no, with" in output
    assert "--answer yes" in output
    with Image.open(picture) as image:
        assert image.format == "GIF"
    code, output, _ = wfairl("ask", demos, *SCENES, "--answer", "no")  # without a model, it is learned
    assert code == 0
    assert "rule  " in output
    assert "demos.answers.jsonl" in output.replace("\n", "")
    assert not read_answers(tmp_path / "demos.answers.jsonl")[0].is_right


def test_in_a_terminal_the_question_is_put(wfairl, demos, model, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("wfairl.questions.commands.typer.confirm", lambda text: bool(asked.append(text)))
    monkeypatch.setattr("wfairl.questions.commands.sys.stdin.isatty", lambda: True, raising=False)
    code, output, _ = wfairl("ask", demos, "--task-model", model, "--scenes", "11900000")
    assert code == 0
    assert len(asked) == 1
    assert "saved the answer to" in output
    assert not read_answers(tmp_path / "demos.answers.jsonl")[0].is_right


def test_a_scene_to_demonstrate_is_proposed_with_reasons_and_a_picture(wfairl, demos, model, tmp_path):
    picture = tmp_path / "scene.png"
    code, output, _ = wfairl("ask", demos, "--task-model", model, "--demonstrate", *SCENES, "-o", picture)
    assert code == 0
    assert "Demonstrate scene 119000" in output
    assert "then an expert would do" in output
    assert picture.exists()
    code, output, _ = wfairl("ask", demos, "--task-model", model, "--demonstrate", *SCENES, "--json")
    assert code == 0
    assert json.loads(output)["seed"] in range(11_900_000, 11_900_004)
    assert len(json.loads(output)["ways"]) > 1


def test_what_cannot_be_asked_is_one_line_on_standard_error(wfairl, demos, tmp_path):
    word = (frozenset(), frozenset({"e"}))
    SpectralTaskLearner().fit([word, word[:1]], [1.0, 0.0]).model.save(tmp_path / "spectral.json")
    for arguments, message in (
        (("--demonstrate", "--answer", "yes"), "no --answer"),
        (("-o", "question.bmp"), ".png or .gif"),
        (("--scenes", "x"), "seeds are A:B"),
        (("--task-model", tmp_path / "spectral.json"), "--learner rational"),
        ((), "line 1: not JSON"),
    ):
        if not arguments:
            (tmp_path / "demos.answers.jsonl").write_text("{\n")
        code, output, error = wfairl("ask", demos, *arguments)
        assert (code, output) == (2, ""), error
        assert message in error
        assert error.count("\n") == 1


def test_of_an_event_log_the_cases_that_differ_are_to_be_asked_about(wfairl, tmp_path):
    (tmp_path / "orders.csv").write_text("case,event\n1,pay\n")
    code, output, error = wfairl("ask", tmp_path / "orders.csv")
    assert (code, output) == (2, "")
    assert "wfairl score --differing" in error


def test_the_learner_says_under_which_cost_it_judged_the_demonstrations(wfairl, demos, tmp_path):
    code, output, _ = wfairl("learn-task", demos, "-o", tmp_path / "judged.json")
    assert code == 0
    said = " ".join(output.split())
    assert "nominal, 1 per step; no other explains much more" in said or "cost learned along with the rule" in said


@pytest.mark.parametrize("option", [("--answers", "any.jsonl"), ("--with-cost",)])
def test_options_of_the_rational_learner_are_refused_for_others(wfairl, demos, tmp_path, option):
    code, _, error = wfairl("learn-task", demos, "--learner", "spectral", *option, "-o", tmp_path / "task.json")
    assert code == 2
    assert f"{option[0]} is for --learner rational" in error
    assert not (tmp_path / "task.json").exists()


@pytest.mark.slow  # `learn_logic_and_cost` itself has a fast test
def test_logic_is_learned_with_the_cost_where_that_is_asked_for(wfairl, tmp_path):
    task = find_task("crowded-office-coffee")
    save(collect(task, 6, 0, 0.5, seed=61, n_jobs=1), tmp_path / "demos.safetensors")
    code, output, _ = wfairl("learn-task", tmp_path / "demos.safetensors", "--with-cost", "-o", tmp_path / "task.json")
    assert code == 0
    rounds = TaskModel.load(tmp_path / "task.json").record.rounds
    assert rounds > 1  # crowds are expensive, so that a cost explains more than none
    assert f"learned along with the rule, in {rounds} rounds" in output


TERRAIN = find_task("terrain")


@pytest.fixture(scope="module")
def hidden_prices():
    """Four demonstrations on floor with hidden prices: the rule is clear, the prices are not."""
    dataset = collect(TERRAIN, 4, 0, 0.5, seed=11, n_jobs=1)
    return dataset, RationalLearner().learn(dataset, TERRAIN, n_jobs=1)


def test_where_the_rule_is_clear_ways_are_compared_and_the_cost_learns_from_it(wfairl, hidden_prices, tmp_path):
    demos, model, scenes = tmp_path / "demos.safetensors", tmp_path / "task.json", ("--scenes", "13000000:13000008")
    save(hidden_prices[0], demos)
    hidden_prices[1].save(model)
    code, output, _ = wfairl("ask", demos, "--task-model", model, *scenes)
    assert code == 0
    assert "Which would you rather" in output
    assert "Answer with --answer first or --answer second" in output
    code, _, error = wfairl("ask", demos, "--task-model", model, *scenes, "--answer", "yes")
    assert code == 2
    assert "say first, second" in error
    code, output, _ = wfairl("ask", demos, "--task-model", model, *scenes, "--answer", "second", "--json")
    question = json.loads(output)
    assert code == 0
    assert question["answer"] == "second"
    kept, (first, second, *others) = read_answers(tmp_path / "demos.answers.jsonl"), map(tuple, question["ways"])
    assert {one.controls for one in kept} == {second}
    assert [one.than for one in kept] == [first, *others]
    assert sum(one.weight for one in kept) == pytest.approx(1)
    assert all(one.is_right for one in kept)


def test_in_a_terminal_one_of_the_ways_is_chosen_by_its_name(monkeypatch):
    labels = (frozenset({"goal"}),)
    question = CostQuestion(1, ((0,), (1,), (2,)), (labels,) * 3, (0.2, 0.3, 0.5), 1.0, 1.0)
    typed = iter(["fourth", "yes", "third"])
    monkeypatch.setattr("wfairl.questions.commands.sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda *_: next(typed))
    assert _reply(None, False, question) is Reply.THIRD
    assert next(typed, None) is None


def test_of_more_ways_an_answer_is_worth_more_and_all_of_them_do_the_task(hidden_prices, monkeypatch):
    dataset, rule = hidden_prices[0], TERRAIN.rule
    cost = learn_cost(dataset, TERRAIN, hidden_prices[1], CostSettings(cost="auto"), n_jobs=1).model
    asked = {}
    for ways in (2, 4):
        monkeypatch.setattr(cost_question, "MOST_WAYS", ways)
        asked[ways] = find_cost_question(cost, rule, TERRAIN, range(13_000_000, 13_000_008), n_jobs=1)
        assert len(set(asked[ways].ways)) == len(asked[ways].ways) <= ways
        assert sum(asked[ways].probabilities) == pytest.approx(1)
        assert asked[ways].information <= np.log(ways)
        world = TERRAIN.make_world(asked[ways].seed)
        for controls, labels in zip(asked[ways].ways, asked[ways].labels, strict=True):
            assert follow(world, controls, rule).labels == labels
            assert rule.fulfilled_at(labels)
    assert len(asked[4].ways) > 2
    assert asked[4].worth > asked[2].worth
