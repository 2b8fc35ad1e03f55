"""Laws of what is written for other tools: read back it is the same automaton, and names stay text."""

import builtins
import re
from itertools import product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from oracles_automata import accept_the_same, accepted_words, all_labels, holds
from pylogics.parsers import parse_ltl
from strategies_automata import formulas, guarded_automata

from wfairl.core.automata.automaton import DEAD, Guard
from wfairl.core.automata.finite import NoAcceptedWordError
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.rules import all_of, avoid, before, then, visit_all, visit_in_order
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.errors import BadInputError
from wfairl.specifications.formats import FORMATS, find_format, read_automaton
from wfairl.specifications.formats.hoa import from_hoa, to_hoa
from wfairl.specifications.formats.ltlf import from_ltlf, to_ltlf
from wfairl.specifications.formats.python_module import to_python
from wfairl.specifications.formats.reward_machine import from_reward_machine, to_reward_machine
from wfairl.specifications.ltlf_formula import parse_formula

NOTHING, KEY = frozenset(), frozenset({"key"})
KEY_DOOR, ALL = frozenset({"key", "door"}), frozenset({"key", "door", "goal"})
SHOWN = [(NOTHING, KEY, KEY_DOOR, ALL), (NOTHING, KEY, NOTHING, KEY, KEY_DOOR, ALL), (NOTHING, KEY_DOOR, ALL)]
LEARNED = SpectralTaskLearner().fit(SHOWN, [1.0] * 3).model.finite
HOSTILE = ('"]);import os', "a\nb", "\\", "<b>&'", "__import__('os')", "", "é", "True")

ROUND_TRIPS = {"hoa": (to_hoa, from_hoa), "reward-machine": (to_reward_machine, from_reward_machine)}


def is_empty(automaton, propositions):
    return not any(accepted.any() for accepted in accepted_words(automaton, all_labels(propositions), 6))


@pytest.mark.parametrize("write_and_read", ROUND_TRIPS.values(), ids=ROUND_TRIPS)
@given(automaton=guarded_automata(propositions="ab"))
def test_what_is_read_back_accepts_the_same_words_up_to_length_8(write_and_read, automaton):
    write, read = write_and_read
    try:
        again = read(write(automaton))
    except NoAcceptedWordError:
        assert is_empty(automaton, "ab")
    else:
        assert accept_the_same(automaton, again, "ab", 8)


@pytest.mark.parametrize("write_and_read", ROUND_TRIPS.values(), ids=ROUND_TRIPS)
@given(automaton=guarded_automata(max_states=7, propositions="abcd"))
@settings(max_examples=25)
def test_automata_over_four_propositions_are_read_back(write_and_read, automaton):
    write, read = write_and_read
    try:
        again = read(write(automaton))
    except NoAcceptedWordError:
        assert is_empty(automaton, "abcd"[:2])
    else:
        assert accept_the_same(automaton, again, "abcd", 4)


@pytest.mark.parametrize("write_and_read", ROUND_TRIPS.values(), ids=ROUND_TRIPS)
@pytest.mark.parametrize("automaton", [LEARNED, then(visit_all("key", "door"), visit_in_order("goal"))])
def test_three_propositions_are_read_back_up_to_length_8(write_and_read, automaton):
    write, read = write_and_read
    longest = 7 if automaton is LEARNED else 8
    assert accept_the_same(automaton, read(write(automaton)), ("key", "door", "goal"), longest)


@given(automaton=guarded_automata(propositions="ab"))
@settings(max_examples=50)
def test_the_python_module_does_as_the_automaton_does(automaton):
    module = {}
    exec(to_python(automaton), module)
    for label in all_labels("ab"):
        after = [module["step"](state, label) for state in range(automaton.states)]
        assert after == automaton.column(label).tolist()
        assert module["step"](DEAD, label) == DEAD
    for word in product(all_labels("ab"), repeat=3):
        assert module["accepts"](word) == automaton.accepts(word)
    assert sorted(module["ACCEPTING"]) == np.flatnonzero(automaton.accepting).tolist()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name, monkeypatch):
    monkeypatch.setattr(builtins, "__import__", lambda *_: pytest.fail("the module imports something"))
    module = {}
    rule = visit_in_order("a", name)
    exec(to_python(rule), module)
    assert module["PROPOSITIONS"] == {"a", name}
    assert module["accepts"]([{"a"}, {name}])
    assert not module["accepts"]([{name}, {"a"}])
    monkeypatch.undo()
    for again in (from_hoa(to_hoa(rule)), from_ltlf(to_ltlf(rule))):
        assert again.propositions == {"a", name}
        assert accept_the_same(rule, again, ("a", name), 4)


@pytest.mark.parametrize("name", [*HOSTILE[:-2], "True", "a b", "a&b"])
def test_a_reward_machine_refuses_names_that_it_cannot_hold(name):
    with pytest.raises(BadInputError, match="cannot hold the proposition"):
        to_reward_machine(visit_in_order("a", name))


def evaluate_condition(formula, label):
    """How the published code reads a condition."""
    if "|" in formula:
        return any(evaluate_condition(part, label) for part in formula.split("|"))
    if "&" in formula:
        return all(evaluate_condition(part, label) for part in formula.split("&"))
    if formula.startswith("!"):
        return not evaluate_condition(formula[1:], label)
    return formula == "True" or (formula != "False" and formula in label)


@given(automaton=guarded_automata(propositions="ab"))
def test_a_reward_machine_pays_while_the_word_is_accepted_and_ends_when_it_always_will_be(automaton):
    """Run as the published code runs it: the first condition that holds is taken, and without one the episode ends."""
    first, second, *lines = to_reward_machine(automaton).splitlines()
    start, final = int(first), [int(number) for number in re.findall(r"\d+", second)]
    edges = [re.fullmatch(r"\((\d+),(\d+),'(.*)',ConstantRewardFunction\((\d)\)\)", line).groups() for line in lines]
    for word in product(all_labels("ab"), repeat=3):
        state, read = start, ()
        while state is not None and state not in final and len(read) < len(word):
            label = word[len(read)]
            read = (*read, label)
            taken = [edge for edge in edges if int(edge[0]) == state and evaluate_condition(edge[2], label)]
            assert len(taken) <= 1
            reward = int(taken[0][3]) if taken else 0
            assert reward == automaton.accepts(read)
            state = int(taken[0][1]) if taken else None
        if state is None or state in final:
            assert automaton.accepts(word) == (state in final)


RULES = {
    "F (key & (F (door & (F goal))))": visit_in_order("key", "door", "goal"),
    "(F a) & (F b) & (F c)": visit_all("a", "b", "c"),
    "(G !lava) & (G !water)": avoid("lava", "water"),
    "!b W a": before("a", "b"),
    "(G !plant) & (F coffee) & (F mail)": all_of(visit_all("coffee", "mail"), avoid("plant")),
    "G (!a | (F b))": GuardedAutomaton(
        ((Edge(Guard(frozenset("a"), frozenset("b")), 1),), (Edge(Guard(frozenset("b")), 0),)), np.array([True, False])
    ),
}


@pytest.mark.parametrize("text", RULES)
def test_rules_are_written_as_people_state_them(text):
    assert to_ltlf(RULES[text]) == f"{text}\n"


@given(formulas(depth=7))
@settings(max_examples=120, suppress_health_check=[HealthCheck.filter_too_much])
def test_a_formula_that_is_written_is_that_of_the_automaton(formula):
    try:
        automaton = from_ltlf(str(formula))
        text = to_ltlf(automaton)
    except (NoAcceptedWordError, BadInputError):
        assume(False)
    again = parse_formula(text)
    for word in (word for length in range(5) for word in product(all_labels("ab"), repeat=length)):
        assert holds(again, word) == automaton.accepts(word)


@pytest.mark.parametrize("automaton", [LEARNED, then(visit_all("a", "b"), visit_in_order("c")), *RULES.values()])
def test_pylogics_reads_every_formula_that_is_written(automaton):
    text = to_ltlf(automaton)
    names = set(re.findall(r"\b[a-z]+\b", text)) - {"true", "false"}
    assert {str(one) for one in atoms(parse_ltl(text))} == names == set(automaton.propositions)


def atoms(formula):
    inner = getattr(formula, "operands", None) or ([formula.argument] if hasattr(formula, "argument") else [])
    return {formula.name} if type(formula).__name__ == "Atomic" else set().union(*map(atoms, inner))


def even(name):
    flip = Guard(frozenset({name}))
    return GuardedAutomaton(((Edge(flip, 1),), (Edge(flip, 0),)), np.array([True, False]))


def test_what_counts_has_no_formula_and_the_error_says_why():
    for returning in (even("a"), from_ltlf("G (a -> X[!] b)")):
        with pytest.raises(BadInputError, match=r"returns to states that it has left \(0, 1\); LTLf expresses"):
            to_ltlf(returning)
    with pytest.raises(BadInputError, match="more than 20,000 characters"):
        to_ltlf(then(visit_all(*"abcde"), visit_in_order("f")))


def test_another_hoa_tool_reads_ours_and_we_read_what_it_writes():
    hoa = pytest.importorskip("hoa.parsers", reason="pip install --no-deps hoa-utils")
    from hoa.dumpers import dumps

    for automaton in (LEARNED, *RULES.values(), visit_in_order('"]);import os', "a\nb", "<b>")):
        read = hoa.HOAParser()(to_hoa(automaton))
        assert len(read.body.state2edges) == automaton.states
        again = from_hoa(dumps(read))
        assert accept_the_same(automaton, again, sorted(automaton.propositions)[:3], 5)


HEADER = 'HOA: v1\nStart: 0\nAP: 2 "a" "b"\nAcceptance: 1 Inf(0)\n'


def test_labels_in_all_their_forms_are_read():
    text = (
        'HOA: v1 /* a "comment" */ name: "/* no comment */" States: 3 Start: 2\nAP: 2 "a" "b"\nAlias: @x 0 & !1\n'
        "Alias: @y @x | 1\nAcceptance: 1 Inf(0)\nacc-name: Buchi\nproperties: deterministic\n--BODY--\n"
        'State: 2 "first" [@x] 0 [!@y | f] 2 [0 & 1 | !0 & 1] 1\n'  # 0&!1, !1&!0 and 1
        "State: [t] 0 {0} 0\nState: 1 1 0 1 0 /* of !a!b, a!b, !ab, ab */\n--END--\n"
    )
    by_hand = from_ltlf("!(a | b) U ((a & !b) | (b & X[!] ((!a) U a)))")
    assert accept_the_same(from_hoa(text), by_hand, "ab", 6)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "ends too early"),
        ("digraph {}", "does not begin with 'HOA: v1'"),
        (HEADER + "--BODY--\nState: 0 {0}\n", "--END-- is missing"),
        (HEADER.replace("1 Inf(0)", "2 Inf(0)&Inf(1)") + "--BODY--\n--END--\n", "Acceptance: 1 Inf"),
        (HEADER.replace("Start: 0", "Start: 0 Start: 1") + "--BODY--\n--END--\n", "2 initial states"),
        (HEADER.replace("Start: 0", "Start: 0&1") + "--BODY--\n--END--\n", "does not name one state"),
        (HEADER + "Fairness: 3\n--BODY--\n--END--\n", "'Fairness:'.*may matter"),
        (HEADER.replace("2 ", "3 ") + "--BODY--\n--END--\n", "'AP:'"),
        (HEADER + "--BODY--\nState: 0 {0} [0] 0 [1] 1\n--END--\n", "two edges for one label"),
        (HEADER + "--BODY--\nState: 0 [0] 0 {0}\n--END--\n", "marks edges"),
        (HEADER + "--BODY--\nState: 0 [0] 0&1\n--END--\n", "several states at once"),
        (HEADER + "--BODY--\nState: 0 [2] 0\n--END--\n", "no condition on its propositions"),
        (HEADER + "--BODY--\nState: 0 [0 U 1] 0\n--END--\n", "no condition on its propositions"),
        (HEADER + "--BODY--\nState: 0 [0 &] 0\n--END--\n", "cannot be read"),
        (HEADER + "--BODY--\nState: 0 [@x] 0\n--END--\n", "'@x' in the HOA is not defined"),
        (HEADER + "--ABORT--\n--BODY--\n--END--\n", "aborted"),
        (HEADER + "--END--\n--BODY--\n", "ends before its body"),
        (HEADER + '--BODY--\nState: "first" 0 [t] 0\n--END--\n', "where a number is needed"),
        (HEADER + "--BODY--\nState: 0 0\n--END--\n", "not one for every label"),
        (HEADER + "--BODY--\nState: 0 State: 0\n--END--\n", "defined twice"),
        (HEADER + "--BODY--\nState: 99999999999999999999\n--END--\n", "where a number is needed"),
        (HEADER + "--BODY--\nState: 0 {3}\n--END--\n", "acceptance sets beside 0"),
    ],
)
def test_broken_hoa_is_an_error_that_says_what_is_wrong(text, reason):
    with pytest.raises(BadInputError, match=reason):
        from_hoa(text)


def test_what_is_too_entangled_is_refused_and_does_not_hang():
    odd = " <-> ".join(f"p{i}" for i in range(20))
    with pytest.raises(BadInputError, match="more than 20,000 parts"):
        from_ltlf(f"F ({odd})")
    names = " ".join(f'"p{i}"' for i in range(40))
    header = f"HOA: v1\nStart: 0\nAP: 40 {names}\nAcceptance: 1 Inf(0)\n"
    doubled = "Alias: @x0 0\n" + "".join(f"Alias: @x{i} @x{i - 1}&@x{i - 1}\n" for i in range(1, 30))
    with pytest.raises(BadInputError, match="more than 100,000 characters"):
        from_hoa(f"{header}{doubled}--BODY--\n--END--\n")
    pairs = "&".join(f"({i}&{i + 20}|!{i}&!{i + 20})" for i in range(20))
    with pytest.raises(BadInputError, match="more than"):
        from_hoa(header + f"--BODY--\nState: 0 [{pairs}] 1 [!({pairs})] 0\nState: 1 {{0}} [t] 1\n--END--\n")


@given(st.data())
@settings(max_examples=200)
def test_texts_that_were_cut_and_changed_are_read_or_refused_and_nothing_else(data):
    name = data.draw(st.sampled_from(["hoa", "reward-machine", "ltlf"]))
    text = {"hoa": to_hoa, "reward-machine": to_reward_machine, "ltlf": to_ltlf}[name](visit_in_order("key", "door"))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 20, len(text))))
    broken = text[:start] + data.draw(st.text("01[]{}()&|!tf-:\"'@kU ", max_size=6)) + text[end:]
    try:
        read = FORMATS[name].read(broken)
    except (BadInputError, NoAcceptedWordError):
        return
    assert isinstance(read, GuardedAutomaton)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "first lines are not"),
        ("0\n[2]\n(0,2,'a',RewardControl())\n", "not a transition with a constant reward"),
        ("0\n[2]\n(0,2,'a',ConstantRewardFunction(-1))\n", "below zero"),
        ("0\n[2]\n(0,2,'a(b',ConstantRewardFunction(1))\n", "cannot be read"),
        (
            "0\n[2]\n(0,1,'a',ConstantRewardFunction(1))\n(0,2,'a&b',ConstantRewardFunction(1))\n",
            "two edges for one label",
        ),
        ("0\n[]\n(0,1,'a',ConstantRewardFunction(1))\n(1,1,'b',ConstantRewardFunction(0))\n", "rewards a transition"),
    ],
)
def test_broken_reward_machines_are_an_error_that_says_what_is_wrong(text, reason):
    with pytest.raises(BadInputError, match=reason):
        from_reward_machine(text)


def test_the_example_of_the_published_code_is_read():
    text = (
        "0      # initial state\n[2]    # terminal state\n(0,0,'!e&!n',ConstantRewardFunction(0))\n"
        "(0,1,'e&!g&!n',ConstantRewardFunction(0))\n(0,2,'e&g&!n',ConstantRewardFunction(1))\n"
        "(1,1,'!g&!n',ConstantRewardFunction(0))\n(1,2,'g&!n',ConstantRewardFunction(1))\n"
    )
    by_hand = from_ltlf("(!e & !n) U (e & !n & (g | X[!] ((!g & !n) U (g & !n))))")
    assert accept_the_same(from_reward_machine(text), by_hand, "egn", 5)


def test_a_format_is_found_by_name_or_suffix_and_others_are_listed(tmp_path):
    assert find_format(None, tmp_path / "TASK.HOA").name == "hoa"
    assert find_format("python", tmp_path / "task.txt").name == "python"
    with pytest.raises(BadInputError, match=r"'\.bmp' is none of the formats svg \(\.svg\)"):
        find_format(None, tmp_path / "task.bmp")
    with pytest.raises(BadInputError, match=r"hoa.*ltlf.*reward-machine"):
        read_automaton(tmp_path / "task.py")


def test_a_broken_file_is_named(tmp_path):
    path = tmp_path / "spec.ltlf"
    path.write_text("F (a")
    with pytest.raises(BadInputError, match=r"spec\.ltlf: the formula has its end"):
        read_automaton(path)
