"""The page of a run in a world of one's own: whole with a renderer, and without one whole but for the pictures."""

from dataclasses import replace

import numpy as np
import pytest
from corridors import Corridor, DrawnCorridor, corridor_task, muddy_cost
from oracles_report import frames_of, numbers_in, player_data, read_page

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.costs.cost_model import load_cost
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.planning import expert_policy
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.pages import run_training
from wfairl.pages.page import page_html
from wfairl.pages.run_files import read_run_files
from wfairl.pages.run_page import run_page, write_run_report
from wfairl.runs import evaluate
from wfairl.runs.collection import collect
from wfairl.runs.evaluation import save_evaluations
from wfairl.runs.methods import find_method, train
from wfairl.runs.run_directory import COST
from wfairl.runs.task_registry import register_task

NASTY = ("<script>alert(1)</script>", "a & b <i>")


@pytest.fixture(scope="module")
def tasks():
    return {
        "drawn": register_task(corridor_task(DrawnCorridor, "report-drawn", true_cost=muddy_cost)),
        "plain": register_task(corridor_task(Corridor, "report-plain")),
        "nasty": register_task(corridor_task(Corridor, "report-nasty", NASTY)),
    }


@pytest.fixture(scope="module")
def make_run(tasks, tmp_path_factory):
    """Trains and evaluates in a moment; the automaton is the one that was learned, or the rule with its guards."""

    def make(name, guarded=False):
        task, directory = tasks[name], tmp_path_factory.mktemp(name) / "run"
        dataset = collect(task, 6, 6, 0.5, 0)
        if guarded:
            model = TaskModel.of_automaton(task.rule, "by hand", dataset.words, dataset.scores)
        else:
            model = SpectralTaskLearner().fit(dataset.words, dataset.scores, Reading(optional_start=True)).model
        train("wfa-irl", dataset, directory, {}, task_model=model)
        policy = find_method("wfa-irl").load(directory, task, 0.0)
        optimal, learned = (
            evaluate(task, one, range(5_000, 5_003), learned=policy.cost) for one in (expert_policy(task, 0.0), policy)
        )
        save_evaluations([optimal, replace(learned, policy="learned, greedy")], directory)
        return directory

    return make


def section(root, title):
    (found,) = [one for one in root.all("section") if one.one("h2").text == title]
    return found


def test_a_world_with_a_renderer_has_every_picture(make_run, tasks, monkeypatch):
    monkeypatch.setattr(run_training, "CLAIMED", 2.0)  # in a corridor there is no other way
    directory = make_run("drawn")
    root = read_page(write_run_report(directory, scenes=1).read_text())
    data = player_data(root)
    world = DrawnCorridor(5 + data["episodes"][0]["seed"] % 4)
    first = next(frames_of(data["episodes"][0], data["atlas"]))
    np.testing.assert_array_equal(first, world.rendering.render(world.initial_state))
    assert "what it costs to get to a place" in section(root, "How the cost was learned").text
    rows = section(root, "Result").all("tbody")[0].all("tr")
    assert [row.one("th").text for row in rows] == ["optimal (least true cost)", "learned, greedy"]
    heads = [head.text for head in section(root, "Result").all("thead")[0].all("th")]
    files = read_run_files(directory).evaluation
    for row, one in zip(rows, files.values(), strict=True):
        cells = dict(zip(heads, [row.one("th"), *row.all("td")], strict=True))
        assert numbers_in(cells["true cost"]) == [one.mean_cost]
        assert numbers_in(cells["learned cost"]) == [one.mean_learned_cost]
    assert files["optimal"].mean_cost > np.mean([one.steps for one in files["optimal"].episodes])


def test_a_page_says_the_learned_cost_in_words(make_run, tasks):
    directory = make_run("plain")
    sentences = load_cost(directory / COST).sentences(tasks["plain"].make_world(0))
    root = read_page(write_run_report(directory, scenes=1).read_text())
    shown = section(root, "How the cost was learned").text.lower()
    assert all(sentence.lower() in shown for sentence in sentences)


@pytest.mark.parametrize("guarded", [False, True])
def test_a_world_without_a_renderer_has_sentences_in_the_place_of_pictures(make_run, guarded):
    root = read_page(write_run_report(make_run("plain", guarded), scenes=1).read_text())
    assert root.all("canvas") == []
    assert "This world has no renderer" in section(root, "Episodes").text
    assert player_data(root)["episodes"][0]["moments"][0]["world_state"] == "(2, False)"
    assert "the demonstrations do not show a preference" in section(root, "How the cost was learned").text
    assert "optimal (fewest steps)" in section(root, "Result").text
    texts = [one.text for one in section(root, "What it learned").one("svg").all("text", class_="label")]
    assert any("parcel" in text for text in texts)


def test_propositions_are_text_wherever_they_stand(make_run):
    html = page_html(run_page(read_run_files(make_run("nasty")), scenes=1))
    root = read_page(html)
    assert [one.attributes.get("type") for one in root.all("script")] == ["application/octet-stream", None]
    assert NASTY[0] in section(root, "How the rule was learned").text
    assert NASTY[0] not in html
