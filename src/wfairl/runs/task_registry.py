"""The tasks by name: those of the neighbours, those of installed packages, and those that a user names.

A package offers tasks through the entry-point group `wfairl.tasks`; a file or module is named on the command line,
`wfairl --tasks my_tasks.py run NAME`. Every task at the top level of a module counts, alone or in a tuple or list. An
installed module may have no task, and register methods or learners instead. A task in plain JSON, such as the studio
writes, is named in the same way; it cannot run code.
"""

import importlib
import importlib.util
import re
import sys
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from wfairl.core.support.errors import BadInputError, one_line
from wfairl.core.support.files import read_json, seems
from wfairl.core.support.registry import Registry
from wfairl.core.worlds.compiled import DEFAULT_MAX_STATES
from wfairl.core.worlds.simulator import ModelSimulator
from wfairl.core.worlds.task import ModelTask, Task
from wfairl.runs.task_laws import check_task, missing_attributes

ENTRY_POINTS = "wfairl.tasks"

SLIPPING_NAME = re.compile(r"(.+)-slip-(\d*\.?\d+)")
"""The name of a task, and the probability with which its controls slip."""


def _load(name: str, module: str) -> Task:
    """The task of a name among those at the top level of a module."""
    return next(task for task in _tasks_in(importlib.import_module(module)) if task.name == name)


_tasks: Registry[Task] = Registry(
    "task",
    {},
    "One of your own is in a file: wfairl --tasks my_tasks.py COMMAND, or in Python register_task(TASK); see"
    " docs/your-own-world.md",
    _load,
)
_installed: list[str] = []
"""The entry points that have been followed."""

KINDS: Registry[Any] = Registry("kind of task", {})
"""The modules that make tasks of documents, by the kind that a document names."""

_loaded: dict[str, None] = {}
"""The sources that have been loaded, in order."""


def find_task(name: str) -> Task:
    """The task of a name, or a `BadInputError` that lists the names.

    `NAME-slip-0.1` is the task NAME in worlds where a control is replaced by another one with probability 0.1.
    """
    slipping = SLIPPING_NAME.fullmatch(name)
    if slipping is not None and name not in _registered():
        return slipping_task(find_task(slipping[1]), float(slipping[2]))
    return _registered().find(name)


def slipping_task(task: Task, probability: float) -> ModelTask:
    """A task in worlds that slip: with some probability a control is replaced by another one that is available.

    If the task has a simulator of its own, what that does is what really happens, and only the model slips.
    """
    if not 0 < probability < 1:
        raise BadInputError(f"a control slips with a probability between 0 and 1, not {probability}")
    if getattr(task, "slip", 0.0):
        raise BadInputError(f"the worlds of the task {task.name!r} slip already")
    return ModelTask(
        name=f"{task.name}-slip-{probability:g}",
        title=f"{task.title}, slip {probability:g}",
        summary=f"{task.summary}; a control is replaced by another in {probability:.3g} of the steps",
        propositions=task.propositions,
        rule=task.rule,
        horizon=task.horizon,
        scene=getattr(task, "scene", task.make_world),
        default_cost=task.default_cost,
        true_cost=task.true_cost,
        nominal_cost=getattr(task, "nominal_cost", None),
        simulator=getattr(task, "simulator", ModelSimulator),
        max_states=getattr(task, "max_states", DEFAULT_MAX_STATES),
        slip=probability,
    )


def all_tasks() -> tuple[Task, ...]:
    """All tasks, in the order in which they were registered."""
    return tuple(_registered().values())


def register_task(task: Task) -> Task:
    """Register a task by its name; one that is taken, or a task that breaks a law, is a `BadInputError`."""
    tasks = _registered()
    check_task(task)
    return tasks.register(task.name, task)


def load_tasks(source: str) -> tuple[Task, ...]:
    """Register the tasks of a Python file (*.py), of a module or of a document (*.json), or say what is wrong."""
    if source in _loaded:
        return ()
    tasks = _registered()
    try:
        new = [_read(Path(source))] if source.endswith(".json") else _tasks_in(_import(source))
        if not new and source.endswith((".py", ".json")):
            raise BadInputError("there is no task at its top level; see docs/your-own-world.md")
        for task in new:
            if tasks.get(task.name) is not task:
                check_task(task)
        tasks.register_all((task.name, task) for task in new)
    except BadInputError as error:
        raise BadInputError(f"--tasks {source}: {error}") from error
    _loaded[source] = None
    return tuple(new)


def loaded_sources() -> tuple[str, ...]:
    """The sources that `load_tasks` has loaded, for workers that need the same tasks."""
    return tuple(_loaded)


def _registered() -> Registry[Task]:
    """All tasks; the first call imports those of installed packages."""
    if not _installed:
        tasks = []
        for point in entry_points(group=ENTRY_POINTS):
            try:
                value = point.load()
            except Exception as error:
                raise BadInputError(
                    f"the tasks {point.name!r} of an installed package cannot be imported ({one_line(error)})"
                ) from error
            tasks += _tasks_in(value) if isinstance(value, ModuleType) else _tasks_of(value)
        _tasks.register_all((task.name, task) for task in tasks)
        _installed.append(ENTRY_POINTS)
    return _tasks


def task_of_document(document: Any) -> Task:
    """The task of a document, or a `BadInputError` that says what is wrong with it."""
    kind = document.get("kind") if isinstance(document, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadInputError(f"not a task in JSON, whose kind is {' or '.join(KINDS)}")
    task: Task = KINDS[kind].task_of_document(document)
    return task


def _read(path: Path) -> Task:
    try:
        return task_of_document(read_json(path))
    except BadInputError as error:
        raise BadInputError(f"{error}{seems(path)}") from None


def _import(source: str) -> ModuleType:
    try:
        if not source.endswith(".py"):
            return importlib.import_module(source)
        path = Path(source).resolve()
        if not path.is_file():
            raise BadInputError("no such file")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)  # so that dataclasses of the file find their module
        sys.path.insert(0, str(path.parent))  # so that it can import its neighbours
        try:
            spec.loader.exec_module(module)
        finally:
            sys.path.remove(str(path.parent))
        return module
    except BadInputError:
        raise
    except Exception as error:
        raise BadInputError(f"cannot be imported ({one_line(error)})") from error


def _tasks_in(module: ModuleType) -> list[Task]:
    """The distinct tasks at the top level of a module, in their order."""
    tasks = [task for name, value in vars(module).items() if not name.startswith("_") for task in _tasks_of(value)]
    return list({id(task): task for task in tasks}.values())


def _tasks_of(value: Any) -> list[Task]:
    values = value if isinstance(value, tuple | list) else (value,)
    return [one for one in values if not isinstance(one, type) and not missing_attributes(one)]
