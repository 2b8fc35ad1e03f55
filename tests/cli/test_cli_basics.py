"""The command line as a user meets it: exit codes, standard output and standard error."""

import json
import os
import runpy
import signal
import subprocess
import sys
import tomllib
from dataclasses import replace
from io import StringIO
from itertools import pairwise
from pathlib import Path
from pkgutil import resolve_name

import pytest
from rich.console import Console

from wfairl.cli import warm_up
from wfairl.cli.app import COMMANDS
from wfairl.cli.evaluate import summary
from wfairl.core.planning.policies import REFERENCES
from wfairl.core.planning.rollout import UNSATISFIABLE
from wfairl.runs.data_sets import load
from wfairl.runs.evaluation import evaluate
from wfairl.runs.task_registry import find_task


def test_the_installed_command_runs():
    help_text = subprocess.run([Path(sys.executable).parent / "wfairl", "--help"], capture_output=True, text=True)
    assert help_text.returncode == 0
    assert "evaluate" in help_text.stdout


def test_a_process_that_imports_the_main_module_runs_no_command():
    """As worker processes do."""
    assert "main" in runpy.run_module("wfairl.__main__", run_name="__worker__")


STOPPED = """
import ctypes, os, signal, sys, time
import wfairl.cli.app
from wfairl.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have what runs in the background ignore it
def stop(*_):
    os.kill(os.getpid(), int(sys.argv[1]))
    time.sleep(0)

def command():
    {}
    time.sleep(60)

wfairl.cli.app.app = command
main()
"""
PLACES = {
    "a callback of C, which loses it": "ctypes.CFUNCTYPE(None)(stop)()",
    "the making of a class, which hides it": "type('', (), {'x': type('', (), {'__set_name__': stop})()})",
}


@pytest.mark.parametrize(("number", "words"), [(signal.SIGTERM, "terminated"), (signal.SIGINT, "interrupted")])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_signal_ends_the_command_also_in(place, number, words):
    program = [sys.executable, "-c", STOPPED.replace("{}", place), str(int(number))]
    stopped = subprocess.run(program, capture_output=True, text=True, timeout=50)
    assert stopped.returncode == 128 + number
    assert stopped.stderr == f"wfairl: {words}\n"


STOPPED_WHILE_IMPORTING = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have what runs in the background ignore it

class Finder:
    def find_spec(name, *_):
        if name == os.environ["MODULE"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder)
"""


@pytest.mark.parametrize(
    ("program", "module"),
    [("wfairl", "typing"), ("wfairl", "wfairl.cli"), ("wfairl", "typer"), ("experiments", "wfairl.neighbours")],
)
def test_ctrl_c_while_a_command_is_imported_leaves_no_traceback(program, module, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(STOPPED_WHILE_IMPORTING)
    setting = {"PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}", "MODULE": module}
    command = [sys.executable, "-m", program, "--help"]
    stopped = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **setting})
    if module == "typer":  # the command has begun
        assert (stopped.returncode, stopped.stderr.count("\n")) == (128 + signal.SIGINT, 1)
        assert stopped.stderr.startswith("wfairl: interrupted")
    else:
        assert (stopped.returncode, stopped.stdout, stopped.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.parametrize(
    ("arguments", "slow"),
    [
        (("--help",), {"numpy", "numba", "torch", "gymnasium"}),
        (("plan", "doorkey"), {"torch", "scipy.linalg", "sklearn", "networkx", "matplotlib", "PIL", "joblib"}),
        (("learn-task", "--help"), {"torch", "scipy.special", "scipy.linalg", "sklearn", "matplotlib", "joblib"}),
    ],
)
def test_a_command_loads_only_the_packages_that_it_needs(arguments, slow):
    program = "import sys, wfairl.cli\ntry: wfairl.cli.run_command()\nfinally: print(*sys.modules, file=sys.stderr)"
    ended = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert not slow & set(ended.stderr.split())


def test_the_version_is_that_of_the_package(wfairl):
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert wfairl("--version").stdout == f"wfairl {project['version']}\n"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "out of memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 800 bytes"), "out of memory"),
        (OSError(28, "No space left on device", "/somewhere"), "/somewhere: No space left on device"),
    ],
)
def test_what_the_machine_lacks_is_said_in_one_line(wfairl, monkeypatch, error, words):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("wfairl.cli.evaluate.evaluate", fail)
    result = wfairl("evaluate", "doorkey")
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert words in result.stderr


def test_a_full_disk_under_the_output_is_said_in_one_line():
    program = [sys.executable, "-c", "from wfairl.cli import main; main()", "--version"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (2, "wfairl: standard output: No space left on device\n")


@pytest.mark.parametrize(
    ("command", "place", "advice"),
    [
        (("evaluate", "doorkey", "--json"), "evaluate.evaluate", ""),
        (("run", "doorkey"), "run.check_run_directory", "; continue it with --resume"),
        (("--tasks", "colorsys", "run", "doorkey"), "run.check_run_directory", "; continue it with --resume"),
        (("plan", "doorkey"), "plan.find_task", ""),
    ],
)
def test_a_command_that_is_interrupted_says_how_to_go_on_if_it_can(wfairl, monkeypatch, command, place, advice):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"wfairl.cli.{place}", interrupt)
    result = wfairl(*command)
    assert (result.returncode, result.stdout) == (130, "")
    assert result.stderr.splitlines()[-1] == f"wfairl: interrupted{advice}"


def test_tasks_lists_the_tasks_for_people_and_for_programs(wfairl):
    assert "doorkey" in wfairl("tasks").stdout
    document = json.loads(wfairl("tasks", "--json").stdout)
    assert document["multiroom"]["horizon"] == 80
    assert document["blocked-unlock-pickup"]["propositions"] == ["ball", "key", "door", "box"]


@pytest.fixture
def demos(tmp_path, wfairl):
    path = tmp_path / "d2.safetensors"
    result = wfairl("demos", "doorkey", "--successes", 4, "--failures", 5, "--seed", 1, "-o", path, "--json")
    assert result.returncode == 0, result.stderr
    return path, json.loads(result.stdout)


def test_demos_writes_a_data_set_and_says_so(demos):
    path, document = demos
    assert document["demonstrations"] == len(load(path)) == 9
    assert document["successes"] == 4
    assert document["temperature"] == 0.5


def test_demos_replaces_no_demonstrations_that_it_would_not_collect_again(demos, wfairl, tmp_path):
    path, _ = demos
    before, settings = path.read_bytes(), ("--successes", 4, "--failures", 5, "--seed", 1)
    for other in (("multiroom", *settings), ("doorkey",), ("doorkey", *settings, "--temperature", 0)):
        refused = wfairl("demos", *other, "-o", path)
        assert refused.returncode == 2
        assert "there is a file already (9 other demonstrations of doorkey); name another, or" in refused.stderr
        assert path.read_bytes() == before
    assert wfairl("demos", "doorkey", *settings, "-o", path).returncode == 0
    assert path.read_bytes() == before
    more = ("--successes", 6, "--failures", 5, "--seed", 1)
    assert wfairl("demos", "doorkey", *more, "-o", path).returncode == 0
    assert load(path).contains(load_bytes(before, tmp_path))
    assert wfairl("demos", "doorkey", "--successes", 1, "--failures", 0, "-o", path, "--overwrite").returncode == 0
    assert len(load(path)) == 1


def load_bytes(content, directory):
    (directory / "before.safetensors").write_bytes(content)
    return load(directory / "before.safetensors")


def test_demos_does_not_replace_a_file_of_another_kind(wfairl, tmp_path):
    path = tmp_path / "mine.safetensors"
    path.write_text("my own weights")
    refused = wfairl("demos", "doorkey", "--successes", 1, "--failures", 0, "-o", path)
    assert (refused.returncode, path.read_text()) == (2, "my own weights")
    assert "there is a file already (not a data set)" in refused.stderr


def test_a_log_that_has_grown_is_imported_again_but_replaces_no_other_demonstrations(demos, wfairl, tmp_path):
    log, path = tmp_path / "log.jsonl", tmp_path / "x.safetensors"
    lines = [json.dumps({"seed": seed, "controls": ["left", "forward"]}) for seed in (3, 4, 5)]
    for text, code in ((lines[:1], 0), (lines[:2], 0), (lines[2:], 2)):
        log.write_text("\n".join(text))
        assert wfairl("demos-import", "doorkey", log, "-o", path).returncode == code
    assert {one.seed for one in load(path)} == {3, 4}
    assert wfairl("demos-import", "doorkey", log, "-o", demos[0]).returncode == 2
    assert wfairl("demos-import", "doorkey", log, "-o", path, "--overwrite").returncode == 0
    assert {one.seed for one in load(path)} == {5}


def test_a_log_is_imported(tmp_path, wfairl):
    entry = {"environment_id": "MiniGrid-DoorKey-8x8-v0", "seed": 3, "controls": ["left", "forward"]}
    (tmp_path / "log.jsonl").write_text(json.dumps(entry))
    result = wfairl("demos-import", "doorkey", tmp_path / "log.jsonl", "-o", tmp_path / "x.safetensors")
    assert result.returncode == 0, result.stderr
    assert load(tmp_path / "x.safetensors").demonstrations[0].controls == (0, 2)


def test_a_log_without_a_success_is_said_to_be_one(tmp_path, wfairl):
    entry = {"environment_id": "MiniGrid-DoorKey-8x8-v0", "seed": 3, "controls": ["left", "forward"]}
    (tmp_path / "log.jsonl").write_text("\ufeff" + json.dumps(entry))  # with the mark that Windows writes
    result = wfairl("demos-import", "doorkey", tmp_path / "log.jsonl", "-o", tmp_path / "x.safetensors")
    assert result.returncode == 0, result.stderr
    assert result.stdout.replace("\n", "").endswith("0 successful and 1 failed demonstrations of doorkey")


def test_one_episode_has_no_standard_error(wfairl):
    assert "±" not in wfairl("evaluate", "doorkey", "--seeds", "5000").stdout
    assert "±" in wfairl("evaluate", "doorkey", "--seeds", "5000:5002").stdout


def test_prose_of_the_help_is_broken_where_the_terminal_ends(wfairl, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for command in ("train", "learn-task", "plan"):
        lines = wfairl(command, "--help").stdout.split("╭")[0].splitlines()
        for line, after in pairwise(line.strip() for line in lines):
            if line and after and not line.startswith(("wfairl", "wfa-irl", "no-automaton", "bc ", "gail ")):
                assert len(line) + 1 + len(after.split()[0]) > 76, line  # the next word would not have fitted


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_says_every_word_of_its_docstring(command, wfairl):
    """Brackets too, which Rich would read as its own markup."""
    said = wfairl(command, "--help").stdout.split()
    function = resolve_name(f"wfairl.{COMMANDS[command][0]}")
    assert [word for word in function.__doc__.split() if word not in said] == []


def test_evaluate_prints_one_json_object_and_nothing_else(wfairl):
    result = wfairl("evaluate", "doorkey", "--policy", "optimal", "--seeds", "5000:5003", "--json")
    document = json.loads(result.stdout)
    assert [episode["seed"] for episode in document["episodes"]] == [5000, 5001, 5002]
    assert document["success_rate"] == 1.0


def test_a_narrow_table_says_in_whole_words_how_episodes_ended():
    task = find_task("coffee-and-mail")
    optimal = evaluate(task, REFERENCES["optimal"](task, 0.0), range(5000, 5002))
    first, second = (replace(one, learned_cost=one.cost) for one in optimal.episodes)
    failed = replace(
        optimal, policy="runs/one", episodes=(replace(first, success=False, outcome=UNSATISFIABLE), second)
    )
    console = Console(width=80, file=StringIO())
    console.print(summary([failed, optimal]))
    assert UNSATISFIABLE in console.file.getvalue()


def test_evaluate_compares_two_policies_scene_by_scene(wfairl):
    arguments = ("evaluate", "doorkey", "--policy", "optimal", "--beside", "random", "--seeds", "5000:5004")
    document = json.loads(wfairl(*arguments, "--json").stdout)
    gap = document["mean_return"] - document["beside"]["mean_return"]
    assert document["beside"]["policy"] == "random"
    assert document["beside"]["difference"]["value"] == pytest.approx(gap)
    sentence = wfairl(*arguments).stdout.splitlines()[-1]
    assert sentence.startswith(f"optimal (fewest steps) beside random: return +{gap:.3f} [")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["evaluate", "doorkeys"],
            "unknown task 'doorkeys' (did you mean 'doorkey'?); known are doorkey, multiroom",
        ),
        (
            ["evaluate", "doorkey", "--policy", "best"],
            "unknown policy 'best': give optimal, expert, random or the directory of a run",
        ),
        (["evaluate", "doorkey", "--seeds", "a:b"], "seeds are A:B or A,B,C, not 'a:b'"),
        (["evaluate", "doorkey", "--seeds", "5:5"], "there are no seeds"),
        (["evaluate", "doorkey", "--seeds", "5,6,5"], "scene 5 is given twice"),
        (["evaluate", "doorkey", "--seeds", "0:10000000000"], "is not a test seed"),
        (["evaluate", "doorkey", "--seeds", "0:2", "--jobs", "0"], "the number of jobs must not be 0"),
        (["demos", "doorkey", "--seed", "100000000000000", "-o", "x.safetensors"], "the seed of a collection must lie"),
        (["evaluate", "doorkey", "--seeds", "1000000:1000002"], "is not a test seed"),
        (["evaluate", "doorkey", "--policy", "optimal", "--temperature", "3"], "has no temperature"),
        (["demos", "doorkey", "--successes", "0", "--failures", "0", "-o", "x.safetensors"], "nothing to collect"),
        (["demos-import", "doorkey", __file__, "-o", "x.safetensors"], "a log is a *.jsonl or *.csv file"),
        (["demos", "doorkey", "-o", "x.npz"], "x.npz: demonstrations are written as *.safetensors"),
        (["demos-import", "doorkey", "none.jsonl", "-o", "x.safetensors"], "none.jsonl: no such file"),
    ],
)
def test_bad_input_is_one_line_on_standard_error_and_exit_code_2(wfairl, arguments, message):
    result = wfairl(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("wfairl: ")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_run_that_fails_has_exit_code_1(tmp_path, wfairl):
    result = wfairl("demos", "doorkey", "--temperature", "inf", "--successes", 1, "-o", tmp_path / "x.safetensors")
    assert result.returncode == 1
    assert "came out as required" in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_command_that_is_nearly_one_gets_a_question(wfairl):
    code, _, complaint = wfairl("pland", "doorkey")
    assert code == 2
    assert "no such command 'pland' (did you mean 'plan'?)" in " ".join(complaint.replace("│", " ").split())


@pytest.mark.slow
def test_warming_up_compiles_what_a_plan_needs(wfairl, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not warm_up._is_warm()
    code, said, _ = wfairl("warm-up")
    assert (code, said.splitlines()[-1]) == (0, "done")
    assert warm_up._is_warm()
