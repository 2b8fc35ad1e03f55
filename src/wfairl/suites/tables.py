"""The results as files for programs (JSON, CSV) and for people (Markdown)."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from wfairl.errors import BadInputError
from wfairl.files import read_json
from wfairl.methods import CHOSEN
from wfairl.suites.results import CellResult, Row, find_row
from wfairl.suites.scope import shortfall
from wfairl.suites.suite import REFERENCES, Protocol, Suite, find_suite
from wfairl.worlds.registry import find_task

FORMAT = "wfairl-reproduction"
VERSION = 2

ABSENT = "-"

AUTOMATA = "rank_rows_cols"


@dataclass(frozen=True)
class Tables:
    """The tables of a suite.

    Attributes:
        protocol: what was computed.
        rows: all means, those of the main table among them.
        automata: for each (task, data set) the rank, rows and cols of each training seed.
        made: when, on what and with which versions.
        failures: what could not be computed, and why.
    """

    protocol: Protocol
    rows: tuple[Row, ...]
    automata: Mapping[tuple[str, str], tuple[tuple[int, int, int], ...]]
    made: Mapping[str, Any]
    failures: Mapping[str, str]

    @property
    def suite(self) -> Suite:
        """What it is a protocol of."""
        return find_suite(self.protocol.suite)

    def to_document(self) -> dict[str, Any]:
        """As one JSON object."""
        automata = [
            {
                "task": task,
                "data": data,
                AUTOMATA: [list(one) for one in ours],
                "published": list(self.suite.published_automaton(task, data) or ()),
            }
            for (task, data), ours in self.automata.items()
        ]
        return {
            "format": FORMAT,
            "version": VERSION,
            "made": dict(self.made),
            "protocol": asdict(self.protocol),
            "rows": [asdict(row) for row in self.rows],
            "automata": automata,
            "failures": dict(self.failures),
        }

    def to_csv(self) -> str:
        """One line per row."""
        stream = io.StringIO()
        writer = csv.DictWriter(stream, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        rows = ({**asdict(row), "published": "" if row.published is None else row.published} for row in self.rows)
        writer.writerows(rows)
        return stream.getvalue()

    def to_markdown(self) -> str:
        """The tables, ours beside the published figures."""
        source = self.suite.source
        beside = f"; the figure of {source} in brackets" if source else ""
        about = f"Mean return ± standard error over test scenes and training seeds{beside}."
        smaller = shortfall(self.protocol)
        parts = [
            *([f"**{smaller}**"] if smaller else []),
            about,
            _markdown(*self.returns_table()),
        ]
        if self.automata:
            parts.append(f"Rank / rows / cols of the automaton of each training seed{beside}.")
            parts.append(_markdown(*self.automata_table()))
        parts += [f"Not computed: {name}: {reason.splitlines()[-1]}" for name, reason in self.failures.items()]
        return "\n\n".join([*parts, made_line(self.made)]) + "\n"

    def returns_table(self) -> tuple[list[str], list[list[str]]]:
        """Head and body of the table of returns: one line per entry and data set, one column per task."""
        body = []
        for method in REFERENCES:
            body.append([method, *(format_row(self.row(task, "", method)) for task in self.protocol.tasks)])
        for method in self.protocol.methods:
            for data in self.protocol.data_sets:
                cells = [format_row(self.row(task, data, method)) for task in self.protocol.tasks]
                body.append([f"{self.suite.entries[method].title}, from {data}", *cells])
                for variant in self.variants(method, data):
                    cells = [format_row(self.row(task, data, method, variant)) for task in self.protocol.tasks]
                    body.append([f"&nbsp;&nbsp;{variant}", *cells])
        return _head(self.protocol.tasks), body

    def automata_table(self) -> tuple[list[str], list[list[str]]]:
        """Head and body of the table of ranks: one line per data set, one column per task."""
        body = []
        for data in self.protocol.data_sets:
            line = [f"from {data}"]
            for task in self.protocol.tasks:
                ours = self.automata.get((task, data), ())
                published = self.suite.published_automaton(task, data)
                text = ", ".join("/".join(map(str, one)) for one in ours) or ABSENT
                line.append(f"{text} ({'/'.join(map(str, published))})" if published else text)
            body.append(line)
        return _head(self.protocol.tasks), body

    def row(self, task: str, data: str, method: str, variant: str = CHOSEN) -> Row | None:
        """A row of the main table."""
        return find_row(self.rows, task, data, method, self.protocol.successes, variant)

    def variants(self, method: str, data: str) -> tuple[str, ...]:
        """The ways to train or act that were tested, without one that is the method's own choice everywhere."""
        found = {
            row.variant: None
            for row in self.rows
            if (row.method, row.data, row.successes) == (method, data, self.protocol.successes)
        }
        return tuple(variant for variant in found if self._differs_from_chosen(method, data, variant))

    def _differs_from_chosen(self, method: str, data: str, variant: str) -> bool:
        pairs = [(self.row(task, data, method, variant), self.row(task, data, method)) for task in self.protocol.tasks]
        return any(
            one is not None and chosen is not None and _figures(one) != _figures(chosen) for one, chosen in pairs
        )


def _figures(row: Row) -> tuple[float, float, float]:
    return row.mean_return, row.standard_error, row.success_rate


def automata_of(
    results: Sequence[CellResult], successes: int
) -> dict[tuple[str, str], tuple[tuple[int, int, int], ...]]:
    """The rank, rows and cols that each training seed's automaton has, by task and data set."""
    found: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for result in results:
        if result.facts.get("rank") is not None and result.cell.successes == successes:
            rank, rows, cols = (int(result.facts[name]) for name in ("rank", "rows", "cols"))
            found.setdefault((result.cell.task, result.cell.data), []).append((rank, rows, cols))
    return {key: tuple(automata) for key, automata in found.items()}


class BrokenResultsError(BadInputError):
    """A file does not hold the results of a suite."""


def read_tables(path: Path) -> Tables:
    """The tables that were written for a suite.

    Raises:
        BrokenResultsError: the file is not such.
    """
    document = read_json(path)
    try:
        if (document["format"], document["version"]) != (FORMAT, VERSION):
            raise ValueError("another format or version")
        settings: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in document["protocol"].items()
        }
        automata = {
            (one["task"], one["data"]): tuple((int(rank), int(rows), int(cols)) for rank, rows, cols in one[AUTOMATA])
            for one in document["automata"]
        }
        rows = tuple(Row(**row) for row in document["rows"])
        protocol = find_suite(str(settings["suite"])).check(Protocol(**settings))
        return Tables(protocol, rows, automata, document["made"], document["failures"])
    except (KeyError, TypeError, ValueError) as error:
        raise BrokenResultsError(
            f"{path}: not the results of a reproduction that this wfairl can read ({error})"
        ) from None


def format_row(row: Row | None) -> str:
    """Mean, standard error and the published figure: `0.795 ± 0.005 (0.798)`."""
    if row is None:
        return ABSENT
    text = f"{row.mean_return:.3f} ± {row.standard_error:.3f}"
    return text if row.published is None else f"{text} ({row.published:.3f})"


def made_line(made: Mapping[str, Any]) -> str:
    """When, on what and with which versions, as a sentence."""
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    return f"Made on {made['date']} by `{made['command']}` on {made['machine']} ({versions})."


def _head(tasks: Sequence[str]) -> list[str]:
    return ["", *(find_task(task).title for task in tasks)]


def _markdown(head: list[str], body: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
