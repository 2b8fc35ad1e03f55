"""How a run was trained: its curves and the learned cost."""

import math
from collections import Counter
from statistics import fmean
from typing import Any, TypeGuard

from wfairl.core.costs.cost_model import CostModel
from wfairl.core.costs.cost_words import CLAIMED
from wfairl.core.costs.feature_costs import CostOverFeatures, SampledCost
from wfairl.core.costs.training import METRICS, is_falling
from wfairl.core.support.errors import WfairlError
from wfairl.pages.blocks import Column, Facts, PageTable, prose
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.charts import draw_lines
from wfairl.pages.cost_maps import draw_cost_maps
from wfairl.pages.cost_table import cost_table
from wfairl.pages.page import Block, Section
from wfairl.pages.preference import SCENES, NoPreferenceError, check_preference
from wfairl.pages.run_files import RunFiles
from wfairl.pages.text import Code, Text, capitalised, number

AXES = ("epoch", "iteration")
"""What a training counts: the x axis of its curves."""

NOT_DRAWN = ("learning_rate", "seconds")

LOSSES = {"held_out_loss": "held-out demonstrations", "train_loss": "training"}
"""The losses that share a chart."""


def training_section(run: RunFiles) -> Section:
    """The curves and the learned cost."""
    charts: tuple[Block, ...] = training_charts(run.metrics, run.method.learns_cost)
    curves, cost = charts or (prose(("There are no curves: the run has no ", Code(METRICS), ".")),), run.cost
    if cost is None:
        return Section("Training", curves)
    if isinstance(cost, CostOverFeatures):
        curves = ()  # it has no epochs
    return Section(
        "How the cost was learned",
        (*_cost_facts(run, cost), *cost_blocks(run, cost), *curves, *cost_maps(run, cost)),
    )


def training_charts(metrics: tuple[dict[str, Any], ...], marks_least: bool) -> tuple[CaptionedFigure, ...]:
    """One chart of the losses, and one for each other measured number; for each variant, which texts name."""
    axis = next((name for name in AXES if metrics and name in metrics[0]), None)
    if axis is None:
        return ()
    variants: dict[str, list[dict[str, Any]]] = {}
    for entry in (one for one in metrics if isinstance(one.get(axis), int)):
        name = "; ".join(f"{key} {value}" for key, value in entry.items() if isinstance(value, str))
        variants.setdefault(name, []).append(entry)
    return tuple(chart for name, entries in variants.items() for chart in _charts(name, entries, axis, marks_least))


def _charts(variant: str, entries: list[dict[str, Any]], axis: str, marks_least: bool) -> list[CaptionedFigure]:
    """The charts of measured numbers; other numbers count, or tell networks apart, whose mean is drawn."""
    networks = Counter(entry[axis] for entry in entries).most_common(1)[0][1]
    of = [*([variant] if variant else []), *([f"mean of {networks} networks"] if networks > 1 else [])]
    names = dict.fromkeys(name for entry in entries for name, value in entry.items() if _is_finite(value))
    curves = {name: _curve(entries, axis, name) for name in names if name not in NOT_DRAWN}
    losses = {title: curves.pop(name) for name, title in LOSSES.items() if name in curves}
    charts = []
    if losses:
        caption = "; ".join(["Loss: the mean negative log-likelihood of a demonstrated step", *of]) + "."
        mark = None
        if marks_least and "held_out_loss" in names:
            x, y = min(next(iter(losses.values())), key=lambda point: point[1])
            mark = x, y, f"{axis} {x:g} is selected"
        charts.append(draw_lines(losses, axis, "loss per step", caption, mark))
    for name, points in curves.items():
        title = name.replace("_", " ")
        charts.append(draw_lines({title: points}, axis, title, "; ".join(of)))
    return charts


def _curve(entries: list[dict[str, Any]], axis: str, name: str) -> tuple[tuple[float, float], ...]:
    """The mean of the finite values of a metric at each point of the axis."""
    values: dict[int, list[float]] = {}
    for entry in entries:
        if _is_finite(entry.get(name)):
            values.setdefault(entry[axis], []).append(entry[name])
    return tuple((float(x), fmean(ys)) for x, ys in sorted(values.items()))


def _is_finite(value: Any) -> TypeGuard[float]:
    return isinstance(value, float) and math.isfinite(value)


def cost_maps(run: RunFiles, cost: CostModel) -> tuple[Block, ...]:
    """Maps of each control's cost over the first scene of the page, or a sentence why there are none."""
    assert run.task_model is not None
    scenes, is_known = run.scenes(SCENES), None
    try:
        if isinstance(cost, SampledCost):
            if float(cost.unit[0]) >= CLAIMED:
                return (prose("There are no maps of the cost: the demonstrations do not show a preference."),)
            is_known = cost.is_known
        else:
            check_preference(run.task, scenes, run.task_model.finite, cost)
        return (draw_cost_maps(run.task, scenes[0], run.task_model.finite, cost, is_known=is_known),)
    except NoPreferenceError as error:
        text = f"{capitalised(str(error))}. Maps of the cost would only show noise, so there are none."
        if is_falling([entry.get("held_out_loss") for entry in run.metrics]):
            text += " But training ended while the held-out loss was still falling: with more epochs it may find one."
        return (prose(text),)
    except WfairlError as error:
        return (prose(f"There are no maps of the cost: {str(error).rstrip('.')}."),)


def _cost_facts(run: RunFiles, model: CostModel) -> tuple[Block, ...]:
    if isinstance(model, SampledCost):
        note = (
            "Costs of a few features and controls, weighed by how likely they are after the demonstrations; 90 % lie"
            " in the interval. A plain step, the most common kind, is the unit."
        )
        return (prose(note),)
    parameters = sum(array.size for array in model.arrays.values())
    held_out = [entry for entry in run.metrics if _is_finite(entry.get("held_out_loss"))]
    entries: list[tuple[str, Text]] = [
        ("Model", model.kind),
        ("Parameters", number(parameters)),
    ]
    if isinstance(model, CostOverFeatures):
        note = "The most likely weights, from all demonstrations. Before training, every control costs 1."
        return (prose(note), Facts(tuple(entries)))
    entries.append(("Epochs", number(max(len(run.metrics) - 1, 0))))
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


def cost_blocks(run: RunFiles, cost: CostModel) -> tuple[Block, ...]:
    """The learned weights by name; none for a network."""
    named = cost_table(cost, run.task.make_world(run.scenes(1)[0]))
    if named is None:
        return ()
    columns = (Column("feature"), *(Column(name, "right") for name in named.columns))
    rows = tuple(
        (name, *("" if math.isnan(value) else number(value) for value in values))
        for name, values in zip(named.rows, named.values.tolist(), strict=True)
    )
    return (PageTable(columns, rows, f"{capitalised(named.name)}. {named.meaning}"),)
