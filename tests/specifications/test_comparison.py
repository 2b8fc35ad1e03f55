"""Laws of comparisons: the words tell the two apart."""

from hypothesis import given, settings
from oracles_automata import accept_the_same, all_labels
from strategies_automata import guarded_automata

from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.specifications.comparison import compare_automata

ORDER = visit_in_order("a", "b")
CAREFUL = all_of(ORDER, avoid("c"))


@given(guarded_automata(propositions="ab"), guarded_automata(propositions="ab"))
@settings(max_examples=50)
def test_words_tell_two_automata_apart_or_there_are_none(one, other):
    found = compare_automata(("one", "other"), (one, other))
    for word in found.words:
        assert one.accepts(word) != other.accepts(word)
        assert sum(verdict.startswith("accepted") for verdict in found.verdicts(word)) == 1
    assert bool(found.words) != accept_the_same(one, other, "ab", 6)
    assert [len(word) for word in found.words] == sorted(len(word) for word in found.words)


def test_words_are_of_known_labels_where_such_words_tell_them_apart():
    known = [frozenset(), frozenset("a"), frozenset("b"), frozenset("c")]
    assert compare_automata(("", ""), (ORDER, CAREFUL)).words[0] == (frozenset("abc"),)
    found = compare_automata(("", ""), (ORDER, CAREFUL), known)
    assert found.known_labels
    assert found.words[0] in {(frozenset(one), *map(frozenset, rest)) for one, *rest in ("cab", "acb", "abc")}
    unknown = compare_automata(("", ""), (ORDER, CAREFUL), known[:3])
    assert not unknown.known_labels
    assert frozenset("c") & frozenset().union(*unknown.words[0])


def test_what_differs_only_once_the_task_is_fulfilled_is_the_same_to_a_planner():
    known = [label for label in all_labels("abc") if "c" not in label or label == frozenset("c")]
    sloppy = visit_in_order("a")
    careful = all_of(sloppy, avoid("b"))
    assert not compare_automata(("", ""), (sloppy, careful), [frozenset("a"), frozenset("b")]).same_plans
    later = compare_automata(("", ""), (ORDER, all_of(ORDER, visit_in_order("a"))), known)
    assert not later.words
    assert later.same_plans


def test_automata_that_are_the_same_say_so():
    found = compare_automata(("one", "other"), (ORDER, visit_in_order("a", "b")))
    assert found.words == ()
    assert found.texts == ("They accept the same words.",)
