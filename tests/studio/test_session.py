"""A session is the fold of its journal: opened again, it is the same, wherever it was cut off."""

import json
import os
import resource

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studio_sessions import CORNER, FOUR_ROOMS, GOAL, InlineRunner, demonstrate_errand, errand_plan

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.demonstration import replay
from wfairl.core.support.errors import BadInputError
from wfairl.runs.collection import collect
from wfairl.runs.data_sets import load
from wfairl.runs.task_registry import find_task, load_tasks
from wfairl.studio.jobs import learn
from wfairl.studio.journal import BrokenJournalError, Journal
from wfairl.studio.registry import SessionRegistry
from wfairl.studio.session import COST_WORDS, DEMONSTRATIONS, JOURNAL, RUN, TASK_MODEL, Session
from wfairl.studio.task_spec import TaskSpec, check_name, find_task_spec

events = st.lists(
    st.one_of(
        st.integers(0, 5).map(lambda control: {"do": "control", "control": control}),
        st.sampled_from([{"do": "undo"}, {"do": "reset"}, {"do": "next"}]),
        st.integers(1, 20).map(lambda at: {"do": "history", "at": at}),
        st.booleans().map(lambda right: {"do": "keep", "right": right, "by": "person"}),
        st.integers(0, 2).map(lambda number: {"do": "drop", "demonstration": number}),
        st.sampled_from([{"do": "forget", "name": "corner"}, CORNER, {"do": "judge", "by": "environment"}]),
    ),
    max_size=15,
)


def new(directory, what=FOUR_ROOMS):
    return Session(directory, find_task_spec(what))


def state_of(session):
    return session.state, session.history.at, len(session.history), session.walk.states, session.walk.labels


def carry_out(session, some):
    for event in some:
        if event["do"] == "next":
            event = {"do": "scene", "seed": session.state.next_seed}
        lines = (session.directory / JOURNAL).read_text()
        before = state_of(session)
        try:
            session.do(event)
        except BadInputError:  # what is refused leaves no trace
            assert (session.directory / JOURNAL).read_text() == lines
            assert state_of(session) == before


@settings(max_examples=6)
@given(events, st.integers(0, 10_000))
def test_a_session_opened_again_is_the_same(tmp_path_factory, some, cut):
    directory = tmp_path_factory.mktemp("session") / "one"
    session = new(directory, "MiniGrid-Empty-5x5-v0")
    session.do(CORNER)
    session.do(GOAL)
    carry_out(session, some)
    assert Session(directory).dataset == session.dataset
    assert state_of(Session(directory)) == state_of(session)
    # Cut anywhere, it is the session as it was after the last whole event.
    content = (directory / JOURNAL).read_bytes()
    first = content.index(b"\n") + 1
    cut = first + cut % (len(content) - first + 1)
    (directory / JOURNAL).write_bytes(content[:cut])
    again = Session(directory)
    whole = tmp_path_factory.mktemp("whole") / "one"
    whole.mkdir()
    ends = [end for end, byte in enumerate(content, start=1) if byte == ord("}") and content[end : end + 1] == b"\n"]
    (whole / JOURNAL).write_bytes(content[: max(end for end in ends if end <= cut)] + b"\n")
    assert state_of(again) == state_of(Session(whole))
    again.do({"do": "control", "control": 0})  # and it goes on
    assert state_of(Session(directory)) == state_of(again)


def test_files_of_a_session_are_those_that_every_command_reads(tmp_path):
    session = new(tmp_path / "one")
    session.do(CORNER)
    session.do(GOAL)
    demonstrate_errand(session)
    demonstrate_errand(session)
    session.save_model(learn(session.state.spec, session.dataset, ())[0])
    assert load(session.directory / DEMONSTRATIONS) == session.dataset
    assert TaskModel.load(session.directory / TASK_MODEL).sentence == "corner, then goal"
    (task,) = load_tasks(str(session.directory / "my-fourrooms.task.json"))
    assert task.name == session.dataset.task
    assert all(task.rule.accepts(one.labels) for one in session.dataset)
    assert Session(session.directory).model.sentences == session.model.sentences
    assert Session(session.directory).is_current


def test_a_task_of_ones_own_has_the_name_that_one_gives_it(tmp_path):
    session = new(tmp_path / "one")
    session.do(GOAL)
    demonstrate_errand(session)
    session.do({"do": "name", "name": "corner-first"})
    assert load(session.directory / DEMONSTRATIONS).task == "corner-first"
    assert [path.name for path in session.directory.glob("*.task.json")] == ["corner-first.task.json"]
    assert Session(session.directory).dataset == session.dataset
    for name in ("doorkey", "../x", "A"):
        with pytest.raises(BadInputError):
            session.do({"do": "name", "name": name})
    registered = new(tmp_path / "two", "doorkey")
    registered.do({"do": "name", "name": "my-keys"})
    assert (registered.state.title, registered.task.name) == ("my-keys", "doorkey")


def test_labels_follow_the_propositions_that_there_are(tmp_path):
    session = new(tmp_path / "one")
    session.do(GOAL)
    demonstrate_errand(session)
    assert {name for label in session.dataset.demonstrations[0].labels for name in label} == {"goal"}
    session.do(CORNER)
    assert {name for label in session.dataset.demonstrations[0].labels for name in label} == {"goal", "corner"}


def test_the_rule_and_the_environment_judge(tmp_path):
    session = new(tmp_path / "rule", "errand")
    assert session.state.judge == "rule"
    for control in errand_plan(session.state.seed):
        assert session.verdict is None
        session.do({"do": "control", "control": int(control)})
    assert session.verdict is True
    other = new(tmp_path / "environment")
    other.do(GOAL)
    other.do({"do": "judge", "by": "environment"})
    for control in errand_plan(other.state.seed):
        assert other.verdict is None
        other.do({"do": "control", "control": int(control)})
    assert other.verdict is True
    with pytest.raises(BadInputError):
        other.do({"do": "judge", "by": "rule"})


@pytest.mark.parametrize(
    "event",
    [
        {"do": "control", "control": 6}, {"do": "control", "control": "0"}, {"do": "control"}, {"do": "nothing"}, {},
        {"do": "scene", "seed": -1}, {"do": "scene", "seed": "../x"}, {"do": "begin", "name": "x", "environment": None},
        {"do": "keep", "right": 1, "by": "person"}, {"do": "keep", "right": True, "by": "nobody"}, {"do": "undo"},
        {"do": "drop", "demonstration": 0}, {"do": "withdraw", "correction": -1}, {"do": "judge", "by": "x"},
        {"do": "answer", "seed": 1, "controls": [99], "right": True}, {"do": "answer", "seed": 1, "controls": []},
        {"do": "correct", "correction": {"kind": "exec"}, "law": True, "answers": []},
        {"do": "proposition", "name": "x", "is": {"is": "carrying", "kind": "key"}},
        {"do": "proposition", "name": "x", "is": {"is": "__import__('os')"}},
        {"do": "proposition", "name": "x", "is": {"is": "at", "x": 99, "y": 1}},
        {"do": "proposition", "name": "", "is": {"is": "on", "terrain": "goal"}},
        {"do": "proposition", "name": "a & b", "is": {"is": "on", "terrain": "goal"}},
        {"do": "proposition", "name": "x" * 41, "is": {"is": "on", "terrain": "goal"}},
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_and_leaves_no_trace(tmp_path, event):
    session = new(tmp_path / "one")
    before = (session.directory / JOURNAL).read_text(), state_of(session)
    with pytest.raises(BadInputError):
        session.do(event)
    assert ((session.directory / JOURNAL).read_text(), state_of(session)) == before


def test_a_demonstration_where_the_world_slips_is_what_an_expert_with_these_controls_met(tmp_path):
    task = find_task("office-coffee-slip-0.3")
    collected = collect(task, successes=3, failures=0, temperature=0.0, seed=0)
    session = Session(tmp_path / "one", find_task_spec(task.name))
    for expected in collected:
        session.do({"do": "scene", "seed": expected.seed})
        for control in expected.controls:
            assert session.verdict is None
            session.do({"do": "control", "control": int(control)})
        assert session.verdict
        session.do({"do": "keep", "right": True, "by": "rule"})
    assert session.dataset.demonstrations == collected.demonstrations
    assert any(one.effects != one.controls for one in session.dataset)
    session.do({"do": "answer", "seed": 3, "controls": [0], "right": False, "effects": [2]})
    assert session.labels_of(session.state.answers[0]) == replay(task.make_world(3), [0], 0.0, 3, [2]).labels
    assert Session(tmp_path / "one").dataset == session.dataset


def test_a_task_that_is_opened_again_continues_its_latest_session(tmp_path):
    registry = SessionRegistry(tmp_path, InlineRunner())
    first, renamed = registry.begin_or_continue("errand"), registry.create("errand")
    renamed.session.do({"do": "name", "name": "mine"})
    registry.create(FOUR_ROOMS)
    for opened, seconds in ((first, 1), (renamed, 2)):
        os.utime(opened.session.directory / JOURNAL, (seconds, seconds))
    assert registry.begin_or_continue("errand") is renamed  # whatever its name is now
    assert SessionRegistry(tmp_path, InlineRunner()).begin_or_continue("errand").session.state.title == "mine"


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".", "..", "A", "a b", "x" * 61, "a\n", "a\x00", None, 3])
def test_a_path_is_no_name(name):
    with pytest.raises(BadInputError):
        check_name(name)


def test_an_environment_that_would_import_something_is_refused(tmp_path):
    with pytest.raises(BadInputError):
        new(tmp_path / "one", "os:MiniGrid-FourRooms-v0")
    with pytest.raises(BadInputError):
        Session(tmp_path / "one", TaskSpec("x", "os:MiniGrid-FourRooms-v0"))
    assert not (tmp_path / "one").exists()


def test_a_disk_that_takes_half_a_line_takes_none_of_it(tmp_path):
    session = new(tmp_path / "one")
    journal = session.directory / JOURNAL
    before = journal.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 5, limits[1]))  # five more bytes
    try:
        with pytest.raises(BadInputError, match="cannot be written"):
            session.do({"do": "control", "control": 0})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert journal.read_bytes() == before
    session.do({"do": "control", "control": 1})
    assert Session(tmp_path / "one").state.controls == session.state.controls == (1,)


def test_a_journal_with_a_broken_line_inside_is_refused(tmp_path):
    journal = Journal(tmp_path / "j.jsonl")
    for number in range(3):
        journal.append({"n": number})
    lines = journal.path.read_text().splitlines()
    journal.path.write_text("\n".join([lines[0], lines[1][:3], lines[2]]) + "\n")
    with pytest.raises(BrokenJournalError, match="line 2"):
        list(journal.read())
    journal.path.write_text(json.dumps([1]) + "\n")
    with pytest.raises(BrokenJournalError, match="line 1"):
        list(journal.read())


@pytest.mark.parametrize("words", ["[1, 2]", '{"text": "x"}', '{"world": 1}', '{"text": ["<b>"], "world": "x"}', "{"])
def test_words_of_a_cost_that_somebody_edited_are_none(tmp_path, words):
    session = Session(tmp_path / "one", find_task_spec("errand"))
    (session.directory / RUN).mkdir()
    (session.directory / RUN / COST_WORDS).write_text(words)
    assert session.cost_words is None
