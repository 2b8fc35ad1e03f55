"""Did training converge, and does what it learned hold for demonstrations that it did not see?"""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.ticker import MaxNLocator

from wfairl.errors import BadInputError
from wfairl.learning.checkpoint import METRICS, BrokenMetricsError, read_metrics
from wfairl.report.figures.captioned import CaptionedFigure
from wfairl.report.figures.style import BLUE, PAGE, SMALL, VERMILLION, new_figure, place, plain_axes, spread, write

CURVES_PER_ROW = 3
HEIGHT, LEFT, BOTTOM, GAP, RIGHT = 1.3, 0.45, 0.16, 0.16, 0.55
LINE, TICKS, CHARACTER = 0.19, 0.22, 0.068
"""Inches: of one panel and around the panels; of a line of a title, of the numbers at the axes, of a letter."""


NUMBERS = ("train_loss", "held_out_loss", "held_out_errors")
"""What is read of an epoch."""


@dataclass(frozen=True)
class LossHistory:
    """The losses of one training; None in an epoch that has none, or no finite one.

    Attributes:
        epochs: their numbers, ascending.
        train: mean negative log-likelihood per step on what is trained on.
        held_out: the same on what is held out.
        errors: the part of held-out steps at which it would have done something else, where that was counted.
    """

    epochs: tuple[int, ...]
    train: tuple[float | None, ...]
    held_out: tuple[float | None, ...]
    errors: tuple[float | None, ...]

    @property
    def kept(self) -> tuple[float, int] | None:
        """The held-out loss of the epoch that training kept, and the epoch; None if nothing is held out.

        It is that of fewest errors where these were counted, and among equals of least loss.
        """
        rows = zip(self.errors, self.held_out, self.epochs, strict=True)
        known = [(errors or 0.0, loss, epoch) for errors, loss, epoch in rows if loss is not None]
        return min(known)[1:] if known else None


@dataclass(frozen=True)
class History:
    """The trainings of a run: one, or one for each network of a method that trains several."""

    trainings: tuple[LossHistory, ...]

    @property
    def kept(self) -> tuple[float, int] | None:
        """The least held-out loss of an epoch that was kept, and the epoch; None if nothing is held out."""
        return min((training.kept for training in self.trainings if training.kept is not None), default=None)


def read_history(directory: Path) -> History:
    """The losses in the `metrics.jsonl` of a run; an epoch that is not after the one before begins another training.

    Raises:
        BrokenMetricsError: a line is not an epoch, or there is none.
    """
    path = Path(directory) / METRICS
    trainings: list[list[tuple[int, float | None, float | None, float | None]]] = []
    for number, metrics in enumerate(read_metrics(Path(directory)), start=1):
        epoch = metrics.get("epoch")
        if not isinstance(epoch, int):
            raise BrokenMetricsError(f"{path}: line {number}: not the metrics of an epoch")
        train, held_out, errors = (_finite(metrics.get(name)) for name in NUMBERS)
        if not trainings or epoch <= trainings[-1][-1][0]:
            trainings.append([])
        trainings[-1].append((epoch, train, held_out, errors))
    if not trainings:
        raise BrokenMetricsError(f"{path}: no epoch yet")
    return History(tuple(LossHistory(*zip(*entries, strict=True)) for entries in trainings))


def _finite(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def draw_curves(histories: Mapping[str, History], name: str = "training") -> CaptionedFigure:
    """The losses of one or more trainings over epochs, one panel each on one scale, the epoch that was kept marked.

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
    titles = [textwrap.fill(title, int(width / CHARACTER)) for title in histories]
    title_height = LINE * (1 + max(title.count("\n") for title in titles))
    pitch = title_height + HEIGHT + TICKS
    figure = new_figure(used, rows * pitch + BOTTOM)
    low, high = _range(histories)
    for number, (title, history) in enumerate(zip(titles, histories.values(), strict=True)):
        row, column = divmod(number, columns)
        axes = place(figure, LEFT + column * (width + GAP), title_height + row * pitch, width, HEIGHT)
        is_lowest = number + columns >= len(histories)
        plain_axes(axes, "epoch" if is_lowest else "", "loss per step (nats)" if column == 0 else "", title)
        axes.set_ylim(low, high)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.tick_params(labelleft=column == 0)
        _draw_history(axes, history, named=column == columns - 1 or number == len(histories) - 1)
    return CaptionedFigure(name, figure, _caption(histories), _alt(histories))


def _range(histories: Mapping[str, History]) -> tuple[float, float]:
    """From a little under the least loss to a little over the largest."""
    losses = [
        loss
        for history in histories.values()
        for training in history.trainings
        for loss in (*training.train, *training.held_out)
        if loss is not None
    ]
    low, high = (min(losses), max(losses)) if losses else (0.0, 1.0)
    margin = 0.06 * (high - low or 1.0)
    return low - margin, high + margin


def _draw_history(axes: Any, history: History, named: bool) -> None:
    """Two lines per training, with their names at the ends of the last unless a panel further right has them."""
    width = 1.2 if len(history.trainings) == 1 else 0.7
    ends: list[tuple[float, str, str]] = []
    for training in history.trainings:
        ends = []
        for losses, colour, style, what in (
            (training.train, BLUE, (0, (4, 1.5)), "training"),
            (training.held_out, VERMILLION, "-", "held out"),
        ):
            known = [(epoch, loss) for epoch, loss in zip(training.epochs, losses, strict=True) if loss is not None]
            if known:
                axes.plot(*zip(*known, strict=True), color=colour, ls=style, lw=width, label=what)
                ends.append((known[-1][1], colour, what))
        if training.kept is not None:
            loss, epoch = training.kept
            axes.plot([epoch], [loss], "o", ms=2.9 * width, color=VERMILLION, label="kept")
    if named:
        _name_ends(axes, ends)


def _name_ends(axes: Any, ends: Sequence[tuple[float, str, str]]) -> None:
    low, high = axes.get_ylim()
    line = (high - low) * 0.12 / HEIGHT
    right = axes.get_xlim()[1]  # beyond all lines: other trainings may go on where the last one ended
    for (_, colour, what), y in zip(ends, spread([loss for loss, _, _ in ends], line), strict=True):
        write(axes, right, y, what, SMALL, colour, ha="left", va="center")


def _caption(histories: Mapping[str, History]) -> str:
    kept = "; ".join(
        f"{title}: {history.kept[0]:.3f} in epoch {history.kept[1]}"
        for title, history in histories.items()
        if history.kept is not None
    )
    by_errors = any(
        one is not None for history in histories.values() for training in history.trainings for one in training.errors
    )
    several = any(len(history.trainings) > 1 for history in histories.values())
    return (
        "The mean negative log-likelihood of a demonstrated control over the epochs of training, on the demonstrations"
        " that are trained on (dashed) and on those that are held out (solid)."
        + (" A method that trains several networks has a pair of lines for each." if several else "")
        + (" Dots: the epoch that is kept, that of least held-out loss" if kept else "")
        + (", in cloning that of fewest held-out errors" if kept and by_errors else "")
        + (f". Held-out loss there, the least of several networks: {kept}." if kept else "")
    )


def _alt(histories: Mapping[str, History]) -> str:
    def say(losses: Sequence[float | None]) -> str:
        known = [loss for loss in losses if loss is not None]
        return f"from {known[0]:.3f} to {known[-1]:.3f}" if known else "none"

    return "Curves of losses over epochs. " + "; ".join(
        f"{title}: training {say(training.train)}, held out {say(training.held_out)}"
        for title, history in histories.items()
        for training in history.trainings
    )
