"""The page of a comparison of methods: tables of means over all episodes. `wfairl report CELL` draws a single run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.harness.results import Results, Sections
from experiments.harness.tables import ABSENT, INDENT, table_of
from experiments.method_comparison.measures import MEASURES
from experiments.method_comparison.protocol import MethodComparison, Protocol
from wfairl.core.planning.policies import REFERENCES
from wfairl.pages.blocks import Facts, PageTable, TableCell
from wfairl.pages.text import Inline, Text, capitalised, counted, number
from wfairl.runs.collection import FIRST_TEST_SEED
from wfairl.runs.evaluation import policy_title
from wfairl.runs.methods import CHOSEN, find_method
from wfairl.runs.task_registry import find_task

SEPARATOR = " / "
"""Between the figures of a cell."""


@dataclass(frozen=True, eq=False)
class ComparisonTables:
    """The tables of a comparison, as far as it was computed."""

    comparison: MethodComparison
    results: Results

    def sections(self) -> Sections:
        """The sections of the page."""
        shown: Sections = {"Results": self.acting(), "The rules": self.rules()}
        if not self.comparison.measures:
            shown = {"Returns": [self.returns()], "Automata": self.automata()}
        return {**shown, "Fewer demonstrations": self.curves(), "The protocol": [self.settings()]}

    def settings(self) -> Facts:
        """Scenes, seeds and demonstrations; and for each entry the settings that are not its method's defaults."""
        protocol = self.protocol
        changed = {
            entry.title: ", ".join(
                f"{name.replace('_', ' ')} {value} instead of {default or 'the default'}"
                for name, (value, default) in find_method(entry.method).changed_settings(entry.settings).items()
            )
            for entry in protocol.entries.values()
        }
        return Facts(
            (
                ("Test scenes", f"{FIRST_TEST_SEED} to {FIRST_TEST_SEED + protocol.test_scenes - 1}"),
                ("Training seeds", number(protocol.seeds)),
                ("Demonstrations", f"{protocol.successes} successes, {protocol.failures} failures"),
                *((title, text) for title, text in changed.items() if text),
            )
        )

    @cached_property
    def protocol(self) -> Protocol:
        """What was asked for."""
        return self.comparison.protocol(self.results.options)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One line per task, data set, entry, demonstrations and way of acting."""
        return summarise(self.comparison, self.protocol, trials_of(self.results))

    @cached_property
    def main(self) -> pd.DataFrame:
        """The lines of the summary with all demonstrations, and the lines of the references."""
        return self.summary[self.summary.is_reference | (self.summary.successes == self.protocol.successes)]

    def title(self, method: str) -> str:
        """What a table calls an entry or a reference policy."""
        if method in REFERENCES:
            return policy_title(method, *map(find_task, self.protocol.tested_tasks))
        return self.protocol.entries[method].title

    def task_title(self, task: str) -> str:
        """What a table calls a task; one that nothing was trained on says on what it was."""
        trained_on = [source for source, others in self.protocol.transfers.items() if task in others]
        return f"{find_task(task).title}{f' (learned on {trained_on[0]})' if trained_on else ''}"

    def describe(self, data: str) -> str:
        """A data set in words."""
        failures = self.protocol.failures_of(data)
        also = f"{failures} failures" if failures else "no failures"
        temperature = f"{self.protocol.data_sets[data].temperature:g}"
        return f"{data} ({self.protocol.successes} demonstrations at temperature {temperature}, {also})"

    def returns(self) -> PageTable:
        """Returns: a line per entry, data set and way of acting, a column per task."""
        protocol, caption = self.protocol, "Mean return on {} ± its standard error over scenes and {}{}."
        cells = list(map(self._return_cell, self.main.itertuples()))
        lines = [("", method, CHOSEN) for method in REFERENCES]
        for method, entry in protocol.entries.items():
            for data in filter(entry.learns_from, protocol.data_sets):
                lines += [(data, method, acting) for acting in (CHOSEN, *self._ways(method, data))]
        wide = self.main.assign(cell=cells).pivot(index=["data", "method", "acting"], columns="task", values="cell")
        wide = wide.reindex(index=lines, columns=protocol.tasks).set_axis(map(self._line_title, lines))
        numbers = counted(protocol.test_scenes, "test scene"), counted(protocol.seeds, "training seed")
        return table_of(self._with_titles(wide), caption.format(*numbers, self._beside))

    def _line_title(self, line: tuple[str, str, str]) -> str:
        data, method, acting = line
        if acting != CHOSEN:
            return f"{INDENT}{acting}"
        return f"{self.title(method)}, from {data}" if data else self.title(method)

    def _return_cell(self, line: Any) -> TableCell:
        """Mean and standard error, and the published figure: `0.795 ± 0.005 (0.798)`."""
        note: Text = "" if np.isnan(line.published) else ("(", number(line.published), ")")
        is_single = self.protocol.test_scenes * line.seeds == 1  # and has no standard error
        return TableCell(with_error(line.mean_return, None if is_single else line.standard_error), note)

    def _ways(self, method: str, data: str) -> list[str]:
        """The tested ways of acting of an entry, without one that equals the chosen one on every task."""
        lines = self.main[(self.main.method == method) & (self.main.data == data)]
        lines = lines[lines.task.isin(self.protocol.tasks)]
        figures = lines.set_index(["task", "acting"])[["mean_return", "standard_error", "success_rate"]]
        wide = figures.unstack("acting")
        names = [name for name in lines.acting.unique() if name != CHOSEN]
        return [
            name
            for name in names
            if any((wide[figure][name] - wide[figure][CHOSEN]).abs().gt(0).any() for figure in figures.columns)
        ]

    @property
    def _beside(self) -> str:
        source = self.comparison.published_by
        return f"; in brackets, the figure of {source}" if source else ""

    def _with_titles(self, wide: pd.DataFrame) -> pd.DataFrame:
        return wide.rename(columns=lambda task: find_task(task).title)

    def automata(self) -> list[PageTable]:
        """Rank, rows and cols: one line per data set, one column per task; no table if no method has them."""
        found: dict[tuple[str, str], list[str]] = {}
        for name, outcome in self.results.outcomes.items():
            settings, facts = self.results.cells[name].settings, outcome.facts.get("training", {})
            if facts.get("rank") is not None and settings["successes"] == self.protocol.successes:
                numbers = "/".join(str(facts[one]) for one in ("rank", "rows", "cols"))
                found.setdefault((settings["task"], settings["data"]), []).append(numbers)
        if not found:
            return []
        tasks = self.protocol.tasks
        lines = {
            f"from {data}": [self._automata_cell(task, data, found.get((task, data), [])) for task in tasks]
            for data in self.protocol.data_sets
        }
        caption = "Rank / rows / cols of the weighted automaton of each training seed, those of the data"
        wide = pd.DataFrame.from_dict(lines, orient="index", columns=tasks)
        return [table_of(self._with_titles(wide), f"{caption}{self._beside}.")]

    def _automata_cell(self, task: str, data: str, found: Sequence[str]) -> TableCell:
        published = self.comparison.published_automata.get((task, data))
        return TableCell(", ".join(found) or ABSENT, f"({'/'.join(map(str, published))})" if published else "")

    def acting(self) -> list[PageTable]:
        """The measures of the comparison: a table per data set, one of the references, and the curve."""
        names = self.comparison.measures
        about = f"{_explained(names)} Means over test scenes and training seeds"
        tables = [
            self._measured(f"{about}, from {self.describe(data)}.", data, self._learners(data), names)
            for data in self.protocol.data_sets
        ]
        return [*tables, self._measured("The same of policies that learn nothing.", "", list(REFERENCES), names)]

    def rules(self) -> list[PageTable]:
        """The measures of the learned rules: a table per data set."""
        names, tables = ("agreement", "states"), []
        with_rule = set(self.main[self.main.agreement.notna()][["data", "method"]].itertuples(index=False, name=None))
        for data in self.protocol.data_sets:
            learners = [entry for entry in self._learners(data) if (data, entry) in with_rule]
            tables.append(self._measured(f"{_explained(names)} From {self.describe(data)}.", data, learners, names))
        return tables

    def _learners(self, data: str) -> list[str]:
        return [name for name, entry in self.protocol.entries.items() if entry.learns_from(data)]

    def _measured(self, caption: str, data: str, methods: Sequence[str], names: Sequence[str]) -> PageTable:
        """One line per task, one column per entry."""
        lines = self.main[(self.main.acting == CHOSEN) & (self.main.data == data) & self.main.method.isin(methods)]
        wide = _with_text(lines, names).pivot(index="task", columns="method", values="text")
        wide = wide.reindex(index=self.protocol.tested_tasks, columns=methods).dropna(how="all")
        return table_of(wide.rename(index=self.task_title, columns=self.title), caption)

    def curves(self) -> list[PageTable]:
        """Measures by the number of demonstrations: one line per task and entry; no table without a curve."""
        curve, summary, names = self.protocol.curve, self.summary, self.comparison.measures or ("return",)
        if curve is None:
            return []
        chosen = (summary.acting == CHOSEN) & (summary.data == curve.data) & summary.method.isin(curve.entries)
        lines = _with_text(summary[chosen].sort_values("successes"), names)
        wide = lines.pivot(index=["task", "method"], columns="successes", values="text")
        wide = wide.reindex([(task, method) for task in self.protocol.tested_tasks for method in curve.entries])
        wide = wide[wide.notna().sum(axis=1) > 1]
        wide.index = [f"{self.task_title(task)}, {self.title(method)}" for task, method in wide.index]
        caption = f"{_explained(names)} By the number of demonstrations of data set {curve.data}."
        return [table_of(wide.rename(columns=lambda successes: f"{successes:.0f}"), caption)]


def _with_text(lines: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """With a column `text`, the measures of a line one after the other: `98 % / 1.2 %`; None where it has none."""
    texts = [[MEASURES[name].text(line) or ABSENT for name in names] for line in lines.itertuples()]
    return lines.assign(text=[SEPARATOR.join(one) if any(text != ABSENT for text in one) else None for one in texts])


def _explained(names: Sequence[str]) -> str:
    titles = SEPARATOR.join(MEASURES[name].title for name in names)
    return f"{capitalised(titles)}: {' '.join(MEASURES[name].explanation for name in names)}"


def with_error(mean: float, error: float | None) -> tuple[Inline, ...]:
    """A mean and its standard error, if it has one."""
    if error is None:
        return (number(mean),)
    return (number(mean), " ± ", number(error))


OPTIMAL = "optimal"

LINE = ["tested", "data", "method", "successes", "acting"]
"""What the episodes of a line share."""


COLUMNS = [
    *("cell", "task", "data", "method", "seed", "successes", "tested", "acting", "chosen", "scene"),
    *("return", "success", "cost", "agreement", "states", "least_states"),
]
"""Of the table of results."""


def trials_of(results: Results) -> pd.DataFrame:
    """The table of results, one line per episode, with one more column.

    `regret`: of an episode that keeps the rule; NaN otherwise.
    """
    table = results.table.reindex(columns=dict.fromkeys([*results.table.columns, *COLUMNS]))
    table = table.fillna({"data": "", "seed": 0, "successes": 0})
    table = table.astype({"chosen": bool, "success": bool})
    optimal = table[(table.method == OPTIMAL) & table.success]
    least = optimal.set_index(["tested", "scene"]).cost.rename("least")
    table = table.join(least, on=["tested", "scene"])
    table["regret"] = (table.cost / table.least - 1).where(table.success)
    return table


def summarise(comparison: MethodComparison, protocol: Protocol, trials: pd.DataFrame) -> pd.DataFrame:
    """Means over training seeds and test scenes, a line per task, data set, entry, demonstrations and way of acting.

    Columns: `task` (that was tested), `data`, `method`, `successes`, `acting`, `mean_return`, `standard_error`,
    `success_rate`, `regret`, `agreement`, `states`, `least_states`, `seeds`, and `published`, which
    only the lines of `CHOSEN` with all demonstrations have.
    """
    others = trials[~(trials.chosen & (trials.acting == CHOSEN))]
    groups = pd.concat([trials[trials.chosen].assign(acting=CHOSEN), others]).groupby(LINE, sort=False)
    summary = groups.agg(
        mean_return=("return", "mean"),
        success_rate=("success", "mean"),
        regret=("regret", "mean"),
        agreement=("agreement", "mean"),
        states=("states", "mean"),
        least_states=("least_states", "first"),
        seeds=("seed", "nunique"),
    ).astype(float)
    returns = [group.pivot(index="seed", columns="scene", values="return").to_numpy(float) for _, group in groups]
    summary["standard_error"] = list(map(standard_error, returns))
    summary = summary.reset_index().rename(columns={"tested": "task"})
    summary["is_reference"] = summary.method.isin(REFERENCES)
    is_main = (summary.acting == CHOSEN) & (summary.is_reference | (summary.successes == protocol.successes))
    keys = zip(summary.method, summary.task, summary.data, strict=True)
    published = [comparison.published_returns.get(key) for key in keys]
    summary["published"] = pd.Series(published, dtype=float).where(is_main)
    return summary


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
