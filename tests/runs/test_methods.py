"""The surface that all methods share: one way to train, one way to load, and clear words for what does not fit."""

import json
from dataclasses import replace

import numpy as np
import pytest
from experts import solve

from wfairl.core.costs.training import OtherConfigurationError
from wfairl.core.demonstrations import Dataset, replay
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.planning import roll_out
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.errors import BadInputError
from wfairl.runs.collection import collect
from wfairl.runs.methods import METHODS, check_unseen, load_policy, train
from wfairl.runs.run_directory import BrokenRunError, load_run, read_config, write_config
from wfairl.runs.task_registry import find_task

TASK = find_task("doorkey")
SMALL = {
    "wfa-irl": {"epochs": 1},
    "no-automaton": {"epochs": 1},
}


@pytest.fixture(scope="module")
def dataset():
    return collect(TASK, 4, 6, 0.5, seed=0)


@pytest.fixture(scope="module")
def task_model(dataset):
    return SpectralTaskLearner().fit(dataset.words, dataset.scores, Reading(optional_start=True)).model


@pytest.fixture(scope="module")
def runs(dataset, task_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for method, settings in SMALL.items():
        model = task_model if METHODS[method].needs_task_model else None
        train(method, dataset, folder / method, settings, task_model=model, origin={"who": "me"})
    return folder


@pytest.mark.parametrize("method", SMALL)
def test_a_run_says_which_method_made_it_and_becomes_a_policy(runs, method):
    document = json.loads((runs / method / "config.json").read_text())
    assert (document["format"], document["method"], document["task"]) == ("wfairl-run", method, "doorkey")
    assert document["origin"] == {"who": "me"}
    assert document["seen"] == []
    assert (runs / method / "metrics.jsonl").exists()
    for temperature in (None, 0.0, 0.7):
        policy = load_policy(runs / method, TASK, temperature)
        theirs = document["found"].get("temperature", document["temperature"])
        assert policy.temperature == (theirs if temperature is None else temperature)
    episode = roll_out(TASK, policy, 5_000, np.random.default_rng(0))
    actor = policy.actor(TASK.make_world(5_000), np.random.default_rng(0))
    assert actor.probabilities().sum() == pytest.approx(1)
    assert len(episode) > 0


@pytest.mark.parametrize("method", SMALL)
def test_a_run_is_not_resumed_as_one_of_another_method(runs, dataset, task_model, method):
    for other, settings in SMALL.items():
        if other != method:
            model = task_model if METHODS[other].needs_task_model else None
            with pytest.raises(OtherConfigurationError, match="method"):
                train(other, dataset, runs / method, settings, task_model=model, resume=True)


@pytest.mark.parametrize("method", SMALL)
def test_settings_that_a_method_does_not_have_are_refused(method, dataset, task_model, tmp_path):
    foreign = {"wfa-irl": "networks", "no-automaton": "rewards"}[method]
    model = task_model if METHODS[method].needs_task_model else None
    with pytest.raises(BadInputError, match=f"{method} has no setting {foreign}; it has .*epochs"):
        train(method, dataset, tmp_path / "run", {foreign: 1}, task_model=model)
    assert not (tmp_path / "run").exists()


def test_the_defaults_of_every_method_are_settings_that_it_takes():
    for method in METHODS.values():
        defaults = {name: value for name, value in method.default_settings().items() if value is not None}
        assert "seed" in defaults
        assert json.loads(json.dumps(defaults)) is not None


def test_a_task_model_is_asked_for_where_it_is_needed_and_nowhere_else(dataset, task_model, tmp_path):
    with pytest.raises(BadInputError, match="plans with a task model"):
        train("wfa-irl", dataset, tmp_path / "run")
    with pytest.raises(BadInputError, match="no use for a task model"):
        train("no-automaton", dataset, tmp_path / "run", task_model=task_model)
    with pytest.raises(BadInputError, match=r"unknown method 'magic'; known are wfa-irl, no-automaton.*bc and gail by"):
        train("magic", dataset, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_scenes_that_a_log_showed_are_not_tested_on(tmp_path):
    worlds = {seed: TASK.make_world(seed) for seed in (5_001, 5_002)}
    rng = np.random.default_rng(0)
    shown = {seed: solve(world, TASK.rule).act(0.0, TASK.horizon, rng)[0] for seed, world in worlds.items()}
    moved = tuple(replay(worlds[seed], controls, 1.0, seed) for seed, controls in shown.items())
    train("no-automaton", Dataset("doorkey", moved, 0.5), tmp_path / "run", SMALL["no-automaton"])
    with pytest.raises(BadInputError, match="trained on the scene 5001 and 1 more"):
        check_unseen(tmp_path / "run", range(5_000, 5_064))
    check_unseen(tmp_path / "run", range(5_003, 5_064))


def test_what_is_no_run_is_named(runs, tmp_path):
    for content in ('{"format": "something else"}', "[1]", '{"format": "wfairl-run", "version": 1, "method": "x"}'):
        (tmp_path / "config.json").write_text(content)
        with pytest.raises(BrokenRunError, match=r"config\.json"):
            load_policy(tmp_path, TASK)
    config = read_config(runs / "wfa-irl")
    write_config(tmp_path, replace(config, method="magic"))
    with pytest.raises(BadInputError, match=r"unknown method 'magic'.*`import experiments\.baselines`"):
        load_policy(tmp_path, TASK)


def test_a_finished_run_that_is_resumed_says_the_same_again(runs, dataset):
    method = "no-automaton"
    planned = train(method, dataset, runs / method, SMALL[method], origin={"who": "me"}, resume=True)
    assert planned.facts["epochs"] == 1
    assert planned.facts["states"] == load_run(runs / "no-automaton").task_model.finite.states
