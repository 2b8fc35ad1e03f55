import json
from dataclasses import replace

import numpy as np
import pytest

from wfairl.core.costs.settings import CostSettings, training_temperature
from wfairl.core.costs.training import OtherConfigurationError
from wfairl.core.demonstrations import Dataset, Demonstration
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.planning.product import build_product
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.errors import BadInputError
from wfairl.runs import evaluate
from wfairl.runs.collection import collect
from wfairl.runs.data_sets import load
from wfairl.runs.methods import load_policy, train
from wfairl.runs.pipeline import PipelineConfig, run_pipeline
from wfairl.runs.run_directory import (
    BrokenRunError,
    RunConfig,
    RunExistsError,
    load_run,
    read_config,
)
from wfairl.runs.task_registry import find_task

SMALL = PipelineConfig("doorkey", successes=6, failures=6, test_scenes=4, settings={"epochs": 2, "batch_size": 3})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    return directory, run_pipeline(SMALL, directory)


def test_the_flow_ends_with_our_policy_beside_the_references(finished):
    _, result = finished
    returns = {evaluation.policy: evaluation.mean_return for evaluation in result.evaluations}
    assert list(returns) == ["optimal", "expert", "random", "learned, greedy", "learned, at 0.5"]
    assert returns["random"] < returns["learned, at 0.5"] < returns["optimal"]
    assert returns["learned, greedy"] <= returns["optimal"]


def test_a_run_directory_holds_what_the_design_says(finished):
    directory, result = finished
    names = {path.name for path in directory.iterdir()}
    assert names >= {"config.json", "task.json", "cost.safetensors", "metrics.jsonl", "checkpoint", "evaluation.json"}
    document = json.loads((directory / "evaluation.json").read_text())["policies"]
    assert [document[one.policy]["mean_return"] for one in result.evaluations] == [
        one.mean_return for one in result.evaluations
    ]
    assert read_config(directory).task == "doorkey"


def test_the_policy_of_a_directory_is_the_one_that_was_evaluated(finished):
    directory, result = finished
    task = find_task("doorkey")
    seeds = range(5_000, 5_004)
    at_theirs, greedy = load_policy(directory, task), load_policy(directory, task, 0.0)
    assert at_theirs.temperature == 0.5
    for policy, before in zip((greedy, at_theirs), result.evaluations[-2:], strict=True):
        again = evaluate(task, policy, seeds)
        assert [one.controls for one in again.episodes] == [one.controls for one in before.episodes]


def test_given_demonstrations_make_the_same_run_as_collected_ones(finished, tmp_path):
    directory, _ = finished
    dataset = load(directory / "demonstrations.safetensors")
    settings = {"test_scenes": SMALL.test_scenes, "settings": SMALL.settings}
    config = PipelineConfig.for_dataset(dataset, ["mine.safetensors"], **settings)
    run_pipeline(config, tmp_path, demonstrations=dataset)
    for name in ("task.json", "cost.safetensors", "metrics.jsonl", "evaluation.json"):
        assert (tmp_path / name).read_bytes() == (directory / name).read_bytes()
    before = contents(tmp_path)
    other = replace(dataset, demonstrations=dataset.demonstrations[::-1])
    with pytest.raises(OtherConfigurationError, match="other demonstrations"):
        run_pipeline(
            PipelineConfig.for_dataset(other, ["mine.safetensors"], **settings),
            tmp_path,
            resume=True,
            demonstrations=other,
        )
    assert contents(tmp_path) == before


def test_demonstrations_of_an_unknown_expert_have_no_expert_beside_the_agent(finished, tmp_path):
    directory, _ = finished
    successes = [one for one in load(directory / "demonstrations.safetensors") if one.is_success]
    dataset = Dataset("doorkey", tuple(successes))
    config = PipelineConfig.for_dataset(dataset, ["log.safetensors"], test_scenes=2, settings={"epochs": 0})
    result = run_pipeline(config, tmp_path, demonstrations=dataset)
    assert [one.policy for one in result.evaluations] == ["optimal", "random", "learned, greedy"]


def test_demonstrations_in_test_scenes_are_refused(tmp_path):
    dataset = Dataset("doorkey", (Demonstration((), (), 1.0, seed=5_003),))
    config = PipelineConfig.for_dataset(dataset, ["log.safetensors"], test_scenes=4)
    with pytest.raises(BadInputError, match="in the scene 5003"):
        run_pipeline(config, tmp_path / "run", demonstrations=dataset)
    assert not (tmp_path / "run").exists()


ORDER = ("experiment.json", "demonstrations.safetensors", "config.json", "task.json")
"""What a run writes, one after the other, before its first epoch."""


@pytest.mark.parametrize(
    "written", [pytest.param(i, marks=[pytest.mark.slow] * (i != 2)) for i in range(len(ORDER) + 1)]
)
def test_a_run_that_was_killed_anywhere_resumes_to_the_same_files(finished, tmp_path, written):
    directory, _ = finished
    for name in ORDER[:written]:
        (tmp_path / name).write_bytes((directory / name).read_bytes())
    run_pipeline(SMALL, tmp_path, resume=True)
    for name in ("experiment.json", *ORDER[2:], "cost.safetensors", "metrics.jsonl", "evaluation.json"):
        assert (tmp_path / name).read_bytes() == (directory / name).read_bytes()
    assert load(tmp_path / ORDER[1]) == load(directory / ORDER[1])


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"seed": 1}, "seed changed"),
        ({"temperature": 1.0, "failures": 7}, "failures, temperature changed"),
        ({"settings": {**SMALL.settings, "epochs": 3}}, "settings.epochs changed"),
    ],
)
def test_demonstrations_of_another_configuration_are_not_taken_for_those_of_this_one(finished, tmp_path, change, names):
    directory, _ = finished
    for name in ("experiment.json", "demonstrations.safetensors"):
        (tmp_path / name).write_bytes((directory / name).read_bytes())
    before = contents(tmp_path)
    with pytest.raises(OtherConfigurationError, match=rf"\({names}\)"):
        run_pipeline(replace(SMALL, **change), tmp_path, resume=True)
    assert contents(tmp_path) == before


def test_a_run_that_does_not_say_what_it_is_of_is_not_resumed(finished, tmp_path):
    directory, _ = finished
    (tmp_path / "demonstrations.safetensors").write_bytes((directory / "demonstrations.safetensors").read_bytes())
    with pytest.raises(OtherConfigurationError, match=r"no experiment\.json"):
        run_pipeline(SMALL, tmp_path, resume=True)
    (tmp_path / "experiment.json").write_text('{"format": "something else"}')
    with pytest.raises(BrokenRunError, match=r"experiment\.json"):
        run_pipeline(SMALL, tmp_path, resume=True)


def test_what_cannot_be_collected_leaves_nothing_behind(tmp_path):
    with pytest.raises(BadInputError, match="seed of a collection"):
        run_pipeline(replace(SMALL, seed=10**10), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_finished_run_is_neither_overwritten_nor_resumed_as_another(finished):
    directory, _ = finished
    with pytest.raises(RunExistsError, match="there is a run already"):
        run_pipeline(SMALL, directory)
    with pytest.raises(OtherConfigurationError, match=r"settings\.cost changed"):
        run_pipeline(replace(SMALL, settings={**SMALL.settings, "cost": "paper"}), directory, resume=True)
    dataset = collect(find_task("doorkey"), 2, 2, 0.5, 0)
    loaded = load_run(directory)
    with pytest.raises(RunExistsError, match="--resume"):
        train("wfa-irl", dataset, directory, loaded.config.settings, task_model=loaded.task_model)


def contents(directory):
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_a_run_that_is_refused_another_automaton_stays_byte_for_byte(finished):
    """The automaton of two more words, for which holding the key is enough."""
    directory, _ = finished
    task, trained = find_task("doorkey"), load_run(directory)
    dataset = load(directory / "demonstrations.safetensors", task.name)
    words = [(frozenset({"key"}),), (frozenset({"key"}), frozenset({"goal"}))]
    before = contents(directory)
    other = (
        SpectralTaskLearner()
        .fit([*dataset.words, *words], [*dataset.scores, 1.0, 0.0], Reading(optional_start=True))
        .model
    )
    with pytest.raises(OtherConfigurationError, match="another automaton"):
        train(
            "wfa-irl", dataset, directory, trained.config.settings,
            task_model=other, origin=trained.config.origin, resume=True,
        )  # fmt: skip
    assert contents(directory) == before


@pytest.mark.parametrize("resume", [False, True])
def test_what_cannot_be_trained_leaves_nothing_behind(finished, tmp_path, resume):
    directory, _ = finished
    task, trained = find_task("doorkey"), load_run(directory)
    failures = collect(task, 0, 2, 0.5, 0)
    with pytest.raises(BadInputError, match="learned from successes"):
        train("wfa-irl", failures, tmp_path / "run", task_model=trained.task_model, resume=resume)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"cost": "magic"}, "known are auto, prices, .*paper, local"),
        ({"temperature": -1.0}, "0 or more"),
        ({"learning_rate": -1.0}, "learning_rate must be above 0"),
        ({"epochs": -1}, "epochs"),
    ],
)
def test_a_configuration_that_cannot_be_trained_is_refused_at_birth(bad, message):
    with pytest.raises(BadInputError, match=message):
        CostSettings(**bad)


def test_a_directory_that_is_no_finished_run_is_refused(finished, tmp_path):
    directory, _ = finished
    with pytest.raises(BrokenRunError, match="not the directory of a run"):
        load_run(tmp_path)
    (tmp_path / "config.json").write_bytes((directory / "config.json").read_bytes())
    with pytest.raises(BrokenRunError, match="not finished"):
        load_run(tmp_path)
    (tmp_path / "config.json").write_text('{"format": "wfairl-run", "version": 1, "training": 3}')
    with pytest.raises(BrokenRunError, match=r"config\.json"):
        load_run(tmp_path)


def test_a_run_of_one_task_does_not_act_in_another_with_other_labels(finished):
    directory, _ = finished
    with pytest.raises(BadInputError, match="does not have that"):
        load_policy(directory, find_task("blocked-unlock-pickup"))
    with pytest.raises(BadInputError, match="goal"):
        evaluate(find_task("blocked-unlock-pickup"), load_policy(directory, find_task("doorkey")), [5_000])


@pytest.mark.parametrize(("given", "used"), [(0.5, 0.5), (2.0, 2.0), (0.0, 0.5), (None, 0.5), (float("inf"), 0.5)])
def test_training_takes_the_demonstrations_temperature_where_that_can_be_done(given, used):
    assert training_temperature(given) == used


@pytest.mark.parametrize("temperature", [-1.0, float("inf"), float("nan")])
def test_demonstrations_that_show_nothing_are_refused(temperature):
    with pytest.raises(BadInputError, match="temperature"):
        PipelineConfig("doorkey", temperature=temperature)
    with pytest.raises(BadInputError, match="temperature"):
        RunConfig("wfa-irl", "doorkey", temperature, {})


def test_an_untrained_cost_follows_from_the_seed_alone(finished):
    directory, _ = finished
    settings = CostSettings(cost="paper")
    product = build_product(find_task("doorkey").make_world(0), load_run(directory).task_model.finite)
    one, two = settings.make_model([product]), settings.make_model([product])
    other = replace(settings, seed=5).make_model([product])
    for name, tensor in one.state_dict().items():
        assert np.array_equal(tensor.numpy(), two.state_dict()[name].numpy())
    assert any((one.state_dict()[name] != other.state_dict()[name]).any() for name in one.state_dict())


def test_answers_are_evidence_of_a_run_and_stay_with_it(tmp_path):
    """One no to a plan through a decoration, which four demonstrations say nothing about, forbids them."""
    task = find_task("random-office-mail")
    config = PipelineConfig(task.name, successes=4, failures=0, seed=10, test_scenes=2, settings={"epochs": 0})
    labels = tuple(frozenset(name) for name in ("", "n", "", "e", "", "g"))
    answers = [Answer(seed, (0,) * len(labels), labels, False) for seed in range(3)]
    run_pipeline(config, tmp_path / "told", answers=answers)
    run_pipeline(config, tmp_path / "untold")
    told, untold = (load_run(tmp_path / name).task_model.finite for name in ("told", "untold"))
    assert untold.fulfilled_at(labels) is not None
    assert told.fulfilled_at(labels) is None
    assert load(tmp_path / "told" / "demonstrations.safetensors").answers == tuple(answers)
    with pytest.raises(OtherConfigurationError, match="other answers"):
        run_pipeline(config, tmp_path / "told", resume=True, answers=answers[:1])
