"""Behavioural cloning: what it learns, what it holds out, and that a killed run ends as if it had not been."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from strategies_baselines import ROOM

from experiments.baselines import cloning
from experiments.baselines.cloning import CloningConfig, imitation_batches, train_cloning
from experiments.baselines.grid_encoder import AgentEncoder
from experiments.baselines.network_policy import NetworkPolicy, mean_log_probabilities
from experiments.baselines.policy_run import load_policy_run
from wfairl.core.costs.checkpoint import OtherConfigurationError
from wfairl.core.costs.scene import NoSuccessfulDemonstrationError
from wfairl.core.demonstrations import Dataset, collect
from wfairl.core.planning.policies import expert_policy
from wfairl.core.runs import evaluate
from wfairl.core.runs.run_directory import RunExistsError
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds import find_task

TASK = find_task("doorkey")
SMALL = CloningConfig(networks=2, epochs=2, validation_scenes=2, dropouts=(0.0, 0.3), radius=3)
WRITES = 12  # checkpoints of such a run
FILES = ("config.json", "metrics.jsonl", "policy.safetensors")


@pytest.fixture(scope="module")
def dataset():
    return collect(TASK, 6, 4, 0.5, seed=0)


@pytest.fixture(scope="module")
def finished(dataset, tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    return directory, train_cloning(TASK, dataset, SMALL, directory)


def contents(directory):
    return {name: (directory / name).read_bytes() for name in FILES}


def test_a_clone_makes_the_demonstrations_likelier(tmp_path):
    dataset = collect(TASK, 4, 0, 0.0, seed=0)
    config = replace(SMALL, epochs=40, patience=40, batch_size=1, learning_rate=5e-3, dropouts=(0.0,))
    trained = train_cloning(TASK, dataset, config, tmp_path)
    without_a_clue = pytest.approx(np.log(6))
    for member in trained.members:
        assert member.history[0].train_loss == without_a_clue
        assert member.history[-1].train_loss < 0.7 * np.log(6)
        assert member.held_out_errors < member.history[0].held_out_errors
    batches = imitation_batches(TASK, dataset, trained.run.encoder)
    with torch.no_grad():
        log_p = [mean_log_probabilities([one(batch.observations) for one in trained.run.networks]) for batch in batches]
    found = [one[torch.arange(len(one)), batch.controls] for one, batch in zip(log_p, batches, strict=True)]
    assert -torch.cat(found).mean() < 0.7 * np.log(6)


def test_only_successes_teach_and_of_those_the_steps_that_changed_something(dataset):
    successes = [one for one in dataset if one.score == 1]
    whole, moving = (imitation_batches(TASK, dataset, AgentEncoder(4), idle) for idle in (True, False))
    assert [batch.controls.tolist() for batch in whole] == [list(one.controls) for one in successes]
    ways = [one.follow(TASK.make_world(one.seed)).states for one in successes]
    changed = [
        [u for x, u, y in zip(way, one.controls, way[1:], strict=False) if x != y]
        for way, one in zip(ways, successes, strict=True)
    ]
    assert [batch.controls.tolist() for batch in moving] == changed
    assert sum(map(len, changed)) < sum(map(len, successes))


def test_every_demonstration_is_held_out_by_one_network(dataset, finished, tmp_path):
    _, trained = finished
    batches = imitation_batches(TASK, dataset, trained.run.encoder)
    encoder = trained.run.encoder
    trainings = [cloning._Training(batches, encoder, SMALL, 0.0, fold, tmp_path) for fold in range(2)]
    assert sorted(map(id, [batch for one in trainings for batch in one.held_out])) == sorted(map(id, batches))
    for training in trainings:
        assert sorted(map(id, training.batches + training.held_out)) == sorted(map(id, batches))


def test_the_epoch_and_the_dropout_are_those_of_fewest_held_out_errors(finished):
    directory, trained = finished
    lines = [json.loads(line) for line in (directory / "metrics.jsonl").read_text().splitlines()]
    best = {}
    for line in lines:
        key = line["dropout"], line["network"]
        found = line["held_out_errors"], line["held_out_loss"], line["epoch"]
        best[key] = min(best.get(key, found), found)
    means = {rate: np.mean([best[rate, part][0] for part in range(2)]) for rate in (0.0, 0.3)}
    chosen = min(means, key=means.get)
    details = trained.run.selection.details
    assert details["dropout"] == chosen
    assert details["epochs"] == [best[chosen, part][2] for part in range(2)]
    assert details["held_out_errors"] == {f"{rate:g}": pytest.approx(mean) for rate, mean in means.items()}
    returns = details["validation_returns"]
    assert returns[f"{trained.run.selection.temperature:g}"] == max(returns.values())


def test_patience_ends_a_training(dataset, tmp_path):
    config = replace(SMALL, epochs=30, patience=1, learning_rate=0.05, dropouts=(0.0,))  # too fast to improve for long
    trained = train_cloning(TASK, dataset, config, tmp_path)
    for member in trained.members:
        assert len(member.history) - 1 == min(member.epoch + 1, 30)


def test_a_mirrored_mirror_image_is_the_batch_itself(dataset):
    for batch in imitation_batches(TASK, dataset, AgentEncoder(4)):
        again = batch.mirrored(AgentEncoder(4)).mirrored(AgentEncoder(4))
        assert torch.equal(again.observations.bank, batch.observations.bank)
        assert torch.equal(again.observations.columns, batch.observations.columns)
        assert torch.equal(again.controls, batch.controls)


def test_the_result_does_not_depend_on_the_number_of_jobs(dataset, finished, tmp_path):
    directory, _ = finished
    train_cloning(TASK, dataset, SMALL, tmp_path, n_jobs=1)
    assert contents(tmp_path) == contents(directory)


@pytest.mark.parametrize("writes", [0, 3, WRITES])
def test_a_killed_run_resumes_to_the_same_bytes(dataset, finished, tmp_path, monkeypatch, writes):
    directory, _ = finished
    write, written = cloning.write_checkpoint, []

    def killed(*arguments):
        if len(written) == writes:
            raise KeyboardInterrupt
        written.append(write(*arguments))

    with monkeypatch.context() as patch:
        if writes == WRITES:  # after all epochs, before there is a policy
            patch.setattr(cloning, "finish_run", killed)
            written = [None] * WRITES
        else:
            patch.setattr(cloning, "write_checkpoint", killed)
        with pytest.raises(KeyboardInterrupt):
            train_cloning(TASK, dataset, SMALL, tmp_path, n_jobs=1)
    assert not (tmp_path / "policy.safetensors").exists()
    train_cloning(TASK, dataset, SMALL, tmp_path, resume=True)
    assert contents(tmp_path) == contents(directory)


def test_a_finished_run_is_resumed_to_itself_and_never_overwritten(dataset, finished):
    directory, trained = finished
    before = contents(directory)
    with pytest.raises(RunExistsError):
        train_cloning(TASK, dataset, SMALL, directory)
    with pytest.raises(OtherConfigurationError, match=r"settings\.epochs changed"):
        train_cloning(TASK, dataset, replace(SMALL, epochs=4), directory, resume=True)
    fewer = Dataset(dataset.task, dataset.demonstrations[1:], dataset.temperature)
    with pytest.raises(OtherConfigurationError, match="other demonstrations"):
        train_cloning(TASK, fewer, SMALL, directory, resume=True)
    again = train_cloning(TASK, dataset, SMALL, directory, resume=True)
    assert contents(directory) == before
    assert again.run.selection == trained.run.selection == load_policy_run(directory).selection


def test_too_few_successes_are_refused_and_leave_nothing_behind(dataset, tmp_path):
    for few in (dataset.demonstrations[:1], dataset.demonstrations[6:]):
        with pytest.raises(NoSuccessfulDemonstrationError, match="two or more"):
            train_cloning(TASK, Dataset("doorkey", few), SMALL, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"networks": 1}, "networks must be at least 2"),
        ({"dropouts": (1.0,)}, "dropout"),
        ({"dropouts": ()}, "dropout"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"epochs": -1}, "epochs"),
        ({"seed": 2**63}, "seed"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change, message):
    with pytest.raises(BadInputError, match=message):
        replace(SMALL, **change)


def test_a_clone_learns_a_small_world_that_is_no_grid(tmp_path):
    dataset = collect(ROOM, 12, 0, 0.0, seed=0, n_jobs=1)
    config = CloningConfig(networks=2, epochs=30, validation_scenes=12, learning_rate=5e-3)
    trained = train_cloning(ROOM, dataset, config, tmp_path)
    assert trained.run.encoder.kind == "features"
    tests = range(5_000, 5_012)
    optimal = evaluate(ROOM, expert_policy(ROOM, 0.0), tests).mean_return
    assert trained.run.selection.validation_return > 0.9 * optimal
    run = load_policy_run(tmp_path)
    policy = NetworkPolicy("clone", run.networks, run.encoder, run.selection.temperature)
    assert evaluate(ROOM, policy, tests).mean_return > 0.9 * optimal
