"""Tasks become known by their names, from our own modules, installed packages, files and modules of the user's own."""

import importlib.metadata
import subprocess
import sys
import textwrap
from types import SimpleNamespace

import pytest

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds import GraphWorld, ModelTask
from wfairl.neighbours import OFFERS
from wfairl.runs import task_registry as registry
from wfairl.runs.task_registry import all_tasks, find_task, load_tasks, register_task

OURS = [task.name for task in all_tasks()]

TASK_FILE = """
    from dataclasses import dataclass

    from wfairl.core.automata.rules import visit_in_order
    from wfairl.core.worlds import GraphWorld, ModelTask

    @dataclass
    class Size:
        nodes: "int" = 3

    def ring(seed):
        return GraphWorld.from_edges([(0, 1), (1, 2), (2, 0)], start=0, marks={2: ["a"]})

    FIRST = ModelTask("first", "a ring", ("a",), visit_in_order("a"), 9, ring)
    MORE = [ModelTask("second", "a ring", ("a",), visit_in_order("a"), 9, ring), FIRST]
    _HIDDEN = ModelTask("hidden", "a ring", ("a",), visit_in_order("a"), 9, ring)
"""


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Tasks of installed packages are looked for again."""
    monkeypatch.setattr(registry, "_installed", [])


@pytest.fixture
def write(tmp_path):
    def write(text, name="my_tasks.py"):
        (tmp_path / name).write_text(textwrap.dedent(text))
        return str(tmp_path / name)

    return write


def own_task(name="own", **changes):
    def ring(_):
        return GraphWorld.from_edges([(0, 1), (1, 0)], start=0, marks={1: ["a"]})

    settings = {"summary": "", "propositions": ("a",), "rule": visit_in_order("a"), "horizon": 5, "scene": ring}
    return ModelTask(name, **{**settings, **changes})


def test_our_own_tasks_begin_with_the_papers():
    assert OURS[:3] == ["doorkey", "multiroom", "blocked-unlock-pickup"]
    assert len(set(OURS)) == len(OURS)


@pytest.mark.parametrize("module", sorted(set(OFFERS["task"].values())))
def test_the_neighbours_offer_the_tasks_that_they_define(module):
    offered = [name for name, home in OFFERS["task"].items() if home == module]
    assert sorted(task.name for task in registry._tasks_in(importlib.import_module(module))) == sorted(offered)


def test_finding_a_task_imports_its_family_alone():
    code = "import sys, wfairl; wfairl.find_task('office-coffee'); print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "wfairl.offices.office" in loaded
    assert not [name for name in loaded if name.startswith(("wfairl.minigrid", "wfairl.floors", "minigrid", "pygame"))]


def test_a_file_makes_its_tasks_known_after_ours(write):
    source = write(TASK_FILE)
    assert [task.name for task in load_tasks(source)] == ["first", "second"]
    assert [task.name for task in all_tasks()] == [*OURS, "first", "second"]
    assert find_task("first").make_world(0).propositions == ("a",)
    assert load_tasks(source) == ()  # once is enough
    assert registry.loaded_sources() == (source,)


def test_a_module_makes_its_tasks_known(write, tmp_path, monkeypatch):
    write(TASK_FILE, "tasks_as_a_module.py")
    monkeypatch.syspath_prepend(tmp_path)
    assert [task.name for task in load_tasks("tasks_as_a_module")] == ["first", "second"]
    assert find_task("second").name == "second"


def test_a_file_may_import_what_lies_beside_it_and_what_we_have(write):
    write(TASK_FILE, "beside_the_file.py")
    source = write("from beside_the_file import FIRST\nfrom wfairl.minigrid.tasks import DOORKEY\n")
    assert [task.name for task in load_tasks(source)] == ["first", "doorkey"]
    assert [task.name for task in all_tasks()] == [*OURS, "first"]


def entry_point(name, load):
    return SimpleNamespace(name=name, load=load)


@pytest.mark.parametrize("value", [own_task(), (own_task(),), SimpleNamespace()], ids=["task", "tuple", "nothing"])
def test_an_installed_package_offers_tasks_through_an_entry_point(monkeypatch, value):
    points = [entry_point("theirs", lambda: value)]
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == "wfairl.tasks" else [])
    assert [task.name for task in all_tasks()] == [*OURS, *([] if isinstance(value, SimpleNamespace) else ["own"])]


def test_a_real_entry_point_of_a_module_is_followed(write, tmp_path, monkeypatch):
    write(TASK_FILE, "an_installed_module.py")
    monkeypatch.syspath_prepend(tmp_path)
    point = importlib.metadata.EntryPoint("theirs", "an_installed_module", "wfairl.tasks")
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    assert [task.name for task in all_tasks()] == [*OURS, "first", "second"]


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (lambda: 1 / 0, r"the tasks 'theirs' of an installed package cannot be imported \(ZeroDivisionError"),
        (lambda: own_task("doorkey"), "there is a task 'doorkey' already"),
    ],
)
def test_a_broken_package_is_named_every_time(monkeypatch, load, message):
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry_point("theirs", load)])
    for _ in range(2):
        with pytest.raises(BadInputError, match=message):
            find_task("doorkey")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_of_that_name", "cannot be imported (ModuleNotFoundError: No module named 'nothing_of_"),
        ("def broken(:", "cannot be imported (SyntaxError"),
        ("1 / 0", "cannot be imported (ZeroDivisionError"),
        ("raise ValueError('two\\nlines')", "cannot be imported (ValueError: two lines, in my_tasks.py, line "),
        ("x = 1", "there is no task at its top level"),
        (TASK_FILE.replace('"first"', '"doorkey"'), "there is a task 'doorkey' already"),
        (TASK_FILE.replace('("a",), visit', '("b",), visit'), "reads a, which the task does not have"),
        (TASK_FILE.replace("(2, 0)]", "(2, 3)]"), "dangling: no edge leads out of 3"),
        (TASK_FILE.replace("return GraphWorld", "return 1 / 0, GraphWorld"), "the scene of seed 0 cannot be made"),
    ],
)
def test_a_file_that_gives_no_task_is_refused_in_one_line_that_names_it(write, text, message):
    source = write(text)
    with pytest.raises(BadInputError) as caught:
        load_tasks(source)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"--tasks {source}: ")
    assert "\n" not in str(caught.value)
    assert [task.name for task in all_tasks()] == OURS


@pytest.mark.parametrize("source", ["nothing/here.py", "no_module_of_this_name"])
def test_a_source_that_is_not_there_is_named(source):
    with pytest.raises(BadInputError, match=f"--tasks {source}: (no such file|cannot be imported)"):
        load_tasks(source)


def test_a_task_that_is_registered_stands_beside_ours():
    task = register_task(own_task())
    assert find_task("own") is task
    assert [task.name for task in all_tasks()] == [*OURS, "own"]
    assert register_task(task) is task  # the same one again is no harm
    with pytest.raises(BadInputError, match="there is a task 'own' already"):
        register_task(own_task())
    with pytest.raises(BadInputError, match="reads gold"):
        register_task(own_task("other", rule=visit_in_order("gold")))
