"""What tasks are called in figures: with the paper's number, where the paper has them."""

import re

from wfairl.worlds.registry import all_tasks
from wfairl.worlds.task import Task

_PAPER_NAME = re.compile(r"^(?P<goal>.*\S)\s*\((?P<number>T\d+)\)$")
"""The summary of a task of the paper ends in its number there."""


def title_of(task: str) -> str:
    """`T1  doorkey` for a task of the paper, the bare name for others, registered or not."""
    summaries = {one.name: one.summary for one in all_tasks()}
    found = _PAPER_NAME.match(summaries.get(task, ""))
    return f"{found['number']}  {task}" if found else task


def goal_of(task: Task) -> str:
    """What has to be done, without the paper's number."""
    found = _PAPER_NAME.match(task.summary)
    return found["goal"] if found else task.summary
