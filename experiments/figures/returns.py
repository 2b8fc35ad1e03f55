"""Figures of returns: of each method beside the paper's, and over the number of demonstrations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task_registry import all_tasks
from wfairl.pages import style
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.text import capitalised

NAMES, ROW, GAP, TOP, BOTTOM = 1.35, 0.165, 0.2, 0.36, 0.36
"""Inches: of the methods' names, of a row, between panels, above and below them."""

CHARACTER = 0.057
"""Inches of a small letter, on average."""

RETURN = "mean return"

PAPER_MARKER = {"marker": "D", "ls": "", "ms": 4.6, "mfc": style.PAPER, "mec": style.VERMILLION, "mew": 1.0}

MARKERS = ("o", "s", "^", "D", "v", "P", "X")


@dataclass(frozen=True)
class ReturnRow:
    """One method on one task.

    Attributes:
        task: the name of the task.
        data: its training data, such as D1; empty for a policy without training, which is in all panels.
        method: its name.
        mean: mean return.
        standard_error: of the mean.
        paper: the paper's figure, if any.
    """

    task: str
    data: str
    method: str
    mean: float
    standard_error: float
    paper: float | None


@dataclass(frozen=True)
class Point:
    """The return of a method for a number of demonstrations."""

    method: str
    demonstrations: int
    mean: float
    standard_error: float


def draw_returns(rows: Sequence[ReturnRow], name: str = "returns", comparable: bool = True) -> CaptionedFigure:
    """A dot with a standard error per method, beside the paper's figure; one panel per task and data set.

    Args:
        rows: tasks, data sets and methods keep their order.
        comparable: whether training and tests are those of the paper; if not, the caption states no difference.

    Raises:
        BadInputError: there are no rows.
    """
    if not rows:
        raise BadInputError("there are no returns to draw")
    tasks = list(dict.fromkeys(row.task for row in rows))
    data_sets = [data for data in dict.fromkeys(row.data for row in rows) if data] or [""]
    methods = list(dict.fromkeys(row.method for row in rows))
    panel = ROW * len(methods)
    figure = style.new_figure(style.PAGE, TOP + len(data_sets) * (panel + 0.12) + BOTTOM)
    width = (style.PAGE - NAMES - 0.08 - GAP * (len(tasks) - 1)) / len(tasks)
    for down, data in enumerate(data_sets):
        for across, task in enumerate(tasks):
            top = TOP + down * (panel + 0.12)
            axes = style.place(figure, NAMES + across * (width + GAP), top, width, panel)
            is_lowest = down == len(data_sets) - 1
            style.plain_axes(axes, RETURN if is_lowest else "", title=_title(task) if down == 0 else "")
            panel_rows = [row for row in rows if row.task == task and row.data in (data, "")]
            _draw_dots(axes, panel_rows, methods, named=across == 0)
            axes.tick_params(labelbottom=is_lowest)
        if data:
            middle = TOP + down * (panel + 0.12) + panel / 2
            style.write_at(figure, 0.0, middle, data, style.TEXT, va="center", weight="bold")
    _draw_legend(figure, is_published=any(row.paper is not None for row in rows))
    return CaptionedFigure(name, figure, _caption(rows, comparable), _alt(rows))


def _title(task: str) -> str:
    """The title of a task; the name of one that is not registered."""
    return next((one.title for one in all_tasks() if one.name == task), task)


def _draw_dots(axes: Any, rows: Sequence[ReturnRow], methods: Sequence[str], named: bool) -> None:
    axes.set_xlim(-0.03, 1)
    axes.set_ylim(len(methods) - 0.5, -0.5)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    for y, method in enumerate(methods):
        axes.axhline(y, color=style.SILVER, lw=0.5, zorder=0)
        if named:
            style.write(axes, -0.06, y, method, ha="right", va="center")
    for row in rows:
        y = methods.index(row.method)
        if row.paper is not None:
            axes.plot([row.paper], [y], **PAPER_MARKER, zorder=2, label=f"paper-{row.method}")
        dot = axes.errorbar(
            [row.mean], [y], xerr=[row.standard_error], fmt="o", ms=3.4, color=style.BLUE, elinewidth=1.1, zorder=3
        )
        dot[0].set_label(f"ours-{row.method}")


def _draw_legend(figure: Any, is_published: bool) -> None:
    """The legend, above the last panel."""
    axes = style.place(figure, style.PAGE - 2.6, 0.0, 2.6, 0.16)
    axes.axis("off")
    axes.set_xlim(0, 2.6)
    axes.set_ylim(0, 1)
    axes.plot([0.08, 0.24], [0.5, 0.5], color=style.BLUE, lw=1.1)
    axes.plot([0.16], [0.5], "o", ms=3.4, color=style.BLUE)
    style.write(axes, 0.3, 0.45, "here, with standard error", va="center")
    if is_published:
        axes.plot([1.83], [0.5], **PAPER_MARKER)
        style.write(axes, 1.92, 0.45, "in the paper", va="center")


def draw_demonstration_curve(
    points: Sequence[Point],
    optimal: float | None = None,
    expert: float | None = None,
    title: str = "",
    name: str = "demonstrations",
    metric: str = RETURN,
) -> CaptionedFigure:
    """Return, or another metric, over the number of demonstrations, one line per method.

    Horizontal lines mark the policies that know the rule.

    Raises:
        BadInputError: there are no points, or one has no demonstrations, which a logarithmic scale cannot show.
    """
    if not points:
        raise BadInputError("there are no points to draw")
    if min(point.demonstrations for point in points) < 1:
        raise BadInputError("the numbers of demonstrations must be 1 or more")
    figure = style.new_figure(style.COLUMN, 2.2)
    names = 0.1 + CHARACTER * max(len(text) for text in ("optimal", *(point.method for point in points)))
    axes = style.place(figure, 0.42, 0.24, style.COLUMN - 0.42 - names, 2.2 - 0.24 - 0.38)
    style.plain_axes(axes, "demonstrations", metric, title)
    numbers = sorted({point.demonstrations for point in points})
    axes.set_xscale("log", base=2)
    axes.set_xticks(numbers, [str(number) for number in numbers])
    axes.minorticks_off()
    axes.set_ylim(-0.02, max(1.0, *(point.mean for point in points)) + 0.02)
    labels: list[tuple[float, str, str]] = []
    for level, reference, dashes in ((optimal, "optimal", "-"), (expert, "expert", (0, (4, 2)))):
        if level is not None:
            axes.axhline(level, color=style.GREY, lw=0.8, ls=dashes, label=reference, zorder=1)
            labels.append((level, reference, style.GREY))
    for number, method in enumerate(dict.fromkeys(point.method for point in points)):
        of_method = sorted((p for p in points if p.method == method), key=lambda point: point.demonstrations)
        colour, marker = style.PALETTE[number % len(style.PALETTE)], MARKERS[number % len(MARKERS)]
        axes.errorbar(
            [point.demonstrations for point in of_method],
            [point.mean for point in of_method],
            yerr=[point.standard_error for point in of_method],
            color=colour, marker=marker, ms=4, lw=1.3, elinewidth=1.0, capsize=0, zorder=3,
        )[0].set_label(f"method-{method}")  # fmt: skip
        labels.append((of_method[-1].mean, method, colour))
    right = axes.get_xlim()[1]
    for (_, text, colour), y in zip(labels, style.spread([y for y, _, _ in labels], 0.075), strict=True):
        style.write(axes, right, y, f" {text}", style.NOTE, colour, ha="left", va="center")
    return CaptionedFigure(name, figure, _curve_caption(optimal, expert, title, metric), _curve_alt(points, metric))


def _caption(rows: Sequence[ReturnRow], comparable: bool) -> str:
    compared = [row for row in rows if row.paper is not None]
    text = (
        "Mean return of every method on the test scenes, with its standard error; 1 - 0.9 x steps / horizon for an"
        " episode that succeeds, 0 for one that does not. Policies without training (optimal, expert, random) are in"
        " every panel of their task."
    )
    if not compared:
        return text
    if not comparable:
        return f"{text} Diamonds: the paper's figures, trained or tested differently."
    farthest = max(compared, key=lambda row: abs(row.mean - (row.paper or 0.0)))
    where = " ".join(filter(None, (farthest.method, "on", farthest.task, farthest.data)))
    return (
        f"{text} Diamonds: the paper's figures, which come without errors. The largest difference shown is that of"
        f" {where}: {farthest.mean:.3f} here, {farthest.paper:.3f} in the paper."
    )


def _alt(rows: Sequence[ReturnRow]) -> str:
    return "Dots of mean returns. " + "; ".join(
        f"{row.task} {row.data} {row.method}: {row.mean:.3f}".replace("  ", " ")
        + (f" (paper {row.paper:.3f})" if row.paper is not None else "")
        for row in rows
    )


def _curve_caption(optimal: float | None, expert: float | None, title: str, metric: str) -> str:
    references = {"the optimal policy": optimal, "the demonstrating expert": expert}
    levels = " and ".join(f"{one} ({level:.3f})" for one, level in references.items() if level is not None)
    named = f"{capitalised(metric)}{f' on {title}' if title else ''}"
    return (
        f"{named} over the number of demonstrations, on a logarithmic scale"
        + (", with standard errors." if metric == RETURN else ".")
        + (f" Horizontal lines: {levels}." if levels else "")
    )


def _curve_alt(points: Sequence[Point], metric: str) -> str:
    by_method: Mapping[str, list[Point]] = {
        method: sorted((p for p in points if p.method == method), key=lambda point: point.demonstrations)
        for method in dict.fromkeys(point.method for point in points)
    }
    return f"Curves of {metric}. " + "; ".join(
        f"{method}: " + ", ".join(f"{point.mean:.3f} at {point.demonstrations}" for point in of_method)
        for method, of_method in by_method.items()
    )
