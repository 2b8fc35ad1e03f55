"""How a run was trained: its curves, and what is known of the cost that came of it."""

import math
from typing import Any

from wfairl.learning.checkpoint import METRICS
from wfairl.learning.run_directory import COST
from wfairl.learning.storage import load_cost
from wfairl.report.blocks import Facts, prose
from wfairl.report.charts import LineChart, Series
from wfairl.report.page import Block, Section
from wfairl.report.run_files import RunFiles
from wfairl.report.text import Code, Text, brief_number, number

STEPS = ("epoch", "update", "iteration", "step", "steps", "timesteps")
"""What may count the entries of the metrics, by the method."""

UNSHOWN = frozenset({*STEPS, "learning_rate", "seconds"})

NAMES = {"train_loss": "training", "held_out_loss": "held-out demonstrations"}
"""The losses that belong into one chart, the first the most prominent."""


def training_section(run: RunFiles) -> Section:
    """The curves and the cost."""
    title = "The cost it learned" if (run.directory / COST).exists() else "Training"
    curves = training_charts(run.metrics) or (prose(("There are no curves: there is no ", Code(METRICS), ".")),)
    return Section(title, (*_cost_facts(run), *curves))


def training_charts(metrics: tuple[dict[str, Any], ...]) -> tuple[LineChart, ...]:
    """One chart of the two losses, and one for each other number that the method kept."""
    axis = next((name for name in STEPS if metrics and name in metrics[0]), None)
    if axis is None:
        return ()
    names = list(dict.fromkeys(name for entry in metrics for name in entry if name not in UNSHOWN))
    curves = {name: _curve(metrics, axis, name) for name in names}
    known = {name: points for name, points in curves.items() if points}
    losses = tuple(Series(NAMES[name], known[name]) for name in ("held_out_loss", "train_loss") if name in known)
    charts = [LineChart(losses, axis, "loss a step (mean negative log-likelihood)", _least(known))] if losses else []
    charts += [
        LineChart((Series(name.replace("_", " "), points),), axis, name.replace("_", " "))
        for name, points in known.items()
        if name not in NAMES
    ]
    return tuple(charts)


def _curve(metrics: tuple[dict[str, Any], ...], axis: str, name: str) -> tuple[tuple[float, float], ...]:
    """The entries at which a name has a finite number."""
    pairs: list[tuple[Any, Any]] = [(entry.get(axis), entry.get(name)) for entry in metrics]
    return tuple((float(x), float(y)) for x, y in pairs if _is_finite(x) and _is_finite(y))


def _is_finite(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)


def _least(curves: dict[str, tuple[tuple[float, float], ...]]) -> tuple[float, float, str] | None:
    """The first entry of least held-out loss, which is the one that training keeps."""
    if "held_out_loss" not in curves:
        return None
    x, y = min(curves["held_out_loss"], key=lambda point: point[1])
    return x, y, f"{x:g} kept: {y:.4f}"


def _cost_facts(run: RunFiles) -> tuple[Block, ...]:
    if not (run.directory / COST).exists():
        return ()
    model = load_cost(run.directory / COST)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    held_out = [entry for entry in run.metrics if _is_finite(entry.get("held_out_loss"))]
    entries: list[tuple[str, Text]] = [
        ("Model", f"{model.kind}, {run.config.get('activation', 'unknown')} output"),
        ("Parameters", number(parameters)),
        ("Least cost of a transition", brief_number(float(run.config["floor"]))),
        ("Epochs", number(max(len(run.metrics) - 1, 0))),
    ]
    if held_out:
        kept = min(held_out, key=lambda entry: entry["held_out_loss"])
        entries += [
            ("Epoch that was kept", number(kept["epoch"])),
            ("Held-out loss a step", number(kept["held_out_loss"], 4)),
            ("Before training", number(held_out[0]["held_out_loss"], 4)),
        ]
    note = (
        "A cost is learned for every transition, so that the demonstrated controls become likely. The epoch that is "
        "kept is the one at which demonstrations held out from training were most likely; before training, every "
        "control costs 1."
    )
    return (prose(note), Facts(tuple(entries)))
