"""The examples run, each in a folder of its own, and say what their pages in the gallery say."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.harness.experiment import EXPERIMENTS
from wfairl import TaskModel, visit_in_order
from wfairl.core.costs.storage import COST_MODELS
from wfairl.core.demonstrations.learners import LEARNERS
from wfairl.core.runs.methods import METHODS
from wfairl.core.worlds import task_registry as registry
from wfairl.specifications.formats import FORMATS

EXAMPLES = Path(__file__).parents[1] / "examples"
LONGEST = 60
"""Lines of an example of one contract."""

SAYS = {
    "own_world": "12 states obey the laws of a world",
    "own_simulator": "success in",
    "own_renderer": "wrote tanks.png",
    "own_learner": "parcel then home",
    "own_planner": "soft: ",
    "own_cost": "grab 2.",
    "own_method": "success in 100% of 8 new scenes",
    "own_floor": "in the plane",
    "own_format": "0 --> 2: parcel",
    "own_choice_model": "myopic: km 1.0, jam 2.1; -1.75 bits per new decision",
    "own_data_experiment": "['km', 'jam'] {'bits': -0.",
    "road_network": "300 destinations on one table of 900 crossings",
}
"""What each prints, beside others."""

ELSEWHERE = {
    "own_experiment": "takes processes of its own, below",
    "warehouse": "tests/cli takes it through the command line",
}


@pytest.fixture
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """With registries whose changes end with the test."""
    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "examples"))
    for one in (registry._tasks, METHODS, COST_MODELS, LEARNERS, FORMATS, EXPERIMENTS):
        monkeypatch.setattr(one, "_entries", dict(one._entries))
    monkeypatch.setattr(registry, "_loaded", dict(registry._loaded))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name in SAYS:
            del sys.modules[name]


@pytest.mark.parametrize("name", SAYS)
@pytest.mark.usefixtures("in_a_folder_of_its_own")
def test_an_example_runs_and_says_what_it_shows(name, capsys):
    runpy.run_path(f"examples/{name}.py", run_name="__main__")
    assert SAYS[name] in capsys.readouterr().out


def wfairl(example, *arguments, folder):
    """The command line with an example, in a process of its own: commands read registries when they are imported."""
    command = [sys.executable, "-c", "from wfairl.cli import main; main()", "--tasks", str(EXAMPLES / f"{example}.py")]
    environment = {**os.environ, "COLUMNS": "120"}
    ended = subprocess.run([*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.slow  # that all settings of all methods are options is tested in tests/cli
def test_settings_of_a_method_of_ones_own_are_options(tmp_path):
    shown = wfairl("own_method", "train", "--help", folder=tmp_path)
    assert "plan with a small automaton, every control costing 1" in shown
    assert "--learner" in shown


def test_a_format_of_ones_own_is_exported(tmp_path):
    TaskModel.of_automaton(visit_in_order("parcel", "home"), "by hand").save(tmp_path / "task.json")
    shown = wfairl("own_format", "export", "task.json", "--as", "mermaid", folder=tmp_path)
    assert shown.splitlines()[-2:] == ["    1 --> 2: home", "    2 --> [*]"]


def experiment(example, *arguments, folder):
    """`python -m experiments` with an example."""
    command = [sys.executable, "-m", "experiments", *arguments, "--load", str(EXAMPLES / f"{example}.py")]
    subprocess.run([*command, "--jobs", "1", "-o", "found"], cwd=folder, check=True)
    assert (folder / "found" / "report.html").exists()
    return (folder / "found" / "results.md").read_text()


@pytest.mark.slow
def test_a_comparison_of_ones_own_is_computed_from_the_command_line(tmp_path):
    """Its cells are computed in processes that have to learn of its task."""
    results = experiment("own_experiment", "corridor", "--quick", folder=tmp_path)
    _, rest = results.split("| without the automaton, from noisy |", 1)
    assert rest.splitlines()[1] == "| &nbsp;&nbsp;greedy | 0.000 ± 0.000 |"  # it goes home without the parcel


@pytest.mark.slow
def test_an_experiment_on_data_of_ones_own_is_computed_from_the_command_line(tmp_path):
    (tmp_path / "data").mkdir()
    subprocess.run([sys.executable, EXAMPLES / "own_data_experiment.py"], cwd=tmp_path / "data", check=True)
    results = experiment("own_data_experiment", "deliveries", "--data", "data", folder=tmp_path)
    assert "| km and jam | -" in results


def test_every_example_is_short_and_run():
    examples = {path.stem: len(path.read_text().splitlines()) for path in EXAMPLES.glob("*.py")}
    assert set(examples) == SAYS.keys() | ELSEWHERE.keys()
    assert {name for name, lines in examples.items() if lines > LONGEST} <= {"warehouse"}
