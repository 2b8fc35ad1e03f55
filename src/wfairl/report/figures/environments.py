"""What do the tasks look like, and what can be said about them? (Figure 4 of the paper)"""

import textwrap
from collections.abc import Sequence

from wfairl.report.figures.drawn import DrawnFigure
from wfairl.report.figures.frame import photograph, show_frame
from wfairl.report.figures.names import goal_of, title_of
from wfairl.report.figures.style import INK, NORMAL, PAGE, QUIET, SMALL, new_figure, place, write_at
from wfairl.worlds.registry import all_tasks
from wfairl.worlds.task import Task

TALLEST = 1.55
"""Inches of a scene at most: what the paper's three tasks in a row have. Fewer do not grow beyond that."""

GAP = 0.2
TITLE, LINE = 0.2, 0.135
"""Inches between scenes, of the title, and of one line of text."""

CHARACTER = 0.058
"""Inches of a small letter, on average."""


def draw_environments(
    tasks: Sequence[Task] | None = None, seed: int = 5_000, name: str = "environments"
) -> DrawnFigure:
    """A scene of each task as the real environment draws it, with its propositions and its horizon.

    Args:
        tasks: which ones; all that are known if None.
        seed: the scene of each.
        name: of the figure.
    """
    tasks = all_tasks() if tasks is None else tasks
    frames = [photograph(task.make_environment(seed, render_mode="rgb_array")) for task in tasks]
    # One height for all, and widths that fill the page if they can: a row of pictures is read as a row.
    inches = min(TALLEST, (PAGE - GAP * (len(tasks) - 1)) / sum(frame.width / frame.height for frame in frames))
    widths = [inches * frame.width / frame.height for frame in frames]
    texts = [_lines(task, int(width / CHARACTER)) for task, width in zip(tasks, widths, strict=True)]
    figure = new_figure(sum(widths) + GAP * (len(tasks) - 1), TITLE + inches + 0.06 + LINE * max(map(len, texts)))
    left = 0.0
    for task, frame, width, lines in zip(tasks, frames, widths, texts, strict=True):
        write_at(figure, left, 0.02, title_of(task.name), NORMAL, va="top", weight="bold")
        show_frame(place(figure, left, TITLE, width, inches), frame)
        for row, (line, colour) in enumerate(lines):
            write_at(figure, left, TITLE + inches + 0.05 + row * LINE, line, SMALL, colour=colour, va="top")
        left += width + GAP
    return DrawnFigure(name, figure, _caption(tasks, seed), _alt(tasks))


def _lines(task: Task, characters: int) -> list[tuple[str, str]]:
    """The lines of text under a scene, and the colour of each."""
    said = textwrap.wrap("labels: " + ", ".join(task.propositions), characters)
    facts = [f"horizon: {task.horizon} steps", *said]
    return [(task.environment_id, QUIET), *((fact, INK) for fact in facts)]


def _caption(tasks: Sequence[Task], seed: int) -> str:
    goals = "; ".join(f"{title_of(task.name)}: {goal_of(task)}" for task in tasks).replace("  ", " ")
    return (
        f"The tasks, each in its scene {seed}, drawn by the environment itself. {goals}. Under each, the propositions"
        " that labels are made of, and the number of steps within which an episode has to succeed."
    )


def _alt(tasks: Sequence[Task]) -> str:
    return "Pictures of " + "; ".join(
        f"{task.name} with the propositions {', '.join(task.propositions)} and a horizon of {task.horizon} steps"
        for task in tasks
    )
