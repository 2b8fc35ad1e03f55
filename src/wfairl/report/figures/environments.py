"""What do the tasks look like, and what can be said about them? (Figure 4 of the paper)"""

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.report.figures.captioned import CaptionedFigure
from wfairl.report.figures.style import INK, NORMAL, PAGE, QUIET, SMALL, new_figure, place, show_image, write_at
from wfairl.report.text import counted
from wfairl.worlds.registry import all_tasks
from wfairl.worlds.task import Task
from wfairl.worlds.world import NoRendererError, Renderer, can_render

TALLEST = 1.55
"""Inches of a scene at most: what the paper's three tasks in a row have. Fewer do not grow beyond that."""

GAP = 0.2
TITLE, LINE = 0.2, 0.135
"""Inches between scenes, of the title, and of one line of text."""

CHARACTER = 0.058
"""Inches of a small letter, on average."""


def draw_environments(
    tasks: Sequence[Task] | None = None, seed: int = 5_000, name: str = "environments"
) -> CaptionedFigure:
    """A scene of each task as its world shows it, with its propositions and its horizon.

    Args:
        tasks: which ones; all that are known if None. Those whose worlds have no renderer are left out.
        seed: the scene of each.
        name: of the figure.

    Raises:
        NoRendererError: none of the worlds has a renderer.
    """
    tasks = all_tasks() if tasks is None else tasks
    worlds = [task.make_world(seed) for task in tasks]
    images = {task: _initial_image(world) for task, world in zip(tasks, worlds, strict=True) if can_render(world)}
    if not images:
        raise NoRendererError("none of the tasks has a world with a renderer")
    # One height for all, and widths that fill the page if they can: a row of pictures is read as a row.
    aspects = [image.shape[1] / image.shape[0] for image in images.values()]
    inches = min(TALLEST, (PAGE - GAP * (len(images) - 1)) / sum(aspects))
    widths = [inches * aspect for aspect in aspects]
    texts = [_lines(task, int(width / CHARACTER)) for task, width in zip(images, widths, strict=True)]
    figure = new_figure(sum(widths) + GAP * (len(images) - 1), TITLE + inches + 0.06 + LINE * max(map(len, texts)))
    left = 0.0
    for (task, image), width, lines in zip(images.items(), widths, texts, strict=True):
        write_at(figure, left, 0.02, task.title, NORMAL, va="top", weight="bold")
        show_image(place(figure, left, TITLE, width, inches), image)
        for row, (line, colour) in enumerate(lines):
            write_at(figure, left, TITLE + inches + 0.05 + row * LINE, line, SMALL, colour=colour, va="top")
        left += width + GAP
    return CaptionedFigure(name, figure, _caption(list(images), seed, len(tasks) - len(images)), _alt(list(images)))


def _initial_image(world: Any) -> NDArray[np.uint8]:
    renderer: Renderer = world
    return renderer.render(world.initial_state)


def _lines(task: Task, characters: int) -> list[tuple[str, str]]:
    """The lines of text under a scene, and the colour of each."""
    labels = textwrap.wrap("labels: " + ", ".join(task.propositions), characters)
    return [(f"horizon: {task.horizon} steps", QUIET), *((line, INK) for line in labels)]


def _caption(tasks: Sequence[Task], seed: int, left_out: int) -> str:
    goals = "; ".join(f"{task.title}: {task.summary}" for task in tasks)
    return (
        f"The tasks, each in its scene {seed}, as their worlds show it. {goals}. Under each, the number of steps within"
        " which an episode has to succeed, and the propositions that labels are made of."
        + (f" {counted(left_out, 'task')} without a renderer left out." if left_out else "")
    )


def _alt(tasks: Sequence[Task]) -> str:
    return "Pictures of " + "; ".join(
        f"{task.name} with the propositions {', '.join(task.propositions)} and a horizon of {task.horizon} steps"
        for task in tasks
    )
