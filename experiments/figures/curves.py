"""Training curves: losses on training and held-out demonstrations."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.ticker import MaxNLocator

from wfairl.core.costs.checkpoint import METRICS, BrokenMetricsError, read_metrics
from wfairl.core.support.errors import BadInputError
from wfairl.pages import style
from wfairl.pages.captioned_figure import CaptionedFigure

CURVES_PER_ROW = 3
HEIGHT, LEFT, BOTTOM, GAP, RIGHT = 1.3, 0.45, 0.16, 0.16, 0.55
LINE, TICKS, CHARACTER = 0.19, 0.22, 0.068
"""Inches: of a panel and around panels; of a title line, of tick labels, of a letter."""


NUMBERS = ("train_loss", "held_out_loss", "held_out_errors")
"""The metrics of an epoch that are drawn."""


@dataclass(frozen=True)
class LossHistory:
    """The losses of one training; None in an epoch without a finite one.

    Attributes:
        epochs: ascending.
        train: mean negative log-likelihood per step of the training demonstrations.
        held_out: the same of the held-out demonstrations.
        errors: fraction of held-out steps whose control was not predicted, if counted.
    """

    epochs: tuple[int, ...]
    train: tuple[float | None, ...]
    held_out: tuple[float | None, ...]
    errors: tuple[float | None, ...]

    @property
    def selected(self) -> tuple[float, int] | None:
        """Held-out loss and number of the selected epoch, that of fewest errors, then least loss; None without any."""
        rows = zip(self.errors, self.held_out, self.epochs, strict=True)
        candidates = [(errors or 0.0, loss, epoch) for errors, loss, epoch in rows if loss is not None]
        return min(candidates)[1:] if candidates else None


@dataclass(frozen=True)
class History:
    """The trainings of a run, one per network."""

    trainings: tuple[LossHistory, ...]

    @property
    def selected(self) -> tuple[float, int] | None:
        """The least held-out loss of a selected epoch, and the epoch; None without any."""
        return min((training.selected for training in self.trainings if training.selected is not None), default=None)


def read_history(directory: Path) -> History:
    """The losses in the `metrics.jsonl` of a run; a smaller epoch number starts another training.

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
    """Losses over epochs, one panel per run on a common scale, with the selected epoch marked.

    Args:
        histories: by title.

    Raises:
        BadInputError: there are none.
    """
    if not histories:
        raise BadInputError("there are no trainings to draw")
    columns = min(CURVES_PER_ROW, max(2, len(histories)))
    rows = -(-len(histories) // columns)
    width = (style.PAGE - LEFT - RIGHT - GAP * (columns - 1)) / columns
    used = LEFT + RIGHT + min(columns, len(histories)) * (width + GAP) - GAP
    titles = [textwrap.fill(title, int(width / CHARACTER)) for title in histories]
    title_height = LINE * (1 + max(title.count("\n") for title in titles))
    pitch = title_height + HEIGHT + TICKS
    figure = style.new_figure(used, rows * pitch + BOTTOM)
    low, high = _range(histories)
    for number, (title, history) in enumerate(zip(titles, histories.values(), strict=True)):
        row, column = divmod(number, columns)
        axes = style.place(figure, LEFT + column * (width + GAP), title_height + row * pitch, width, HEIGHT)
        is_lowest = number + columns >= len(histories)
        style.plain_axes(axes, "epoch" if is_lowest else "", "loss per step (nats)" if column == 0 else "", title)
        axes.set_ylim(low, high)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.tick_params(labelleft=column == 0)
        _draw_history(axes, history, named=column == columns - 1 or number == len(histories) - 1)
    return CaptionedFigure(name, figure, _caption(histories), _alt(histories))


def _range(histories: Mapping[str, History]) -> tuple[float, float]:
    """The range of all losses, with a margin."""
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
    """Two lines per training, with names at the ends of the last ones if `named`."""
    width = 1.2 if len(history.trainings) == 1 else 0.7
    ends: list[tuple[float, str, str]] = []
    for training in history.trainings:
        ends = []
        for losses, colour, dashes, name in (
            (training.train, style.BLUE, (0, (4, 1.5)), "training"),
            (training.held_out, style.VERMILLION, "-", "held out"),
        ):
            points = [(epoch, loss) for epoch, loss in zip(training.epochs, losses, strict=True) if loss is not None]
            if points:
                axes.plot(*zip(*points, strict=True), color=colour, ls=dashes, lw=width, label=name)
                ends.append((points[-1][1], colour, name))
        if training.selected is not None:
            loss, epoch = training.selected
            axes.plot([epoch], [loss], "o", ms=2.9 * width, color=style.VERMILLION, label="selected")
    if named:
        _name_ends(axes, ends)


def _name_ends(axes: Any, ends: Sequence[tuple[float, str, str]]) -> None:
    low, high = axes.get_ylim()
    line = (high - low) * 0.12 / HEIGHT
    right = axes.get_xlim()[1]  # beyond all lines: other trainings may be longer than the last
    for (_, colour, what), y in zip(ends, style.spread([loss for loss, _, _ in ends], line), strict=True):
        style.write(axes, right, y, what, style.NOTE, colour, ha="left", va="center")


def _caption(histories: Mapping[str, History]) -> str:
    selected = "; ".join(
        f"{title}: {history.selected[0]:.3f} in epoch {history.selected[1]}"
        for title, history in histories.items()
        if history.selected is not None
    )
    by_errors = any(
        one is not None for history in histories.values() for training in history.trainings for one in training.errors
    )
    several = any(len(history.trainings) > 1 for history in histories.values())
    return (
        "The mean negative log-likelihood of a demonstrated control over the epochs of training, for training"
        " demonstrations (dashed) and held-out demonstrations (solid)."
        + (" A method that trains several networks has a pair of lines for each." if several else "")
        + (" Dots: the selected epoch, that of least held-out loss" if selected else "")
        + (", in cloning that of fewest held-out errors" if selected and by_errors else "")
        + (f". Its held-out loss, the least of several networks: {selected}." if selected else "")
    )


def _alt(histories: Mapping[str, History]) -> str:
    def text_of(losses: Sequence[float | None]) -> str:
        finite = [loss for loss in losses if loss is not None]
        return f"from {finite[0]:.3f} to {finite[-1]:.3f}" if finite else "none"

    return "Curves of losses over epochs. " + "; ".join(
        f"{title}: training {text_of(training.train)}, held out {text_of(training.held_out)}"
        for title, history in histories.items()
        for training in history.trainings
    )
