"""How a run was made: its configuration, the installed versions, and the command that makes it again."""

import shlex
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wfairl import methods
from wfairl.experiment import Config
from wfairl.learning.run_directory import CONFIG, TASK_MODEL, WFA_IRL, training_temperature
from wfairl.report.blocks import Command, Facts, prose
from wfairl.report.page import Section
from wfairl.report.provenance import provenance
from wfairl.report.run_files import RunFiles
from wfairl.report.text import Text, brief_number, counted

SAME = "The same command gives the same run, on any number of cores:"
TRAINED = "It was trained by this command:"

WITHOUT_OPTION = ("rank", "rows", "cols")
"""Settings of a run that only Python can change."""

TRAIN_OPTIONS = {
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            "epochs", "batch_size", "learning_rate", "weight_decay", "seed", "cost", "activation", "floor",
            "temperature", "held_out", "view", "networks", "iterations",
        )
    },
    "dropouts": "--dropout",
    "rewards": "--reward",
}  # fmt: skip
"""What `wfairl train` calls the settings of methods that it has options for."""


def making_section(run: RunFiles) -> Section:
    """Configuration, versions, and the command."""
    started = datetime.fromtimestamp((run.directory / CONFIG).stat().st_mtime, UTC)
    here = provenance("wfairl report")
    versions = tuple(here["versions"].items())
    settings = flat({name: value for name, value in run.config.items() if name not in ("format", "version")})
    return Section(
        "How it was made",
        (
            prose(_introduction(run)),
            Command(command_of(run)),
            Facts(tuple((name, _shown(value)) for name, value in settings.items()), "Configuration"),
            Facts(
                (("run started", f"{started:%d %B %Y}"), *versions, ("machine", here["machine"])),
                "Where this page was made",
            ),
        ),
    )


def command_of(run: RunFiles) -> str:
    """The command that makes the same run again; it names only settings that are not the default."""
    experiment = run.experiment
    if experiment is None:
        return _train_command(run)
    own, training = _changed(experiment, Config(run.task))
    if any(name in own for name in WITHOUT_OPTION):
        return _python(run.task, own, training, _place(run))
    options = [
        part for name, value in {**own, **training}.items() for part in (f"--{name.replace('_', '-')}", str(value))
    ]
    return shlex.join(["wfairl", "run", run.task, "-o", _place(run), *options])


def _train_command(run: RunFiles) -> str:
    origin = run.config.get("origin", {})
    demonstrations = [str(name) for name in origin.get("demonstrations", ())] or ["DEMOS"]
    method = ["--task-model", str(Path(_place(run), TASK_MODEL))] if run.method == WFA_IRL else ["--method", run.method]
    options = [
        part
        for name, value in changed_settings(run).items()
        if name in TRAIN_OPTIONS
        for one in (value if isinstance(value, list) else [value])
        for part in (TRAIN_OPTIONS[name], str(one))
    ]
    return shlex.join(["wfairl", "train", *demonstrations, *method, "-o", _place(run), *options])


def changed_settings(run: RunFiles) -> dict[str, Any]:
    """The settings of a run's method that are not the default, by name."""
    given = {**run.config, **run.config.get("training", {})}
    if run.plans and given.get("temperature") == training_temperature(run.config.get("temperature")):
        del given["temperature"]  # the default is the demonstrations' temperature
    return {name: value for name, (value, _) in methods.changed_settings(run.method, given).items()}


def _place(run: RunFiles) -> str:
    """The run's directory as it was named, or by its own name if it was only pointed at."""
    return str(run.directory) if run.directory.name else run.directory.resolve().name


def _introduction(run: RunFiles) -> str:
    """What there is to say of the command."""
    if run.experiment is not None:
        return SAME
    successes = run.config.get("origin", {}).get("successes")
    text = (
        TRAINED
        if successes is None
        else f"A reproduction trained it, on the first {counted(successes, 'success', 'successes')} of these"
        " demonstrations; this command trains it alone:"
    )
    without = [f"{name} {value}" for name, value in changed_settings(run).items() if name not in TRAIN_OPTIONS]
    return f"{text[:-1]}, with settings that only Python has ({', '.join(without)}):" if without else text


def _changed(experiment: dict[str, Any], default: Config) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings that are not the default: of the flow, and of the training."""
    before = asdict(default)
    own = {name: experiment[name] for name in before if name in experiment and experiment[name] != before[name]}
    training = own.pop("training", {})
    # The temperature and the seed of the flow take the place of the training's own.
    names = [name for name in before["training"] if name in training and name not in ("temperature", "seed")]
    return own, {name: training[name] for name in names if training[name] != before["training"][name]}


def _python(task: str, own: dict[str, Any], training: dict[str, Any], place: str) -> str:
    settings = [repr(task), *(f"{name}={value!r}" for name, value in own.items())]
    lines = ["from pathlib import Path", "", "from wfairl.experiment import Config, run"]
    if training:
        lines.append("from wfairl.learning.trainer import Settings")
        settings.append(f"training=Settings({', '.join(f'{name}={value!r}' for name, value in training.items())})")
    return "\n".join([*lines, "", f"run(Config({', '.join(settings)}), Path({place!r}))"])


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
