"""How a run was trained: its curves, and the cost that it learned."""

import math
from typing import Any, TypeGuard

from wfairl.errors import WfairlError
from wfairl.learning.checkpoint import METRICS
from wfairl.learning.run_directory import COST, load_run
from wfairl.learning.storage import load_cost
from wfairl.report.blocks import Facts, figure_of, prose
from wfairl.report.charts import LineChart, Series
from wfairl.report.figures.cost_maps import draw_cost_maps
from wfairl.report.page import Block, Section
from wfairl.report.preference import SCENES, NoPreferenceError, check_preference
from wfairl.report.run_episodes import scenes_of
from wfairl.report.run_files import RunFiles
from wfairl.report.text import Code, Text, brief_number, capitalised, number
from wfairl.worlds.task import Task

AXES = ("epoch", "iteration")
"""What may count the entries of the metrics, by the method."""

VARIANTS = ("dropout", "reward")
"""What a method may try in several ways, each with curves of its own."""

UNSHOWN = frozenset({*AXES, *VARIANTS, "network", "learning_rate", "seconds"})

LOSSES = {"held_out_loss": "held-out demonstrations", "train_loss": "training"}
"""The losses that share a chart, the first the most prominent."""

Points = tuple[tuple[float, float], ...]


def training_section(run: RunFiles, task: Task) -> Section:
    """The curves and the cost."""
    charts: tuple[Block, ...] = training_charts(run.metrics, run.method.learns_cost)
    curves = charts or (prose(("There are no curves: there is no ", Code(METRICS), ".")),)
    has_cost = (run.directory / COST).exists()
    title = "The cost it learned" if has_cost else "Training"
    return Section(title, (*_cost_facts(run), *curves, *cost_maps(run, task)) if has_cost else curves)


def training_charts(metrics: tuple[dict[str, Any], ...], keeps_least: bool) -> tuple[LineChart, ...]:
    """For each variant that was tried one chart of the two losses, and one for each other number that was kept."""
    axis = next((name for name in AXES if metrics and name in metrics[0]), None)
    if axis is None:
        return ()
    variants: dict[str, list[dict[str, Any]]] = {}
    for entry in metrics:
        name = ", ".join(f"{key} {entry[key]}" for key in VARIANTS if key in entry)
        variants.setdefault(name, []).append(entry)
    return tuple(chart for name, entries in variants.items() for chart in _charts(name, entries, axis, keeps_least))


def _charts(variant: str, entries: list[dict[str, Any]], axis: str, keeps_least: bool) -> list[LineChart]:
    names = dict.fromkeys(name for entry in entries for name in entry if name not in UNSHOWN)
    curves = {name: points for name in names if (points := _curve(entries, axis, name))}
    losses = tuple(Series(shown, curves[name]) for name, shown in LOSSES.items() if name in curves)
    networks = len({entry.get("network") for entry in entries})
    caption = "; ".join(part for part in (variant, f"mean of {networks} networks" if networks > 1 else "") if part)
    mark = _least(curves["held_out_loss"], axis) if keeps_least and "held_out_loss" in curves else None
    charts = [LineChart(losses, axis, "loss per step (mean negative log-likelihood)", mark, caption)] if losses else []
    for name, points in curves.items():
        if name not in LOSSES:
            shown = name.replace("_", " ")
            charts.append(LineChart((Series(shown, points),), axis, shown, None, caption))
    return charts


def _curve(entries: list[dict[str, Any]], axis: str, name: str) -> Points:
    """The mean of a name's finite numbers at each place of the axis that has any."""
    found: dict[float, list[float]] = {}
    for entry in entries:
        x, y = entry.get(axis), entry.get(name)
        if _is_finite(x) and _is_finite(y):
            found.setdefault(x, []).append(y)
    return tuple((float(x), math.fsum(ys) / len(ys)) for x, ys in sorted(found.items()))


def _is_finite(x: Any) -> TypeGuard[float]:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)


def _least(points: Points, axis: str) -> tuple[float, float, str]:
    """The first entry of least held-out loss, which is the one that the training of a cost keeps."""
    x, y = min(points, key=lambda point: point[1])
    return x, y, f"{axis} {x:g} is kept"


def cost_maps(run: RunFiles, task: Task) -> tuple[Block, ...]:
    """The cost of each control over the first scene that the page shows; a sentence where there is no such map."""
    try:
        learned = load_run(run.directory)
        automaton, cost, scenes = learned.task_model.finite, learned.cost.as_cost(), scenes_of(run, SCENES)
        check_preference(task, scenes, automaton, cost)
        return (figure_of(draw_cost_maps(task, scenes[0], automaton, cost)),)
    except NoPreferenceError as error:
        return (prose(f"{capitalised(str(error))}. So there are no maps of the cost, which would colour noise."),)
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
        ("Lowest cost of a transition", brief_number(float(run.config.settings["floor"]))),
        ("Epochs", number(max(len(run.metrics) - 1, 0))),
    ]
    if held_out:
        kept = min(held_out, key=lambda entry: entry["held_out_loss"])
        entries += [
            ("Epoch that was kept", number(kept["epoch"])),
            ("Held-out loss per step", number(kept["held_out_loss"], 4)),
            ("Before training", number(held_out[0]["held_out_loss"], 4)),
        ]
    note = (
        "Training gives every transition a cost, so that the demonstrated controls become likely. It keeps the epoch "
        "at which the demonstrations that it held out were most likely; before training, every control costs 1."
    )
    return (prose(note), Facts(tuple(entries)))
