"""The tasks by name: our own, those of installed packages, and those that a user names.

A package of yours offers tasks through the entry-point group `wfairl.tasks`; a file or module of yours is named on the
command line, `wfairl --tasks my_tasks.py run NAME`. What counts is every task at the top level of a module, alone or
in a tuple or list. A task in plain JSON, such as the studio writes, is named in the same way; it cannot run code.
"""

import importlib
import importlib.util
import sys
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from wfairl.errors import BadInputError
from wfairl.files import read_json, seems
from wfairl.worlds.documents import task_of_document
from wfairl.worlds.task import Task, check_task, missing_attributes

BUILT_IN = (
    "wfairl.worlds.minigrid.tasks",
    "wfairl.worlds.minigrid.terrain",
    "wfairl.worlds.minigrid.babyai",
    "wfairl.worlds.office",
    "wfairl.worlds.continuous.workshop",
)
"""Our own modules of tasks; a new family of worlds is one more line."""

ENTRY_POINTS = "wfairl.tasks"

_tasks: dict[str, Task] = {}
_loaded: dict[str, None] = {}
"""The sources that were loaded, in order."""


def find_task(name: str) -> Task:
    """The task of a name.

    Raises:
        BadInputError: there is none.
    """
    known = _known()
    if name not in known:
        raise BadInputError(
            f"unknown task {name!r}; known are {', '.join(known)}. "
            "One of your own is in a file: wfairl --tasks my_tasks.py COMMAND; see docs/own-tasks.md"
        )
    return known[name]


def all_tasks() -> tuple[Task, ...]:
    """The tasks in the order in which they became known."""
    return tuple(_known().values())


def register_task(task: Task) -> Task:
    """Make a task known by its name.

    Raises:
        BrokenLawError: the task breaks a law of its contract.
        BadInputError: the name is taken.
    """
    known = _known()
    check_task(task)
    return _add(task, known)


def load_tasks(source: str) -> tuple[Task, ...]:
    """Make the tasks of a Python file (*.py), of a module or of a document (*.json) known.

    Raises:
        BadInputError: it cannot be imported, or holds no task, or one that breaks a law or whose name is taken.
    """
    if source in _loaded:
        return ()
    known = dict(_known())
    try:
        found = [_read(Path(source))] if source.endswith(".json") else _tasks_in(_import(source))
        if not found:
            raise BadInputError("there is no task at its top level; see docs/own-tasks.md")
        for task in found:
            if known.get(task.name) is not task:
                check_task(task)
                _add(task, known)
    except BadInputError as error:
        raise BadInputError(f"--tasks {source}: {error}") from error
    _tasks.update(known)
    _loaded[source] = None
    return tuple(found)


def loaded_sources() -> tuple[str, ...]:
    """What `load_tasks` has loaded, for workers that must know the same tasks."""
    return tuple(_loaded)


def _known() -> dict[str, Task]:
    """All tasks, our own and those of installed packages looked up the first time."""
    if not _tasks:
        known: dict[str, Task] = {}
        for module in BUILT_IN:
            for task in _tasks_in(importlib.import_module(module)):
                _add(task, known)
        for point in entry_points(group=ENTRY_POINTS):
            try:
                value = point.load()
            except Exception as error:
                raise BadInputError(
                    f"the tasks {point.name!r} of an installed package cannot be imported ({_in_one_line(error)})"
                ) from error
            for task in _tasks_in(value) if isinstance(value, ModuleType) else _tasks_of(value):
                _add(task, known)
        _tasks.update(known)
    return _tasks


def _add(task: Task, known: dict[str, Task]) -> Task:
    if known.get(task.name, task) is not task:
        raise BadInputError(f"there is a task {task.name!r} already")
    known[task.name] = task
    return task


def _in_one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


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
        sys.modules.setdefault(path.stem, module)  # so that dataclasses of the file can look their module up
        sys.path.insert(0, str(path.parent))  # so that it can import what lies beside it
        try:
            spec.loader.exec_module(module)
        finally:
            sys.path.remove(str(path.parent))
        return module
    except BadInputError:
        raise
    except Exception as error:
        raise BadInputError(f"cannot be imported ({_in_one_line(error)})") from error


def _tasks_in(module: ModuleType) -> list[Task]:
    """The distinct tasks at the top level of a module, in their order."""
    found = [task for name, value in vars(module).items() if not name.startswith("_") for task in _tasks_of(value)]
    return list({id(task): task for task in found}.values())


def _tasks_of(value: Any) -> list[Task]:
    values = value if isinstance(value, tuple | list) else (value,)
    return [one for one in values if not isinstance(one, type) and not missing_attributes(one)]
