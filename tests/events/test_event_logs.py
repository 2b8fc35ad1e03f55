"""Logs of events become the words that a person reads in them, and a broken line is named."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfairl.core.support.errors import BadInputError
from wfairl.events.event_logs import LogColumns, is_log, read_csv, read_event_log, read_xes

CSV = """case,event,time,outcome
17,pay,2026-03-01T09:05,
18,order,2026-03-01T09:00,failure
17,order,2026-03-01T09:00,
17,ship,2026-03-02T14:00,success
"""

XES = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1.0" xmlns="http://www.xes-standard.org/">
  <global scope="event"><string key="concept:name" value="none"/></global>
  <trace>
    <string key="concept:name" value="17"/>
    <boolean key="outcome" value="true"/>
    <event><string key="concept:name" value="order"/><string key="lifecycle:transition" value="start"/></event>
    <event>
      <string key="concept:name" value="order"><string key="concept:name" value="nested"/></string>
      <string key="lifecycle:transition" value="COMPLETE"/>
    </event>
    <event><string key="concept:name" value="ship"/></event>
  </trace>
  <trace><string key="outcome" value="failed"/></trace>
</log>
"""

names = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1).map(str.strip).filter(bool)


def word(*events):
    return tuple(frozenset({event}) for event in events)


def write(directory, text, name="log.csv"):
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def test_it_is_said_how_many_cases_were_sorted_and_how_many_have_events_of_one_time(tmp_path):
    log = read_csv(write(tmp_path, "case,event,time\n1,b,2\n1,a,1\n2,a,1\n2,b,1\n3,a,1\n3,b,2\n"))
    assert log.words == (word("a", "b"),) * 3
    assert log.notes == (
        "the events of 1 of 3 cases were sorted by their times",
        "events of one time keep the order of the file, in 1 of 3 cases",
    )


def test_events_of_a_case_stand_in_the_order_of_time(tmp_path):
    log = read_csv(write(tmp_path, CSV))
    assert log.words == (word("order", "pay", "ship"), word("order"))
    assert log.scores == (1.0, 0.0)
    assert log.cases == ("17", "18")


def test_columns_have_any_name_and_separator(tmp_path):
    path = write(tmp_path, "went;nr;what\n0,5;a;x\n;a;y\n".replace("0,5", "0.5"))
    log = read_csv(path, LogColumns(case="nr", event="what", outcome="went"))
    assert (log.words, log.scores) == ((word("x", "y"),), (0.5,))


def test_the_names_of_other_tools_are_known(tmp_path):
    log = read_csv(write(tmp_path, "case:concept:name,concept:name,time:timestamp\n1,b,2\n1,a,1\n"))
    assert (log.words, log.scores) == ((word("a", "b"),), None)


@given(st.lists(st.tuples(names, names), min_size=1, max_size=12))
def test_any_events_come_back_in_the_order_of_the_file(tmp_path_factory, rows):
    def quoted(text):
        return '"' + text.replace('"', '""') + '"'

    text = "case,event\n" + "".join(f"{quoted(case)},{quoted(event)}\n" for case, event in rows)
    log = read_csv(write(tmp_path_factory.mktemp("log"), text))
    expected = {}
    for case, event in rows:
        expected.setdefault(case, []).append(frozenset({event}))
    assert dict(zip(log.cases, map(list, log.words), strict=True)) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1: no column 'case'"),
        (
            "case,what\n",
            "line 1: no column 'event' for the event; there are case, what: name the one that has it (--ev",
        ),
        ("case,event\n", "no cases"),
        ("case,event\n1,a\n1\n", "line 3: 1 columns where the header has 2"),
        ("case,event\n1,\n", "line 2: the event is empty"),
        ("case,event,time\n1,a,yesterday\n", "line 2: the time is 'yesterday'"),
        ("case,event,time\n1,a,5\n1,b,2026-03-01\n", "case '1': its times cannot be compared"),
        ("case,event,outcome\n1,a,maybe\n", "line 2: the outcome is 'maybe'"),
        ("case,event,outcome\n1,a,inf\n", "line 2: the outcome is 'inf'"),
        ("case,event,outcome\n1,a,1\n1,b,0\n", "line 3: the outcome is 0, and 1 on an earlier row"),
        ('case,event\n1,"a\n', "not a table"),
    ],
)
def test_what_is_wrong_with_a_table_is_named(tmp_path, text, reason):
    with pytest.raises(BadInputError, match=r"log\.csv: ") as error:
        read_csv(write(tmp_path, text))
    assert reason in str(error.value)


def test_a_table_of_a_spreadsheet_is_read_and_its_characters_are_said(tmp_path):
    text = "case;event\n1;Prüfung\n1;Rückgabe\n"
    (tmp_path / "new.csv").write_bytes(text.encode("utf-8-sig"))
    (tmp_path / "old.csv").write_bytes(text.encode("cp1252"))
    new, old = read_csv(tmp_path / "new.csv"), read_csv(tmp_path / "old.csv")
    assert new.words == old.words == (word("Prüfung", "Rückgabe"),)
    assert not new.notes
    assert old.notes == ("the file is not in UTF-8 and was read as Windows-1252",)


@pytest.mark.parametrize("attribute", ["days", "days > 1"])
def test_days_need_the_time_of_every_event(tmp_path, attribute):
    path = tmp_path / "log.csv"
    path.write_text("case,event\n1,a\n1,b\n")
    with pytest.raises(BadInputError, match="'days' needs the time of every event"):
        read_csv(path, LogColumns(attributes=(attribute,)))


def test_traces_are_words_and_only_complete_events_count(tmp_path):
    log = read_xes(write(tmp_path, XES, "log.xes"))
    assert log.words == (word("order", "ship"), ())
    assert log.scores == (1.0, 0.0)
    assert log.cases == ("17", "trace 2")


def test_packed_logs_are_the_same(tmp_path):
    (tmp_path / "log.xes.gz").write_bytes(gzip.compress(XES.encode()))
    assert read_event_log(tmp_path / "log.xes.gz") == read_event_log(write(tmp_path, XES, "log.xes"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (XES.replace("<log ", '<!DOCTYPE log [<!ENTITY a "b">]><log ', 1), "line 2: a document type"),
        (XES.replace("<log ", '<!DOCTYPE log SYSTEM "file:///etc/hostname"><log ', 1), "line 2: a document type"),
        (XES.replace("</log>", ""), "not XML"),
        ("<html></html>", "begins with <html>"),
        ("<log/>", "no cases"),
        ("<log><trace>\n<event/>\n</trace></log>", "line 2: the event that ends here has no concept:name"),
        (XES.replace('key="outcome" value="failed"', 'key="concept:name" value="17"'), "a second one called '17'"),
    ],
)
def test_what_is_wrong_with_xes_is_named_and_nothing_is_expanded(tmp_path, text, reason):
    with pytest.raises(BadInputError, match=r"log\.xes: ") as error:
        read_xes(write(tmp_path, text, "log.xes"))
    assert reason in str(error.value)


def test_a_file_of_another_kind_is_refused():
    assert is_log(Path("a.XES.gz"))
    with pytest.raises(BadInputError, match="not an event log"):
        read_event_log(Path("words.jsonl"))
