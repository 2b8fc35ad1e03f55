"""Rules of event logs for other tools: formulas and nets accept what the rule accepts."""

import json
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles_constraints import keeps
from typer.testing import CliRunner

from wfairl.cli.app import app
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.demonstrations.learners import Reading
from wfairl.events import DeclareLearner
from wfairl.events.constraints import TEMPLATES, EventConstraint
from wfairl.events.learned_rule import LearnedRule, SupportedConstraint, learned_rule_of
from wfairl.specifications.formats.ltlf import from_ltlf
from wfairl.specifications.formats.pnml import to_pnml
from wfairl.specifications.formats.rule_sentences import rule_to_ltlf, to_declare

LABELS = [frozenset(), frozenset("a"), frozenset("b"), frozenset("ab")]
WORDS = [word for length in range(1, 5) for word in product(LABELS, repeat=length)]


@pytest.mark.parametrize("template", [one for one in TEMPLATES if one.transitions], ids=lambda one: one.name)
def test_the_formula_of_a_constraint_says_the_same(template):
    constraint = EventConstraint(template, ("a", "b")[: template.arguments])
    automaton = from_ltlf(rule_to_ltlf(LearnedRule(((SupportedConstraint.of(constraint, 1, 0, 1.0),),), 1, 0.0)))
    expected = [keeps(template.name, constraint.propositions, word) for word in WORDS]
    assert [automaton.accepts(word) for word in WORDS] == expected


def accepted_by_net(text, word):
    """Whether a net with one token ends after a word, by moving the token."""
    root = ElementTree.fromstring(text)
    names = {one.get("id"): one.find("name/text").text for one in root.iter("transition")}
    silent = {one.get("id") for one in root.iter("transition") if one.find("toolspecific") is not None}
    into = {arc.get("target"): arc.get("source") for arc in root.iter("arc") if arc.get("target") in names}
    out = {arc.get("source"): arc.get("target") for arc in root.iter("arc") if arc.get("source") in names}
    (start,) = (one.get("id") for one in root.iter("place") if one.find("initialMarking") is not None)
    places = {start}
    for label in word:
        read = [one for one in names if one not in silent and names[one] == next(iter(label))]
        places = {out[one] for one in read if into[one] in places}
    return "end" in {out[one] for one in silent if into[one] in places}


@given(st.integers(0, 2**32 - 1))
def test_a_net_ends_after_the_words_that_the_automaton_accepts(seed):
    rng = np.random.default_rng(seed)
    alphabet = (frozenset({"<a & b>"}), frozenset({"b"}))
    accepting = rng.random(3) < 0.5
    automaton = FiniteAutomaton(
        alphabet, rng.integers(-1, 3, size=(3, 2)).astype(np.int32), accepting, accepting * 1.0, (None,) * 3,
        keep_repeats=True,
    )  # fmt: skip
    text = to_pnml(automaton)
    for word in (word for length in range(4) for word in product(alphabet, repeat=length)):
        assert accepted_by_net(text, word) == automaton.accepts(word)


def test_the_command_writes_declare_and_a_formula_of_a_learned_rule(tmp_path):
    words = [("order", "pay", "ship")] * 60
    model = DeclareLearner().fit(words, [1.0] * 60, Reading(keep_repeats=True)).model
    model.save(tmp_path / "task.json")
    told = CliRunner().invoke(app, ["export", str(tmp_path / "task.json"), "--as", "declare"]).stdout
    assert told == to_declare(learned_rule_of(model))
    assert "activity pay\n" in told
    assert "Exactly1[pay] | |\n" in told or "Precedence[" in told
    formula = CliRunner().invoke(app, ["export", str(tmp_path / "task.json"), "--as", "ltlf"]).stdout
    automaton = from_ltlf(formula)
    assert automaton.accepts(words[0])
    assert not automaton.accepts(words[0][1:])


@pytest.mark.parametrize("suffix", ["ltlf", "decl"])
def test_a_sentence_that_a_format_lacks_is_counted_as_left_out(tmp_path, suffix):
    words = [("open", *["lend", "return"] * n, "shut") for n in (1, 2, 3, 4)] * 30
    model = DeclareLearner().fit(words, [1.0] * len(words), Reading(keep_repeats=True)).model
    model.save(tmp_path / "task.json")
    lacking = sum("as often as" in one for one in model.sentences)
    output = tmp_path / f"rule.{suffix}"
    told = CliRunner().invoke(app, ["export", str(tmp_path / "task.json"), "-o", str(output), "--json"]).stdout
    assert lacking > 0
    assert json.loads(told) == {
        "path": str(output), "sentences": len(model.sentences) - lacking, "left_out": lacking
    }  # fmt: skip
