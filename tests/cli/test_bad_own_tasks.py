"""What can be wrong with a user's own tasks and data: one line on standard error, exit code 2, nothing written."""

import json
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from wfairl.core.demonstrations import Dataset
from wfairl.runs import task_registry as registry
from wfairl.runs.collection import collect
from wfairl.runs.data_sets import load, save

CORRIDOR = Path(__file__).parents[2] / "examples" / "own_world.py"

RING = """
    from wfairl import GraphWorld, ModelTask, visit_in_order

    def ring(seed):
        return GraphWorld.from_edges([(0, 1), (1, 2), (2, 0)], start=0, marks={2: ["a"]})

    TASK = ModelTask("ring", "a ring", ("a",), visit_in_order("a"), 9, ring)
"""

SWITCH = """
    from itertools import count

    import numpy as np

    from wfairl import ModelTask, visit_in_order

    calls = count()

    class Switch:
        controls = ("press",)
        propositions = ("on",)
        initial_state = 0

        def step(self, state, control):
            return 1

        def label(self, state, control, next_state):
            return frozenset({"on"}) if next(calls) % 2 else frozenset()

        def features(self, state, control, next_state):
            return np.ones(1)

    TASK = ModelTask("switch", "press it", ("on",), visit_in_order("on"), 9, lambda seed: Switch())
"""

BROKEN_TASKS = {
    "does not import": ("import nothing_of_that_name", "cannot be imported (ModuleNotFoundError"),
    "fails while it is imported": (
        "x = 1\ny = x / 0",
        "cannot be imported (ZeroDivisionError: division by zero, in my_tasks.py, line 2)",
    ),
    "fails in a step": (
        SWITCH.replace("return 1", "return {}[state]"),
        "task 'switch', scene of seed 0: totality: step fails at state 0 under control 'press' (KeyError: 0, in"
        " my_tasks.py, line 16)",
    ),
    "is no Python": ("def broken(:", "cannot be imported (SyntaxError"),
    "holds no task": ("x = 1", "there is no task at its top level"),
    "breaks a law of tasks": (RING.replace('("a",), visit', '("b",), visit'), "rule: it reads a"),
    "breaks a law of worlds": (
        SWITCH.replace('{"on"}', '{"off"}').replace("next(calls) % 2", "True"),
        "labels: off is not among the propositions, at state 0 under control 'press'",
    ),
    "has labels that change": (SWITCH, "purity: two calls of label differ at state 0 under control 'press'"),
    "has features that are none": (SWITCH.replace("next(calls) % 2", "True").replace("ones(1)", "inf"), "features"),
    "has dangling edges": (RING.replace("(2, 0)]", "(2, 3)]"), "dangling: no edge leads out of 3"),
    "has a mark on no node": (RING.replace("{2:", "{7:"), "dangling: the mark on 7 is on a node that no edge has"),
    "has a true cost of nothing": (
        RING.replace(" 9, ring)", " 9, ring, true_cost=lambda features: features[:, 0] - 1)"),
        "true_cost: every transition must cost a finite number above zero, also one that does nothing; it is 0.0 at"
        " state 0 under control 'edge 0'",
    ),
    "has one cost for all": (
        RING.replace(" 9, ring)", " 9, ring, nominal_cost=lambda features: 1.0)"),
        "nominal_cost: from features of shape (3, 1) it must give an array of shape (3,), not ()",
    ),
    "has a horizon of nothing": (
        RING.replace(" 9,", " 0,"),
        "horizon of the task 'ring' is from 1 to 2147483647",
    ),
    "has a horizon of another type": (RING.replace(" 9,", " '9',"), "is from 1 to 2147483647, not '9'"),
}


@pytest.fixture
def refused(wfairl, monkeypatch, tmp_path):
    """Runs a command in an empty folder, and sees that it is refused in one line that says why."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")

    def run(*arguments, message):
        code, out, err = wfairl(*arguments)
        assert (code, out) == (2, ""), err
        assert message in err
        assert err.startswith("wfairl: ")
        assert err.count("\n") == 1
        assert list((tmp_path / "empty").iterdir()) == []

    return run


@pytest.mark.parametrize("case", BROKEN_TASKS)
def test_a_task_file_that(refused, tmp_path, case):
    text, message = BROKEN_TASKS[case]
    path = tmp_path / "my_tasks.py"
    path.write_text(textwrap.dedent(text))
    for command in (("demos", "ring", "-o", "demos.safetensors"), ("run", "ring"), ("tasks",)):
        refused("--tasks", path, *command, message=message)
        refused("--tasks", path, *command, message=f"--tasks {path}: ")


def test_a_task_file_that_is_not_there(refused):
    refused("--tasks", "nowhere.py", "tasks", message="--tasks nowhere.py: no such file")
    refused("--tasks", "no_such_module", "tasks", message="--tasks no_such_module: cannot be imported")


@pytest.fixture(scope="module")
def corridor_demos(tmp_path_factory):
    """Demonstrations of a corridor, collected while its task is known."""
    path = tmp_path_factory.mktemp("corridor") / "demos.safetensors"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry._tasks, "_entries", dict(registry._registered()))
        patch.setattr(registry, "_loaded", {})
        (task,) = registry.load_tasks(str(CORRIDOR))
        save(collect(task, 4, 4, 0.5, seed=0), path)
    return path


@pytest.fixture
def corridor_model(corridor_demos, tmp_path, wfairl):
    path = tmp_path / "task.json"
    assert wfairl("learn-task", corridor_demos, "--learner", "spectral", "-o", path).returncode == 0
    return path


def test_demonstrations_of_a_task_that_nobody_named(refused, corridor_demos, corridor_model):
    learn = ("learn-task", corridor_demos, "--learner", "rational", "-o", "task.json")
    for command in (learn, ("train", corridor_demos, "--task-model", corridor_model, "-o", "run")):
        refused(*command, message="unknown task 'corridor'; known are doorkey")


def test_demonstrations_of_another_task(refused, wfairl, corridor_demos, corridor_model, tmp_path):
    office = tmp_path / "office.safetensors"
    assert wfairl("demos", "doorkey", "--successes", 2, "--failures", 0, "-o", office).returncode == 0
    own = ("--tasks", CORRIDOR)
    mixed = ("train", corridor_demos, office, "--task-model", corridor_model, "-o", "run")
    refused(*own, *mixed, message="demonstrations of different tasks cannot be mixed: corridor, doorkey")
    foreign = ("train", office, "--task-model", corridor_model, "-o", "run")
    refused(*own, *foreign, message="parcel")


def test_demonstrations_whose_labels_the_world_contradicts(refused, corridor_demos, corridor_model, tmp_path):
    """The world was changed after they were made, such as by another version of its file."""
    dataset, other = load(corridor_demos), tmp_path / "other.safetensors"
    moved = tuple(replace(one, labels=(frozenset({"home"}), *one.labels[1:])) for one in dataset)
    save(Dataset(dataset.task, moved, dataset.temperature), other)
    own, message = ("--tasks", CORRIDOR), "the world gives another label"
    refused(*own, "learn-task", other, "-o", "task.json", message=message)
    refused(*own, "train", other, "--task-model", corridor_model, "-o", "run", message=message)
    refused(*own, "train", other, "--method", "no-automaton", "-o", "run", message=message)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"controls": ["left", "jump"]},
            "line 1: seed 0: step 1: 'jump' is not a control; there are 3, left, right, grab",
        ),
        ({"controls": [7]}, "line 1: seed 0: step 0: 7 is not a control"),
        ({"states": [[3, False]]}, "line 1: the scene starts in (1, False), not in [3, false]"),
        ({"states": []}, "states must begin with the one in which the scene starts"),
        ({"states": [[1, False]], "path": []}, 'a list "controls" or a list "states" or both'),
        ({"seed": 0}, 'a list "controls" or a list "states" or both'),
        ({"controls": [0], "scores": 1}, "unknown field 'scores' (did you mean 'score'?)"),
    ],
)
def test_a_log_that_does_not_fit_the_world(refused, tmp_path, entry, message):
    (tmp_path / "log.jsonl").write_text(json.dumps(entry))
    command = ("demos-import", "corridor", tmp_path / "log.jsonl", "-o", "demos.safetensors")
    refused("--tasks", CORRIDOR, *command, message=message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "DEMOS", "--method", "magic", "-o", "run"), "unknown method 'magic'; known are wfa-irl"),
        (("train", "DEMOS", "--method", "magic", "-o", "run"), "bc and gail by `wfairl --tasks experiments.baselines"),
        (("run", "corridor", "--cost", "magic"), "unknown cost model 'magic'"),
        (("run", "corridor", "--learning-rate", -1), "learning_rate must be above 0 and finite, not -1.0"),
        (("run", "corridor", "--cost", "local"), "MiniGrid"),
        (
            ("run", "corridor", "--demos", "DEMOS", "--successes", 3),
            "--successes: only for demonstrations of the built-in",
        ),
        (("run", "doorkey", "--demos", "DEMOS"), "demonstrations of the task 'corridor', not of 'doorkey'"),
    ],
)
def test_what_there_is_not(refused, corridor_demos, arguments, message):
    given = [corridor_demos if one == "DEMOS" else one for one in arguments]
    refused("--tasks", CORRIDOR, *given, message=message)


@pytest.mark.parametrize("arguments", [("learn-task", "DEMOS", "--learner", "magic"), ("run", "corridor", "--view", 3)])
def test_an_option_that_does_not_exist_names_itself(wfairl, corridor_demos, arguments, tmp_path, monkeypatch):
    """What the parser of options refuses; it says so in a frame of its own."""
    monkeypatch.chdir(tmp_path)
    code, out, err = wfairl(*(corridor_demos if one == "DEMOS" else one for one in arguments))
    assert (code, out) == (2, "")
    assert arguments[-2] in err
    assert list(tmp_path.iterdir()) == []
