"""The results of a suite of either kind as files: results.json, results.csv, results.md and made.json."""

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from experiments.suites.directory import CSV, MADE, MARKDOWN, RESULTS
from experiments.suites.results import BrokenResultsError
from wfairl.core.support.documents import Form, NotNegative
from wfairl.core.support.files import write_atomically
from wfairl.pages.tables import Column, Table
from wfairl.pages.text import plain_text

AGAIN = "the `wfairl reproduce` that made them computes them again"

INDENT = "\N{EM SPACE}"
"""Before the name of a line that belongs to the one above it."""


@dataclass(frozen=True)
class TextTable:
    """A table as text.

    Attributes:
        title: what it shows.
        head: of its columns, that of the lines' names first.
        body: its lines.
    """

    title: str
    head: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, table: Table) -> "TextTable":
        """A table of a page as text, with the notes of its cells."""
        body = [
            tuple(" ".join(filter(None, (plain_text(one.text), plain_text(one.note)))) for one in row)
            for row in table.cells
        ]
        return cls(plain_text(table.caption), tuple(plain_text(column.name) for column in table.columns), tuple(body))

    def to_markdown(self) -> str:
        """Without the title."""
        lines = [self.head, ("---",) * len(self.head), *self.body]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines).replace(INDENT, "&nbsp;&nbsp;")

    def to_block(self) -> Table:
        """For a page."""
        return Table((Column(self.head[0]), *(Column(name, "right") for name in self.head[1:])), self.body, self.title)


class Reproduction(ABC):
    """What came of a suite.

    Attributes:
        provenance: date, command, machine and versions.
        failures: what could not be computed, and why.
        form: of `to_document` on disk.
    """

    provenance: Mapping[str, Any]
    failures: Mapping[str, str]
    form: ClassVar[Form[Any]]

    @property
    @abstractmethod
    def notice(self) -> str:
        """What is smaller than in the full protocol, for the reader; empty if nothing is."""

    @property
    @abstractmethod
    def text_tables(self) -> tuple[TextTable, ...]:
        """The tables, ours beside published figures."""

    @abstractmethod
    def to_document(self) -> dict[str, Any]:
        """As one JSON object."""

    @abstractmethod
    def csv_lines(self) -> Iterable[Sequence[Any]]:
        """The lines of the CSV file, its head first."""

    def to_csv(self) -> str:
        """The figures; None is an empty cell."""
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows(self.csv_lines())
        return stream.getvalue()

    def to_markdown(self) -> str:
        """The tables, and what could not be computed."""
        parts = [f"**{self.notice}**"] if self.notice else []
        for table in self.text_tables:
            parts += [table.title, table.to_markdown()]
        parts += [f"Not computed: {name}: {reason.splitlines()[-1]}" for name, reason in self.failures.items()]
        return "\n\n".join(parts) + "\n"

    def write(self, directory: Path) -> None:
        """Write all files, each atomically."""
        PROVENANCE.write(directory / MADE, self.provenance)
        self.form.write(directory / RESULTS, self.to_document())
        write_atomically(directory / CSV, self.to_csv())
        write_atomically(directory / MARKDOWN, self.to_markdown())


@dataclass(frozen=True)
class _Provenance:
    """When, on what and with which versions results were made; see `provenance`."""

    date: str
    command: str
    machine: str
    versions: Mapping[str, str]
    core_seconds: NotNegative | None = None


PROVENANCE = Form("wfairl-made", "how results were made", 2, _Provenance, BrokenResultsError, AGAIN)
