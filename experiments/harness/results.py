"""What came of an experiment: the table of results, and the files that show it.

results.csv     one line per row of every cell, with the settings of the cell
results.md      the tables
report.html     all of it, to open in a browser
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from experiments.harness.cell import Cell, Outcome, seconds_of
from experiments.harness.tables import to_markdown
from wfairl import __version__
from wfairl.core.support.files import write_atomically
from wfairl.pages.blocks import Command, Facts, PageTable, prose
from wfairl.pages.page import Block, Page, Section, write_page
from wfairl.pages.provenance import provenance
from wfairl.pages.text import Code, Text

if TYPE_CHECKING:
    from experiments.harness.experiment import Experiment, Options

CSV, MARKDOWN, REPORT = "results.csv", "results.md", "report.html"

Sections = Mapping[str, Sequence[Block]]
"""The parts of a page by the title of their section; one without parts is left out."""


@dataclass(frozen=True, eq=False)
class Results:
    """What came of an experiment: all cells, the outcomes of those computed, and why others were not, by name."""

    experiment: "Experiment"
    options: "Options"
    directory: Path
    cells: Mapping[str, Cell]
    outcomes: Mapping[str, Outcome]
    failures: Mapping[str, str]

    @cached_property
    def table(self) -> pd.DataFrame:
        """One line per row of an outcome: the name of the cell, its settings that are plain values, the row."""
        rows = [
            {"cell": name, **_plain_settings(self.cells[name]), **row}
            for name, outcome in self.outcomes.items()
            for row in outcome.rows
        ]
        return pd.DataFrame(rows) if rows else pd.DataFrame(columns=["cell"])

    def rows_of(self, beginning: str) -> pd.DataFrame:
        """The rows of the cells whose names begin so."""
        return self.table[self.table.cell.str.startswith(beginning)].convert_dtypes()

    @cached_property
    def sections(self) -> Sections:
        """The parts of the page that the experiment makes, without empty tables; and what could not be computed."""
        made = self.experiment.sections(self) if self.outcomes else {}
        shown = {
            title: [part for part in parts if not isinstance(part, PageTable) or part.rows]
            for title, parts in made.items()
        }
        failed = [prose(("Not computed: ", Code(name), f": {reason}")) for name, reason in self.failures.items()]
        return {**shown, "Failures": failed}

    @property
    def tables(self) -> list[PageTable]:
        """All tables of the page."""
        return [part for parts in self.sections.values() for part in parts if isinstance(part, PageTable)]

    @property
    def notice(self) -> str:
        """What is less than the full experiment, for the reader; empty if nothing is."""
        return self.options.notice(self.experiment)

    @property
    def seconds(self) -> float:
        """The processor time of all computed cells."""
        return sum(seconds_of(self.cells[name], self.directory) for name in self.outcomes)

    def to_markdown(self) -> str:
        """The tables, and what could not be computed."""
        parts = [f"**{self.notice}**"] if self.notice else []
        parts += [to_markdown(table) for table in self.tables]
        parts += [f"Not computed: {name}: {reason.splitlines()[-1]}" for name, reason in self.failures.items()]
        return "\n\n".join(parts) + "\n"

    def write(self, command: str) -> None:
        """Write all files, each atomically; `command` is what to type to have the same again."""
        write_atomically(self.directory / CSV, self.table.to_csv(index=False, lineterminator="\n"))
        write_atomically(self.directory / MARKDOWN, self.to_markdown())
        write_page(self._page(command), self.directory / REPORT)

    def _page(self, command: str) -> Page:
        made, experiment = provenance(command), self.experiment
        facts: list[tuple[str, Text]] = [("Date", made["date"]), ("Machine", made["machine"])]
        facts += made["versions"].items()
        if experiment.source is not None:
            facts = [("Data", experiment.source.where), ("Licence of the data", experiment.source.licence), *facts]
        again = prose("Started again, the command computes only what is missing, and ends with the same tables:")
        sections: Sections = {**self.sections, "How it was made": (again, Command(command), Facts(tuple(facts)))}
        return Page(
            title=experiment.title,
            subtitle=f"{experiment.summary}.",
            sections=tuple(Section(title, tuple(parts)) for title, parts in sections.items() if parts),
            notice=self.notice,
            kind=f"wfairl · experiment {experiment.name}",
            footer=f"Made by wfairl {__version__} on {made['date']}. This page is one file and loads nothing else.",
        )


def _plain_settings(cell: Cell) -> dict[str, bool | int | float | str]:
    return {name: value for name, value in cell.settings.items() if isinstance(value, bool | int | float | str)}
