"""check_world accepts what obeys the contract, and names the law that anything else breaks."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfairl.errors import BadInputError
from wfairl.worlds import BrokenLawError, Rule, check_world
from wfairl.worlds.world import to_label, to_mask

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_world.py"


class Counter:
    """A ring of five states; each test breaks it in one way."""

    controls = ("stay", "on")
    propositions = ("zero",)
    initial_state = 0

    def step(self, state, control):
        return (state + control) % 5

    def label(self, state, control, next_state):
        return frozenset({"zero"}) if next_state == 0 else frozenset()

    def features(self, state):
        return np.array([float(state)])


def broken(**changes):
    return type("Broken", (Counter,), changes)()


def test_a_world_that_obeys_the_laws_passes_and_all_its_states_are_checked():
    assert check_world(Counter()) == 5
    assert check_world(Counter(), max_states=3) == 3


def test_the_example_of_an_own_world_is_short_and_obeys_the_laws(capsys):
    assert len(EXAMPLE.read_text().splitlines()) < 40
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == [
        "12 states obey the laws of a world",
        "optimal: right right right grab left left left left left",
    ]


@pytest.mark.parametrize(
    ("world", "law"),
    [
        (
            broken(step=lambda _, state, control: state + control + 0 // (3 - state)),
            "totality: step fails at state 3",
        ),
        (broken(step=lambda _, state, control: np.random.default_rng().random()), "purity: two calls of step differ"),
        (broken(step=lambda _, state, control: [state]), "hashability: step at state 0"),
        (broken(label=lambda _, s, u, t: frozenset({"nine"}) if t == 2 else frozenset()), "labels: nine is not among"),
        (broken(label=lambda _, s, u, t: {"zero"}), "labels: label gives a set"),
        (broken(features=lambda _, state: np.zeros(1 + state)), "features: their shape changes"),
        (broken(features=lambda _, state: np.array([np.nan])), "features: they must be a finite vector"),
        (broken(controls=("on", "on")), "controls: they must be distinct"),
        (broken(controls=()), "controls: there must be at least one"),
        (broken(propositions=tuple(map(str, range(17)))), "propositions: at most 16"),
        (broken(initial_state=[0]), "hashability: initial_state"),
        (object(), "contract: object has no controls"),
    ],
)
def test_a_broken_law_is_named_with_the_place_where_it_broke(world, law):
    with pytest.raises(BrokenLawError, match=law):
        check_world(world)


@given(st.sets(st.sampled_from("abcdefgh")))
def test_labels_and_masks_are_two_forms_of_one_thing(names):
    propositions = tuple("abcdefgh")
    assert to_label(to_mask(frozenset(names), propositions), propositions) == names


def test_a_label_outside_the_propositions_has_no_mask():
    with pytest.raises(BadInputError, match="zzz"):
        to_mask(frozenset({"zzz"}), ("a",))


WORDS = st.lists(st.sets(st.sampled_from("abx")).map(frozenset), max_size=8)


@given(WORDS)
def test_a_rule_visits_in_order_and_avoids(word):
    """Against a search for the positions at which each proposition is visited."""
    rule = Rule(visit=("a", "b"), avoid=frozenset({"x"}))
    expected = any(
        "a" in word[i] and "b" in word[j] and not any("x" in label for label in word[: j + 1])
        for i in range(len(word))
        for j in range(i, len(word))
    )
    assert rule.succeeds(word) == expected


def test_a_rule_that_visits_nothing_is_refused():
    with pytest.raises(BadInputError, match="at least one"):
        Rule(visit=())


def test_a_rule_takes_any_collections_of_names_but_no_single_name():
    assert Rule(visit=["a", "b"], avoid=("x",)) == Rule(visit=("a", "b"), avoid=frozenset({"x"}))
    assert not Rule(visit=["a"], avoid=["x"]).succeeds([frozenset({"x"}), frozenset({"a"})])
    for wrong in ({"visit": "goal"}, {"visit": ("goal",), "avoid": "lava"}):
        with pytest.raises(BadInputError, match=r"\('(goal|lava)',\) rather than"):
            Rule(**wrong)
