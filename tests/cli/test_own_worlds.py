"""Worlds of a user's own through the command line alone: from demonstrations to a page, none of them MiniGrid's."""

import json
from pathlib import Path

import pytest
from corridors import Corridor, corridor_task
from oracles_report import read_page
from PIL import Image

from wfairl.runs import task_registry as registry

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = {"corridor": EXAMPLES / "own_world.py", "warehouse": EXAMPLES / "warehouse.py"}


SMALL_FIRST = pytest.mark.parametrize(
    "own", ["corridor", pytest.param("warehouse", marks=pytest.mark.slow)], indirect=True
)


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A folder for each world, shared by the tests of this module, which build on each other's files."""
    return {name: tmp_path_factory.mktemp(name) for name in FILES}


@pytest.fixture(params=FILES)
def own(request, wfairl, places):
    """A world's name, its folder, and the command line with its tasks."""

    def command(*arguments):
        result = wfairl("--tasks", FILES[request.param], *arguments)
        assert result.returncode == 0, result.stderr
        return result.stdout

    return request.param, places[request.param], command


@pytest.fixture
def collected(own):
    """Demonstrations and a task model, made once for each world."""
    name, folder, command = own
    demos, model = folder / "demos.safetensors", folder / "task.json"
    if not demos.exists():
        command("demos", name, "--successes", 6, "--failures", 6, "-o", demos)
        (folder / "learned.json").write_text(command("learn-task", demos, "-o", model, "--json"))
    return demos, model


@pytest.mark.usefixtures("collected")
def test_the_logic_is_learned_from_demonstrations(own):
    name, folder, _ = own
    document = json.loads((folder / "learned.json").read_text())
    assert (document["learner"], document["successes"], document["closed"]) == ("rational", 6, True)
    last = {"corridor": "home", "warehouse": "dock"}[name]
    assert last in document["rule"]


@pytest.mark.parametrize("method", ["wfa-irl", "no-automaton"])
def test_every_method_is_trained_evaluated_and_shown(own, collected, method):
    name, folder, command = own
    demos, model = collected
    run = folder / method
    needed = ("--task-model", model) if method == "wfa-irl" else ()
    told = json.loads(command("train", demos, "--method", method, "-o", run, *needed, "--json"))
    assert (told["task"], told["method"]) == (name, method)
    assert name == "corridor" or "into a crowd" in told["plain_steps"]
    evaluate = ("evaluate", name, "--policy", run, "--seeds", "5000:5002")
    result = json.loads(command(*evaluate, "--save", "--json"))
    assert [episode["seed"] for episode in result["episodes"]] == [5000, 5001]
    for episode in result["episodes"]:
        assert episode["cost"] > 0
        assert episode["learned_cost"] is not None
    assert method != "wfa-irl" or result["success_rate"] == 1
    command("report", run, "--scenes", 1)
    page = read_page((run / "report.html").read_text())
    assert page.one("section", id="result").one("tbody").all("tr")


@SMALL_FIRST
def test_a_plan_is_drawn_with_the_rule_the_model_and_the_learned_cost(own, collected):
    name, folder, command = own
    demos, model = collected
    run = folder / "to-plan-with"
    command("train", demos, "--task-model", model, "-o", run, "--epochs", 1)
    suffixes = (".png", ".gif") if name == "corridor" else (".png",)
    for i, arguments in enumerate([(), ("--task-model", model), ("--cost", run)]):
        for suffix in suffixes:
            picture = folder / f"plan-{i}{suffix}"
            plan = json.loads(command("plan", name, "--seed", 3, "-o", picture, "--json", *arguments))
            assert plan["picture"] == str(picture)
            with Image.open(picture) as image:
                assert image.format == suffix[1:].upper()
                assert getattr(image, "n_frames", 1) == (plan["steps"] + 1 if suffix == ".gif" else 1)


UNDRAWN = """
from corridors import Corridor, corridor_task

TASK = corridor_task(Corridor)
"""


@pytest.mark.parametrize("command", ["plan", "ask"])
def test_an_image_of_a_world_without_a_renderer_is_refused_at_once_and_the_way_without_it_named(
    command, wfairl, tmp_path, monkeypatch
):
    from wfairl.cli import plan
    from wfairl.questions import commands

    monkeypatch.setattr(plan.PLANNERS, "find", lambda name: pytest.fail("it plans before it refuses"))
    monkeypatch.setattr(commands, "_load_or_learn", lambda *_: pytest.fail("it learns before it refuses"))
    (tmp_path / "undrawn.py").write_text(UNDRAWN)
    with_task, name = ("--tasks", tmp_path / "undrawn.py"), corridor_task(Corridor).name
    demos = tmp_path / "demos.safetensors"
    assert command == "plan" or wfairl(*with_task, "demos", name, "--successes", 2, "-o", demos).returncode == 0
    result = wfairl(*with_task, command, name if command == "plan" else demos, "-o", tmp_path / "image.png")
    assert (result.returncode, result.stdout) == (2, "")
    assert "has no renderer" in result.stderr
    assert "leave out -o to do without an image" in result.stderr


@SMALL_FIRST
def test_logs_without_a_seed_are_imported_as_controls_and_as_states(own):
    """Scene 0 is meant; the score follows from the rule where the log has none."""
    name, folder, command = own
    plan = json.loads(command("plan", name, "--json"))
    world = registry.find_task(name).make_world(0)
    states = [world.initial_state]
    for control in plan["controls"]:
        states.append(world.step(states[-1], list(world.controls).index(control)))
    log = folder / "log.jsonl"
    by_states = [world.name(state) for state in states]
    entries = [{"controls": plan["controls"]}, {"states": by_states}, {"states": by_states[:2]}]
    log.write_text("\n".join(map(json.dumps, entries)))
    document = json.loads(command("demos-import", name, log, "-o", folder / "log.safetensors", "--json"))
    assert (document["demonstrations"], document["successes"]) == (3, 2)
    arguments = ("--demos", folder / "log.safetensors", "-o", folder / "from-a-log", "--test-scenes", 1, "--epochs", 1)
    result = json.loads(command("run", name, *arguments, "--json"))
    assert result["left_out"] == []
    assert list(result["evaluations"]) == ["optimal", "random", "learned, greedy"]
    page = (folder / "from-a-log" / "report.html").read_text()
    assert f"--demos {folder / 'log.safetensors'}" in page  # the command that makes the run again


COURIER = """
import numpy as np
from wfairl import ModelTask, visit_in_order

class Courier:
    controls, propositions, initial_state = ("up", "right", "down", "left"), ("parcel", "home"), (2, 2)
    def step(self, state, control):
        moved = state[0] + (0, 1, 0, -1)[control], state[1] + (-1, 0, 1, 0)[control]
        return tuple(min(max(one, 0), 4) for one in moved)
    def label(self, state, control, next_state):
        return frozenset({"parcel"} if next_state == (4, 0) else {"home"} if next_state == (0, 4) else ())
    def features(self, state, control, next_state):
        return np.ones(1)

TASK = ModelTask("courier-of-logs", "fetch", Courier.propositions, visit_in_order("parcel", "home"), 60,
                 lambda seed: Courier())
"""


def test_a_log_with_surprises_is_imported_and_its_slip_estimated(wfairl, tmp_path):
    tasks, log, demos = tmp_path / "courier.py", tmp_path / "log.jsonl", tmp_path / "demos.safetensors"
    tasks.write_text(COURIER)
    states = [[2, 2], [3, 2], [3, 3], [4, 3], [4, 2], [4, 1], [4, 0]]
    entry = {"states": states, "controls": ["right", "right", "right", "up", "up", "up"], "battery": 0.7}
    log.write_text("\n".join([json.dumps(entry)] * 3))
    said = wfairl("--tasks", tasks, "demos-import", "courier-of-logs", log, "-o", demos)
    assert said.returncode == 0
    assert "in 3 of 18 steps (16.7%)" in " ".join(said.stdout.split())
    assert "most often from (3, 2) (3)" in " ".join(said.stdout.split())
    assert "the field battery" in " ".join(said.stdout.split())
    estimated = ("demos-import", "courier-of-logs", log, "-o", demos, "--estimate-slip", "--overwrite", "--json")
    document = json.loads(wfairl("--tasks", tasks, *estimated).stdout)
    assert document["slip"]["low"] < 1 / 6 < document["slip"]["high"]
    assert document["task"] == f"courier-of-logs-slip-{document['slip']['probability']:.2g}"
    assert document["surprises"] == []


def test_a_plan_names_the_states_of_a_world_that_slips_whatever_they_are(wfairl, tmp_path):
    """Records, as people write them, and the integers of the frozen lake."""
    (tmp_path / "wet.py").write_text(WET)
    for file, task, places in (
        (tmp_path / "wet.py", "wet", {f"Place(x={x})" for x in range(4)}),
        (EXAMPLES / "frozen_lake.py", "frozen-errands", {str(cell) for cell in range(64)}),
    ):
        command = ("--tasks", file, "plan", task)
        (printed, shown) = (wfairl(*command, *option) for option in ((), ("--json",)))
        assert (printed.returncode, shown.returncode) == (0, 0), printed.stderr
        document = json.loads(shown.stdout)
        said = {one["state"] for one in document["otherwise"]}
        assert said
        assert said <= places
        assert f"succeeds with probability {document['success']:.4f}" in printed.stdout


WET = """
from dataclasses import dataclass
from wfairl import ModelTask, visit_in_order

@dataclass(frozen=True)
class Place:
    x: int

class Wet:
    controls, propositions, initial_state = ("on",), ("end",), Place(0)
    def outcomes(self, state, control):
        return (0.9, Place(min(state.x + 1, 3))), (0.1, state)
    def label(self, state, control, after):
        return frozenset({"end"} if after.x == 3 else ())
    def features(self, state, control, after):
        return [1.0]

TASK = ModelTask("wet", "go to the end", ("end",), visit_in_order("end"), 40, lambda seed: Wet())
"""
