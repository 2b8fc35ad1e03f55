"""How a run was trained: its curves and the learned cost."""

import math
from typing import Any, TypeGuard

from wfairl.core.costs.checkpoint import METRICS
from wfairl.core.costs.storage import load_cost
from wfairl.core.costs.trainer import is_falling
from wfairl.core.runs.run_directory import COST, load_run
from wfairl.core.support.errors import WfairlError
from wfairl.core.worlds.task import Task
from wfairl.pages.blocks import Facts, prose
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.charts import Series, draw_lines
from wfairl.pages.cost_maps import draw_cost_maps
from wfairl.pages.page import Block, Section
from wfairl.pages.preference import SCENES, NoPreferenceError, check_preference
from wfairl.pages.run_episodes import scenes_of
from wfairl.pages.run_files import RunFiles
from wfairl.pages.tables import Column, Table
from wfairl.pages.text import Code, Text, brief_number, capitalised, number

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
