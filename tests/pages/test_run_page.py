"""The page of a run says what the run's files say; what may be missing is said to be, and the rest is refused."""

import json
import shlex
import shutil
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from oracles_report import numbers_in, player_data, read_page
from posteriors import certain_support, model_with, posterior_over
from report_blocks import block_html

import experiments.baselines  # noqa: F401 - registers bc
from wfairl.cli.app import find_command
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.planning import PlannedPolicy, unit_cost
from wfairl.core.planning.rollout import UNSATISFIABLE
from wfairl.core.rational import Support
from wfairl.core.rational.constraints import Constraint, Doubt
from wfairl.core.support.errors import BadInputError
from wfairl.pages.automata.layout import TIMES
from wfairl.pages.page import page_html
from wfairl.pages.run_files import read_run_files, repeating_command
from wfairl.pages.run_page import _doubts, _rule_learner, _tests, rule_section, run_page, write_run_report
from wfairl.runs.collection import collect
from wfairl.runs.evaluation import evaluate, read_evaluations, write_evaluations
from wfairl.runs.methods import find_method, train
from wfairl.runs.pipeline import PipelineConfig
from wfairl.runs.run_directory import BrokenRunError, read_config, write_config
from wfairl.runs.task_registry import find_task


@pytest.fixture(scope="module")
def root(finished_run):
    return read_page((finished_run / "report.html").read_text())


@pytest.fixture
def copied(finished_run, tmp_path):
    return shutil.copytree(finished_run, tmp_path / "run")


@pytest.fixture(scope="module")
def cloned_run(tmp_path_factory):
    """A run of a method that learns a network and no automaton."""
    directory = tmp_path_factory.mktemp("cloned") / "run"
    settings = {"networks": 2, "dropout": 0.1, "epochs": 1, "validation_scenes": 2, "seed": 3}
    dataset = collect(find_task("doorkey"), 4, 0, 0.5, 0)
    train("bc", dataset, directory, settings, origin={"demonstrations": ["few.safetensors"]})
    return directory


def section(root, title):
    (found,) = [one for one in root.all("section") if one.one("h2").text == title]
    return found


def fact(root, name):
    (found,) = [
        row.one("dd")
        for facts in root.all("dl", class_="facts")
        for row in facts.all("div")
        if row.one("dt").text == name
    ]
    return found


def page_of(directory):
    return read_page(page_html(run_page(read_run_files(directory), scenes=1)))


def test_the_numbers_of_the_result_are_those_of_the_evaluation(root, finished_run):
    evaluations = json.loads((finished_run / "evaluation.json").read_text())["policies"]
    result = section(root, "Result")
    rows = result.one("tbody").all("tr")
    assert [row.one("th").text.partition(" (")[0] for row in rows] == list(evaluations)
    assert "optimal (fewest steps)" in [row.one("th").text for row in rows]
    published = {"optimal": [0.798], "expert": [0.718], "random": [0.0], "learned, at 0.5": [0.708]}  # Table II
    for row, (name, evaluation) in zip(rows, evaluations.items(), strict=True):
        mean, error, *others = numbers_in(row)
        paper = published.get(name, [])
        assert others[: len(paper)] == paper
        success, steps, *costs, episodes = others[len(paper) :]
        successes = [one for one in evaluation["episodes"] if one["success"]]
        assert costs[:1] == ([pytest.approx(np.mean([one["cost"] for one in successes]))] if successes else [])
        assert (mean, error) == (evaluation["mean_return"], evaluation["standard_error"])
        assert success == evaluation["success_rate"]
        assert episodes == len(evaluation["episodes"])
        assert steps == pytest.approx(sum(one["steps"] for one in evaluation["episodes"]) / episodes)
    kept = sum(one["success"] for one in evaluations["learned, greedy"]["episodes"])
    assert f"{kept} of 3 scenes done right" in section(root, "What it learned").text


def test_the_numbers_of_the_automaton_are_those_of_the_task_model(root, finished_run):
    summary = json.loads((finished_run / "task.json").read_text())["summary"]
    assert numbers_in(fact(root, "Rank / rows / cols")) == [summary[name] for name in ("rank", "rows", "cols")]
    assert numbers_in(fact(root, "States")) == [summary["states"]]
    assert numbers_in(fact(root, "Training words")) == [summary["words"], summary["successes"]]
    assert numbers_in(fact(root, "Loss on training words")) == [summary["loss"]]


def test_every_count_of_the_task_model_stands_on_an_edge(root, finished_run):
    counts = TaskModel.load(finished_run / "task.json").edge_counts
    texts = [text.text for text in section(root, "What it learned").one("svg").all("text", class_="label")]
    shown = sorted(int(text.rpartition(TIMES)[2]) for text in texts if TIMES in text)
    assert shown == sorted(counts.values())


def test_the_curves_and_the_epoch_are_those_of_the_metrics(root, finished_run):
    metrics = [json.loads(line) for line in (finished_run / "metrics.jsonl").read_text().splitlines()]
    losses = [entry["held_out_loss"] for entry in metrics]
    assert numbers_in(fact(root, "Held-out loss per step")) == [min(losses)]
    assert numbers_in(fact(root, "Held-out loss before training")) == [losses[0]]
    assert numbers_in(fact(root, "Selected epoch")) == [losses.index(min(losses))]
    spoken = section(root, "How the cost was learned").all("img")[0].attributes["alt"]
    assert f"held-out demonstrations goes from {losses[0]:.4g} to {losses[-1]:.4g}" in spoken
    assert f"training goes from {metrics[0]['train_loss']:.4g} to {metrics[-1]['train_loss']:.4g}" in spoken


def test_the_episodes_are_those_of_the_evaluation(root, finished_run):
    evaluations = json.loads((finished_run / "evaluation.json").read_text())["policies"]
    episodes = player_data(section(root, "Episodes"))["episodes"]
    assert {episode["policy"] for episode in episodes} == set(evaluations)
    for episode in episodes:
        counted = next(one for one in evaluations[episode["policy"]]["episodes"] if one["seed"] == episode["seed"])
        assert [moment["control"] for moment in episode["moments"][:-1]] == counted["controls"]
        assert (episode["return"], episode["outcome"]) == (counted["return"], counted["outcome"])


def test_the_configuration_stands_in_the_page(root, finished_run):
    config = json.loads((finished_run / "config.json").read_text())
    assert fact(root, "task").text == config["task"]
    for name, value in config["settings"].items():
        if isinstance(value, int | float):
            assert numbers_in(fact(root, f"settings.{name}")) == [value]


def test_the_command_names_what_is_not_the_default_and_gives_the_same_run(finished_run):
    assert shlex.split(repeating_command(read_run_files(finished_run))) == shlex.split(
        f"wfairl run doorkey -o {finished_run} --successes 6 --failures 6 --learner spectral --test-scenes 3"
        " --cost local --epochs 2"
    )


def test_the_command_of_a_training_names_every_setting_that_was_given(cloned_run):
    words = shlex.split(repeating_command(read_run_files(cloned_run)))
    assert words[:7] == ["wfairl", "train", "few.safetensors", "--method", "bc", "-o", str(cloned_run)]
    given = [f"{name} {value}" for name, value in zip(words[7::2], words[8::2], strict=True)]
    assert sorted(given) == sorted(["--networks 2", "--dropout 0.1", "--epochs 1", "--validation-scenes 2", "--seed 3"])


def test_the_page_says_that_its_command_needs_another_directory(root, cloned_run):
    for page in (root, page_of(cloned_run)):
        assert "To repeat it, give another directory after -o, for" in section(page, "How to reproduce it").text


def test_a_setting_of_several_values_is_named_once_for_each(cloned_run, tmp_path):
    run = shutil.copytree(cloned_run, tmp_path / "run")
    write_config(run, replace(read_config(run), method="gail", settings={"rewards": ["minus-log-1-d", "log-d"]}))
    assert repeating_command(read_run_files(run)).endswith("--rewards minus-log-1-d --rewards log-d")


def test_a_training_temperature_is_named_where_it_is_not_that_of_the_demonstrations(copied):
    (copied / "experiment.json").unlink()
    assert "--temperature" not in repeating_command(read_run_files(copied))
    config = read_config(copied)
    write_config(copied, replace(config, settings={**config.settings, "temperature": 0.25}))
    assert repeating_command(read_run_files(copied)).endswith("--epochs 2 --temperature 0.25")


def test_a_run_that_is_only_pointed_at_is_called_by_its_name(finished_run, monkeypatch):
    monkeypatch.chdir(finished_run)
    assert f"-o {finished_run.name} " in repeating_command(read_run_files(Path()))


def test_the_options_in_commands_are_those_of_the_command_line():
    options = {
        name: {option for parameter in find_command(name).params for option in parameter.opts}
        for name in ("train", "run")
    }
    methods = (find_method(name) for name in ("wfa-irl", "no-automaton"))
    named = {f"--{name.replace('_', '-')}" for method in methods for name in method.default_settings()}
    assert named <= options["train"]
    own = {*asdict(PipelineConfig("doorkey")), *find_method("wfa-irl").default_settings()} - {"task", "settings"}
    assert {f"--{name.replace('_', '-')}" for name in own} <= options["run"]


@pytest.mark.parametrize(
    ("name", "title", "sentence"),
    [
        ("evaluation.json", "Result", "The policy is not evaluated yet: there is no evaluation.json."),
        ("metrics.jsonl", "How the cost was learned", "There are no curves: the run has no metrics.jsonl."),
    ],
)
def test_a_missing_file_leaves_its_part_out_with_a_sentence(copied, name, title, sentence):
    (copied / name).unlink()
    assert sentence in section(page_of(copied), title).text


@pytest.mark.parametrize(
    ("made", "file"),
    [
        ("finished_run", "config.json"),  # killed between the demonstrations and the training
        ("finished_run", "cost.safetensors"),
        ("cloned_run", "policy.safetensors"),
    ],
)
def test_a_run_that_has_not_finished_has_no_page(made, file, request, tmp_path):
    run = shutil.copytree(request.getfixturevalue(made), tmp_path / "run")
    (run / file).unlink()
    (run / "report.html").write_text("what was there")
    with pytest.raises(BrokenRunError, match=r"has not finished; .*--resume"):
        write_run_report(run)
    assert (run / "report.html").read_text() == "what was there"


def test_a_run_whose_automaton_is_lost_is_refused(copied):
    (copied / "task.json").unlink()
    with pytest.raises(BadInputError, match=r"task\.json"):
        write_run_report(copied)


def test_a_task_that_is_not_known_here_leaves_the_page_as_it_was(copied):
    write_config(copied, replace(read_config(copied), task="my-own"))
    before = (copied / "report.html").read_bytes()
    with pytest.raises(BadInputError, match=r"unknown task 'my-own'.*wfairl --tasks my_tasks\.py"):
        write_run_report(copied)
    assert (copied / "report.html").read_bytes() == before


def test_a_page_is_html(finished_run, tmp_path):
    with pytest.raises(BadInputError, match=r"page\.pdf: a page is written as \*\.html"):
        write_run_report(finished_run, tmp_path / "page.pdf")
    assert list(tmp_path.iterdir()) == []


def test_without_demonstrations_their_words_are_left_out(copied):
    (copied / "demonstrations.safetensors").unlink()
    (copied / "experiment.json").unlink()
    root = page_of(copied)
    assert section(root, "How the rule was learned").all("tbody") == []
    assert "wfairl train DEMOS" in root.one("pre").text


def test_a_method_without_an_automaton_has_a_page_that_does_not_speak_of_one(cloned_run):
    root = page_of(cloned_run)
    assert "behavioural cloning" in root.one("p", class_="subtitle").text
    titles = ["Episodes", "Result", "How to reproduce it"]
    assert [one.one("h2").text for one in root.all("section")] == titles
    assert [item.text for item in root.one("nav").all("li")] == titles
    assert {one["policy"] for one in player_data(root)["episodes"]} == {"learned", "optimal", "expert", "random"}


def test_a_single_episode_has_no_standard_error(copied):
    one = {name: replace(whole, episodes=whole.episodes[:1]) for name, whole in read_evaluations(copied).items()}
    write_evaluations(one, copied / "evaluation.json")
    result = section(page_of(copied), "Result")
    first = one["learned, greedy"].episodes[0]
    row = next(row for row in result.one("tbody").all("tr") if row.one("th").text == "learned, greedy")
    assert numbers_in(row)[:3] == [first.episode_return, float(first.success), first.steps]  # and no error


def test_failures_are_shown_before_successes(copied):
    evaluations = read_evaluations(copied)
    first, second, third = evaluations["learned, greedy"].episodes
    episode = replace(third, success=False, outcome="horizon")
    failed = replace(evaluations["learned, greedy"], episodes=(first, second, episode))
    write_evaluations({**evaluations, "learned, greedy": failed}, copied / "evaluation.json")
    data = player_data(section(page_of(copied), "Episodes"))
    assert data["episodes"][0]["seed"] == episode.seed


def test_what_is_no_run_is_refused_by_name(tmp_path, copied):
    with pytest.raises(BrokenRunError, match="not the directory of a run"):
        write_run_report(tmp_path)
    for name, content in {
        "evaluation.json": '{"optimal": {}}',
        "metrics.jsonl": "[1]",
        "task.json": "{}",
        "experiment.json": "3",
        "config.json": '{"format": "other"}',
    }.items():
        before = (copied / name).read_text()
        (copied / name).write_text(content)
        with pytest.raises(BadInputError, match=name):
            write_run_report(copied)
        (copied / name).write_text(before)


def test_the_same_run_gives_the_same_page(finished_run):
    date = datetime(2030, 1, 2, tzinfo=UTC)
    run = read_run_files(finished_run)
    pages = [page_html(run_page(run, scenes=1, n_jobs=n_jobs, date=date)) for n_jobs in (1, 2)]
    assert pages[0] == pages[1]
    assert "02 January 2030" in pages[0]


def test_the_page_shows_the_posterior_of_the_learner(copied):
    model = TaskModel.load(copied / "task.json")
    labels = tuple(frozenset(one) for one in ((), ("key",), ("door",), ("goal",)))
    support = Support(labels, np.ones((1, 4), bool))
    goal, other = visit_in_order("goal"), visit_in_order("key", "goal")
    outliers = {"outlier_probabilities": np.array([0.0, 0.9])}
    posterior = posterior_over(
        (goal, 0.75), (other, 0.245), (visit_in_order("door", "goal"), 0.005), support=support, **outliers
    )
    blocks = rule_section(read_run_files(copied), replace(model, record=posterior)).blocks
    text = " ".join(map(block_html, blocks))
    assert "key, then goal" in text
    assert "75.0%" in text
    assert "door, then goal" not in text  # less than one percent
    assert "Demonstrations that do not fit" in text
    assert "1 (90%)" in text
    assert "Untested at the beginning" in text


def test_success_has_an_interval_beside_the_best_where_the_world_slips_and_luck_decides():
    for name in ("office-coffee", "office-coffee-slip-0.01"):
        task = find_task(name)
        episodes = evaluate(task, PlannedPolicy("", task.rule, unit_cost, 0.0), range(5000, 5004))
        assert episodes.success_rate == 1
        run = SimpleNamespace(learned={"": episodes}, evaluation={"optimal": episodes}, task=task)
        ((_, text),) = _tests(run)
        assert text.startswith("4 of 4 scenes done right")
        assert text.count("(a chance of 51% to 100%)") == (2 if "slip" in name else 0)  # Wilson: 4 / (4 + 1.96 ** 2)


def test_scenes_without_a_plan_are_said_to_be_so():
    task = find_task("office-coffee")
    episodes = evaluate(task, PlannedPolicy("", task.rule, unit_cost, 0.0), range(5000, 5004))
    first, *others = episodes.episodes
    tried = replace(episodes, episodes=(replace(first, outcome=UNSATISFIABLE, success=False), *others))
    ((_, text),) = _tests(SimpleNamespace(learned={"": tried}, evaluation={}, task=task))
    assert text.startswith("3 of 4 scenes done right, no plan found in 1 (a chance of ")


def test_the_top_of_the_page_counts_demonstrations_that_do_not_fit_and_leaves_long_rules_to_the_table():
    goal, many = visit_in_order("goal"), tuple(f"the place {i}" for i in range(20))
    for places, told in ((("key", "goal"), "key, then goal."), (many, "which is listed below.")):
        posterior = posterior_over(
            (goal, 0.6), (visit_in_order(*places), 0.4), outlier_probabilities=np.array([0.0, 0.9, 0.8, 0.1])
        )
        ((_, text),) = _doubts(model_with(posterior))
        assert "(2 of them do not fit this rule: mistakes, or signs of another), no failures" in text
        assert "no failures, this rule is 60% likely" in text
        assert text.endswith(told)


@pytest.mark.parametrize(("orders", "is_said"), [((), True), ((("key", "goal"),), False), ((("goal", "key"),), True)])
@pytest.mark.parametrize("needed", [{}, {"state": 0, "phase": "before goal"}], ids=["at all", "in a state"])
def test_what_the_world_enforces_is_no_doubt(needed, orders, is_said):
    goal, labels = visit_in_order("goal"), (frozenset(), frozenset({"key"}), frozenset({"goal"}))
    doubt = Doubt(Constraint("needed", "key", **needed), 0.08)
    ((_, text),) = _doubts(
        model_with(posterior_over(goal, support=certain_support(goal, labels), doubts=(doubt,))), orders
    )
    assert ("there may be more: key needed" in text) == is_said


def test_what_is_not_certain_is_not_said_to_be():
    sure = posterior_over((visit_in_order("goal"), 0.9964), (visit_in_order("key"), 0.0036))
    ((_, text),) = _doubts(model_with(sure))
    assert "this rule is 99.6% likely" in text


def test_the_page_says_that_the_learner_was_not_told_the_task(root, finished_run):
    summary = find_task(json.loads((finished_run / "config.json").read_text())["task"]).summary
    assert root.one("p", class_="subtitle").text.startswith(f"Demonstrated, and not told to the learner: {summary}.")


def test_the_page_says_at_its_top_which_learner_the_rule_is_from(root, finished_run, cloned_run):
    assert root.one("p", class_="subtitle").text.endswith("; the rule by the learner spectral, the paper's.")
    run = read_run_files(finished_run)
    for learner, told in (("rational", "by the learner rational"), ("imported", "is from elsewhere (imported)")):
        assert _rule_learner(replace(run, task_model=replace(run.task_model, learner=learner))) == f"; the rule {told}"
    assert _rule_learner(read_run_files(cloned_run)) == ""
