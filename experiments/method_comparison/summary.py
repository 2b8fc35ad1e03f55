"""The results of a comparison of methods, one line per entry, task, data set and way of acting."""

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.harness.results import Results
from experiments.method_comparison.protocol import MethodComparison, Protocol
from wfairl.core.planning.policies import REFERENCES
from wfairl.core.runs.methods import CHOSEN

OPTIMAL = "optimal"

LINE = ["tested", "data", "method", "successes", "acting"]
"""What the episodes of a line share."""


COLUMNS = [
    *("cell", "task", "data", "method", "seed", "successes", "tested", "acting", "chosen", "scene"),
    *("return", "success", "no_plan", "cost", "agreement", "states", "least_states"),
]
"""Of the table of results."""


def trials_of(results: Results) -> pd.DataFrame:
    """The table of results, one line per episode, with one more column.

    `regret`: of an episode that keeps the rule; NaN otherwise.
    """
    table = results.table.reindex(columns=dict.fromkeys([*results.table.columns, *COLUMNS]))
    table = table.fillna({"data": "", "seed": 0, "successes": 0})
    table = table.astype({"chosen": bool, "success": bool, "no_plan": bool})
    optimal = table[(table.method == OPTIMAL) & table.success]
    least = optimal.set_index(["tested", "scene"]).cost.rename("least")
    table = table.join(least, on=["tested", "scene"])
    table["regret"] = (table.cost / table.least - 1).where(table.success)
    return table


def summarise(comparison: MethodComparison, protocol: Protocol, trials: pd.DataFrame) -> pd.DataFrame:
    """Means over training seeds and test scenes, a line per task, data set, entry, demonstrations and way of acting.

    Columns: `task` (that was tested), `data`, `method`, `successes`, `acting`, `mean_return`, `standard_error`,
    `success_rate`, `no_plan_rate`, `regret`, `agreement`, `states`, `least_states`, `seeds`, and `published`, which
    only the lines of `CHOSEN` with all demonstrations have.
    """
    others = trials[~(trials.chosen & (trials.acting == CHOSEN))]
    groups = pd.concat([trials[trials.chosen].assign(acting=CHOSEN), others]).groupby(LINE, sort=False)
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
