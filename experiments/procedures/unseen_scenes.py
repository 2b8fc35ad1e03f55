"""What the experiments of this room share: a policy tested in unseen scenes, and tables of means."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.harness import PageTable, Results, table_of
from wfairl.core.planning import Policy, expert_policy
from wfairl.core.worlds.task import Task
from wfairl.runs.evaluation import Evaluation, evaluate

FIRST_TEST_SCENE, TEST_SCENES, FEWER_SCENES = 5000, 64, 8
"""The scenes of tests, from a seed on: all of them, and those of a quick look."""


def scenes(quick: bool, most: int = TEST_SCENES) -> range:
    """The test scenes."""
    return range(FIRST_TEST_SCENE, FIRST_TEST_SCENE + min(most, FEWER_SCENES if quick else TEST_SCENES))


def measure_policy(
    task: Task, policy: Policy, seeds: Sequence[int], optimal: Evaluation | None = None
) -> dict[str, Any]:
    """Fractions of the scenes in which the true rule was kept, there was no plan, or the rule was not kept in time.

    `regret` is the true cost of an episode that keeps the rule over the least of its scene, minus 1, or None.
    """
    optimal = optimal or evaluate(task, expert_policy(task, 0.0), seeds, n_jobs=1)
    found = evaluate(task, policy, seeds, n_jobs=1)
    least = {one.seed: one.cost for one in optimal.episodes if one.success}
    ratios = [one.cost / least[one.seed] - 1 for one in found.episodes if one.success and one.seed in least]
    no_plan = float(np.mean([one.outcome == "unsatisfiable" and not one.success for one in found.episodes]))
    return {
        "kept": found.success_rate,
        "no plan": no_plan,
        "broken": 1 - found.success_rate - no_plan,
        "regret": float(np.mean(ratios)) if ratios else None,
        "return": found.mean_return,
        "optimal return": optimal.mean_return,
    }


def mean_table(frame: pd.DataFrame, by: Sequence[str], columns: Sequence[str], caption: str) -> PageTable:
    """The means of columns over all rows with the same values of `by`, which name the line; empty without rows."""
    if frame.empty:
        return table_of(frame, caption)
    means = frame.reindex(columns=[*by, *columns]).groupby(list(by), sort=False).mean()
    means.index = means.index.map(lambda name: ", ".join(map(str, name)) if isinstance(name, tuple) else str(name))
    return table_of(means, caption)


def rows_table(frame: pd.DataFrame, name: str, columns: Sequence[str], caption: str) -> PageTable:
    """Columns of each row, named by the column `name`."""
    shown = frame.reindex(columns=[name, *columns]).convert_dtypes()
    return table_of(shown.set_index(name), caption, name)


def having(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows that have a value in a column."""
    return frame[frame[column].notna()] if column in frame else frame[:0]


def part_of(results: Results, *beginnings: str) -> pd.DataFrame:
    """The rows of the cells whose names begin so."""
    return results.table[results.table.cell.str.startswith(beginnings)].convert_dtypes()
