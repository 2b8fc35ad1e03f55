"""Cases are ranked by how far they are from a model, on the command line and from frames."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from wfairl.cli.app import app
from wfairl.core.automata import TaskModel
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.support.errors import BadInputError
from wfairl.events import conform, conform_frame, learn_process
from wfairl.events.constraints import EventConstraint
from wfairl.events.event_logs import LogColumns, from_frame, read_event_log
from wfairl.events.held_out import HeldOut
from wfairl.events.learned_rule import LearnedRule, SupportedConstraint


def run(*arguments):
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def orders(count, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for case in range(count):
        middle = ["pack", "bill"] if rng.random() < 0.5 else ["bill", "pack"]
        rows += [(f"c{case}", event, time) for time, event in enumerate(["order", *middle, "pay", "ship"])]
    return pd.DataFrame(rows, columns=["nr", "what", "when"])


@pytest.fixture(scope="module")
def model():
    return learn_process(orders(300), case="nr", activity="what", time="when").model


def test_a_frame_is_learned_from_and_compared(model):
    odd = pd.DataFrame(
        [("x", event, i) for i, event in enumerate(["order", "pay", "pack", "bill"])]
        + [("y", event, i) for i, event in enumerate(["order", "bill", "pack", "pay", "ship"])]
        + [("z", event, i) for i, event in enumerate(["order", "bill", "pack", "pay", "ship", "ship"])],
        columns=["nr", "what", "when"],
    )
    found = conform_frame(model, odd, case="nr", activity="what", time="when").set_index("case")
    assert list(found.columns) == ["cost", "fitness", "conforming", "violated", "reason"]
    assert found.cost["y"] == 0 < found.cost["z"] < found.cost["x"]
    assert found.fitness["y"] == 1 > found.fitness["z"]
    assert found.conforming.tolist() == [False, True, False]
    assert "no ship" in found.reason["x"]
    assert found.reason["z"] == "ship twice"
    assert found.reason["y"] == ""


def test_cases_keep_their_names_so_that_the_result_joins_the_frame(model):
    frame = orders(4).assign(nr=lambda one: one.nr.str[1:].astype(int) + 1000)
    found = conform_frame(model, frame, case="nr", activity="what", time="when")
    assert len(frame.merge(found, left_on="nr", right_on="case")) == len(frame)


def test_a_frame_keeps_the_events_that_are_asked_for_and_says_what_was_left_out():
    frame = orders(30).assign(**{"lifecycle:transition": ["start", "complete"] * 75})
    columns = {"case": "nr", "activity": "what", "time": "when"}
    (note,) = learn_process(frame, **columns).notes
    assert note.startswith("75 of 150 events are not 'complete'")
    every = learn_process(frame, **columns, lifecycle="all")
    assert every.notes == ()
    assert conform_frame(every.model, frame, **columns, lifecycle="all").conforming.all()
    assert not conform_frame(every.model, frame, **columns).conforming.any()


def test_what_is_no_frame_is_refused_in_a_sentence():
    for log in ([("order", "pay")], "orders.csv"):
        with pytest.raises(BadInputError, match=r"DataFrame.*read_event_log"):
            learn_process(log)
    with pytest.raises(BadInputError, match=r"no column 'what' for the event.*`activity` in Python"):
        learn_process(orders(2).drop(columns="what"), case="nr", activity="what")


def test_the_command_prints_costs_in_the_order_of_the_log(model, tmp_path):
    model.save(tmp_path / "task.json")
    (tmp_path / "log.csv").write_text("case,event\n1,order\n2,order\n2,bill\n2,pack\n2,pay\n2,ship\n3,moon\n")
    document = json.loads(run("conform", tmp_path / "task.json", tmp_path / "log.csv", "--json").stdout)
    assert document["cases"] == ["1", "2", "3"]
    assert document["cost"][1] == 0
    assert min(document["cost"][0], document["cost"][2]) > 0
    assert document["fitness"][1] == 1
    assert "ship happens exactly once" in document["violated"][0] or document["violated"][0]
    text = run("conform", tmp_path / "task.json", tmp_path / "log.csv", "-o", tmp_path / "cases.csv").stdout
    assert "1 of 3 cases keep the rule" in text
    assert "does not know 'moon'" in text
    assert pd.read_csv(tmp_path / "cases.csv").case.tolist() == [1, 2, 3]
    with pytest.raises(BadInputError, match="--cost"):
        run("conform", tmp_path / "task.json", tmp_path / "log.csv", "--cost", "ship=much")


def test_costs_of_events_change_the_fitness(model):
    word = ("order", "bill", "pack", "pay")
    cheap, dear = (conform(model, [word], costs={"ship": cost}).fitness[0] for cost in (0.1, 5.0))
    assert dear < conform(model, [word]).fitness[0] < cheap


def test_equal_cases_are_judged_alike_each_in_its_place(model):
    right, wrong = ("order", "bill", "pack", "pay", "ship"), ("pay", "order")
    some = [wrong, right, wrong, right]
    found, alone = conform(model, some), [conform(model, [word]) for word in some]
    assert found.cost.tolist() == [one.cost[0] for one in alone]
    assert found.fitness.tolist() == [one.fitness[0] for one in alone]
    assert found.violated == tuple(one.violated[0] for one in alone)
    assert found.conforming.tolist() == [False, True, False, True]
    assert [found.reason(i) for i in range(4)] == [one.reason(0) for one in alone]


def test_the_reason_follows_the_costs_of_events():
    labels = tuple(frozenset({name}) for name in "abc")
    table = np.array([[1, -1, -1], [-1, 2, -1], [-1, -1, 3], [-1, -1, -1]], np.int32)
    accepting = np.array([False, True, False, True])  # a, and a b c
    automaton = FiniteAutomaton(labels, table, accepting, accepting.astype(float), (None,) * 4, keep_repeats=True)
    model = TaskModel.of_automaton(automaton, "rule")
    assert conform(model, [("a", "c")], costs={"b": 5.0}).reason(0) == "extra 'c'"
    assert conform(model, [("a", "c")], costs={"c": 5.0}).reason(0) == "missing 'b'"


def test_logs_with_few_classes_leave_failures_out(tmp_path):
    frame = orders(100)
    frame["went"] = ""
    frame.loc[frame.nr == "c0", "what"] = "moon"
    frame.loc[frame.nr == "c0", "went"] = "rejected"
    frame.loc[frame.nr == "c1", "went"] = "accepted"
    learned = learn_process(frame, case="nr", activity="what", time="when", outcome="went").model
    assert learned.summary.words == 99
    assert not learned.judge(("moon",) * 5).accepted


def test_a_log_none_of_whose_events_is_complete_keeps_all(tmp_path):
    text = "case,event,lifecycle:transition\n1,a,Accepted\n1,b,Queued\n"
    (tmp_path / "log.csv").write_text(text)
    assert len(read_event_log(tmp_path / "log.csv").words[0]) == 2
    with pytest.raises(BadInputError, match="no event has the lifecycle 'complete'; there are accepted, queued"):
        read_event_log(tmp_path / "log.csv", LogColumns(lifecycle="complete"))
    (tmp_path / "log.csv").write_text(text + "1,c,complete\n")
    log = read_event_log(tmp_path / "log.csv")
    assert (log.words, len(log.notes)) == (((frozenset({"c"}),),), 1)


def test_times_order_the_events_of_xes(tmp_path):
    def event(name, time):
        return f'<event><string key="concept:name" value="{name}"/><date key="time:timestamp" value="{time}"/></event>'

    events = event("b", "2026-03-02T10:00:00Z") + event("a", "2026-03-02T10:00:00+01:00")
    (tmp_path / "log.xes").write_text(f"<log><trace>{events}</trace></log>")
    assert read_event_log(tmp_path / "log.xes").words == ((frozenset({"a"}), frozenset({"b"})),)


@pytest.mark.parametrize(
    ("times", "first"),
    [
        (("31/01/2026 10:00", "01/02/2026 09:00"), "a"),
        (("02/13/2026", "03/01/2026"), "a"),
        (("2.1.2026 10:00", "1.2.2026 09:00"), "a"),
        (("2026/01/02", "2026/01/01"), "b"),
    ],
)
def test_common_times_are_read(times, first):
    frame = pd.DataFrame({"case": [1, 1], "event": ["a", "b"], "time": times})
    assert from_frame(frame).words[0][0] == {first}


def test_a_time_that_may_mean_two_days_is_refused():
    frame = pd.DataFrame({"case": [1, 1], "event": ["a", "b"], "time": ["03/04/2026", "05/06/2026"]})
    with pytest.raises(BadInputError, match=r"row 0: .* day and month cannot be told apart"):
        from_frame(frame)


def test_outcomes_come_from_an_event_without_leaking_and_from_a_duration():
    frame = pd.DataFrame({"case": [1, 1, 1, 2, 2], "event": list("apcab"), "time": [0, 1, 9, 0, 2]})
    log = from_frame(frame, LogColumns(outcome="event: p"))
    assert (log.scores, [len(word) for word in log.words]) == ((1.0, 0.0), [1, 2])
    assert [len(word) for word in from_frame(frame, LogColumns(outcome="event: c")).words] == [2, 1]  # always the last
    assert from_frame(frame, LogColumns(outcome="days: 2")).scores == (0.0, 1.0)
    with pytest.raises(BadInputError, match="no event 'q'"):
        from_frame(frame, LogColumns(outcome="event: q"))


def test_cases_without_the_event_of_an_outcome_end_before_what_others_have_only_after_it():
    words = ["oxpsa", "oxpsa", "oaps", "oxda", "odxas", "ox"]
    frame = pd.DataFrame([(i, event, time) for i, word in enumerate(words) for time, event in enumerate(word)])
    log = from_frame(frame.set_axis(["case", "event", "time"], axis=1), LogColumns(outcome="event: p"))
    assert ["".join(*label) for word in log.words for label in word] == [*"ox", *"ox", *"oa", *"oxd", *"odx", *"ox"]
    assert log.scores == (1, 1, 1, 0, 0, 0)
    assert log.notes == ("2 cases without 'p' are read up to 'a', which most others have only after 'p'",)


def test_outcomes_come_from_an_attribute_by_its_value_or_a_threshold(tmp_path):
    frame = pd.DataFrame({"case": [1, 2, 3], "event": "a", "state": ["shut", "open", None], "amount": [10, 30, 20]})
    assert from_frame(frame, LogColumns(outcome="state = shut")).outcomes == (1, 0, None)
    assert from_frame(frame, LogColumns(outcome="amount > 15")).scores == (0, 1, 1)
    state = '<string key="state" value="{}"/><event><string key="concept:name" value="a"/></event>'
    traces = "".join(f"<trace>{state.format(value)}</trace>" for value in ("shut", "open"))
    (tmp_path / "log.xes").write_text(f"<log>{traces}</log>")
    assert read_event_log(tmp_path / "log.xes", LogColumns(outcome="state = shut")).scores == (1, 0)
    with pytest.raises(BadInputError, match="say which value is a success, as in --outcome-column 'NAME = open'"):
        from_frame(frame[1:], LogColumns(outcome="state"))


def test_a_case_that_breaks_the_rule_has_a_cost_and_a_reason_even_where_many_do():
    frame, wrong = orders(200), [f"c{i}" for i in range(25)]  # of each event, 5 of 200 cases lack it: not rare
    frame = frame.drop([frame.index[frame.nr == name][i % 5] for i, name in enumerate(wrong)])
    model = learn_process(frame, case="nr", activity="what", time="when").model
    found = conform_frame(model, frame, case="nr", activity="what", time="when").set_index("case")
    assert found.index[~found.conforming].tolist() == wrong
    assert (found.cost > 0).tolist() == (~found.conforming).tolist()
    assert found.reason[wrong].str.len().min() > 5
    assert conform(model, [()]).reason(0) == "no event"


def test_attributes_become_propositions_with_thresholds_of_their_own():
    frame = pd.DataFrame(
        {"case": range(4), "event": "a", "amount": [10, 20, 30, 4000], "channel": ["web", "shop", "web", "web"]}
    )
    log = from_frame(frame, LogColumns(attributes=("amount > 1000", "channel")))
    assert log.words[3] == (frozenset({"a", "amount > 1000", "channel = web"}),)
    assert log.words[1] == (frozenset({"a", "channel = shop"}),)
    quartiles = from_frame(frame, LogColumns(attributes=("amount",)))
    assert any(name.startswith("amount > ") for name in frozenset().union(*quartiles.words[3]))
    with pytest.raises(BadInputError, match="no column 'weight'"):
        from_frame(frame, LogColumns(attributes=("weight",)))


def test_events_named_like_attributes_stay_events(tmp_path):
    steps = ["set size > 5", "check size > five", "state = closed"]
    rows = ["case,event,amount", *(f"{case},{step},{case}" for case in range(40) for step in steps)]
    (tmp_path / "log.csv").write_text("\n".join(rows))
    for attributes in ([], ["--attribute", "amount > 20"]):
        learned = run("learn-task", tmp_path / "log.csv", *attributes, "-o", tmp_path / "task.json", "--json")
        assert learned.exit_code == 0, learned.output
        found = run("conform", tmp_path / "task.json", tmp_path / "log.csv", "--json")
        assert found.exit_code == 0, found.output
        assert json.loads(found.stdout)["conforming"] == [True] * 40


def test_a_threshold_is_a_number():
    with pytest.raises(BadInputError, match="no column 'when > noon'"):
        from_frame(orders(3), LogColumns("nr", "what", "when", attributes=("when > noon",)))


def test_the_reason_says_what_is_so_where_a_rule_about_outcomes_is_broken():
    def of(*named, **kind):
        stated = [SupportedConstraint.of(EventConstraint.of(*one), 1, 0, 1.0) for one in named]
        automaton = FiniteAutomaton(
            (frozenset({"pay"}), frozenset({"moan"})), np.zeros((1, 2), np.int32), np.ones(1, bool), np.ones(1), (None,)
        )
        return TaskModel.of_automaton(automaton, "declare", record=LearnedRule((tuple(stated),), 0, 0.0, **kind))

    good = of(("existence", "pay"), ("absence", "moan"))
    assert conform(good, [("moan",), ("pay", "moan")]).reason(0) == "pay never happens; moan happens"
    assert conform(good, [("pay", "moan")]).reason(0) == "moan happens"
    assert conform(good, [("pay",)]).reason(0) == ""
    bad = conform(of(("existence", "moan"), ("existence", "pay"), of_failures=True), [("pay", "moan")])
    assert bad.violated == (("not: moan happens, and pay happens",),)
    assert bad.reason(0) == "moan happens, and pay happens"


def test_what_is_compared_with_a_number_is_one_or_missing():
    frame = pd.DataFrame({"case": [1, 2, 3], "event": "a", "amount": ["1500.5", "n/a", ""]})
    assert from_frame(frame, LogColumns(outcome="amount > 1000")).outcomes == (1, None, None)
    assert from_frame(frame, LogColumns(attributes=("amount > 1000",))).words[1] == (frozenset({"a"}),)
    frame.loc[2, "amount"] = "1.234,50"  # with a decimal comma: neither above a number nor below it
    for columns in (LogColumns(outcome="amount > 1000"), LogColumns(attributes=("amount > 1000",))):
        with pytest.raises(BadInputError, match=r"row 2: 'amount' is '1\.234,50', which is not a number"):
            from_frame(frame, columns)
    many = pd.DataFrame({"case": range(30), "event": "a", "amount": [f"{i},50" for i in range(30)], "empty": ""})
    with pytest.raises(BadInputError, match="30 values that are not numbers, such as '0,50'"):
        from_frame(many, LogColumns(attributes=("amount",)))
    with pytest.raises(BadInputError, match="'empty' has no value"):
        from_frame(many, LogColumns(attributes=("empty",)))


def test_attributes_of_whole_cases_are_printed_once(tmp_path):
    rng, rows = np.random.default_rng(0), ["case,event,amount,channel,outcome"]
    for case in range(60):
        amount, channel = rng.integers(10_000), rng.choice(["web", "shop", "phone"])
        middle = rng.permutation(["b", "c", "d"])
        rows += [f"{case},{event},{amount},{channel},{amount > 5_000}" for event in ("a", *middle, "e")]
    (tmp_path / "log.csv").write_text("\n".join(rows))
    attributes = ["--attribute", "amount", "--attribute", "channel"]
    learned = run("learn-task", tmp_path / "log.csv", "-o", tmp_path / "task.json", *attributes).stdout
    assert "labels of 11 propositions, 'a'," in " ".join(learned.split())
    scored = run("score", tmp_path / "task.json", tmp_path / "log.csv", "--most", 0).stdout
    assert scored.count("always") == 60
    assert "channel = web & " not in scored


def test_a_rule_that_does_not_beat_a_constant_answer_says_so_first(tmp_path):
    rng = np.random.default_rng(0)
    rows = ["case,event,outcome"]
    for case in range(300):
        good = rng.random() < 0.25
        names = rng.choice(["a", "b", "c"], size=4).tolist() + (["d"] if good and rng.random() < 0.6 else [])
        rows += [f"{case},{name},{int(good)}" for name in (names if rng.random() < 0.8 else [*names, "d"])]
    (tmp_path / "log.csv").write_text("\n".join(rows))
    result = run("learn-task", tmp_path / "log.csv", "-o", tmp_path / "task.json", "--json")
    document = json.loads(result.stdout)
    text = run("learn-task", tmp_path / "log.csv", "-o", tmp_path / "task.json").stdout
    beats = HeldOut(document["held_out_accuracy"], document["base_rate"], 60).beats_constant
    assert text.startswith("No better than a guess") == (not beats and document["bits"] is not None)
    assert document["held_out_accuracy"] >= document["base_rate"] - 0.1


def test_outcomes_of_one_kind_are_said_and_where_no_case_succeeds_what_to_do(tmp_path):
    log, task = tmp_path / "log.csv", tmp_path / "task.json"
    log.write_text("case,event\n" + "\n".join(f"{case},{name}" for case in range(30) for name in "abc"))
    always = run("learn-task", log, "-o", task, "--outcome-column", "event: c")
    assert "every case succeeds" in always.stderr
    assert "it begins with a" in always.stdout
    log.write_text("case,event,outcome\n" + "\n".join(f"{case},{name},no" for case in range(30) for name in "abc"))
    with pytest.raises(BadInputError, match="name another outcome"):
        run("learn-task", log, "-o", task)
