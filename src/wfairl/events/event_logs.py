"""Event logs as words: tables with one row per event (CSV, pandas), and XES.

A case is a word, an event is a label with one proposition, and the outcome of the case is the score of the word: 1 for
success, 0 for failure. A log without outcomes gives words without scores. Prefixes of successes do not count as
failures: a case that succeeded might have succeeded if it had ended earlier.

    case,event,time,outcome
    17,order,2026-03-01T09:00,
    17,pay,2026-03-01T09:05,
    17,ship,2026-03-02T14:00,success
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from wfairl.core.automata.automaton import Label
from wfairl.core.support.errors import BadInputError, did_you_mean
from wfairl.core.support.files import read_bytes
from wfairl.events.event_texts import DAYS, MISSING, Attributes, as_attribute, holds, time_parser, to_number
from wfairl.events.learned_rule import list_names
from wfairl.events.scored_words import LARGEST_SCORE, NO_SCORE, ScoredWords
from wfairl.events.xes import XES_LIFECYCLE, XES_NAME, XES_TIME, read_traces

LOG_SUFFIXES = (".csv", ".tsv", ".xes", ".xes.gz")
"""Endings of the names of files that `read_event_log` reads."""

OLD_WINDOWS = "Windows-1252"
"""Characters of a table that is not in UTF-8: spreadsheets in Western Europe save tables like this."""

OUTCOMES: dict[str, float | None] = {
    **dict.fromkeys(("success", "succeeded", "ok", "good", "true", "yes", "positive", "accepted", "conforming"), 1.0),
    **dict.fromkeys(("failure", "failed", "fail", "bad", "false", "no", "negative", "rejected", "deviating"), 0.0),
    **dict.fromkeys(MISSING),
}
"""Texts for an outcome, in small letters; numbers are read too. None is a case without an outcome."""

OTHER_NAMES = {
    "case": ("case_id", "caseid", "case id", "case:concept:name"),
    "event": ("activity", "concept:name"),
    "time": ("timestamp", "time:timestamp"),
    "outcome": ("score", "label", "case:outcome"),
    "lifecycle": ("lifecycle:transition",),
}
"""By role, names of columns in the files of other tools, which are tried if the default name is missing."""

DERIVED = ("event:", "days:")
"""Beginnings of `LogColumns.outcome` where no column has the outcome."""


@dataclass(frozen=True)
class LogColumns:
    """Names of the columns of a table, or of the attributes of XES.

    Attributes:
        case: which case a row belongs to (tables only).
        event: what happened.
        time: when; orders the events of a case. Events of the same time keep their order. Optional.
        outcome: success or failure of the case, on any of its rows, or as an attribute of the trace. `event: pay` means
            that a case succeeds if it has that event; the case is then read up to that event, so that nothing leaks. If
            that event is always the last one, every case is read without its last event. Cases without it are read up
            to the first event that most others have only after it. `days: 7` means that a case succeeds if it takes at
            most 7 days, `state = closed` and `amount > 1000` that an attribute of it is so.
        lifecycle: the transition whose events count: `complete`, another one, or `all`. `auto` takes those that are
            complete, and all events of a log in which none is.
        attributes: attributes that become propositions of the events, such as `amount` or `amount > 1000`; `days` are
            the days since the first event. Without a threshold, quartiles are taken.
    """

    case: str = "case"
    event: str = "event"
    time: str = "time"
    outcome: str = "outcome"
    lifecycle: str = "auto"
    attributes: tuple[str, ...] = ()

    @property
    def asked_of_outcome(self) -> re.Match[str] | None:
        """Of an outcome like `state = closed`, its name, sign and value."""
        return None if self.outcome.startswith(DERIVED) else as_attribute(self.outcome)

    def name_of(self, role: str) -> str:
        """The column for a role: that of the outcome may be an attribute that the outcome is about."""
        asked = self.asked_of_outcome
        return asked["name"] if role == "outcome" and asked else str(getattr(self, role))


@dataclass(frozen=True)
class EventLog(ScoredWords):
    """Words of a log."""

    outcomes: tuple[float | None, ...] = ()  # the score of each case that has one; empty if none has
    notes: tuple[str, ...] = ()  # what was left out or changed while reading, in sentences


def is_log(path: Path) -> bool:
    """Whether a file is an event log, by its name."""
    return path.name.lower().endswith(LOG_SUFFIXES)


def read_event_log(path: Path | str, columns: LogColumns | None = None) -> EventLog:
    """Read a CSV or XES file, by its name; a `BadInputError` names the line and says what is wrong there."""
    path = Path(path)
    if not is_log(path):
        raise BadInputError(f"{path}: not an event log by its name; those end in {', '.join(LOG_SUFFIXES)}")
    return read_csv(path, columns) if path.suffix.lower() in (".csv", ".tsv") else read_xes(path, columns)


def read_csv(path: Path, columns: LogColumns | None = None) -> EventLog:
    """Read a table with one row per event; columns are separated by commas, semicolons or tabs."""
    columns = columns or LogColumns()
    cases = _Cases(str(path), columns)
    content = read_bytes(path)
    try:
        text = content.decode("utf-8-sig")  # without the byte-order mark of Windows
    except UnicodeDecodeError:
        text = content.decode(OLD_WINDOWS, "replace")
        cases.notes.append(f"the file is not in UTF-8 and was read as {OLD_WINDOWS}")
    header, _, _ = text.partition("\n")
    delimiter = max(",;\t", key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        places = find_columns(names, columns, f"{path}: line 1")
        for row in reader:
            if not any(row):
                continue
            where = f"{path}: line {reader.line_num}"
            if len(row) != len(names):
                raise BadInputError(f"{where}: {len(row)} columns where the header has {len(names)}")
            cases.add_row({role: row[place] for role, place in places.items()}, where)
    except csv.Error as error:
        raise BadInputError(f"{path}: line {reader.line_num}: not a table ({error})") from None
    return cases.assemble()


def from_frame(frame: Any, columns: LogColumns | None = None) -> EventLog:
    """The log in a pandas DataFrame with one row per event."""
    if not hasattr(frame, "iloc"):
        raise BadInputError("a log in Python is a pandas DataFrame, one row per event; `read_event_log` reads a file")
    columns = columns or LogColumns()
    cases = _Cases("the frame", columns)
    places = find_columns(map(str, frame.columns), columns, "the frame")
    lists = {role: frame.iloc[:, place].tolist() for role, place in places.items()}
    for number, values in enumerate(zip(*lists.values(), strict=True)):
        row = dict(zip(lists, ("" if one is None or one != one else str(one) for one in values), strict=True))
        cases.add_row(row, f"row {number}")
    return cases.assemble()


def read_xes(path: Path, columns: LogColumns | None = None) -> EventLog:
    """Read the traces of an XES file, perhaps packed with gzip.

    The event is `concept:name` unless `columns.event` is set, the outcome the attribute `columns.outcome` of the trace.
    """
    columns = columns or LogColumns()
    event_key = XES_NAME if columns.event == LogColumns.event else columns.event
    time_key = XES_TIME if columns.time == LogColumns.time else columns.time
    cases = _Cases(str(path), columns)
    outcome_key = columns.name_of("outcome")
    keys = (XES_NAME, time_key, XES_LIFECYCLE, outcome_key, *cases.attributes.names)

    def add(trace: dict[str, str], events: list[dict[str, str]], where: str) -> None:
        name = trace.get(XES_NAME, "").strip() or f"trace {len(cases.cases) + 1}"
        if name in cases.cases:
            raise BadInputError(f"{where}: the trace that ends here is a second one called {name!r}")
        case = cases.cases[name] = _Case()
        case.set_outcome(trace.get(outcome_key, ""), columns.asked_of_outcome, where)
        timed = all(event.get(time_key) for event in events)  # else the order of the file is all there is
        for event in events:
            name, time, lifecycle = event[event_key].strip(), event.get(time_key, ""), event.get(XES_LIFECYCLE, "")
            values = cases.attributes.of({**trace, **event})
            case.events.append(_Event(name, time if timed else "", lifecycle, values, where))

    read_traces(path, event_key, keys, add)
    return cases.assemble()


@dataclass(slots=True)
class _Event:
    """An event while the file is read: its texts as they stand there, and where."""

    name: str
    time: str
    lifecycle: str
    values: dict[str, str]  # of attributes
    where: str
    days: float = math.nan  # since the first event of the case


@dataclass
class _Case:
    """A case while the file is read."""

    events: list[_Event] = field(default_factory=list)
    outcome: float | None = None

    def set_outcome(self, text: str, asked: re.Match[str] | None, where: str) -> None:
        """Read the text of an outcome, or of the attribute that is asked for; earlier rows say the same or nothing."""
        text = text.strip()
        outcome = OUTCOMES[text.lower()] if text.lower() in OUTCOMES else to_number(text)
        if asked is not None:
            outcome = holds(text, asked["sign"], asked["value"], f"{where}: {asked['name']!r}")
        if outcome is None:
            return
        if not abs(outcome) <= LARGEST_SCORE:
            raise BadInputError(
                f"{where}: the outcome is {text!r}, which is {NO_SCORE}; write success or failure, or 1 or 0, or say"
                f" which value is a success, as in --outcome-column 'NAME = {text}'"
            )
        if self.outcome not in (None, outcome):
            raise BadInputError(f"{where}: the outcome is {outcome:g}, and {self.outcome:g} on an earlier row")
        self.outcome = float(outcome)


class _Cases:
    """The cases of a log while it is read, and how they become words."""

    def __init__(self, source: str, columns: LogColumns) -> None:
        self.source, self.columns = source, columns
        self.cases: dict[str, _Case] = {}
        self.attributes = Attributes(columns.attributes)
        self.notes: list[str] = []

    @property
    def events(self) -> list[_Event]:
        return [event for case in self.cases.values() for event in case.events]

    def add_row(self, row: dict[str, str], where: str) -> None:
        """Add an event from the texts of its row, by role or by the name of an attribute."""
        case, event = row["case"].strip(), row["event"].strip()
        if not case or not event:
            raise BadInputError(f"{where}: the {'event' if case else 'case'} is empty")
        current = self.cases.setdefault(case, _Case())
        time = row.get("time", "").strip()
        if "time" in row and not time:
            raise BadInputError(f"{where}: the time is empty")
        current.events.append(_Event(event, time, row.get("lifecycle", "").strip(), self.attributes.of(row), where))
        if "outcome" in row:
            current.set_outcome(row["outcome"], self.columns.asked_of_outcome, where)

    def assemble(self) -> EventLog:
        if not self.cases:
            raise BadInputError(f"{self.source}: no cases; a log has at least one event")
        self._filter_lifecycle()
        self._sort_by_time()
        self._derive_outcomes()
        empty = sum(not case.events for case in self.cases.values())
        if empty == len(self.cases):
            raise BadInputError(f"{self.source}: none of its {empty:,} cases has an event")
        if empty:
            self.notes.append(f"{empty:,} of {len(self.cases):,} cases have no event; they are read as empty words")
        if DAYS in self.attributes.names:
            self._need_times("the attribute 'days'")
        self.attributes.choose([event.values for event in self.events])
        labels: dict[Label, Label] = {}  # equal labels are stored once

        def label(event: _Event) -> Label:
            found = frozenset((event.name, *self.attributes.hold(event.values, event.where)))
            return labels.setdefault(found, found)

        words = tuple(tuple(map(label, case.events)) for case in self.cases.values())
        outcomes = tuple(case.outcome for case in self.cases.values())
        scores = tuple(one for one in outcomes if one is not None)
        whole = scores if len(scores) == len(words) else None
        return EventLog(words, whole, tuple(self.cases), outcomes if scores else (), tuple(self.notes))

    def _need_times(self, what: str) -> None:
        if any(math.isnan(event.days) for event in self.events):
            raise BadInputError(f"{self.source}: {what} needs the time of every event")

    def _filter_lifecycle(self) -> None:
        wanted, all_ = self.columns.lifecycle.lower(), len(self.events)
        transitions = {event.lifecycle.lower() for event in self.events}
        if wanted == "all" or not any(transitions) or (wanted == "auto" and "complete" not in transitions):
            return
        wanted = "complete" if wanted == "auto" else wanted
        for case in self.cases.values():
            case.events = [event for event in case.events if event.lifecycle.lower() in ("", wanted)]
        out = all_ - len(self.events)
        if out == all_:
            there = f"there are {', '.join(sorted(transitions))}: choose one, or all"
            raise BadInputError(f"{self.source}: no event has the lifecycle {wanted!r}; {there}")
        if out:
            told = f"{out:,} of {all_:,} events are not {wanted!r} in their lifecycle"
            self.notes.append(f"{told} and were left out (--lifecycle all keeps them)")

    def _sort_by_time(self) -> None:
        parse = time_parser(event.time for event in self.events)
        sorted_cases = tied = 0
        for name, case in self.cases.items():
            if not any(event.time for event in case.events):
                continue
            times: list[Any] = [parse(event.time, event.where) for event in case.events]
            try:
                order = sorted(range(len(times)), key=times.__getitem__)
            except TypeError:
                advice = "give all of them with a time zone, or none, or as numbers"
                raise BadInputError(f"{self.source}: case {name!r}: its times cannot be compared; {advice}") from None
            for event, time in zip(case.events, times, strict=True):
                since = time - times[order[0]]  # numbers count as days
                event.days = since / timedelta(days=1) if isinstance(since, timedelta) else since
                event.values |= {DAYS: str(event.days)} if DAYS in self.attributes.names else {}
            sorted_cases += order != list(range(len(times)))
            tied += len(set(times)) < len(times)
            case.events = [case.events[i] for i in order]
        of_all = f"of {len(self.cases):,} cases"
        if sorted_cases:
            self.notes.append(f"the events of {sorted_cases:,} {of_all} were sorted by their times")
        if tied:
            self.notes.append(f"events of one time keep the order of the file, in {tied:,} {of_all}")

    def _derive_outcomes(self) -> None:
        """Outcomes that no column has: an event, or a duration."""
        if not self.columns.outcome.startswith(DERIVED):
            return
        asked = self.columns.outcome.partition(":")[2].strip()
        if self.columns.outcome.startswith("days:"):
            try:
                most = float(asked)
            except ValueError:
                raise BadInputError(f"the outcome is 'days: {asked}'; give a number of days") from None
            self._need_times("an outcome in days")
            for case in self.cases.values():
                case.outcome = float(not case.events or case.events[-1].days <= most)
            return
        if all(event.name != asked for event in self.events):
            known = did_you_mean(asked, {event.name for event in self.events})
            raise BadInputError(f"{self.source}: no event {asked!r}, which the outcome asks for{known}")
        is_last = all(event.name != asked for case in self.cases.values() for event in case.events[:-1])
        if is_last:
            self.notes.append(f"{asked!r} is always the last event; so the last event of every case is left out")
        later, cut = self._mostly_after(asked), Counter[str]()
        for case in self.cases.values():
            names = [event.name for event in case.events]
            case.outcome = float(asked in names)
            ends = {asked} if case.outcome else later
            end = next((i for i, name in enumerate(names) if name in ends), len(names))
            case.events = case.events[: -1 if is_last else end]
            cut.update(names[end : end + 1] if not case.outcome else ())
        if cut:
            known = f"{list_names([*cut], 3)}, which most others have only after {asked!r}"
            self.notes.append(f"{cut.total():,} cases without {asked!r} are read up to {known}")

    def _mostly_after(self, asked: str) -> set[str]:
        """The events that most cases with the asked one have only after it."""
        only_after = Counter[str]()
        for case in self.cases.values():
            names = [event.name for event in case.events]
            if asked in names:
                before = {*names[: names.index(asked)]}
                only_after.update({name: -1 if name in before else 1 for name in names})
        return {name for name, more in only_after.items() if more > 0}


def find_columns(given: Iterable[str], columns: LogColumns, where: str) -> dict[str, int]:
    """The index of each column, by role or by the name of an attribute; case and event are required."""
    names, places = list(given), {}
    small = [name.strip().lower() for name in names]
    for role, other_names in OTHER_NAMES.items():
        wanted = role if role == "lifecycle" else columns.name_of(role)
        if role == "outcome" and wanted.startswith(DERIVED):
            continue
        others = other_names if wanted == role else ()
        column = next((name for name in (wanted.lower(), *others) if name in small), None)
        if column is not None:
            places[role] = small.index(column)
        elif role in ("case", "event") or wanted != role:
            raise BadInputError(
                f"{where}: no column {wanted!r} for the {role}; there are {', '.join(names) or 'none'}: name the one"
                f" that has it (--{role}-column, or `{'activity' if role == 'event' else role}` in Python)"
            )
    for name in Attributes(columns.attributes).names:
        if name.lower() in small:
            places[name] = small.index(name.lower())
        elif name != DAYS:
            raise BadInputError(
                f"{where}: no column {name!r}; there are {', '.join(names) or 'none'}: write thresholds and values as"
                " in 'amount > 1000' and 'channel = web'"
            )
    return places
