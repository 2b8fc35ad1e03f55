"""The entries of a suite beside its first one, over all tasks: see `wfairl.pages.policy_comparison`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.suites.results import CellResult, Trial, best_variants, least_costs
from experiments.suites.suite import REFERENCES, Protocol, Suite
from wfairl.pages.policy_comparison import Comparison, Estimate, compare_scores, interquartile_mean

SCORES = {
    False: ("return", "the return"),
    True: (
        "success weighted by cost",
        "the success weighted by cost: the least true cost of a scene by that of the episode, 0 if the rule was broken",
    ),
}
"""What a score is, in short and as a sentence: for a suite that measures rules and costs, and for others."""


@dataclass(frozen=True)
class Compared:
    """An entry or a reference policy on all tasks of a suite.

    Attributes:
        data: the data set that entries learned from.
        method: the entry or reference policy.
        tasks: the number of tasks on which both were tested.
        mean: interquartile mean of its scores.
        beside: the suite's first entry, learned from the same data set, compared with it; None for that entry itself.
    """

    data: str
    method: str
    tasks: int
    mean: Estimate
    beside: Comparison | None


def comparisons_of(suite: Suite, protocol: Protocol, results: Sequence[CellResult]) -> tuple[Compared, ...]:
    """Every entry and reference policy beside the first entry, for each data set that it learned from."""
    scores, first, compared = _scores(suite, protocol, results), protocol.methods[0], []
    for data in filter(suite.entries[first].learns_from, protocol.data_sets):
        ours = scores.get((data, first), {})
        for method in (*protocol.methods, *REFERENCES):
            others = scores.get(("" if method in REFERENCES else data, method), {})
            tasks = [task for task in protocol.tasks if task in ours and task in others]
            if not tasks:
                continue
            beside = compare_scores([ours[task] for task in tasks], [others[task] for task in tasks])
            mean = interquartile_mean([others[task] for task in tasks])
            compared.append(Compared(data, method, len(tasks), mean, None if method == first else beside))
    return tuple(compared)


def _scores(
    suite: Suite, protocol: Protocol, results: Sequence[CellResult]
) -> dict[tuple[str, str], dict[str, NDArray[np.float64]]]:
    """By data set and method, for each task the scores [training seeds, scenes] of the chosen trials."""
    least = least_costs(results)
    scores: dict[tuple[str, str], dict[str, list[list[float]]]] = {}
    for result in best_variants(results):
        cell = result.cell
        if cell.method not in REFERENCES and cell.successes != protocol.successes:
            continue
        for trial in result.trials:
            if trial.chosen and trial.task == cell.task:
                tasks = scores.setdefault((cell.data, cell.method), {})
                tasks.setdefault(cell.task, []).append(_score(trial, least if suite.metrics else None))
    return {key: {task: np.array(rows) for task, rows in tasks.items()} for key, tasks in scores.items()}


def _score(trial: Trial, least: Mapping[str, Sequence[float]] | None) -> list[float]:
    if least is None:
        return list(trial.returns)
    if trial.task not in least:
        return [float(success) for success in trial.successes]
    figures = zip(trial.costs, trial.successes, least[trial.task], strict=True)
    return [best / cost if success and np.isfinite(best) else 0.0 for cost, success, best in figures]
