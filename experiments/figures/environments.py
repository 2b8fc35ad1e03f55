"""A scene of each task, with its propositions. (Figure 4 of the paper)"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.core.worlds.task import Task
from wfairl.core.worlds.task_registry import all_tasks
from wfairl.pages import style
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.text import counted
from wfairl.pages.world_drawing import NoRendererError, rendering_of

TALLEST = 1.55
"""Inches of a scene, that of the paper's three tasks in a row; fewer tasks do not grow beyond it."""

WIDEST = 2.2
"""The largest width of a scene, as a multiple of its row's height."""

TASKS_PER_ROW = 4

GAP = 0.2
TITLE, LINE = 0.2, 0.135
"""Inches between scenes, of the title, and of one line of text."""

CHARACTER = 0.058
"""Inches of a small letter, on average."""


def draw_environments(
    tasks: Sequence[Task] | None = None, seed: int = 5_000, name: str = "environments"
) -> CaptionedFigure:
    """A rendered scene of each task, with its propositions and its horizon.

    Args:
        tasks: all registered ones if None; those without renderer are left out.

    Raises:
        NoRendererError: no world has a renderer.
    """
    tasks = all_tasks() if tasks is None else tasks
    worlds = [task.make_world(seed) for task in tasks]
    shown = [(task, world, rendering_of(world)) for task, world in zip(tasks, worlds, strict=True)]
    images = {task: rendering.render(world.initial_state) for task, world, rendering in shown if rendering}
    if not images:
        raise NoRendererError("no task has a world with a renderer")
    rows = [list(images.items())[first : first + TASKS_PER_ROW] for first in range(0, len(images), TASKS_PER_ROW)]
    layouts = [_lay_out_row(row) for row in rows]
    width = max(sum(cell.width + GAP for cell in row) - GAP for row in layouts)
    figure = style.new_figure(width, sum(_height(row) for row in layouts))
    top = 0.0
    for row, layout in zip(rows, layouts, strict=True):
        left = 0.0
        for (task, image), cell in zip(row, layout, strict=True):
            style.write_at(figure, left, top + 0.02, task.title, style.TEXT, va="top", weight="bold")
            height = cell.width * image.shape[0] / image.shape[1]
            style.show_image(style.place(figure, left, top + TITLE, cell.width, height), image)
            for number, (line, colour) in enumerate(cell.lines):
                y = top + TITLE + height + 0.05 + number * LINE
                style.write_at(figure, left, y, line, style.NOTE, colour=colour, va="top")
            left += cell.width + GAP
        top += _height(layout)
    return CaptionedFigure(name, figure, _caption(list(images), seed, len(tasks) - len(images)), _alt(list(images)))


@dataclass(frozen=True)
class _Cell:
    """A scene: inches of its width and of its row's images, and lines of text with their colours."""

    width: float
    height: float
    lines: list[tuple[str, str]]


def _lay_out_row(row: Sequence[tuple[Task, NDArray[np.uint8]]]) -> list[_Cell]:
    """The same height for all, and widths that fill the page if possible."""
    aspects = [min(image.shape[1] / image.shape[0], WIDEST) for _, image in row]
    inches = min(TALLEST, (style.PAGE - GAP * (len(row) - 1)) / sum(aspects))
    return [
        _Cell(inches * aspect, inches, _lines(task, int(inches * aspect / CHARACTER)))
        for (task, _), aspect in zip(row, aspects, strict=True)
    ]


def _height(row: Sequence[_Cell]) -> float:
    return TITLE + row[0].height + 0.06 + LINE * max(len(cell.lines) for cell in row)


def _lines(task: Task, characters: int) -> list[tuple[str, str]]:
    """The lines of text under a scene, and the colour of each."""
    texts = (
        (f"horizon: {task.horizon} steps", style.GREY),
        ("labels: " + ", ".join(task.propositions), style.INK),
    )
    return [(line, colour) for text, colour in texts for line in textwrap.wrap(text, max(characters, 8))]


def _caption(tasks: Sequence[Task], seed: int, left_out: int) -> str:
    goals = "; ".join(f"{task.title}: {task.summary}" for task in tasks)
    return (
        f"The tasks, each in its scene {seed}. {goals}. Below each, the number of steps within which an episode has to"
        " succeed, and the propositions of its labels."
        + (f" {counted(left_out, 'task')} without a renderer left out." if left_out else "")
    )


def _alt(tasks: Sequence[Task]) -> str:
    return "Pictures of " + "; ".join(
        f"{task.name} with the propositions {', '.join(task.propositions)} and a horizon of {task.horizon} steps"
        for task in tasks
    )
