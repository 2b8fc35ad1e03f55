"""Event logs as words: CSV with one row per event, and XES, the exchange format of process mining (IEEE 1849).

A case is a word, an event is a label with one proposition, and the outcome of the case is the score of the word: 1 for
success, 0 for failure. A log without outcomes gives words without scores. Prefixes of successes do not count as
failures: a case that succeeded might have succeeded if it had ended earlier.

    case,event,time,outcome
    17,order,2026-03-01T09:00,
    17,pay,2026-03-01T09:05,
    17,ship,2026-03-02T14:00,success

XES is read without document types and entities, so that a file cannot make the reader expand or fetch anything.
"""

import csv
import gzip
import io
import math
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from xml.parsers import expat

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.words import Word
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import read_bytes, read_text
from wfairl.events.scored_words import LARGEST_SCORE, NO_SCORE, MalformedWordsError, ScoredWords

LOG_SUFFIXES = (".csv", ".tsv", ".xes", ".xes.gz")
"""Endings of the names of files that `read_event_log` reads."""

OUTCOMES = {
    **dict.fromkeys(("success", "succeeded", "ok", "good", "true", "yes", "positive"), 1.0),
    **dict.fromkeys(("failure", "failed", "fail", "bad", "false", "no", "negative"), 0.0),
}
"""Texts for an outcome, in small letters; numbers are read too."""

OTHER_NAMES = {
    "case": ("case_id", "caseid", "case id", "case:concept:name"),
    "event": ("activity", "concept:name"),
    "time": ("timestamp", "time:timestamp"),
    "outcome": ("score", "label", "case:outcome"),
}
"""Names of columns in the files of other tools; they are tried if a column of the default name is missing."""


@dataclass(frozen=True)
class LogColumns:
    """Names of the columns of a CSV file, or of the attributes of XES.

    Attributes:
        case: which case a row belongs to (CSV only).
        event: what happened.
        time: when; orders the events of a case. Events of the same time keep their order. Optional.
        outcome: success or failure of the case, on any of its rows, or as an attribute of the trace.
    """

    case: str = "case"
    event: str = "event"
    time: str = "time"
    outcome: str = "outcome"


@dataclass(frozen=True)
class EventLog(ScoredWords):
    """Words of a log, with the names of their cases in the same order."""

    cases: tuple[str, ...] = ()


def is_log(path: Path) -> bool:
    """Whether a file is an event log, by its name."""
    return path.name.lower().endswith(LOG_SUFFIXES)


def read_event_log(path: Path, columns: LogColumns | None = None) -> EventLog:
    """Read a CSV or XES file, by its name.

    Raises:
        MalformedWordsError: names the file and the line, and says what is wrong there.
    """
    if not is_log(path):
        raise BadInputError(f"{path}: not an event log by its name; those end in {', '.join(LOG_SUFFIXES)}")
    return read_csv(path, columns) if path.suffix.lower() in (".csv", ".tsv") else read_xes(path, columns)


def read_csv(path: Path, columns: LogColumns | None = None) -> EventLog:
    """Read a table with one row per event; columns are separated by commas, semicolons or tabs."""
    text = read_text(path)
    header, _, _ = text.partition("\n")
    delimiter = max(",;\t", key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    cases: dict[str, _Case] = {}
    labels: dict[str, Label] = {}
    try:
        names = [name.strip() for name in next(reader, [])]
        places = _find_columns(names, columns or LogColumns(), path)
        for row in reader:
            if not any(row):
                continue
            where = f"{path}: line {reader.line_num}"
            if len(row) != len(names):
                raise MalformedWordsError(f"{where}: {len(row)} columns where the header has {len(names)}")
            case, event = row[places["case"]].strip(), row[places["event"]].strip()
            if not case or not event:
                raise MalformedWordsError(f"{where}: the {'event' if case else 'case'} is empty")
            current = cases.setdefault(case, _Case())
            current.labels.append(labels.setdefault(event, frozenset({event})))
            if "time" in places:
                current.times.append(_parse_time(row[places["time"]], where))
            if "outcome" in places:
                current.set_outcome(row[places["outcome"]], where)
    except csv.Error as error:
        raise MalformedWordsError(f"{path}: line {reader.line_num}: not a table ({error})") from None
    return _assemble(cases, path)


def read_xes(path: Path, columns: LogColumns | None = None) -> EventLog:
    """Read the traces of an XES file, perhaps packed with gzip.

    The event is `concept:name` unless `columns.event` is set, the outcome the attribute `columns.outcome` of the trace.
    Traces keep their order. Where events have a `lifecycle:transition`, only those that are complete count.
    """
    columns = columns or LogColumns()
    event_key = XES_NAME if columns.event == LogColumns.event else columns.event
    data = read_bytes(path)
    if path.suffix.lower() == ".gz":
        try:
            data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(LARGEST_LOG + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise MalformedWordsError(f"{path}: not packed with gzip, or cut ({error})") from None
        if len(data) > LARGEST_LOG:
            raise MalformedWordsError(f"{path}: more than {LARGEST_LOG >> 20} MB when unpacked; split it")
    reader = _XesReader(path, event_key, columns.outcome)
    reader.parse(data)
    return _assemble(reader.cases, path)


LARGEST_LOG = 1 << 28
"""Most bytes of a packed log once it is unpacked."""

XES_NAME = "concept:name"
"""The attribute of XES that names a trace or an event."""

XES_LIFECYCLE = "lifecycle:transition"


@dataclass
class _Case:
    """A case while the file is read."""

    labels: list[Label] = field(default_factory=list)
    times: list[datetime | float] = field(default_factory=list)
    outcome: float | None = None

    def set_outcome(self, text: str, where: str) -> None:
        outcome = _parse_outcome(text, where)
        if outcome is not None and self.outcome not in (None, outcome):
            raise MalformedWordsError(f"{where}: the outcome is {outcome:g}, and {self.outcome:g} on an earlier row")
        self.outcome = self.outcome if outcome is None else outcome

    def word(self) -> Word:
        """The labels in order of time."""
        if not self.times:
            return tuple(self.labels)
        order = sorted(range(len(self.labels)), key=self.times.__getitem__)
        return tuple(self.labels[i] for i in order)


def _assemble(cases: dict[str, _Case], path: Path) -> EventLog:
    if not cases:
        raise MalformedWordsError(f"{path}: no cases; a log has at least one event")
    lacking = [name for name, case in cases.items() if case.outcome is None]
    if lacking and len(lacking) < len(cases):
        raise MalformedWordsError(f"{path}: case {lacking[0]!r} has no outcome and others have one")
    words = []
    for name, case in cases.items():
        try:
            words.append(case.word())
        except TypeError:
            raise MalformedWordsError(
                f"{path}: case {name!r}: its times cannot be compared; give all of them with a time zone, or none, or "
                "as numbers"
            ) from None
    scores = None if lacking else tuple(case.outcome for case in cases.values() if case.outcome is not None)
    return EventLog(tuple(words), scores, tuple(cases))


def _find_columns(names: Sequence[str], columns: LogColumns, path: Path) -> dict[str, int]:
    """The index of each column; case and event are required."""
    small = [name.lower() for name in names]
    places = {}
    for role in ("case", "event", "time", "outcome"):
        wanted = getattr(columns, role)
        others = OTHER_NAMES[role] if wanted == role else ()
        column = next((name for name in (wanted.lower(), *others) if name in small), None)
        if column is not None:
            places[role] = small.index(column)
        elif role in ("case", "event") or wanted != role:
            raise MalformedWordsError(
                f"{path}: line 1: no column {wanted!r} for the {role}; there are {', '.join(names) or 'none'}"
            )
    return places


def _parse_time(text: str, where: str) -> datetime | float:
    parsers: tuple[Callable[[str], datetime | float], ...] = (float, datetime.fromisoformat)
    for parse in parsers:
        with suppress(ValueError):
            return parse(text.strip())
    raise MalformedWordsError(
        f"{where}: the time is {text!r}; write it as 2026-03-01T09:00:00 (ISO 8601) or as a number"
    )


def _parse_outcome(text: str, where: str) -> float | None:
    word = text.strip().lower()
    if not word:
        return None
    if word in OUTCOMES:
        return OUTCOMES[word]
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not abs(number) <= LARGEST_SCORE:
        raise MalformedWordsError(
            f"{where}: the outcome is {text!r}, which is {NO_SCORE}; write success or failure, or 1 or 0"
        )
    return number


class _XesReader:
    """Handles the tags of an XES file; an attribute counts if it stands directly in a trace or an event."""

    def __init__(self, path: Path, event_key: str, outcome_key: str) -> None:
        self.path, self.event_key, self.outcome_key = path, event_key, outcome_key
        self.cases: dict[str, _Case] = {}
        self.stack: list[str] = []
        self.events: list[str] = []  # the complete events of this trace
        self.trace: dict[str, str] = {}
        self.event: dict[str, str] = {}
        self.labels: dict[str, Label] = {}
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._open
        self.parser.EndElementHandler = self._close
        self.parser.StartDoctypeDeclHandler = self._refuse

    def parse(self, data: bytes) -> None:
        try:
            self.parser.Parse(data, True)
        except expat.ExpatError as error:
            message = expat.errors.messages[error.code]
            raise MalformedWordsError(f"{self.path}: line {error.lineno}: not XML ({message})") from None
        except (LookupError, ValueError) as error:  # of a text that Python cannot decode
            if isinstance(error, BadInputError):
                raise
            raise MalformedWordsError(f"{self.path}: not XML ({error})") from None

    def _where(self) -> str:
        return f"{self.path}: line {self.parser.CurrentLineNumber}"

    def _refuse(self, *_: object) -> None:
        raise MalformedWordsError(
            f"{self._where()}: a document type, which XES does not have and which is not read; remove it"
        )

    def _open(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2]
        parent = self.stack[-1] if self.stack else None
        if parent is None and tag != "log":
            raise MalformedWordsError(f"{self._where()}: the file begins with <{tag}> where XES begins with <log>")
        self.stack.append(tag)
        if tag == "trace":
            self.events, self.trace = [], {}
        elif tag == "event":
            self.event = {}
        elif parent in ("trace", "event") and "key" in attributes:
            into = self.trace if parent == "trace" else self.event
            into[attributes["key"]] = attributes.get("value", "")

    def _close(self, name: str) -> None:
        tag = name.rpartition(":")[2]
        self.stack.pop()
        if tag == "event" and self.stack[-1] == "trace":
            if not self.event.get(self.event_key, "").strip():
                raise MalformedWordsError(f"{self._where()}: the event that ends here has no {self.event_key}")
            if self.event.get(XES_LIFECYCLE, "complete").lower() == "complete":
                self.events.append(self.event[self.event_key].strip())
        elif tag == "trace":
            self._add_case()

    def _add_case(self) -> None:
        name = self.trace.get(XES_NAME, "") or f"trace {len(self.cases) + 1}"
        if name in self.cases:
            raise MalformedWordsError(f"{self._where()}: the trace that ends here is a second one called {name!r}")
        case = self.cases[name] = _Case()
        case.labels = [self.labels.setdefault(event, frozenset({event})) for event in self.events]
        case.set_outcome(self.trace.get(self.outcome_key, ""), self._where())
