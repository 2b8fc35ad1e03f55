"""One history: every act can be undone and redone, takes along what depends on it, and belongs to one belief."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studio_sessions import (
    CORNER,
    FOUR_ROOMS,
    GOAL,
    InlineRunner,
    demonstrate_errand,
    errand_plan,
    finish,
    send,
    shortest_to_goal,
)

from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.support.errors import BadInputError
from wfairl.questions.hypotheses import hypotheses_of, in_words
from wfairl.studio.controller import SessionController
from wfairl.studio.events import event_of_document
from wfairl.studio.plain_questions import question_text
from wfairl.studio.session import DEMONSTRATIONS, JOURNAL, TASK_MODEL, Session
from wfairl.studio.task_spec import find_task_spec

PLANT = {"do": "proposition", "name": "plant", "is": {"is": "at", "x": 1, "y": 17}}


@pytest.fixture
def controller(tmp_path):
    session = Session(tmp_path / "one", find_task_spec(FOUR_ROOMS))
    for event in (CORNER, GOAL, PLANT):
        session.do(event)
    demonstrate_errand(session)
    demonstrate_errand(session)
    return send(SessionController(session, InlineRunner()), {"do": "learn"})


def files(session):
    names = (DEMONSTRATIONS, TASK_MODEL, session.task_file)
    return {name: path.read_bytes() for name in names if (path := session.directory / name).exists()}


def test_undo_to_the_beginning_is_the_empty_session_and_redo_gives_the_same_bytes(controller):
    session, empty = (
        controller.session,
        Session(controller.session.directory.parent / "two", find_task_spec(FOUR_ROOMS)),
    )
    send(controller, {"do": "correct", "correction": {"kind": "never", "proposition": "plant"}, "law": True})
    send(
        controller,
        {"do": "name", "name": "mine"},
        {"do": "forget", "name": "plant"},
        {"do": "drop", "demonstration": 0},
    )
    state, before, sentences = session.state, files(session), session.model.sentences
    while session.history.undone is not None:
        send(controller, {"do": "undo"})
    assert session.state == empty.state
    assert session.model is None
    assert list(files(session)) == ["my-fourrooms.task.json"]  # without propositions, as it began
    while session.history.redone is not None:
        send(controller, {"do": "redo"})
    assert (session.state, files(session), session.model.sentences) == (state, before, sentences)
    assert Session(session.directory).state == state


def test_a_judgement_is_undone_with_the_step_that_led_to_it(tmp_path):
    controller = SessionController(Session(tmp_path / "one", find_task_spec("errand")), InlineRunner())
    plan = [int(control) for control in errand_plan(controller.session.state.seed)]
    for control in plan:
        send(controller, {"do": "control", "control": control})
    assert len(controller.session.state.demonstrations) == 1
    send(controller, {"do": "undo"})
    state = controller.session.state
    assert (state.demonstrations, state.controls) == ((), tuple(plan[:-1]))
    finish(controller.ready())  # as a reload does: nothing is judged again
    assert controller.session.state == state
    send(controller, {"do": "redo"})
    assert len(controller.session.state.demonstrations) == 1


def test_a_proposition_takes_its_laws_along_and_undo_brings_both_back(controller):
    send(controller, {"do": "correct", "correction": {"kind": "never", "proposition": "plant"}, "law": True})
    before = controller.session.state
    assert "and with it: never plant" in send(controller, {"do": "forget", "name": "plant"}).notice
    assert controller.session.state.corrections == ()
    assert controller.view("understanding")["model"]["sentence"] == "corner, then goal"
    for message in ({"do": "watch", "seed": 5000}, {"do": "ask"}, {"do": "try"}):
        assert not send(controller, message).notice, message
    send(controller, {"do": "undo"})
    assert controller.session.state == before
    assert "never plant" in controller.view("understanding")["model"]["sentence"]


def test_the_last_proposition_can_be_removed(controller):
    for name in ("plant", "corner", "goal"):
        send(controller, {"do": "forget", "name": name})
        assert "Error" not in controller.notice
    view = controller.view("understanding")
    assert (view["model"], view["is_current"], len(view["demonstrations"])) == (None, True, 2)
    assert "Demonstrate the task first" in send(controller, {"do": "watch"}).notice


def test_a_law_that_the_world_makes_impossible_is_refused(controller):
    law = {"kind": "before", "first": "goal", "second": "corner"}  # the episode ends at the goal
    assert "does not let it happen" in send(controller, {"do": "correct", "correction": law, "law": True}).notice
    assert controller.session.state.corrections == ()


def test_a_law_that_breaks_another_one_is_refused(controller):
    """Each of them would be listed as holding."""
    send(controller, {"do": "correct", "correction": {"kind": "never", "proposition": "plant"}, "law": True})
    before = controller.session.state.corrections
    edge = next(one for one in controller.view("understanding")["model"]["edges"] if one["text"] == "plant")
    send(controller, {"do": "edge", "source": edge["source"], "text": "plant", "law": True})
    assert 'contradicts the law "never plant": withdraw that one first' in controller.notice
    assert controller.session.state.corrections == before
    assert "never plant" in controller.view("understanding")["model"]["sentence"]


def test_no_question_comes_twice_whether_it_was_answered_or_skipped(controller):
    seen = []
    for reply in (None, None, True, None, None):
        question = send(controller, {"do": "ask"}).view("answer")["question"]
        if question is None:
            assert "nothing left to ask" in controller.notice
            break
        word = [label for i, label in enumerate(question["labels"]) if i and label != question["labels"][i - 1]]
        assert word not in seen
        seen.append(word)
        send(controller, {"do": "answer", "seed": question["seed"], "controls": question["controls"], "right": reply})
    assert len(seen) >= 2
    assert len(controller.view("understanding")["answers"]) == len(seen)


def test_one_belief_is_shown_everywhere(controller):
    model = controller.session.model
    posterior = posterior_of(model)
    belief = {one.text: one.weight for one in hypotheses_of(posterior, posterior.labels)}
    view = controller.view("understanding")["model"]
    assert view["weight"] == belief[posterior.chosen.text]
    words = {in_words(posterior, text): weight for text, weight in belief.items()}
    assert view["alternatives"]
    assert all(words[one["text"]] == one["weight"] for one in view["alternatives"])
    question = send(controller, {"do": "ask"}).view("answer")["question"]
    word = [frozenset() if one == "-" else frozenset(one.split(" & ")) for one in question["labels"][1:]]
    accepting = sum(
        belief.get(one.text, 0) for one in posterior.alternatives if one.automaton.fulfilled_at(word) is not None
    )
    variants = sum(weight for text, weight in belief.items() if ", and " in text)
    assert question["probability"] is None or accepting - 1e-9 <= question["probability"] <= accepting + variants + 1e-9


def test_a_demonstration_that_is_probably_wrong_shapes_nothing(controller):
    """Straight to the goal, but with three idle steps before each: nobody who wants anything would do so."""
    before = controller.view("understanding")["model"]["sentence"]
    session = controller.session
    for control in shortest_to_goal(session.state.seed):
        for step in (3, 3, 3, control):
            session.do({"do": "control", "control": step})
    send(controller, {"do": "keep", "right": True})
    view = controller.view("understanding")
    outliers = [one["outlier"] >= 0.5 for one in view["demonstrations"]]
    assert outliers == [False, False, True]
    assert view["model"]["sentence"] == before


@settings(max_examples=20)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=200))
def test_history_is_a_list_with_a_place_in_it(tmp_path_factory, choices):
    """The oracle folds the whole list again, and never keeps a state."""
    session = Session(tmp_path_factory.mktemp("history") / "one", find_task_spec("MiniGrid-Empty-5x5-v0"))
    start, acts, at = session.state, [], 0
    for choice in choices:
        if choice < 7:
            act = {"do": "scene", "seed": 1 + choice} if choice > 2 else {"do": "control", "control": choice}
            acts, at = [*acts[:at], act], at + 1
            session.do(act)
        else:
            at = min(len(acts), at + 3) if choice == 9 else max(0, at - (choice - 6))
            session.do({"do": "history", "at": at + 1})
        expected = start
        for act in acts[:at]:
            expected = expected.after(event_of_document(act))
        assert session.state == expected
        assert (session.history.at, len(session.history)) == (at + 1, len(acts) + 1)
    assert Session(session.directory).state == session.state
    moments = session.history.moments(1000)
    assert [place for place, _ in moments] == sorted({place for place, _ in moments})


@pytest.mark.parametrize(
    ("asked", "usual", "text"),
    [
        (["corner", "plant", "goal"], ["corner", "goal"], "Passing plant on the way: still right?"),
        (["goal"], ["corner", "goal"], "Without corner: still right?"),
        (["plant", "goal"], ["corner", "goal"], "Plant instead of corner: still right?"),
        (["goal", "corner"], ["corner", "goal"], "Goal before corner: still right?"),
        (["corner", "", "corner", "goal"], ["corner", "goal"], "Corner twice: still right?"),
        (["red", "", "red", "red&shelf"], ["shelf", "", "red"], "Red before shelf, and red twice: still right?"),
        (
            ["buoy", "berth", "", "berth", "", "berth", "fuel", "berth"],
            ["fuel", "berth"],
            "Passing buoy on the way, and berth before fuel, and berth 4 times: still right?",
        ),
        (["corner", "goal"], ["corner", "goal"], "Corner, then goal: right?"),
        (["corner", "key", "goal"], ["corner", "key", "goal&key"], "Goal without key: still right?"),
        (["corner", "goal"], ["corner", "key", "goal&key"], "Without key: still right?"),
        (["corner", "key", "goal"], ["corner", "key", "goal", "goal&key"], "Corner, then key, then goal: right?"),
        (
            ["key", "corner&key", "sand", "key", "", "goal"],
            ["corner", "key", "key&sand", "key", "goal&key"],
            "Key before corner, and sand and goal without key, and key twice: still right?",
        ),
    ],
)
def test_a_question_names_all_differences(asked, usual, text):
    words = [[frozenset(one.split("&")) - {""} for one in word] for word in (asked, usual)]
    assert question_text(*words) == text


def test_what_nothing_follows_from_is_refused(tmp_path):
    session = Session(tmp_path / "one", find_task_spec(FOUR_ROOMS))
    unknown = {"do": "correct", "correction": {"kind": "never", "proposition": "z"}, "law": True, "answers": []}
    for event in ({"do": "reset"}, {"do": "judge", "by": "person"}, {"do": "name", "name": "my-fourrooms"}, unknown):
        with pytest.raises(BadInputError):
            session.do(event)
    assert len((session.directory / JOURNAL).read_text().splitlines()) == 1
