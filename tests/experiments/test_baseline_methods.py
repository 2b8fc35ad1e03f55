"""Cloning and GAIL as methods: they train, load and refuse like those of the package, also on the command line."""

import builtins
import importlib
import inspect
import json
from pathlib import Path

import numpy as np
import pytest
from oracles_report import read_page

import experiments.baselines  # noqa: F401 - registers bc and gail
from experiments.baselines.network_policy import load_network_run
from wfairl.cli import train as train_command
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.costs.training import OtherConfigurationError
from wfairl.core.planning import roll_out
from wfairl.core.support.errors import BadInputError
from wfairl.runs.collection import collect
from wfairl.runs.data_sets import save
from wfairl.runs.methods import find_method, load_policy, train
from wfairl.runs.run_directory import BrokenRunError, load_run, read_config, write_config
from wfairl.runs.task_registry import find_task

CORRIDOR = Path(__file__).parents[2] / "examples" / "own_world.py"
TASK = find_task("doorkey")
SMALL = {
    "bc": {"epochs": 1, "networks": 2, "validation_scenes": 1},
    "gail": {
        "iterations": 1,
        "environments": 2,
        "rollout": 8,
        "fresh_scenes": 2,
        "pretraining": 1,
        "validation_scenes": 2,
    },
}
TINY = {
    "bc": ("--epochs", 1, "--networks", 2, "--validation-scenes", 1),
    "gail": (
        *("--fresh-scenes", 2, "--iterations", 1, "--environments", 2, "--rollout", 8),
        *("--pretraining", 1, "--validation-scenes", 1),
    ),
}


@pytest.fixture(scope="module")
def dataset():
    return collect(TASK, 4, 6, 0.5, seed=0)


@pytest.fixture(scope="module")
def runs(dataset, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for method, settings in SMALL.items():
        train(method, dataset, folder / method, settings, origin={"who": "me"})
    return folder


@pytest.mark.parametrize("method", SMALL)
def test_a_run_says_which_method_made_it_and_becomes_a_policy(runs, method):
    document = json.loads((runs / method / "config.json").read_text())
    assert (document["format"], document["method"], document["task"]) == ("wfairl-run", method, "doorkey")
    assert (document["origin"]["who"], document["seen"]) == ("me", [])
    assert (runs / method / "metrics.jsonl").exists()
    for temperature in (None, 0.0, 0.7):
        policy = load_policy(runs / method, TASK, temperature)
        assert policy.temperature == (document["found"]["temperature"] if temperature is None else temperature)
    actor = policy.actor(TASK.make_world(5_000), np.random.default_rng(0))
    assert actor.probabilities().sum() == pytest.approx(1)
    assert len(roll_out(TASK, policy, 5_000, np.random.default_rng(0))) > 0


def _leaves(document):
    return [document] if isinstance(document, float) else [leaf for one in document.values() for leaf in _leaves(one)]


@pytest.mark.parametrize("method", SMALL)
def test_a_network_says_how_well_it_did_on_scenes_for_validation_at_its_best(runs, method):
    found = read_config(runs / method).found
    assert found["validation_return"] == max(_leaves(found["selection"]["validation_returns"]))
    assert load_network_run(runs / method).found.validation_return == found["validation_return"]


def test_a_run_is_not_resumed_as_one_of_another_method(runs, dataset):
    for method, other in (("bc", "gail"), ("gail", "bc"), ("bc", "no-automaton")):
        with pytest.raises(OtherConfigurationError, match="method"):
            train(other, dataset, runs / method, SMALL.get(other), resume=True)


def test_a_finished_run_that_is_resumed_tells_the_same(runs, dataset):
    again = train("bc", dataset, runs / "bc", SMALL["bc"], origin={"who": "me"}, resume=True)
    found = read_config(runs / "bc").found
    assert again.facts == {"temperature": found["temperature"], "selection": found["selection"]}


@pytest.mark.parametrize(("method", "foreign"), [("bc", "cost"), ("gail", "held_out")])
def test_settings_that_a_method_does_not_have_are_refused(dataset, tmp_path, method, foreign):
    with pytest.raises(BadInputError, match=f"{method} has no setting {foreign}; it has .*epochs"):
        train(method, dataset, tmp_path / "run", {foreign: 1})
    with pytest.raises(BadInputError, match="no use for a task model"):
        train(method, dataset, tmp_path / "run", task_model=TaskModel.of_automaton(TASK.rule, "by hand"))
    assert not (tmp_path / "run").exists()


def test_a_network_for_other_worlds_is_refused(runs):
    with pytest.raises(BadInputError, match="map of a MiniGrid scene"):
        load_policy(runs / "bc", find_task("office-coffee"))


def test_a_network_has_no_cost_to_plan_with(runs):
    with pytest.raises(BrokenRunError, match="method bc, which learns no cost"):
        load_run(runs / "bc")
    assert find_method("bc").learned_cost(runs / "bc") is None


def test_a_run_that_has_not_finished_is_no_policy(runs, tmp_path):
    write_config(tmp_path, read_config(runs / "bc"))
    with pytest.raises(BrokenRunError, match="has not finished"):
        load_policy(tmp_path, TASK)


def test_without_the_extra_gail_says_what_to_install_and_the_rest_works(dataset, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name.split(".")[0] == "stable_baselines3":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(BadInputError, match=r"pip install 'wfairl\[baselines\]'"):
        train("gail", dataset, tmp_path / "gail")
    assert not (tmp_path / "gail").exists()
    train("bc", dataset, tmp_path / "bc", SMALL["bc"])


@pytest.fixture
def command(wfairl):
    """The command line with the baselines; its options are those of the methods known when it is imported."""
    importlib.reload(train_command)

    def run(*arguments, refused=None):
        result = wfairl("--tasks", CORRIDOR, "--tasks", "experiments.baselines", *arguments)
        assert result.returncode == (2 if refused else 0), result.stderr
        assert refused is None or (refused in result.stderr and result.stderr.count("\n") == 1)
        return result.stdout

    return run


@pytest.fixture
def demos(command, tmp_path):
    path = tmp_path / "demos.safetensors"
    command("demos", "multiroom", "--successes", 6, "--failures", 6, "-o", path)
    return path


@pytest.mark.parametrize("method", TINY)
def test_the_command_line_trains_resumes_evaluates_and_shows_a_network(command, demos, tmp_path, method):
    run = tmp_path / method
    training = ("train", demos, "--method", method, "-o", run, *TINY[method])
    told = json.loads(command(*training, "--json"))
    assert (told["task"], told["method"], told["run"]) == ("multiroom", method, str(run))
    assert "weights" not in told
    assert "written to" in command(*training, "--resume")
    result = json.loads(command("evaluate", "multiroom", "--policy", run, "--seeds", "5000:5002", "--save", "--json"))
    assert [episode["learned_cost"] for episode in result["episodes"]] == [None, None]
    command("report", run, "--scenes", 1)
    assert read_page((run / "report.html").read_text()).one("section", id="result").one("tbody").all("tr")
    command("evaluate", "corridor", "--policy", run, refused="map of a MiniGrid scene")
    command("plan", "multiroom", "--cost", run, "-o", tmp_path / "plan.png", refused="learns no cost")


def test_the_command_line_refuses_what_a_network_cannot_learn_from(command, demos, tmp_path):
    failures = tmp_path / "failures.safetensors"
    save(collect(TASK, 0, 3, 0.5, 0), failures)
    for arguments, message in (
        ((demos, "--method", "bc", "--held-out", 0.1), "the method bc has no --held-out"),
        ((demos, "--method", "gail", "--cost", "local"), "the method gail has no --cost"),
        ((demos, "--method", "no-automaton", "--dropout", 0.1, "--rewards", "x"), "has no --dropout, --rewards"),
        ((failures, "--method", "bc"), "needs 2 or more"),
    ):
        command("train", *arguments, "-o", tmp_path / "run", refused=message)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("method", SMALL)
def test_every_setting_is_an_option_of_the_command_line(command, method):
    assert set(find_method(method).default_settings()) <= set(inspect.signature(train_command.train_command).parameters)
