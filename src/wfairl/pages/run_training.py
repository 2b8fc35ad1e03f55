"""How the cost of a run was learned: its words, the curves of a network, and maps.

The preference of a cost c is the relative excess cost, under c, of the plan for equal costs over the plan for c:

    preference = mean over scenes of  c(plan of equal costs) / c(plan of c) - 1.

A cost that only rescales all steps has none. The small differences that training leaves where there is nothing to learn
cancel along a path. A cost that changes no plan, since there is no other path, counts as none too. Maps of a cost
without a preference would show the noise of training.
"""

import math
from collections.abc import Mapping, Sequence

from matplotlib.ticker import MaxNLocator

from wfairl.core.automata.automaton import Automaton
from wfairl.core.costs.cost_model import CostModel
from wfairl.core.costs.feature_costs import CostOverFeatures, SampledCost
from wfairl.core.costs.training import METRICS, EpochMetrics, is_falling
from wfairl.core.planning.cost import Cost, path_cost, unit_cost
from wfairl.core.planning.plan import UnsatisfiableTaskError
from wfairl.core.planning.planner import AutoPlanner
from wfairl.core.support.errors import WfairlError
from wfairl.core.worlds.task import Task
from wfairl.pages import style
from wfairl.pages.blocks import Facts, prose
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.cost_maps import draw_cost_maps
from wfairl.pages.page import Block, Section
from wfairl.pages.run_files import RunFiles
from wfairl.pages.text import Code, Text, capitalised, number
from wfairl.runs.cost_words import CLAIMED

SAMPLED = (
    "Costs of a few features and controls, weighed by how likely they are after the demonstrations; 90 % lie in the"
    " interval. A plain step, the most common kind, is the unit."
)

TRAINED = (
    "Training fits a cost for every transition, under which the demonstrated controls are likely, and selects the"
    " epoch with the least loss on held-out demonstrations. Before training, every control costs 1."
)

LEAST_PREFERENCE = 0.03
"""More than twice what training finds where there is nothing to learn: of 33 costs learned from experts to whom every
step costs 1, the largest preference is 1.2 %. The terrain with a hidden cost has 9.8 % from four demonstrations and
32 % from 32. See docs/learning-the-cost.md."""

WIDTH, PLOT = 9.6, 2.6
"""Inches: the width of a chart, and the height of its curves."""

TEXT = 11.5
"""Points; as large as the text around a chart on a screen."""

COLOURS = ("#14735a", "#b4552d")
"""The colours of the page, of the first and the second curve."""


def cost_section(run: RunFiles, cost: CostModel) -> Section:
    """What was learned, how, and what each control costs at each place."""
    learned = _in_words(run, cost) if isinstance(cost, CostOverFeatures) else _epochs(run.history, cost)
    return Section("How the cost was learned", (*learned, *cost_maps(run, cost)))


def _in_words(run: RunFiles, cost: CostOverFeatures) -> tuple[Block, ...]:
    sentences = cost.sentences(run.task.make_world(run.scenes(1)[0]))
    estimated = "The most likely weights, from all demonstrations. Before training, every control costs 1."
    way = SAMPLED if isinstance(cost, SampledCost) else estimated
    return (prose(way, f"{capitalised('; '.join(sentences))}."),)


def _epochs(history: tuple[EpochMetrics, ...], cost: CostModel) -> tuple[Block, ...]:
    """The training of a network."""
    parameters = sum(array.size for array in cost.arrays.values())
    facts: list[tuple[str, Text]] = [("Model", cost.kind), ("Parameters", number(parameters))]
    if not history:
        return prose(TRAINED), Facts(tuple(facts)), prose(("There are no curves: the run has no ", Code(METRICS), "."))
    facts.append(("Epochs", number(len(history) - 1)))
    held_out = {epoch.epoch: epoch.held_out_loss for epoch in history if epoch.held_out_loss is not None}
    selected = min(held_out, key=held_out.__getitem__, default=None)
    if selected is not None:
        facts += [
            ("Selected epoch", number(selected)),
            ("Held-out loss per step", number(held_out[selected], 4)),
            ("Held-out loss before training", number(held_out[0], 4)),
        ]
    curves = {"held-out demonstrations": held_out, "training": {epoch.epoch: epoch.train_loss for epoch in history}}
    chart = draw_losses({name: losses for name, losses in curves.items() if losses}, selected)
    return prose(TRAINED), Facts(tuple(facts)), chart


def draw_losses(curves: Mapping[str, Mapping[int, float]], selected: int | None = None) -> CaptionedFigure:
    """One or two curves by name, each the losses by epoch; the selected epoch of the first curve is marked."""
    figure = style.new_figure(WIDTH, PLOT + 0.85)
    axes = style.place(figure, 0.8, 0.32, WIDTH - 0.85, PLOT)
    style.plain_axes(axes, "epoch", "loss per step", size=TEXT - 1)
    axes.grid(axis="y", color="#eeece7", lw=0.8)
    axes.ticklabel_format(useOffset=False)
    axes.margins(x=0.01, y=0.12)
    axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10], integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    left, told = 0.8, []
    for (name, losses), colour in zip(curves.items(), COLOURS, strict=False):
        axes.plot(list(losses), list(losses.values()), color=colour, lw=1.7, label=name, solid_capstyle="round")
        style.write_at(figure, left, 0.14, name, TEXT, colour=colour, va="center")
        left += style.text_width(name, TEXT) + 0.36
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


def cost_maps(run: RunFiles, cost: CostModel) -> tuple[Block, ...]:
    """Maps of each control's cost over the first scene of the page, or a sentence why there are none."""
    assert run.task_model is not None
    scenes, is_known = run.scenes(8), None
    try:
        if isinstance(cost, SampledCost):
            if float(cost.unit[0]) >= CLAIMED:
                return (prose("There are no maps of the cost: the demonstrations do not show a preference."),)
            is_known = cost.is_known
        elif (value := preference(run.task, scenes, run.task_model.finite, cost)) < LEAST_PREFERENCE:
            return (prose(why_no_maps(value, scenes, run.history)),)
        return (draw_cost_maps(run.task, scenes[0], run.task_model.finite, cost, is_known=is_known),)
    except WfairlError as error:
        return (prose(f"There are no maps of the cost: {str(error).rstrip('.')}."),)


def why_no_maps(value: float, scenes: Sequence[int], history: Sequence[EpochMetrics]) -> str:
    """Why there are no maps of a cost with too small a preference."""
    text = (
        f"No preference found. Under the learned cost, the plan for equal costs is {value:.1%} more expensive than the"
        f" best one (mean of {len(scenes)} scenes from {scenes[0]} on); up to {LEAST_PREFERENCE:.0%} may be noise of"
        " training. Maps of the cost would only show noise, so there are none."
    )
    if is_falling([epoch.held_out_loss for epoch in history]):
        text += " But training ended while the held-out loss was still falling: with more epochs it may find one."
    return text


def preference(task: Task, scenes: Sequence[int], automaton: Automaton, cost: Cost) -> float:
    """The preference over the solvable scenes. Raises `UnsatisfiableTaskError` if there are none."""
    excesses, unsolvable = [], None
    for seed in scenes:
        world = task.make_world(seed)
        try:
            equal, own = (AutoPlanner().solve(world, automaton, one).plan() for one in (unit_cost, cost))
        except UnsatisfiableTaskError as error:
            unsolvable = error
            continue
        equal_cost = path_cost(cost, equal.path)
        excesses.append(max(equal_cost / own.cost - 1, 0.0))  # below zero it is rounding
    if unsolvable is not None and not excesses:
        raise unsolvable
    return math.fsum(excesses) / len(excesses)
