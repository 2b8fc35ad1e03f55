"""The results of a comparison of methods, one line per entry, task, data set and way of acting."""

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.harness.results import Results
from experiments.method_comparison.protocol import MethodComparison, Protocol
from wfairl.core.planning.policies import REFERENCES
from wfairl.core.runs.methods import CHOSEN
from wfairl.core.support.errors import FailedRunError
from wfairl.pages.policy_comparison import compare_scores, interquartile_mean

OPTIMAL = "optimal"

TRAINING = ["task", "data", "method", "seed", "successes"]
"""What the variants of a training share."""

LINE = ["tested", "data", "method", "successes", "acting"]
"""What the episodes of a line share."""


COLUMNS = [
    *("cell", *TRAINING, "variant", "tested", "acting", "chosen", "scene"),
    *("return", "success", "no_plan", "cost", "agreement", "states", "least_states"),
]
"""Of the table of results."""


def trials_of(results: Results) -> pd.DataFrame:
    """The table of results, one line per episode, with three more columns.

    `represents`: whether the episode counts for its entry: it acts as the method chose, in the best variant.
    `regret`: of an episode that keeps the rule; NaN otherwise.
    `weighted_success`: the least true cost of the scene by that of the episode, 0 if the rule was broken.
    """
    table = results.table.reindex(columns=dict.fromkeys([*results.table.columns, *COLUMNS]))
    table = table.fillna({"data": "", "variant": "", "seed": 0, "successes": 0})
    table = table.astype({"chosen": bool, "success": bool, "no_plan": bool})
    table["represents"] = table.chosen & table.cell.isin(_best_variants(results, table))
    optimal = table[(table.method == OPTIMAL) & table.success]
    least = optimal.set_index(["tested", "scene"]).cost.rename("least")
    table = table.join(least, on=["tested", "scene"])
    table["regret"] = (table.cost / table.least - 1).where(table.success)
    is_known = table.tested.isin(set(table[table.method == OPTIMAL].tested))
    weight = (table.least / table.cost).fillna(0.0).where(is_known, 1.0)
    table["weighted_success"] = weight.where(table.success, 0.0)
    return table


def _best_variants(results: Results, table: pd.DataFrame) -> list[str]:
    """For each training the cell of the variant that did best on validation scenes; the first of equals.

    Raises:
        FailedRunError: a variant cannot be compared with another.
    """
    cells = table.drop_duplicates("cell")
    best = []
    for _, variants in cells.groupby(TRAINING, sort=False):
        names = list(variants.cell)
        validation: list[Any] = [results.outcomes[name].facts.get("validation") for name in names]
        if len(names) > 1 and None in validation:
            name = names[validation.index(None)]
            raise FailedRunError(f"{name}: no return on validation scenes, so no variant can be chosen")
        best.append(names[int(np.argmax(validation))] if len(names) > 1 else names[0])
    return best


def summarise(comparison: MethodComparison, protocol: Protocol, trials: pd.DataFrame) -> pd.DataFrame:
    """Means over training seeds and test scenes, a line per task, data set, entry, demonstrations and way of acting.

    Columns: `task` (that was tested), `data`, `method`, `successes`, `acting`, `mean_return`, `standard_error`,
    `success_rate`, `no_plan_rate`, `regret`, `agreement`, `states`, `least_states`, `seeds`, and `published`, which
    only the lines of `CHOSEN` with all demonstrations have.
    """
    others = trials[~(trials.represents & (trials.acting == CHOSEN))]
    groups = pd.concat([trials[trials.represents].assign(acting=CHOSEN), others]).groupby(LINE, sort=False)
    summary = groups.agg(
        mean_return=("return", "mean"),
        success_rate=("success", "mean"),
        no_plan_rate=("no_plan", "mean"),
        regret=("regret", "mean"),
        agreement=("agreement", "mean"),
        states=("states", "mean"),
        least_states=("least_states", "first"),
        seeds=("seed", "nunique"),
    ).astype(float)
    summary["standard_error"] = [standard_error(matrix_of(group, "return")) for _, group in groups]
    summary = summary.reset_index().rename(columns={"tested": "task"})
    summary["is_reference"] = summary.method.isin(REFERENCES)
    is_main = (summary.acting == CHOSEN) & (summary.is_reference | (summary.successes == protocol.successes))
    keys = zip(summary.method, summary.task, summary.data, strict=True)
    published = [comparison.published_returns.get(key) for key in keys]
    summary["published"] = pd.Series(published, dtype=float).where(is_main)
    return summary


def matrix_of(episodes: pd.DataFrame, values: str) -> NDArray[np.float64]:
    """Values of episodes, shape [training seeds, scenes]."""
    return episodes.pivot(index="seed", columns="scene", values=values).to_numpy(float)


def standard_error(returns: NDArray[np.float64]) -> float:
    """The standard error of the mean of returns [training seeds, scenes], with scenes and seeds both drawn at random.

    Every training seed is tested on the same scenes, so that means over seeds share the noise of the scenes and means
    over scenes that of the seeds: the two variances add up,

        var(mean) = var(scene means) / scenes + var(seed means) / seeds,

    which counts the noise of single episodes twice and is therefore a little too large.
    """
    seeds, scenes = returns.shape
    return math.hypot(
        _deviation(returns.mean(axis=0)) / math.sqrt(scenes), _deviation(returns.mean(axis=1)) / math.sqrt(seeds)
    )


def _deviation(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def comparisons_of(comparison: MethodComparison, protocol: Protocol, trials: pd.DataFrame) -> pd.DataFrame:
    """Every entry and reference policy beside the first entry over all tasks, for each data set that it learned from.

    Columns: `data`, `method`, `tasks` (the number of tasks on which both were tested), `mean` (interquartile mean of
    its scores), `beside` (the first entry compared with it; None for that entry itself). A score is the return, or the
    success weighted by cost for a comparison with measures of its own.
    """
    score = "weighted_success" if comparison.measures else "return"
    of_tables = trials.represents & (trials.tested == trials.task)
    of_tables &= (trials.successes == protocol.successes) | trials.method.isin(REFERENCES)
    scores: dict[Any, NDArray[np.float64]] = {
        key: matrix_of(episodes, score) for key, episodes in trials[of_tables].groupby(["data", "method", "tested"])
    }
    first, lines = next(iter(protocol.entries)), []
    for data in filter(protocol.entries[first].learns_from, protocol.data_sets):
        for method in (*protocol.entries, *REFERENCES):
            source = "" if method in REFERENCES else data
            pairs = [
                (scores[data, first, task], scores[source, method, task])
                for task in protocol.tasks
                if (data, first, task) in scores and (source, method, task) in scores
            ]
            if pairs:
                ours, others = zip(*pairs, strict=True)
                beside = None if method == first else compare_scores(ours, others)
                lines.append((data, method, len(pairs), interquartile_mean(others), beside))
    return pd.DataFrame(lines, columns=["data", "method", "tasks", "mean", "beside"])
