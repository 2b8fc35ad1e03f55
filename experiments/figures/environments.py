"""A scene of each task, with its propositions. (Figure 4 of the paper)"""

import textwrap
from collections.abc import Sequence

from wfairl.core.worlds.task import Task
from wfairl.core.worlds.task_registry import all_tasks
from wfairl.pages import style
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.text import counted
from wfairl.pages.world_drawing import NoRendererError, rendering_of

TASKS_PER_ROW = 4

SIDE, GAP, TITLE, TEXT = 1.55, 0.2, 0.2, 0.8
"""Inches: of a scene, between scenes, of a title, and of the text below a scene."""

CHARACTERS = 26
"""In a line of text below a scene."""


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
    worlds = {task: task.make_world(seed) for task in tasks}
    renderings = {task: rendering_of(world) for task, world in worlds.items()}
    images = {task: one.render(worlds[task].initial_state) for task, one in renderings.items() if one}
    if not images:
        raise NoRendererError("no task has a world with a renderer")
    rows = -(-len(images) // TASKS_PER_ROW)
    height = TITLE + SIDE + TEXT
    figure = style.new_figure(min(len(images), TASKS_PER_ROW) * (SIDE + GAP) - GAP, rows * height)
    for number, (task, image) in enumerate(images.items()):
        row, column = divmod(number, TASKS_PER_ROW)
        left, top = column * (SIDE + GAP), row * height
        style.write_at(figure, left, top + 0.02, task.title, style.TEXT, va="top", weight="bold")
        style.show_image(style.place(figure, left, top + TITLE, SIDE, SIDE), image)
        labels = textwrap.fill(f"labels: {', '.join(task.propositions)}", CHARACTERS)
        text = f"horizon: {task.horizon} steps\n{labels}"
        style.write_at(figure, left, top + TITLE + SIDE + 0.05, text, style.NOTE, va="top")
    shown, left_out = list(images), len(tasks) - len(images)
    goals = "; ".join(f"{task.title}: {task.summary}" for task in shown)
    caption = (
        f"The tasks, each in its scene {seed}. {goals}. Below each, the number of steps within which an episode has to"
        " succeed, and the propositions of its labels."
        + (f" {counted(left_out, 'task')} without a renderer left out." if left_out else "")
    )
    alt = "; ".join(
        f"{task.name} with the propositions {', '.join(task.propositions)} and a horizon of {task.horizon} steps"
        for task in shown
    )
    return CaptionedFigure(name, figure, caption, f"Pictures of {alt}")
