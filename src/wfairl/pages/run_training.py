"""How a run was trained: its curves, the learned cost, its configuration, and the command that repeats it."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

from wfairl.core.costs.checkpoint import METRICS
from wfairl.core.costs.settings import training_temperature
from wfairl.core.costs.storage import load_cost
from wfairl.core.costs.trainer import is_falling
from wfairl.core.runs.methods import plain
from wfairl.core.runs.pipeline import PipelineConfig
from wfairl.core.runs.run_directory import CONFIG, COST, TASK_MODEL, load_run
from wfairl.core.support.errors import WfairlError
from wfairl.core.worlds.task import Task
from wfairl.pages.blocks import Command, Facts, prose
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.charts import Series, draw_lines
from wfairl.pages.cost_maps import draw_cost_maps
from wfairl.pages.page import Block, Section
from wfairl.pages.preference import SCENES, NoPreferenceError, check_preference
from wfairl.pages.provenance import provenance
from wfairl.pages.run_episodes import scenes_of
from wfairl.pages.run_files import RunFiles, command_line
from wfairl.pages.tables import Column, Table
from wfairl.pages.text import Code, Text, brief_number, capitalised, counted, number

AXES = ("epoch", "iteration")
"""The x axes of metrics; it depends on the method which one they have."""

VARIANTS = ("reward",)
"""Settings that a method may vary; each variant has its own curves."""

NOT_DRAWN = frozenset({*AXES, *VARIANTS, "network", "learning_rate", "seconds"})

LOSSES = {"held_out_loss": "held-out demonstrations", "train_loss": "training"}
"""The losses that share a chart."""

Curve = tuple[tuple[float, float], ...]


def training_section(run: RunFiles, task: Task) -> Section:
    """The curves and the learned cost."""
    charts: tuple[Block, ...] = training_charts(run.metrics, run.method.learns_cost)
    curves = charts or (prose(("There are no curves: the run has no ", Code(METRICS), ".")),)
    has_cost = (run.directory / COST).exists()
    title = "The cost it learned" if has_cost else "Training"
    return Section(
        title, (*_cost_facts(run), *cost_blocks(run, task), *curves, *cost_maps(run, task)) if has_cost else curves
    )


def training_charts(metrics: tuple[dict[str, Any], ...], marks_least: bool) -> tuple[CaptionedFigure, ...]:
    """For each variant one chart of the two losses, and one for each other metric."""
    axis = next((name for name in AXES if metrics and name in metrics[0]), None)
    if axis is None:
        return ()
    variants: dict[str, list[dict[str, Any]]] = {}
    for entry in metrics:
        name = ", ".join(f"{key} {entry[key]}" for key in VARIANTS if key in entry)
        variants.setdefault(name, []).append(entry)
    return tuple(chart for name, entries in variants.items() for chart in _charts(name, entries, axis, marks_least))


def _charts(variant: str, entries: list[dict[str, Any]], axis: str, marks_least: bool) -> list[CaptionedFigure]:
    names = dict.fromkeys(name for entry in entries for name in entry if name not in NOT_DRAWN)
    curves = {name: points for name in names if (points := _curve(entries, axis, name))}
    losses = tuple(Series(title, curves[name]) for name, title in LOSSES.items() if name in curves)
    networks = len({entry.get("network") for entry in entries})
    of = [variant] if variant else []
    of += [f"mean of {networks} networks"] if networks > 1 else []
    mark = _least(curves["held_out_loss"], axis) if marks_least and "held_out_loss" in curves else None
    meaning = "Loss: the mean negative log-likelihood of a demonstrated step"
    charts = [draw_lines(losses, axis, "loss per step", "; ".join([meaning, *of]) + ".", mark)] if losses else []
    for name, points in curves.items():
        if name not in LOSSES:
            title = name.replace("_", " ")
            charts.append(draw_lines([Series(title, points)], axis, title, "; ".join(of)))
    return charts


def _curve(entries: list[dict[str, Any]], axis: str, name: str) -> Curve:
    """The mean of the finite values of a metric at each point of the axis."""
    values: dict[float, list[float]] = {}
    for entry in entries:
        x, y = entry.get(axis), entry.get(name)
        if _is_finite(x) and _is_finite(y):
            values.setdefault(x, []).append(y)
    return tuple((float(x), math.fsum(ys) / len(ys)) for x, ys in sorted(values.items()))


def _is_finite(x: Any) -> TypeGuard[float]:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)


def _least(points: Curve, axis: str) -> tuple[float, float, str]:
    """The first point of least held-out loss, which training selects."""
    x, y = min(points, key=lambda point: point[1])
    return x, y, f"{axis} {x:g} is selected"


def cost_maps(run: RunFiles, task: Task) -> tuple[Block, ...]:
    """Maps of each control's cost over the first scene of the page, or a sentence why there are none."""
    try:
        learned = load_run(run.directory)
        automaton, cost, scenes = learned.task_model.finite, learned.cost.as_cost(), scenes_of(run, SCENES)
        check_preference(task, scenes, automaton, cost)
        return (draw_cost_maps(task, scenes[0], automaton, cost),)
    except NoPreferenceError as error:
        text = f"{capitalised(str(error))}. Maps of the cost would only show noise, so there are none."
        if is_falling([entry.get("held_out_loss") for entry in run.metrics]):
            text += " But training ended while the held-out loss was still falling: with more epochs it may find one."
        return (prose(text),)
    except WfairlError as error:
        return (prose(f"There are no maps of the cost: {str(error).rstrip('.')}."),)


def _cost_facts(run: RunFiles) -> tuple[Block, ...]:
    model = load_cost(run.directory / COST)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    numbers = ("epoch", "held_out_loss")
    held_out = [entry for entry in run.metrics if all(_is_finite(entry.get(name)) for name in numbers)]
    entries: list[tuple[str, Text]] = [
        ("Model", f"{model.kind}, {run.config.settings['activation']} output"),
        ("Parameters", number(parameters)),
        ("Minimum cost of a transition", brief_number(float(run.config.settings["floor"]))),
        ("Epochs", number(max(len(run.metrics) - 1, 0))),
    ]
    if held_out:
        selected = min(held_out, key=lambda entry: entry["held_out_loss"])
        entries += [
            ("Selected epoch", number(selected["epoch"])),
            ("Held-out loss per step", number(selected["held_out_loss"], 4)),
            ("Held-out loss before training", number(held_out[0]["held_out_loss"], 4)),
        ]
    note = (
        "Training fits a cost for every transition, under which the demonstrated controls are likely, and selects the "
        "epoch with the least loss on held-out demonstrations. Before training, every control costs 1."
    )
    return (prose(note), Facts(tuple(entries)))


def cost_blocks(run: RunFiles, task: Task) -> tuple[Block, ...]:
    """The learned weights by name, and what transitions cost; none for a network."""
    return tuple(
        Table(
            (Column(named.of), *(Column(name, "right") for name in named.columns)),
            tuple(
                (name, *("" if math.isnan(value) else number(value) for value in values))
                for name, values in zip(named.rows, named.values.tolist(), strict=True)
            ),
            f"{capitalised(named.name)}. {named.meaning}",
        )
        for named in load_cost(run.directory / COST).explain(task.make_world(scenes_of(run, 1)[0]))
    )


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


def _directory_name(run: RunFiles) -> str:
    """The run's directory as the caller named it; its own name if that was a path such as `.`."""
    return str(run.directory) if run.directory.name else run.directory.resolve().name


def _about_command(run: RunFiles) -> str:
    if run.experiment is not None:
        return "This command makes the same run again, on any number of cores:"
    successes = run.config.origin.get("successes")
    if successes is None:
        return "This command trained it:"
    return (
        f"A suite trained it on the first {counted(successes, 'success', 'successes')} of these demonstrations. This"
        " command trains it alone:"
    )


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
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return brief_number(value)
