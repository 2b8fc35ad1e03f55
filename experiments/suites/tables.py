"""The results of a suite of experiments as tables."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

from experiments.suites.comparisons import SCORES, Compared
from experiments.suites.directory import MADE, RESULTS
from experiments.suites.metrics import METRICS
from experiments.suites.reproduction import AGAIN, INDENT, PROVENANCE, Reproduction, TextTable
from experiments.suites.results import BrokenResultsError, CellResult, Row, find_row
from experiments.suites.scope import shortfall
from experiments.suites.suite import REFERENCES, Protocol, Suite, find_suite
from wfairl.core.planning.policies import policy_title
from wfairl.core.runs.methods import CHOSEN
from wfairl.core.support.documents import Count, Form, Name
from wfairl.core.worlds.task_registry import find_task
from wfairl.pages.tables import Column, Table, TableCell
from wfairl.pages.text import Text, counted, number, with_error

ABSENT = "-"

SEPARATOR = " / "
"""Between the figures of a cell."""


@dataclass(frozen=True)
class AutomataRanks:
    """Rank, rows and cols of the automata of a task and a data set, one for each training seed; and the published."""

    task: str
    data: str
    rank_rows_cols: tuple[tuple[Count, Count, Count], ...]
    published: tuple[float, ...] = ()


@dataclass(frozen=True)
class _Stored:
    """The tables on disk; see `Tables`."""

    protocol: Protocol
    rows: tuple[Row, ...]
    automata: tuple[AutomataRanks, ...]
    failures: Mapping[str, Name]
    comparisons: tuple[Compared, ...] = ()

    def __post_init__(self) -> None:
        find_suite(self.protocol.suite).check(self.protocol)
        if not (self.protocol.tasks and self.protocol.data_sets and self.protocol.methods):
            raise ValueError("a protocol without tasks, data sets or methods")


@dataclass(frozen=True)
class Tables(Reproduction):
    """The tables of a suite.

    Attributes:
        protocol: what was computed.
        rows: all means, those of the main table among them.
        automata: the weighted automata that were learned.
        comparisons: every entry beside the first one, over all tasks.
    """

    protocol: Protocol
    rows: tuple[Row, ...]
    automata: tuple[AutomataRanks, ...]
    provenance: Mapping[str, Any]
    failures: Mapping[str, str]
    comparisons: tuple[Compared, ...] = ()
    form: ClassVar[Form[_Stored]] = Form(
        "wfairl-reproduction",
        "the results of a reproduction",
        6,
        _Stored,
        BrokenResultsError,
        AGAIN,
    )

    @property
    def suite(self) -> Suite:
        """What it is a protocol of."""
        return find_suite(self.protocol.suite)

    @property
    def notice(self) -> str:
        return shortfall(self.protocol)

    def to_document(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "provenance"}

    def csv_lines(self) -> Iterator[Sequence[Any]]:
        """See `Reproduction`; one line per row."""
        yield [field.name for field in fields(Row)]
        yield from map(astuple, self.rows)

    @property
    def text_tables(self) -> tuple[TextTable, ...]:
        """The suite's metrics, or returns where it has none; then the comparisons."""
        if self.suite.metrics:
            return (*self.acting_tables(), *self.rule_tables(), *self.comparison_tables())
        figures = (self.returns_table(), *([self.automata_table()] if self.automata else []))
        return (*map(TextTable.of, figures), *self.comparison_tables())

    def returns_table(self) -> Table:
        """Returns: one line per entry, data set and variant, one column per task; the best of a data set stand out."""
        protocol, best = self.protocol, self._best_rows()
        caption = (
            f"Mean return on {counted(protocol.test_scenes, 'test scene')} ± its standard error over scenes and"
            f" {counted(protocol.seeds, 'training seed')}{self._beside}."
        )
        return Table(
            self._task_columns,
            tuple((title, *(self._return_cell(row, best) for row in rows)) for title, rows in self._return_lines()),
            caption,
        )

    def automata_table(self) -> Table:
        """Ranks: one line per data set, one column per task."""
        return Table(
            self._task_columns,
            tuple(
                (f"from {data}", *(self._automata_cell(task, data) for task in self.protocol.tasks))
                for data in self.protocol.data_sets
            ),
            "Rank / rows / cols of the weighted automaton of each training seed, those of the data, nothing cut off"
            f"{self._beside}.",
        )

    @property
    def _beside(self) -> str:
        return f"; in brackets, the figure of {self.suite.source}" if self.suite.source else ""

    @property
    def _task_columns(self) -> tuple[Column, ...]:
        return (Column(""), *(Column(find_task(task).title, "right") for task in self.protocol.tasks))

    def _return_lines(self) -> Iterator[tuple[str, list[Row | None]]]:
        """The lines of the table of returns: title, and one row per task."""
        tasks = self.protocol.tasks
        for method in REFERENCES:
            yield self.title(method), [self.row(task, "", method) for task in tasks]
        for method in self.protocol.methods:
            for data in filter(self.suite.entries[method].learns_from, self.protocol.data_sets):
                yield f"{self.title(method)}, from {data}", [self.row(task, data, method) for task in tasks]
                for variant in self.variants(method, data):
                    yield f"{INDENT}{variant}", [self.row(task, data, method, variant) for task in tasks]

    def _return_cell(self, row: Row | None, best: Sequence[Row]) -> TableCell:
        """Mean and standard error, and the published figure: `0.795 ± 0.005 (0.798)`."""
        if row is None:
            return TableCell(ABSENT)
        note: Text = "" if row.published is None else ("(", number(row.published), ")")
        is_single = self.protocol.test_scenes * row.seeds == 1  # and has no standard error
        return TableCell(with_error(row.mean_return, None if is_single else row.standard_error), note, row in best)

    def _best_rows(self) -> list[Row]:
        """The best rows of each task and data set, including those of variants."""
        best_rows = []
        for task, data in product(self.protocol.tasks, self.protocol.data_sets):
            rows = [
                row
                for method in self.protocol.methods
                for variant in (CHOSEN, *self.variants(method, data))
                if (row := self.row(task, data, method, variant)) is not None
            ]
            best = max((row.mean_return for row in rows), default=0.0)
            best_rows += [row for row in rows if math.isclose(row.mean_return, best)]
        return best_rows

    def _automata_cell(self, task: str, data: str) -> TableCell:
        ours = [one for of in self.automata if (of.task, of.data) == (task, data) for one in of.rank_rows_cols]
        published = self.suite.published_automaton(task, data)
        text = ", ".join("/".join(map(str, one)) for one in ours) or ABSENT
        return TableCell(text, f"({'/'.join(map(str, published))})" if published else "")

    def acting_tables(self) -> tuple[TextTable, ...]:
        """The metrics of the suite: a table per data set, one of the references, and the curve."""
        suite, protocol = self.suite, self.protocol
        acting = f"{_explained(suite.metrics)} Means over test scenes and training seeds"
        tables = [
            self._metric_table(f"{acting}, from {self.describe(data)}.", data, self._learners(data), suite.metrics)
            for data in protocol.data_sets
        ]
        tables.append(self._metric_table("The same of policies that learn nothing.", "", REFERENCES, suite.metrics))
        tables.append(self._curve_table(f"{acting}, against the number of demonstrations."))
        return tuple(table for table in tables if table.body)

    def rule_tables(self) -> tuple[TextTable, ...]:
        """The metrics of the learned rules: a table per data set."""
        metrics, tables = self.suite.automaton_metrics, []
        for data in self.protocol.data_sets:
            learners = [entry for entry in self._learners(data) if self._has_rule(data, entry)]
            title = f"{_explained(metrics)} From {self.describe(data)}."
            tables.append(self._metric_table(title, data, learners, metrics))
        return tuple(table for table in tables if table.body)

    def comparison_tables(self) -> tuple[TextTable, ...]:
        """Every entry beside the first one over all tasks, a table per data set."""
        score, explanation = SCORES[bool(self.suite.metrics)]
        first = self.title(self.protocol.methods[0])
        head = ("", f"{score}, interquartile mean", f"{first} above it, per scene", f"{first} better in a scene")
        tables = []
        for data in dict.fromkeys(one.data for one in self.comparisons):
            lines = [one for one in self.comparisons if one.data == data]
            title = (
                f"Over {counted(lines[0].tasks, 'task')}, from {self.describe(data)}: interquartile mean of"
                f" {explanation}; mean difference of {first} in the same scenes; and the probability that it does"
                " better in one, half for a tie. With 95 % intervals of a stratified bootstrap over scenes and training"
                " seeds."
            )
            tables.append(TextTable(title, head, tuple(map(self._comparison_line, lines))))
        return tuple(tables)

    def _comparison_line(self, one: Compared) -> tuple[str, ...]:
        if one.beside is None:
            return (self.title(one.method), one.mean.text(), ABSENT, ABSENT)
        difference, improvement = one.beside.difference.text(sign="+"), one.beside.improvement.text(2)
        return (self.title(one.method), one.mean.text(), difference, improvement)

    def describe(self, data: str) -> str:
        """A data set in words."""
        temperature, failures = self.suite.data_sets[data].temperature, self.suite.failures_of(data, self.protocol)
        also = f"{failures} failures" if failures else "no failures"
        return f"{data} ({self.protocol.successes} demonstrations at temperature {temperature:g}, {also})"

    def title(self, method: str) -> str:
        """What a table calls an entry or a reference policy."""
        if method in REFERENCES:
            return policy_title(method, *map(find_task, self.suite.tested_tasks(self.protocol)))
        return self.suite.entries[method].title

    def task_title(self, task: str) -> str:
        """What a table calls a task; one that nothing was trained on says on what it was."""
        trained_on = [source for source, others in self.suite.transfers.items() if task in others]
        return f"{find_task(task).title}{f' (learned on {trained_on[0]})' if trained_on else ''}"

    def _learners(self, data: str) -> list[str]:
        return [entry for entry in self.protocol.methods if self.suite.entries[entry].learns_from(data)]

    def _has_rule(self, data: str, entry: str) -> bool:
        rows = [self.row(task, data, entry) for task in self.protocol.tasks]
        return any(row is not None and row.agreement is not None for row in rows)

    def _metric_table(self, title: str, data: str, methods: Sequence[str], metrics: Sequence[str]) -> TextTable:
        """One line per task, one column per entry."""
        body = [
            (self.task_title(task), *(format_metrics(self.row(task, data, method), metrics) for method in methods))
            for task in self.suite.tested_tasks(self.protocol)
        ]
        not_empty = tuple(line for line in body if any(cell != ABSENT for cell in line[1:]))
        return TextTable(title, ("", *map(self.title, methods)), not_empty)

    def _curve_table(self, title: str) -> TextTable:
        """One line per task and entry, one column per number of demonstrations."""
        protocol, numbers = self.protocol, sorted({*self.protocol.fewer, self.protocol.successes})
        body = []
        for task in self.suite.tested_tasks(protocol) if protocol.fewer else ():
            for method in protocol.fewer_methods:
                rows = [find_row(self.rows, task, protocol.fewer_data, method, number) for number in numbers]
                if sum(row is not None for row in rows) > 1:
                    cells = (format_metrics(row, self.suite.metrics) for row in rows)
                    body.append((f"{self.task_title(task)}, {self.title(method)}", *cells))
        return TextTable(title, ("", *map(str, numbers)), tuple(body))

    def row(self, task: str, data: str, method: str, variant: str = CHOSEN) -> Row | None:
        """A row of the main table."""
        return find_row(self.rows, task, data, method, self.protocol.successes, variant)

    def variants(self, method: str, data: str) -> tuple[str, ...]:
        """The tested variants of an entry, without one that equals the chosen one on every task."""
        key, tasks = (method, data, self.protocol.successes), self.protocol.tasks
        rows = [row for row in self.rows if (row.method, row.data, row.successes) == key and row.task in tasks]
        chosen = {row.task: _figures(row) for row in rows if row.variant == CHOSEN}
        differing = {row.variant for row in rows if row.task in chosen and _figures(row) != chosen[row.task]}
        return tuple(name for name in dict.fromkeys(row.variant for row in rows) if name in differing)


def _figures(row: Row) -> tuple[float, float, float]:
    return row.mean_return, row.standard_error, row.success_rate


def automata_of(suite: Suite, results: Sequence[CellResult], successes: int) -> tuple[AutomataRanks, ...]:
    """The weighted automata of cells with a number of demonstrations, by task and data set."""
    ranks: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for result in results:
        if result.facts.get("rank") is not None and result.cell.successes == successes:
            rank, rows, cols = (int(result.facts[name]) for name in ("rank", "rows", "cols"))
            ranks.setdefault((result.cell.task, result.cell.data), []).append((rank, rows, cols))
    return tuple(AutomataRanks(*key, tuple(of), suite.published_automaton(*key) or ()) for key, of in ranks.items())


def read_tables(directory: Path) -> Tables:
    """The tables that were written for a suite in a directory.

    Raises:
        BrokenResultsError: the files are not such.
    """
    stored, provenance = Tables.form.read(directory / RESULTS), PROVENANCE.read(directory / MADE)
    return Tables(**vars(stored), provenance=asdict(provenance))


def format_metrics(row: Row | None, metrics: Sequence[str]) -> str:
    """The figures of a row, one after the other: `98 % / 1.2 %`."""
    texts = [] if row is None else [METRICS[name].text(row) or ABSENT for name in metrics]
    return SEPARATOR.join(texts) if any(text != ABSENT for text in texts) else ABSENT


def _explained(metrics: Sequence[str]) -> str:
    titles = SEPARATOR.join(METRICS[name].title for name in metrics)
    return f"{titles[0].upper()}{titles[1:]}: {' '.join(METRICS[name].explanation for name in metrics)}"
