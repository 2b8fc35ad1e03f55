"""Did training converge, and does what it learned hold for demonstrations that it did not see?"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wfairl.errors import BadInputError
from wfairl.files import NotJsonError, parse_json, read_text
from wfairl.learning.checkpoint import METRICS
from wfairl.report.figures.drawn import DrawnFigure
from wfairl.report.figures.style import BLUE, PAGE, SMALL, VERMILLION, new_figure, place, plain_axes, spread, write

CURVES_PER_ROW = 3
HEIGHT, LEFT, BOTTOM, GAP, RIGHT, TOP = 1.3, 0.45, 0.36, 0.16, 0.5, 0.42
TITLE = 0.2
"""Inches: of one panel, around and between the panels, and what the first row has less above it."""


class BrokenMetricsError(BadInputError):
    """A file does not hold the losses of a training."""


@dataclass(frozen=True)
class History:
    """The losses of a training; None in an epoch that has none, or no finite one.

    Attributes:
        epochs: their numbers.
        train: mean negative log-likelihood a step on what is trained on.
        held_out: the same on what is held out.
    """

    epochs: tuple[int, ...]
    train: tuple[float | None, ...]
    held_out: tuple[float | None, ...]

    @property
    def best(self) -> int | None:
        """The place of the least held-out loss, None if nothing is held out."""
        known = [(loss, place) for place, loss in enumerate(self.held_out) if loss is not None]
        return min(known)[1] if known else None


def read_history(directory: Path) -> History:
    """The losses in the `metrics.jsonl` of a run; other figures in it are passed over.

    Raises:
        BrokenMetricsError: a line is not an epoch.
    """
    path = Path(directory) / METRICS
    epochs: list[int] = []
    losses: dict[str, list[float | None]] = {"train_loss": [], "held_out_loss": []}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        try:
            metrics = parse_json(line)
            epochs.append(int(metrics["epoch"]))
            for name, values in losses.items():
                loss = metrics.get(name)
                values.append(float(loss) if loss is not None and math.isfinite(loss) else None)
        except (NotJsonError, KeyError, TypeError, ValueError, AttributeError):
            raise BrokenMetricsError(f"{path}: line {number}: not the metrics of an epoch") from None
    if not epochs:
        raise BrokenMetricsError(f"{path}: no epoch yet")
    return History(tuple(epochs), tuple(losses["train_loss"]), tuple(losses["held_out_loss"]))


def draw_curves(histories: Mapping[str, History], name: str = "training") -> DrawnFigure:
    """The losses of one or more trainings over epochs, one panel each on one scale, the best epoch marked.

    Args:
        histories: by what to call them.
        name: of the figure.

    Raises:
        BadInputError: there are none.
    """
    if not histories:
        raise BadInputError("there are no trainings to draw")
    columns = min(CURVES_PER_ROW, max(2, len(histories)))
    rows = -(-len(histories) // columns)
    width = (PAGE - LEFT - RIGHT - GAP * (columns - 1)) / columns
    used = LEFT + RIGHT + min(columns, len(histories)) * (width + GAP) - GAP
    figure = new_figure(used, rows * (HEIGHT + TOP) - TITLE + BOTTOM)
    losses = [
        loss for history in histories.values() for loss in (*history.train, *history.held_out) if loss is not None
    ]
    low, high = (min(losses), max(losses)) if losses else (0.0, 1.0)
    margin = 0.06 * (high - low or 1.0)
    for number, (title, history) in enumerate(histories.items()):
        row, column = divmod(number, columns)
        axes = place(figure, LEFT + column * (width + GAP), TOP - TITLE + row * (HEIGHT + TOP), width, HEIGHT)
        is_lowest = number + columns >= len(histories)
        plain_axes(axes, "epoch" if is_lowest else "", "loss a step (nats)" if column == 0 else "", title)
        axes.set_ylim(low - margin, high + margin)
        axes.tick_params(labelleft=column == 0)
        named = column == columns - 1 or number == len(histories) - 1
        _draw_history(axes, history, named)
    return DrawnFigure(name, figure, _caption(histories), _alt(histories))


def _draw_history(axes: Any, history: History, named: bool) -> None:
    """Two lines, with their names at their ends unless a panel further right has them."""
    ends = []
    for losses, colour, style, what in (
        (history.train, BLUE, (0, (4, 1.5)), "training"),
        (history.held_out, VERMILLION, "-", "held out"),
    ):
        known = [(epoch, loss) for epoch, loss in zip(history.epochs, losses, strict=True) if loss is not None]
        if known:
            axes.plot(*zip(*known, strict=True), color=colour, ls=style, lw=1.2, label=what)
            ends.append((*known[-1], colour, what))
    if history.best is not None:
        loss = history.held_out[history.best]
        axes.plot([history.epochs[history.best]], [loss], "o", ms=3.5, color=VERMILLION, label="best")
    if named:
        _name_ends(axes, ends)


def _name_ends(axes: Any, ends: Sequence[tuple[int, float, str, str]]) -> None:
    low, high = axes.get_ylim()
    line = (high - low) * 0.12 / HEIGHT
    for (epoch, _, colour, what), y in zip(ends, spread([loss for _, loss, _, _ in ends], line), strict=True):
        write(axes, epoch, y, f"  {what}", SMALL, colour, ha="left", va="center")


def _caption(histories: Mapping[str, History]) -> str:
    bests = "; ".join(
        f"{title}: {history.held_out[history.best]:.3f} in epoch {history.epochs[history.best]}"
        for title, history in histories.items()
        if history.best is not None
    )
    return (
        "The mean negative log-likelihood of a demonstrated control over the epochs of training, on the demonstrations"
        " that are trained on (dashed) and on those that are held out (solid)."
        + (
            f" The dot is the epoch of least held-out loss, whose model is kept. Least held-out loss: {bests}."
            if bests
            else ""
        )
    )


def _alt(histories: Mapping[str, History]) -> str:
    def say(losses: Sequence[float | None]) -> str:
        known = [loss for loss in losses if loss is not None]
        return f"from {known[0]:.3f} to {known[-1]:.3f}" if known else "none"

    return "Curves of losses over epochs. " + "; ".join(
        f"{title}: training {say(history.train)}, held out {say(history.held_out)}"
        for title, history in histories.items()
    )
