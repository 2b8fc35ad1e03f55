"""Laws of LTLf: formulas mean what their definition says, to us and to a parser of that field."""

import time
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_automata import all_labels, holds
from pylogics.parsers import parse_ltl
from strategies_automata import formulas

from wfairl.core.automata.automaton import DEAD
from wfairl.core.support.errors import BadInputError, FailedRunError
from wfairl.specifications.ltlf_automaton import formula_automaton
from wfairl.specifications.ltlf_formula import (
    Formula,
    conjunction,
    disjunction,
    parse_formula,
    proposition,
)

WORDS = [word for length in range(5) for word in product(all_labels("ab"), repeat=length)]


def accepts(automaton, word):
    state = 0
    for label in word:
        state = automaton.read(state, label)
    return state != DEAD and automaton.accepting[state]


@given(formulas(depth=6))
@settings(max_examples=150)
def test_the_automaton_of_a_formula_accepts_the_words_that_fulfil_it(formula):
    automaton = formula_automaton(formula)
    for word in WORDS:
        assert accepts(automaton, word) == holds(formula, word)


@given(formulas(depth=6))
def test_a_formula_is_read_as_it_is_written(formula):
    again = parse_formula(str(formula))
    assert all(holds(again, word) == holds(formula, word) for word in WORDS[:85])


@given(st.text(max_size=8), st.text(max_size=8))
def test_any_text_can_be_the_name_of_a_proposition(one, other):
    formula = Formula("U", (proposition(one), proposition(other)))
    assert parse_formula(str(formula)) == formula


def from_pylogics(formula):
    """A formula of pylogics as one of ours."""
    kind = type(formula).__name__
    if kind == "Atomic":
        return proposition(formula.name)
    if kind in ("PropositionalTrue", "PropositionalFalse", "TrueFormula", "FalseFormula"):
        return Formula("true" if "True" in kind else "false")
    unary = {"Not": "!", "Next": "X[!]", "WeakNext": "WX", "Eventually": "F", "Always": "G"}
    if kind in unary:
        return Formula(unary[kind], (from_pylogics(formula.argument),))
    parts = tuple(map(from_pylogics, formula.operands))
    if kind in ("And", "Or"):
        return (conjunction if kind == "And" else disjunction)(*parts)
    return Formula({"Until": "U", "Release": "R", "WeakUntil": "W", "StrongRelease": "M"}[kind], parts)


def without_weak_next(formula):
    """The same formula; pylogics writes the weak next as X, which we do not."""
    inner = tuple(map(without_weak_next, formula.operands))
    if formula.operator == "WX":
        return Formula("!", (Formula("X[!]", (Formula("!", inner),)),))
    return Formula(formula.operator, inner, formula.name)


@given(formulas(depth=6))
@settings(max_examples=100)
def test_pylogics_reads_in_our_text_what_we_mean(formula):
    theirs = from_pylogics(parse_ltl(str(without_weak_next(formula))))
    assert all(holds(theirs, word) == holds(formula, word) for word in WORDS[:85])


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a U b U a", "a U (b U a)"),
        ("a & b | a", "(a & b) | a"),
        ("!a U b", "(!a) U b"),
        ("a -> b -> a", "a -> (b -> a)"),
        ("F a & b", "(F a) & b"),
        ("a && b || ~a", "(a & b) | !a"),
        ("a <-> b", "(a -> b) & (b -> a)"),
        ("last", "!X[!] true"),
        ("tt & !ff", "true"),
    ],
)
def test_operators_bind_as_they_are_documented(text, same):
    one, other = parse_formula(text), parse_formula(same)
    assert all(holds(one, word) == holds(other, word) for word in WORDS)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "its end where a proposition"),
        ("F (a", r"its end where '\)'"),
        ("a b", r"'b' \(character 3\) where an operator"),
        ('a "b"', "where an operator"),
        ("a & X b", r"write X\[!\] for the strong next"),
        ("a U", "its end where a proposition"),
        ("a # b", "'#'.*means nothing"),
        ("G" + "(" * 300 + "a" + ")" * 300, "nested more than"),
    ],
)
def test_what_is_no_formula_is_an_error_that_says_where(text, reason):
    with pytest.raises(BadInputError, match=reason):
        parse_formula(text)


def test_a_formula_whose_automaton_is_too_large_is_refused():
    bits = [f"(F (p{i} & X[!] q{i}))" for i in range(13)]
    with pytest.raises(FailedRunError, match="more than"):
        formula_automaton(parse_formula(" & ".join(bits)))


@pytest.mark.parametrize(("operator", "join"), [("&", conjunction), ("|", disjunction)])
def test_ten_thousand_operands_are_joined_in_seconds(operator, join):
    names = [f"a{i}" for i in range(10_000)]
    started = time.process_time()
    assert parse_formula(f" {operator} ".join(names)) == join(*map(proposition, names))
    assert time.process_time() - started < 10
