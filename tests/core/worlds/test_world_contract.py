"""check_world accepts what obeys the contract, and names the law that anything else breaks."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from wfairl.core.worlds import BrokenLawError, check_world
from wfairl.core.worlds.rendering import Places, Rendering, offered_rendering
from wfairl.core.worlds.world import World, available_controls
from wfairl.runs.task_laws import check_task

EXAMPLE = Path(__file__).parents[3] / "examples" / "own_world.py"


class Counter:
    """A ring of five states; each test breaks it in one way."""

    controls = ("stay", "on")
    propositions = ("zero",)
    initial_state = 0

    def step(self, state, control):
        return (state + control) % 5

    def label(self, state, control, next_state):
        return frozenset({"zero"}) if next_state == 0 else frozenset()

    def features(self, state, control, next_state):
        return np.array([float(state), float(next_state)])


def broken(**changes):
    return type("Broken", (Counter,), changes)()


def test_a_world_that_obeys_the_laws_passes_and_all_its_states_are_checked():
    assert check_world(Counter()) == 5
    assert check_world(Counter(), max_states=3) == 3


def test_the_example_of_an_own_world_is_short_and_obeys_the_laws(capsys):
    assert len(EXAMPLE.read_text().splitlines()) < 60
    example = runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == [
        "12 states obey the laws of a world",
        "optimal: right right right grab left left left left left",
    ]
    for seed in range(12):
        check_task(example["TASK"], seed)
    picture = example["TASK"].make_world(0).rendering.render(example["TASK"].make_world(0).initial_state)
    assert (picture.dtype, picture.ndim, picture.shape[2]) == (np.uint8, 3, 3)


@pytest.mark.parametrize(
    ("world", "law"),
    [
        (
            broken(step=lambda _, state, control: state + control + 0 // (3 - state)),
            "totality: step fails at state 3",
        ),
        (broken(step=lambda _, state, control: np.random.default_rng().random()), "purity: two calls of step differ"),
        (broken(step=lambda _, state, control: [state]), "hashability: step at state 0"),
        (
            broken(outcomes=lambda _, state, control: ((1.0, state),)),
            "outcomes: step leads to 1, which is none of them, at state 0 under control 'on'; leave step out",
        ),
        (broken(label=lambda _, s, u, t: frozenset({"nine"}) if t == 2 else frozenset()), "labels: nine is not among"),
        (broken(label=lambda _, s, u, t: {"zero"}), "labels: label gives a set"),
        (broken(features=lambda _, s, u, t: np.zeros(1 + s)), "features: 1 of them elsewhere and 2"),
        (broken(features=lambda _, s, u, t: np.array([np.nan])), "features: they must be a finite vector"),
        (broken(controls=("on", "on")), "controls: they must be distinct"),
        (broken(controls=()), "controls: there must be at least one"),
        (broken(features=lambda _, state: np.zeros(1)), "totality: features fails at state 0 under control 'stay'"),
        (broken(propositions=("zero", "zero")), "propositions: they must be distinct"),
        (broken(is_available=lambda _, state, u: state < 2), "availability: no control can be chosen at state 2"),
        (broken(is_available=lambda _, state, u: 1 / 0), "totality: is_available fails at state 0"),
        (broken(initial_state=[0]), "hashability: initial_state"),
        (object(), "contract: object has no controls"),
    ],
)
def test_a_broken_law_is_named_with_the_place_where_it_broke(world, law):
    with pytest.raises(BrokenLawError, match=law) as caught:
        check_world(world)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_chosen_is_not_looked_at():
    def step(_, state, control):
        assert control == 1 or state % 2
        return (state + control) % 6

    limited = broken(step=step, is_available=lambda _, state, control: control == 1 or state % 2 == 1)
    assert check_world(limited) == 6
    assert [available_controls(limited, state).tolist() for state in (0, 1)] == [[False, True], [True, True]]
    assert available_controls(Counter(), 0).tolist() == [True, True]


def test_what_a_world_may_offer_besides_is_seen_in_it():
    look = Rendering(lambda state: np.zeros((2, 2, 3), np.uint8), Places(lambda state: (1.0, 1.0)))
    for world, offered in ((Counter(), None), (broken(rendering=None), None), (broken(rendering=look), look)):
        assert isinstance(world, World)
        assert offered_rendering(world) is offered
