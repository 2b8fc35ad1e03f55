"""The examples run, each in a folder of its own, and say what their pages in the gallery say."""

import inspect
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typing_extensions import get_protocol_members, is_protocol

from experiments.harness.experiment import EXPERIMENTS
from experiments.route_choice.choice_models import ChoiceModel
from wfairl import (
    TaskModel,
    World,
    build_product,
    check_task,
    check_world,
    find_plan,
    unit_cost,
    visit_in_order,
)
from wfairl.core.costs.cost_model import COST_MODELS, CostModel
from wfairl.core.demonstrations.learners import LEARNERS, TaskLearner
from wfairl.core.planning.planner import PLANNERS, Planner, Solution
from wfairl.core.worlds.rendering import Rendered
from wfairl.core.worlds.simulator import Simulator
from wfairl.core.worlds.world import outcomes_of
from wfairl.runs.methods import METHODS, Method
from wfairl.specifications.formats import FORMATS

EXAMPLES = Path(__file__).parents[1] / "examples"
LONGEST = 64
"""Lines of an example of one contract."""

SAYS = {
    "own_world": "12 states obey the laws of a world",
    "own_simulator": "success in",
    "frozen_lake": "a failure costs 1,000,000 steps: success 1.0000",
    "own_renderer": "wrote tanks.png",
    "own_learner": "parcel, then home",
    "own_planner": "soft: ",
    "own_cost": "grab 3.",
    "own_method": "success in 100% of 8 new scenes",
    "own_floor": "in the plane",
    "own_format": "0 --> 2: parcel",
    "own_choice_model": "myopic: km 1.0, jam 2.1; -1.75 bits per new decision",
    "own_data_experiment": "['km', 'jam'] {'bits': -0.",
    "event_log": "within a week: approve happens; check happens at most once",
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
    for one in (METHODS, COST_MODELS, LEARNERS, FORMATS, PLANNERS, EXPERIMENTS):
        monkeypatch.setattr(one, "_entries", dict(one._entries))
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


@pytest.mark.usefixtures("in_a_folder_of_its_own")
def test_the_notebook_is_the_example_and_its_cells_print_what_it_shows(capsys):
    cells = json.loads(Path("examples/event_log.ipynb").read_text())["cells"][1:]
    texts = ["".join(cell["source"]) for cell in cells]
    _, *parts = Path("examples/event_log.py").read_text().split("\n# %% ")
    assert texts == [text for part in parts for text in part.strip("\n").split("\n", 1)]
    names = {}
    for cell, text in zip(cells[1::2], texts[1::2], strict=True):
        exec(text, names)
        assert capsys.readouterr().out == "".join("".join(one["text"]) for one in cell["outputs"])


CONTRACTS = {
    "own_world": {"Corridor": (World, lambda one: one.TASK.make_world(0))},
    "own_simulator": {
        "Corridor": (World, lambda one: one.TASK.make_world(0)),
        "SlipperyFloor": (Simulator, lambda one: one.TASK.make_simulator(0)),
    },
    "own_renderer": {"TwoTanks": (Rendered, lambda one: one.TASK.make_world(0))},
    "own_learner": {"CommonOrder": (TaskLearner, lambda one: one.CommonOrder())},
    "own_planner": {
        "SoftPlanner": (Planner, lambda one: one.SoftPlanner(0.7)),
        "SoftSolution": (
            Solution,
            lambda one: one.SoftPlanner(0.7).solve(one.TASK.make_world(0), one.TASK.rule, unit_cost),
        ),
    },
    "own_cost": {"FeeCost": (CostModel, lambda one: one.FeeCost)},
    "own_method": {"SmallRule": (Method, lambda one: one.SmallRule()), "SmallRuleSettings": (object, None)},
    "own_choice_model": {"MyopicChoice": (ChoiceModel, lambda one: one.MyopicChoice())},
    "warehouse": {"Warehouse": (World, lambda one: one.TASK.make_world(0))},
}
"""The classes of each example, the contract of each, and how to make one."""


@pytest.mark.parametrize("name", [path.stem for path in EXAMPLES.glob("*.py")])
@pytest.mark.usefixtures("in_a_folder_of_its_own")
def test_an_example_fulfils_its_contracts(name):
    example = runpy.run_path(f"examples/{name}.py", run_name=name)
    classes = {one.__name__ for one in example.values() if inspect.isclass(one) and one.__module__ == name}
    assert classes == CONTRACTS.get(name, {}).keys()
    for contract, make in CONTRACTS.get(name, {}).values():
        if make is not None:
            check_members(make(SimpleNamespace(**example)), contract)
    if "TASK" in example:
        check_task(example["TASK"])
        check_world(example["TASK"].make_world(0))


def check_members(one, contract):
    """It has every member of the contract, and its methods take the arguments that the contract names."""
    assert not inspect.isabstract(one if inspect.isclass(one) else type(one))
    members = get_protocol_members(contract) if is_protocol(contract) else contract.__abstractmethods__
    for name in members:
        assert hasattr(one, name), f"{type(one).__name__} lacks {name}"
        declared = inspect.getattr_static(contract, name, None)
        if inspect.isfunction(declared) and not inspect.isclass(one):
            expected = list(inspect.signature(declared).parameters.values())[1:]
            required = [parameter for parameter in expected if parameter.default is parameter.empty]
            for given in (expected, required):
                places = [None for parameter in given if parameter.kind is not parameter.KEYWORD_ONLY]
                names = {parameter.name: None for parameter in given if parameter.kind is parameter.KEYWORD_ONLY}
                inspect.signature(getattr(one, name)).bind(*places, **names)


def test_a_planner_of_ones_own_finds_a_plan_that_the_automaton_accepts(in_a_folder_of_its_own):
    example = SimpleNamespace(**runpy.run_path("examples/own_planner.py", run_name="own_planner"))
    plan = example.SoftPlanner(0.01).solve(example.TASK.make_world(0), example.TASK.rule, unit_cost).plan()
    exact = find_plan(product := build_product(example.TASK.make_world(0), example.TASK.rule), unit_cost(product))
    assert plan.path.is_accepted
    assert len(plan.path) == len(exact.path)  # nearly no temperature, nearly the hard minimum


def test_a_planner_of_ones_own_is_called_by_its_name(tmp_path):
    shown = wfairl("own_planner", "plan", "corridor", "--planner", "soft", folder=tmp_path)
    assert "word  -, parcel, home & parcel" in shown


@pytest.mark.parametrize("name", ["own_world", "frozen_lake"])
def test_the_cost_to_go_of_the_soft_planner_satisfies_its_equation(name, in_a_folder_of_its_own):
    task, eta = runpy.run_path(f"examples/{name}.py")["TASK"], 0.7
    example = SimpleNamespace(**runpy.run_path("examples/own_planner.py", run_name="own_planner"))
    solution = example.SoftPlanner(eta).solve(task.make_world(0), task.rule, unit_cost)
    product, Q = solution.product, solution.control_values
    V = -eta * np.logaddexp.reduce(-Q / eta, axis=1)
    for node in np.flatnonzero(np.isfinite(V)):
        state, automaton_state = product.state(node), int(product.automaton_states[node])
        for control in range(len(product.world.controls)):
            ahead = 0.0
            for probability, after in outcomes_of(product.world, state, control):
                reads = task.rule.read(automaton_state, product.world.label(state, control, after))
                there = product.find(after, reads)
                worth = 0.0 if reads >= 0 and task.rule.accepting[reads] else V[there] if there is not None else np.inf
                ahead += probability * (worth if np.isfinite(worth) else 1000.0)
            assert Q[node, control] == (pytest.approx(1.0 + ahead, abs=1e-6) if ahead < 999 else np.inf)


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
    learned, without = (
        float(re.search(rf"{re.escape(name)}, from noisy \| (?:\*\*)?([\d.]+)", results)[1])
        for name in ("WFA-IRL", "without the automaton")
    )
    assert without < learned  # in some scenes it goes home without the parcel


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
