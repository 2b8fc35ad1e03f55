"""How to make a run again: the command, its configuration, and the installed versions."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wfairl.core.costs.settings import training_temperature
from wfairl.core.runs.methods import plain
from wfairl.core.runs.pipeline import PipelineConfig
from wfairl.core.runs.run_directory import CONFIG, TASK_MODEL
from wfairl.core.worlds.task import Task
from wfairl.pages.blocks import Command, Facts, prose
from wfairl.pages.page import Section
from wfairl.pages.provenance import provenance
from wfairl.pages.run_files import RunFiles, command_line
from wfairl.pages.text import Text, brief_number, counted


def reproduction_section(run: RunFiles, task: Task) -> Section:
    """The command that makes the run again, its configuration, and the installed versions."""
    started = datetime.fromtimestamp((run.directory / CONFIG).stat().st_mtime, UTC)
    here = provenance("wfairl report")
    versions = tuple(here["versions"].items())
    settings = flat({name: plain(value) for name, value in asdict(run.config).items()})
    return Section(
        "How to reproduce it",
        (
            prose(_about_command(run)),
            Command(repeating_command(run, task)),
            Facts(tuple((name, _setting_text(value)) for name, value in settings.items()), "Configuration"),
            Facts(
                (("run started", f"{started:%d %B %Y}"), *versions, ("machine", here["machine"])),
                "Environment of this page",
            ),
        ),
    )


def repeating_command(run: RunFiles, task: Task) -> str:
    """The command that makes the same run again, with the settings that differ from the defaults."""
    return command_line(*_train_command(run, task) if run.experiment is None else _run_command(run, run.experiment))


def _run_command(run: RunFiles, experiment: Mapping[str, Any]) -> list[str]:
    default = asdict(PipelineConfig(run.config.task))
    if experiment["demos"]:
        default |= {name: experiment[name] for name in ("successes", "failures", "temperature")}
    own = {name: plain(experiment[name]) for name in default if experiment[name] != default[name]}
    settings = own.pop("settings", {})
    return ["run", run.config.task, "-o", _directory_name(run), *_options({**own, **settings})]


def _train_command(run: RunFiles, task: Task) -> list[str]:
    demonstrations = [str(name) for name in run.config.origin.get("demonstrations", ())] or ["DEMOS"]
    model = ["--task-model", str(Path(_directory_name(run), TASK_MODEL))] if run.method.needs_task_model else []
    method = [] if run.method.needs_task_model else ["--method", run.method.name]
    options = _options(settings_of_command(run, task))
    return ["train", *demonstrations, *method, *model, "-o", _directory_name(run), *options]


def settings_of_command(run: RunFiles, task: Task) -> dict[str, Any]:
    """The settings of a run's method that differ from the defaults, by name."""
    decided = {"cost": task.default_cost, "temperature": training_temperature(run.config.temperature)}
    changed = run.method.changed_settings(run.config.settings)
    return {
        name: value for name, (value, default) in changed.items() if default is not None or value != decided.get(name)
    }


def _options(settings: Mapping[str, Any]) -> Iterator[str]:
    """Settings as options of the command line."""
    for name, value in settings.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            yield f"--{flag}" if value else f"--no-{flag}"
        else:
            for one in value if isinstance(value, list) else [value]:
                yield from (f"--{flag}", str(one))


def _directory_name(run: RunFiles) -> str:
    """The run's directory as the caller named it; its own name if that was a path such as `.`."""
    return str(run.directory) if run.directory.name else run.directory.resolve().name


def _about_command(run: RunFiles) -> str:
    if run.experiment is not None:
        return "This command makes the same run again, on any number of cores:"
    successes = run.config.origin.get("successes")
    part = "" if successes is None else f", on the first {counted(successes, 'success', 'successes')} of its data"
    return f"This command trained it{part}:"


def flat(document: dict[str, Any]) -> dict[str, Any]:
    """Nested settings as `group.name`, without empty ones."""
    settings: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, dict):
            settings |= {f"{name}.{inner}": content for inner, content in flat(value).items()}
        elif value is not None and value != [] and value != ():
            settings[name] = value
    return settings


def _setting_text(value: Any) -> Text:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return brief_number(value) if isinstance(value, int | float) else str(value)
