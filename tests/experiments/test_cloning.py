"""Behavioural cloning: what it learns, what it holds out, and that a killed run ends as if it had not been."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from experiments.baselines import cloning
from experiments.baselines.cloning import CloningConfig, encode_demonstrations, split_fold, train_cloning
from experiments.baselines.network import GridEncoder
from experiments.baselines.network_policy import load_network_run, mean_log_probabilities
from wfairl.core.costs.scene import NoSuccessfulDemonstrationError
from wfairl.core.costs.training import OtherConfigurationError
from wfairl.core.demonstrations import Dataset
from wfairl.core.support.errors import BadInputError
from wfairl.runs.collection import collect
from wfairl.runs.methods import TrainingRequest
from wfairl.runs.run_directory import RunExistsError
from wfairl.runs.task_registry import find_task

TASK = find_task("doorkey")
SMALL = CloningConfig(networks=2, epochs=2, validation_scenes=2, radius=3)
FILES = ("config.json", "metrics.jsonl", "policy.safetensors")


@pytest.fixture(scope="module")
def dataset():
    return collect(TASK, 6, 4, 0.5, seed=0)


@pytest.fixture(scope="module")
def finished(dataset, tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    return directory, train(TASK, dataset, SMALL, directory)


def train(task, dataset, config, directory, resume=False, n_jobs=2):
    return train_cloning(TrainingRequest(task, dataset, directory, resume=resume, n_jobs=n_jobs), config)


def histories(directory):
    """The metrics of each network."""
    lines = [json.loads(line) for line in (directory / "metrics.jsonl").read_text().splitlines()]
    return [[line for line in lines if line["network"] == network] for network in range(2)]


def contents(directory):
    return {name: (directory / name).read_bytes() for name in FILES}


def test_a_clone_makes_the_demonstrations_likelier(tmp_path):
    dataset = collect(TASK, 4, 0, 0.0, seed=0)
    config = replace(SMALL, epochs=40, patience=40, batch_size=1, learning_rate=5e-3, dropout=0.0)
    run = train(TASK, dataset, config, tmp_path)
    without_a_clue = pytest.approx(np.log(6))
    for history in histories(tmp_path):
        assert history[0]["train_loss"] == without_a_clue
        assert history[-1]["train_loss"] < 0.7 * np.log(6)
        assert min(one["held_out_errors"] for one in history) < history[0]["held_out_errors"]
    batches = encode_demonstrations(TASK, dataset, run.encoder, 2)
    with torch.no_grad():
        log_p = [mean_log_probabilities([one(batch.observations) for one in run.networks]) for batch in batches]
    found = [one[torch.arange(len(one)), batch.controls] for one, batch in zip(log_p, batches, strict=True)]
    assert -torch.cat(found).mean() < 0.7 * np.log(6)


def test_only_successes_teach_and_of_those_the_steps_that_changed_something(dataset):
    successes = [one for one in dataset if one.score == 1]
    whole, moving = (encode_demonstrations(TASK, dataset, GridEncoder(4), 2, idle) for idle in (True, False))
    assert [batch.controls.tolist() for batch in whole] == [list(one.controls) for one in successes]
    ways = [one.follow(TASK.make_world(one.seed)).states for one in successes]
    changed = [
        [u for x, u, y in zip(way, one.controls, way[1:], strict=False) if x != y]
        for way, one in zip(ways, successes, strict=True)
    ]
    assert [batch.controls.tolist() for batch in moving] == changed
    assert sum(map(len, changed)) < sum(map(len, successes))


def test_every_demonstration_is_held_out_by_one_network(dataset):
    batches = encode_demonstrations(TASK, dataset, GridEncoder(4), 2)
    splits = [split_fold(batches, SMALL, fold) for fold in range(2)]
    assert sorted(map(id, [batch for _, held_out in splits for batch in held_out])) == sorted(map(id, batches))
    for training, held_out in splits:
        assert sorted(map(id, training + held_out)) == sorted(map(id, batches))


def test_the_epoch_is_that_of_fewest_held_out_errors(finished):
    directory, run = finished
    best = [
        min((line["held_out_errors"], line["held_out_loss"], line["epoch"]) for line in history)
        for history in histories(directory)
    ]
    assert run.found.selection["epochs"] == [epoch for _, _, epoch in best]
    assert run.found.selection["held_out_errors"] == pytest.approx(np.mean([errors for errors, _, _ in best]))
    returns = run.found.selection["validation_returns"]
    assert returns[f"{run.found.temperature:g}"] == run.found.validation_return == max(returns.values())


def test_patience_ends_a_training(dataset, tmp_path):
    config = replace(SMALL, epochs=30, patience=1, learning_rate=0.05, dropout=0.0)  # too fast to improve for long
    run = train(TASK, dataset, config, tmp_path)
    for history, epoch in zip(histories(tmp_path), run.found.selection["epochs"], strict=True):
        assert len(history) - 1 == min(epoch + 1, 30)


def test_a_mirrored_mirror_image_is_the_batch_itself(dataset):
    for batch in encode_demonstrations(TASK, dataset, GridEncoder(4), 2):
        again = batch.mirrored(GridEncoder(4)).mirrored(GridEncoder(4))
        assert torch.equal(again.observations.bank, batch.observations.bank)
        assert torch.equal(again.observations.columns, batch.observations.columns)
        assert torch.equal(again.controls, batch.controls)


def test_the_result_does_not_depend_on_the_number_of_jobs(dataset, finished, tmp_path):
    directory, _ = finished
    train(TASK, dataset, SMALL, tmp_path, n_jobs=1)
    assert contents(tmp_path) == contents(directory)


@pytest.mark.parametrize("moment", ["clone_epoch", "validate", "finish_run"])
def test_a_killed_run_resumes_to_the_same_bytes(dataset, finished, tmp_path, monkeypatch, moment):
    directory, _ = finished

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cloning, moment, killed)
        with pytest.raises(KeyboardInterrupt):
            train(TASK, dataset, SMALL, tmp_path, n_jobs=1)
    assert not (tmp_path / "policy.safetensors").exists()
    train(TASK, dataset, SMALL, tmp_path, resume=True)
    assert contents(tmp_path) == contents(directory)


def test_a_finished_run_is_resumed_to_itself_and_never_overwritten(dataset, finished):
    directory, run = finished
    before = contents(directory)
    with pytest.raises(RunExistsError):
        train(TASK, dataset, SMALL, directory)
    with pytest.raises(OtherConfigurationError, match=r"settings\.epochs changed"):
        train(TASK, dataset, replace(SMALL, epochs=4), directory, resume=True)
    fewer = Dataset(dataset.task, dataset.demonstrations[1:], dataset.temperature)
    with pytest.raises(OtherConfigurationError, match=r"origin\.digest changed"):
        train(TASK, fewer, SMALL, directory, resume=True)
    again = train(TASK, dataset, SMALL, directory, resume=True)
    assert contents(directory) == before
    assert again.found == run.found == load_network_run(directory).found


def test_too_few_successes_are_refused_and_leave_nothing_behind(dataset, tmp_path):
    for few in (dataset.demonstrations[:1], dataset.demonstrations[6:]):
        with pytest.raises(NoSuccessfulDemonstrationError, match="needs 2 or more"):
            train(TASK, Dataset("doorkey", few), SMALL, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"networks": 1}, "networks must be at least 2"),
        ({"dropout": 1.0}, "dropout"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"epochs": -1}, "epochs"),
        ({"seed": 2**63}, "seed"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change, message):
    with pytest.raises(BadInputError, match=message):
        replace(SMALL, **change)
