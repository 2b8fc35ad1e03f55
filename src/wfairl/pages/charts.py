"""The losses of a training over its epochs."""

from collections.abc import Mapping

from matplotlib.ticker import MaxNLocator

from wfairl.pages import style
from wfairl.pages.captioned_figure import CaptionedFigure

WIDTH, PLOT = 9.6, 2.6
"""Inches: the width of a chart, and the height of its curves."""

TEXT = 11.5
"""Points; as large as the text around a chart on a screen."""

GAP = 0.36
"""Inches between names of curves."""

COLOURS, GRID_COLOUR = ("#14735a", "#b4552d"), "#eeece7"
"""The colours of the page: of the first and the second curve, and of the grid."""


def draw_losses(curves: Mapping[str, Mapping[int, float]], selected: int | None = None) -> CaptionedFigure:
    """One or two curves by name, each the losses by epoch; the selected epoch of the first curve is marked."""
    figure = style.new_figure(WIDTH, PLOT + 0.85)
    axes = style.place(figure, 0.8, 0.32, WIDTH - 0.85, PLOT)
    style.plain_axes(axes, "epoch", "loss per step", size=TEXT - 1)
    axes.grid(axis="y", color=GRID_COLOUR, lw=0.8)
    axes.ticklabel_format(useOffset=False)
    axes.margins(x=0.01, y=0.12)
    axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10], integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    left, told = 0.8, []
    for (name, losses), colour in zip(curves.items(), COLOURS, strict=False):
        axes.plot(list(losses), list(losses.values()), color=colour, lw=1.7, label=name, solid_capstyle="round")
        style.write_at(figure, left, 0.14, name, TEXT, colour=colour, va="center")
        left += style.text_width(name, TEXT) + GAP
        told.append(f"{name} goes from {losses[min(losses)]:.4g} to {losses[max(losses)]:.4g}")
    if selected is not None:
        first = next(iter(curves.values()))
        axes.axvline(selected, color=style.GREY, lw=0.8, ls=(0, (3, 4)), zorder=1)
        axes.plot([selected], [first[selected]], "o", ms=6, mfc=style.PAPER, mec=style.INK, mew=1.4, label="mark")
        is_right = selected > 0.6 * max(first)
        axes.annotate(
            f"epoch {selected} is selected", (selected, 1), (-6 if is_right else 6, -1),
            xycoords=axes.get_xaxis_transform(), textcoords="offset points", ha="right" if is_right else "left",
            va="top", size=TEXT - 1, family=style.FONT, color=style.INK,
        )  # fmt: skip
    caption = "Loss: the mean negative log-likelihood of a demonstrated step."
    return CaptionedFigure("curves", figure, caption, f"loss per step against epoch: {'; '.join(told)}")
