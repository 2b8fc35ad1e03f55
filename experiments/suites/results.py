"""The results of cells, and the rows of tables that follow from them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import MinLen
from numpy.typing import NDArray

from experiments.suites.metrics import Recovery, regrets
from experiments.suites.suite import OPTIMAL, REFERENCES, Cell, Suite
from wfairl.core.planning.rollout import UNSATISFIABLE
from wfairl.core.runs import Evaluation
from wfairl.core.runs.methods import CHOSEN
from wfairl.core.support.documents import Count, Form, NotNegative, Part, parse
from wfairl.core.support.errors import BadInputError, FailedRunError


class BrokenResultsError(BadInputError):
    """A file does not hold the results of a suite, or of a cell of one."""


@dataclass(frozen=True)
class Trial:
    """The test of one policy of a cell.

    Attributes:
        task: what it was tested on: what it was trained on, or another task that the suite tests it on too.
        variant: how the policy acts: greedy, at 0.5, ...
        chosen: whether it represents the cell.
        returns: of the test scenes, in their order.
        successes: whether the true rule was kept in each scene.
        without_plan: whether there was no plan for a scene.
        costs: true cost of each episode.
    """

    task: str
    variant: str
    chosen: bool
    returns: Annotated[tuple[float, ...], MinLen(1)]
    successes: tuple[bool, ...]
    without_plan: tuple[bool, ...]
    costs: tuple[float, ...]

    def __post_init__(self) -> None:
        if len({len(self.returns), len(self.successes), len(self.without_plan), len(self.costs)}) != 1:
            raise BadInputError(f"{self.task}, {self.variant}: figures of different numbers of scenes")

    @classmethod
    def of(cls, variant: str, evaluation: Evaluation, chosen: bool) -> Self:
        """The trial of an evaluation."""
        episodes = evaluation.episodes
        return cls(
            task=evaluation.task,
            variant=variant,
            chosen=chosen,
            returns=tuple(episode.episode_return for episode in episodes),
            successes=tuple(episode.success for episode in episodes),
            without_plan=tuple(episode.outcome == UNSATISFIABLE for episode in episodes),
            costs=tuple(episode.cost for episode in episodes),
        )


@dataclass(frozen=True)
class _Facts:
    """The facts of a training that tables need; there may be others."""

    rank: Count | None = None
    rows: Count | None = None
    cols: Count | None = None


@dataclass(frozen=True)
class CellResult:
    """The result of a cell.

    Attributes:
        key: everything that the result follows from, the fields of the cell among it.
        trials: the tests of its policies; one is chosen.
        validation: mean return on validation scenes, by which variants of a method are chosen; None for a method
            without variants.
        facts: further facts about the training.
        recovery: of the rule, where an automaton was learned.
    """

    key: Mapping[str, Any]
    trials: tuple[Trial, ...]
    validation: float | None
    facts: Mapping[str, Any]
    recovery: Recovery | None

    def __post_init__(self) -> None:
        parse(_Facts, {one.name: self.facts[one.name] for one in fields(_Facts) if one.name in self.facts})
        if len({len(trial.returns) for trial in self.trials if trial.task == self.trials[0].task}) > 1:
            raise ValueError("trials of different numbers of scenes")

    @cached_property
    def cell(self) -> Cell:
        """Whose result it is."""
        return Cell(**{one.name: self.key[one.name] for one in fields(Cell)})

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        FORM.write(path, asdict(self))

    @staticmethod
    def load(path: Path, key: Mapping[str, Any]) -> "CellResult | None":
        """The stored result, or None if there is none of this key.

        Raises:
            BrokenResultsError: the file holds something else.
        """
        stored = FORM.read(path) if path.exists() else None
        return stored if stored is not None and stored.key == key else None


@dataclass(frozen=True)
class _Times:
    """How long a cell took."""

    seconds: NotNegative


AGAIN = "remove it, and the same `wfairl reproduce` computes it again"

FORM = Form("wfairl-cell", "the result of a cell", 2, CellResult, BrokenResultsError, AGAIN)

TIMES = Form("wfairl-times", "the times of a cell", 2, _Times, BrokenResultsError, AGAIN)


@dataclass(frozen=True)
class Row:
    """A method on a task: the mean over training seeds and test scenes.

    Attributes:
        task: the name of the task that it was tested on.
        data: the data set; nothing for a reference policy.
        method: the entry that learned, or which reference policy.
        successes: demonstrations that it learned from.
        variant: how it acts; `CHOSEN` for what the method chose.
        mean_return: over training seeds and test scenes.
        standard_error: of that mean, for other scenes and other training seeds.
        spread: standard deviation of the training seeds' means.
        success_rate: fraction of the episodes that kept the true rule.
        seeds: number of training seeds.
        published: the published figure.
        no_plan_rate: fraction of the scenes without a plan.
        regret: mean over the episodes that kept the rule; None if none did.
        agreement: with the true automaton, mean over training seeds; None where no automaton was learned.
        states: of the learned automaton, mean over training seeds; None likewise.
        least_states: of the smallest automaton of the true rule; None likewise.
    """

    task: str
    data: str
    method: str
    successes: Count
    variant: str
    mean_return: float
    standard_error: NotNegative
    spread: NotNegative
    success_rate: Part
    seeds: Count
    published: float | None
    no_plan_rate: Part
    regret: float | None
    agreement: Part | None
    states: NotNegative | None
    least_states: Count | None


def rows_of(suite: Suite, results: Sequence[CellResult], table_successes: int) -> list[Row]:
    """One row per entry, task, data set and number of demonstrations; and one for each variant beside it.

    Only rows of the main table, with `table_successes` demonstrations, have published figures.
    """
    groups: dict[tuple[str, str, str, int, str], list[tuple[Trial, Recovery | None]]] = {}
    chosen = best_variants(results)
    for result in results:
        cell = result.cell
        for trial in result.trials:
            represents_method = trial.chosen and result in chosen
            recovery = result.recovery if trial.task == cell.task else None  # of the training task alone
            for variant in dict.fromkeys((CHOSEN, trial.variant) if represents_method else (trial.variant,)):
                key = (trial.task, cell.data, cell.method, cell.successes, variant)
                groups.setdefault(key, []).append((trial, recovery))
    least = least_costs(results)
    rows = []
    for (task, data, method, successes, variant), group in groups.items():
        trials = [trial for trial, _ in group]
        returns = np.array([trial.returns for trial in trials])
        is_published = variant == CHOSEN and (successes == table_successes or method in REFERENCES)
        recoveries = [recovery for _, recovery in group if recovery is not None]
        least_here = least.get(task, (math.inf,) * returns.shape[1])
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
                success_rate=float(np.mean([trial.successes for trial in trials])),
                seeds=len(group),
                published=suite.published(method, task, data) if is_published else None,
                no_plan_rate=float(np.mean([trial.without_plan for trial in trials])),
                regret=_mean([one for trial in trials for one in regrets(trial.costs, trial.successes, least_here)]),
                agreement=_mean([recovery.agreement for recovery in recoveries]),
                states=_mean([recovery.states for recovery in recoveries]),
                least_states=recoveries[0].least_states if recoveries else None,
            )
        )
    return rows


def least_costs(results: Sequence[CellResult]) -> dict[str, tuple[float, ...]]:
    """The least true cost in each test scene of a task: the cost of the optimal policy; inf where it fails."""
    optimal = [trial for result in results if result.cell.method == OPTIMAL for trial in result.trials]
    return {
        one.task: tuple(cost if success else math.inf for cost, success in zip(one.costs, one.successes, strict=True))
        for one in optimal
    }


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def best_variants(results: Sequence[CellResult]) -> list[CellResult]:
    """For each training the variant that did best on validation scenes; the first of equals.

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
        raise FailedRunError(f"{result.cell.name}: no return on validation scenes, so no variant can be chosen")
    return result.validation


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
