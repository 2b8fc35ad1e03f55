"""What stands behind an automaton is kept with it, all of it."""

from dataclasses import fields, replace

import numpy as np
import pytest
from posteriors import model_with, posterior_over

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.automata.task_model import BrokenTaskModelError, TaskModel
from wfairl.core.rational import Support, TaskPosterior, posterior_of
from wfairl.core.rational.constraints import Constraint, Doubt
from wfairl.core.rational.task_posterior import Rival
from wfairl.core.support.errors import BadInputError

GOAL = frozenset({"goal"})
SUPPORT = Support((frozenset(), GOAL), np.array([[False, True]]))
POSTERIOR = posterior_over(
    (visit_in_order("goal"), 0.75),
    (visit_in_order("key", "goal"), 0.25),
    support=SUPPORT,
    outlier_probabilities=np.array([0.0, 1 / 3, 0.5]),
    demonstrated_words=((frozenset(), GOAL), (GOAL,)),
    answers=2,
    laws=({"kind": "never", "proposition": "lava"},),
    rounds=3,
    not_told_apart=(Rival("0 -key-> done", 1.5),),
    doubts=(
        Doubt(Constraint("never", "lava", after="key"), 0.25),
        Doubt(Constraint("never", "lava", state=0, phase="before goal"), 0.125),
        Doubt(Constraint("fatal", changes=((0, ACCEPTED),)), 0.0625),
    ),
)


def test_the_posterior_of_a_model_comes_back_as_it_was(tmp_path):
    path = tmp_path / "task.json"
    model_with(POSTERIOR).save(path)
    again = posterior_of(TaskModel.load(path))
    assert again.to_document() == POSTERIOR.to_document()
    for field in fields(Support):
        np.testing.assert_array_equal(getattr(again.support, field.name), getattr(SUPPORT, field.name))
    for field in fields(TaskPosterior):
        if field.name not in ("alternatives", "support", "outlier_probabilities"):
            assert getattr(again, field.name) == getattr(POSTERIOR, field.name)
    assert again.outliers == [2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"support": replace(SUPPORT, is_untested=np.zeros((2, 2), bool))}, "support of another automaton"),
        ({"doubts": (Doubt(Constraint("never", "lava"), 1.5),)}, "probability"),
        ({"doubts": (Doubt(Constraint("often", "lava"), 0.5),)}, "kind"),
        ({"doubts": (Doubt(Constraint("never", "lava", state=9, phase="before key"), 0.5),)}, "another automaton"),
        ({"doubts": (Doubt(Constraint("never", "lava", state=-1, phase="before key"), 0.5),)}, "another automaton"),
        ({"doubts": (Doubt(Constraint("idle", changes=((0, 9),)), 0.5),)}, "another automaton"),
        ({"alternatives": ()}, "alternatives"),
        ({"alternatives": POSTERIOR.alternatives[1:]}, "posterior of another automaton"),
        ({"outlier_probabilities": np.array([-0.1])}, "outlier_probabilities"),
    ],
)
def test_a_posterior_that_cannot_be_is_refused(tmp_path, change, message):
    path = tmp_path / "task.json"
    replace(model_with(POSTERIOR), record=replace(POSTERIOR, **change)).save(path)
    with pytest.raises(BrokenTaskModelError, match=message):
        TaskModel.load(path)


def test_a_support_has_an_entry_for_each_state_and_label():
    with pytest.raises(BadInputError, match="one entry for each state and label"):
        replace(SUPPORT, is_untested=np.zeros((1, 3), bool))


def test_a_record_of_an_unknown_kind_is_refused(tmp_path):
    class Unknown(TaskPosterior):
        kind = "unknown"

    path = tmp_path / "task.json"
    record = Unknown(**vars(POSTERIOR))
    replace(model_with(POSTERIOR), record=record).save(path)
    with pytest.raises(BrokenTaskModelError, match="unknown record of a learner 'unknown'"):
        TaskModel.load(path)
