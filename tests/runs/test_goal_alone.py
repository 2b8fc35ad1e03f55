"""What is left of a rule for a method that knows the goal alone."""

from hypothesis import given
from hypothesis import strategies as st
from strategies_automata import PROPOSITIONS, words

from wfairl.core.automata.rules import all_of, avoid, visit_all, visit_in_order
from wfairl.runs.planning_methods import goal_alone

names = st.sampled_from(PROPOSITIONS)


@given(st.lists(names, min_size=1, max_size=3, unique=True), words)
def test_the_goal_alone_is_what_comes_last(visit, word):
    alone = goal_alone(visit_in_order(*visit), PROPOSITIONS)
    assert alone.accepts(word) == any(visit[-1] in label for label in word)
    assert alone.states == 2


@given(words)
def test_the_goal_alone_forgets_what_is_avoided_and_the_order(word):
    avoiding = goal_alone(all_of(visit_in_order("a", "b"), avoid("c")), PROPOSITIONS)
    assert avoiding.accepts(word) == any("b" in label for label in word)
    unordered = goal_alone(visit_all("a", "b"), PROPOSITIONS)
    assert unordered.accepts(word) == any(label & {"a", "b"} for label in word)
