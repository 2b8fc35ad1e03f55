"""What came out: the results of cells, and the rows of the tables that follow from them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wfairl.errors import FailedRunError
from wfairl.files import read_json, write_json
from wfairl.methods import CHOSEN
from wfairl.suites.suite import REFERENCES, Cell, Suite


@dataclass(frozen=True)
class Trial:
    """One way in which what was learned acts, and how well.

    Attributes:
        variant: the way, for people: greedy, at 0.5, ...
        chosen: whether it is the one that stands for the cell.
        returns: of the test scenes, in their order.
        successes: whether each scene was solved.
    """

    variant: str
    chosen: bool
    returns: tuple[float, ...]
    successes: tuple[bool, ...]


@dataclass(frozen=True)
class CellResult:
    """What came of a cell.

    Attributes:
        cell: which one.
        key: everything that the result follows from.
        trials: the ways in which it was tested; one is chosen.
        validation: mean return on scenes for validation, by which variants of a method are chosen; None for a method
            without variants.
        facts: what else there is to say of the training.
        seconds: processor time of training and test, without what an attempt before took that was killed.
    """

    cell: Cell
    key: Mapping[str, Any]
    trials: tuple[Trial, ...]
    validation: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        trials = [
            {
                "variant": one.variant,
                "chosen": one.chosen,
                "returns": list(one.returns),
                "successes": list(one.successes),
            }
            for one in self.trials
        ]
        document = {"key": self.key, "trials": trials, "validation": self.validation, "facts": self.facts}
        write_json(path, {**document, "seconds": self.seconds})

    @classmethod
    def load(cls, path: Path, cell: Cell, key: Mapping[str, Any]) -> Self | None:
        """The stored result, or None if there is none of this key."""
        if not path.exists():
            return None
        stored = read_json(path)
        if not isinstance(stored, dict) or stored.get("key") != key:
            return None
        trials = tuple(
            Trial(one["variant"], one["chosen"], tuple(one["returns"]), tuple(one["successes"]))
            for one in stored["trials"]
        )
        return cls(cell, key, trials, stored["validation"], stored["facts"], stored["seconds"])


@dataclass(frozen=True)
class Row:
    """A method on a task: the mean over training seeds and test scenes.

    Attributes:
        task: the name of the task.
        data: the data set; nothing for a reference policy.
        method: the entry that learned, or which reference policy.
        successes: demonstrations that it learned from.
        variant: how it acts; `CHOSEN` for the way that the method settled on.
        mean_return: over training seeds and test scenes.
        standard_error: of that mean, for other scenes and other training seeds.
        spread: standard deviation of the training seeds' means.
        success_rate: part of the episodes that succeeded.
        seeds: number of training seeds.
        published: the figure that was published elsewhere.
    """

    task: str
    data: str
    method: str
    successes: int
    variant: str
    mean_return: float
    standard_error: float
    spread: float
    success_rate: float
    seeds: int
    published: float | None


def rows_of(suite: Suite, results: Sequence[CellResult], table_successes: int) -> list[Row]:
    """One row per entry, task, data set and number of demonstrations; and one for each variant beside it.

    Args:
        suite: what was computed.
        results: of all training seeds.
        table_successes: the number of demonstrations of the main table, which published figures belong to alone.
    """
    groups: dict[tuple[str, str, str, int, str], list[Trial]] = {}
    chosen = best_variants(results)
    for result in results:
        cell = result.cell
        for trial in result.trials:
            stands_for_method = trial.chosen and result in chosen
            for variant in dict.fromkeys((CHOSEN, trial.variant) if stands_for_method else (trial.variant,)):
                key = (cell.task, cell.data, cell.method, cell.successes, variant)
                groups.setdefault(key, []).append(trial)
    rows = []
    for (task, data, method, successes, variant), group in groups.items():
        returns = np.array([trial.returns for trial in group])
        comparable = variant == CHOSEN and (successes == table_successes or method in REFERENCES)
        rows.append(
            Row(
                task=task,
                data=data,
                method=method,
                successes=successes,
                variant=variant,
                mean_return=float(returns.mean()),
                standard_error=standard_error(returns),
                spread=_deviation(returns.mean(axis=1)),
                success_rate=float(np.mean([trial.successes for trial in group])),
                seeds=len(group),
                published=suite.published(method, task, data) if comparable else None,
            )
        )
    return rows


def best_variants(results: Sequence[CellResult]) -> list[CellResult]:
    """For each training the variant that did best on scenes for validation; the first of equals.

    Raises:
        FailedRunError: a variant cannot be compared with another.
    """
    variants: dict[tuple[str, str, str, int, int], list[CellResult]] = {}
    for result in results:
        cell = result.cell
        variants.setdefault((cell.task, cell.data, cell.method, cell.seed, cell.successes), []).append(result)
    return [max(group, key=_validated) if len(group) > 1 else group[0] for group in variants.values()]


def _validated(result: CellResult) -> float:
    if result.validation is None:
        raise FailedRunError(f"{result.cell.name}: no return on scenes for validation, so no variant can be chosen")
    return result.validation


def standard_error(returns: NDArray[np.float64]) -> float:
    """The standard error of the mean of returns [training seeds, scenes], with scenes and seeds both drawn at random.

    Every training seed is tested on the same scenes, so that means over seeds share the luck of the scenes and means
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


def find_row(
    rows: Sequence[Row], task: str, data: str, method: str, successes: int, variant: str = CHOSEN
) -> Row | None:
    """The row of a method on a task, None if it was not computed."""
    for row in rows:
        if (row.task, row.data, row.method, row.variant) == (task, data, method, variant) and (
            row.successes == successes or method in REFERENCES
        ):
            return row
    return None
