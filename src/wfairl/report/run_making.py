"""How a run was made: its configuration, the installed versions, and the command that makes it again."""

import shlex
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wfairl.experiment import Config
from wfairl.learning.checkpoint import CONFIG
from wfairl.learning.run_directory import TASK_MODEL, training_temperature
from wfairl.methods.method import plain
from wfairl.report.blocks import Command, Facts, prose
from wfairl.report.page import Section
from wfairl.report.provenance import provenance
from wfairl.report.run_files import RunFiles
from wfairl.report.text import Text, brief_number, counted
from wfairl.worlds.registry import loaded_sources
from wfairl.worlds.task import Task

SAME = "The same command gives the same run, on any number of cores:"
TRAINED = "This command trained it:"


def making_section(run: RunFiles, task: Task) -> Section:
    """Configuration, versions, and the command."""
    started = datetime.fromtimestamp((run.directory / CONFIG).stat().st_mtime, UTC)
    here = provenance("wfairl report")
    versions = tuple(here["versions"].items())
    settings = flat({name: plain(value) for name, value in asdict(run.config).items()})
    return Section(
        "How it was made",
        (
            prose(_introduction(run)),
            Command(command_of(run, task)),
            Facts(tuple((name, _shown(value)) for name, value in settings.items()), "Configuration"),
            Facts(
                (("run started", f"{started:%d %B %Y}"), *versions, ("machine", here["machine"])),
                "Where this page was made",
            ),
        ),
    )


def command_of(run: RunFiles, task: Task) -> str:
    """The command that makes the same run again; it names only settings that are not the default."""
    sources = [part for source in loaded_sources() for part in ("--tasks", source)]
    command = _train_command(run, task) if run.experiment is None else _run_command(run, run.experiment)
    return shlex.join(["wfairl", *sources, *command])


def _run_command(run: RunFiles, experiment: Mapping[str, Any]) -> list[str]:
    default = asdict(Config(run.config.task))
    own = {name: experiment[name] for name in default if name in experiment and experiment[name] != default[name]}
    settings = own.pop("settings", {})
    return ["run", run.config.task, "-o", _place(run), *_options({**own, **settings})]


def _train_command(run: RunFiles, task: Task) -> list[str]:
    demonstrations = [str(name) for name in run.config.origin.get("demonstrations", ())] or ["DEMOS"]
    model = ["--task-model", str(Path(_place(run), TASK_MODEL))] if run.method.needs_task_model else []
    method = [] if run.method.needs_task_model else ["--method", run.method.name]
    options = _options(changed_settings(run, task))
    return ["train", *demonstrations, *method, *model, "-o", _place(run), *options]


def changed_settings(run: RunFiles, task: Task) -> dict[str, Any]:
    """The settings of a run's method that are not the default, by name."""
    decided = {"cost": task.default_cost, "temperature": training_temperature(run.config.temperature)}
    changed = run.method.changed_settings(run.config.settings)
    return {
        name: value for name, (value, default) in changed.items() if default is not None or value != decided.get(name)
    }


def _options(settings: Mapping[str, Any]) -> list[str]:
    """Settings as options of the command line."""
    options = []
    for name, value in settings.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            options.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            options += [
                part for one in (value if isinstance(value, list) else [value]) for part in (f"--{flag}", str(one))
            ]
    return options


def _place(run: RunFiles) -> str:
    """The run's directory as it was named, or by its own name if it was only pointed at."""
    return str(run.directory) if run.directory.name else run.directory.resolve().name


def _introduction(run: RunFiles) -> str:
    """What there is to say of the command."""
    if run.experiment is not None:
        return SAME
    successes = run.config.origin.get("successes")
    if successes is None:
        return TRAINED
    return (
        f"A suite trained it, on the first {counted(successes, 'success', 'successes')} of these demonstrations; this"
        " command trains it alone:"
    )


def flat(document: dict[str, Any]) -> dict[str, Any]:
    """Settings by their names, those within a group as `group.name`; without empty ones."""
    found: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, dict):
            found |= {f"{name}.{inner}": content for inner, content in flat(value).items()}
        elif value is not None and value != [] and value != ():
            found[name] = value
    return found


def _shown(value: Any) -> Text:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return brief_number(value)
