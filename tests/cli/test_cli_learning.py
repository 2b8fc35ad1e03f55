"""`wfairl train`, `wfairl run` and `wfairl evaluate --policy RUN`, as a user meets them."""

import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from experts import solve
from typer.models import OptionInfo

from wfairl.cli import train
from wfairl.runs.collection import collect
from wfairl.runs.data_sets import save
from wfairl.runs.methods import find_method
from wfairl.runs.task_registry import find_task


@pytest.fixture(scope="module")
def demos(tmp_path_factory):
    path = tmp_path_factory.mktemp("demos") / "demos.safetensors"
    save(collect(find_task("doorkey"), 6, 6, 0.5, 0), path)
    return path


@pytest.fixture
def task_model(demos, tmp_path, wfairl):
    path = tmp_path / "task.json"
    assert wfairl("learn-task", demos, "--learner", "spectral", "-o", path)[0] == 0
    return path


def test_train_then_evaluate(wfairl, demos, task_model, tmp_path):
    run = tmp_path / "run"
    code, out, _ = wfairl(
        "train", demos, "--task-model", task_model, "-o", run, "--cost", "local", "--epochs", 2, "--json"
    )
    assert code == 0
    document = json.loads(out)
    assert document["epochs"] == 2
    assert document["left_out"] == []
    code, out, _ = wfairl("evaluate", "doorkey", "--policy", run, "--seeds", "5000:5003", "--json")
    assert code == 0
    assert json.loads(out)["success_rate"] == 1.0
    code, out, _ = wfairl("evaluate", "doorkey", "--policy", run, "--seeds", "5000:5003", "--temperature", 0)
    assert code == 0
    assert "100%" in out


def test_a_run_is_not_tested_on_scenes_that_a_log_showed_it(wfairl, tmp_path, task_model):
    task = find_task("doorkey")
    entries = []
    for seed in (5000, 5001, 5002, 5003):
        controls, _ = solve(task.make_world(seed), task.rule).act(0.0, task.horizon, np.random.default_rng(0))
        entries.append({"environment_id": task.environment_id, "seed": seed, "controls": controls})
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, entries)))
    assert wfairl("demos-import", "doorkey", tmp_path / "log.jsonl", "-o", tmp_path / "log.safetensors")[0] == 0
    arguments = ("train", tmp_path / "log.safetensors", "--task-model", task_model, "-o", tmp_path / "run")
    assert wfairl(*arguments, "--epochs", 1)[0] == 0
    code, _, err = wfairl("evaluate", "doorkey", "--policy", tmp_path / "run", "--seeds", "5002:5010")
    assert code == 2
    assert "the run was trained on the scene 5002 and 1 more of these; test it on others" in err
    assert wfairl("evaluate", "doorkey", "--policy", tmp_path / "run", "--seeds", "5004:5006")[0] == 0


def test_train_prints_a_table_for_people_and_resumes(wfairl, demos, task_model, tmp_path):
    arguments = ("train", demos, "--task-model", task_model, "-o", tmp_path / "run", "--cost", "local", "--epochs", 1)
    code, out, _ = wfairl(*arguments)
    assert code == 0
    assert "held-out loss" in out
    first = (tmp_path / "run" / "cost.safetensors").read_bytes()
    code, _, err = wfairl(*arguments)
    assert (code, err.count("\n")) == (2, 1)
    assert "--resume" in err
    assert wfairl(*arguments, "--resume")[0] == 0
    assert (tmp_path / "run" / "cost.safetensors").read_bytes() == first
    code, _, err = wfairl(*arguments[:-1], 3, "--resume")
    assert code == 2
    assert "another configuration" in err


def test_planning_without_the_automaton_is_trained_and_evaluated_the_same_way(wfairl, demos, tmp_path):
    run = tmp_path / "run"
    arguments = ("train", demos, "--method", "no-automaton", "-o", run, "--epochs", 1)
    code, out, _ = wfairl(*arguments, "--json")
    assert code == 0
    document = json.loads(out)
    assert (document["task"], document["method"], document["run"]) == ("doorkey", "no-automaton", str(run))
    code, out, _ = wfairl(*arguments, "--resume")
    assert code == 0
    assert "written to" in out
    code, out, _ = wfairl("evaluate", "doorkey", "--policy", run, "--seeds", "5000:5002", "--json")
    assert code == 0
    assert json.loads(out)["policy"] == str(run)
    assert wfairl("plan", "doorkey", "--seed", 1, "--cost", run)[0] == 0
    code, _, err = wfairl("plan", "workshop", "--cost", run)
    assert code == 2
    assert f"{run}: a run of the task 'doorkey', whose automaton reads goal; the task 'workshop' does not" in err


def test_a_typing_error_in_the_directory_to_resume_is_not_passed_over(wfairl, demos, tmp_path):
    arguments = ("--method", "no-automaton", "--epochs", 1, "--resume")
    code, _, err = wfairl("train", demos, *arguments, "-o", tmp_path / "ruin")
    assert code == 0
    assert "ruin: there is no run to resume; starting a new one" in err


def test_a_run_is_not_put_into_a_file(wfairl, demos, tmp_path):
    (tmp_path / "file").write_text("mine")
    for command in (("train", demos, "--method", "no-automaton"), ("run", "doorkey")):
        code, _, err = wfairl(*command, "-o", tmp_path / "file")
        assert (code, err.count("\n")) == (2, 1)
    assert (code, "file: this is a file; give a directory" in err) == (2, True)
    assert (tmp_path / "file").read_text() == "mine"


def test_help_teaches_the_methods(wfairl):
    code, out, _ = wfairl("train", "--help")
    assert code == 0
    for method in ("wfa-irl", "no-automaton"):
        assert method in out


def test_run_does_the_whole_job(wfairl, tmp_path):
    code, out, _ = wfairl(
        "run", "doorkey", "-o", tmp_path / "run", "--successes", 4, "--failures", 4, "--epochs", 1, "--test-scenes", 2
    )
    assert code == 0
    for word in ("optimal", "expert", "random", "greedy", "at 0.5"):
        assert word in out
    headings = [line.split("  ")[0] for line in out.splitlines() if line and not line.startswith(" ")]
    assert headings[-6:-1] == ["Rule", "Not to be learned", "Cost", "How sure", "In new scenes"]


def bad_inputs(tmp_path, demos, task_model):
    other = tmp_path / "other.safetensors"
    save(collect(find_task("multiroom"), 1, 1, 0.5, 0), other)
    failures = tmp_path / "failures.safetensors"
    save(collect(find_task("doorkey"), 0, 3, 0.5, 0), failures)
    return {
        "no success": ((failures, "--task-model", task_model), "a cost is learned from successes"),
        "two tasks": ((demos, other, "--task-model", task_model), "different tasks cannot be mixed"),
        "foreign labels": ((other, "--task-model", task_model), "which the world does not know"),
        "no file": ((tmp_path / "none.safetensors", "--task-model", task_model), "no such file"),
        "not a model": ((demos, "--task-model", demos), "not"),
        "cost model": ((demos, "--task-model", task_model, "--cost", "magic"), "unknown cost model 'magic'"),
        "seed": (
            (demos, "--task-model", task_model, "--seed", 10**23),
            "seed must be at least 0 and at most 9,223",
        ),
        "temperature": ((demos, "--task-model", task_model, "--temperature", -1), "0 or more"),
        "method": ((demos, "--method", "magic"), "unknown method 'magic'"),
        "no task model": ((demos,), "plans with a task model (--task-model)"),
        "idle task model": (
            (demos, "--method", "no-automaton", "--task-model", task_model),
            "no-automaton has no use for a task model",
        ),
    }


@pytest.mark.parametrize(
    "case",
    [
        "no success",
        "two tasks",
        "foreign labels",
        "no file",
        "not a model",
        "cost model",
        "seed",
        "temperature",
        "method",
        "no task model",
        "idle task model",
    ],
)
def test_bad_input_is_one_line_on_standard_error(wfairl, demos, task_model, tmp_path, case):
    arguments, message = bad_inputs(tmp_path, demos, task_model)[case]
    code, out, err = wfairl("train", *arguments, "-o", tmp_path / "run", "--json")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()  # and the directory is free for another try


def test_training_that_diverges_is_a_failed_run(wfairl, demos, task_model, tmp_path):
    code, out, err = wfairl(
        "train",
        demos,
        "--task-model",
        task_model,
        "-o",
        tmp_path / "run",
        "--cost",
        "local",
        "--learning-rate",
        "1e30",
        "--json",
    )
    assert (code, out) == (1, "")
    assert "lower the learning rate" in err
    assert (tmp_path / "run" / "checkpoint" / "last.safetensors").exists()


@pytest.mark.slow
@pytest.mark.parametrize("epochs_seen", [1, 4])
def test_a_process_killed_by_a_signal_resumes_to_the_same_bytes(demos, task_model, tmp_path, epochs_seen):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}

    def command(run, *more):
        program = "from wfairl.cli import main; main()"
        options = ["--task-model", task_model, "-o", run, "--cost", "paper", "--epochs", "8", *more]
        return [sys.executable, "-c", program, "train", str(demos), *map(str, options)]

    subprocess.run(command(tmp_path / "whole"), check=True, env=environment)
    killed = tmp_path / "killed"
    process = subprocess.Popen(command(killed), env=environment)
    metrics = killed / "metrics.jsonl"
    while not metrics.exists() or len(metrics.read_text().splitlines()) <= epochs_seen:
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (killed / "cost.safetensors").exists()
    subprocess.run(command(killed, "--resume"), check=True, env=environment)
    for name in ("cost.safetensors", "metrics.jsonl", "task.json", "config.json"):
        assert (killed / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize("method", ["wfa-irl", "no-automaton"])
def test_every_setting_of_a_method_is_an_option_whose_help_says_what_it_is_and_its_default(method):
    options = inspect.signature(train.train_command, eval_str=True).parameters
    for name, default in find_method(method).default_settings().items():
        (told,) = (one.help for one in options[name].annotation.__metadata__ if isinstance(one, OptionInfo))
        assert re.match(r"\w+[^(]", told), name
        shown = ", ".join(map(str, default)) if isinstance(default, list) else default
        shown = f"{shown:g}" if isinstance(shown, float) else shown
        assert default is None or f"({shown})." in told, (name, told)
