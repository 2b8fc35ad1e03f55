"""What stands behind an automaton is kept with it, all of it."""

import numpy as np
import pytest

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.task_model_file import BrokenTaskModelError
from wfairl.core.rational import Support

LABELS = (frozenset(), frozenset({"goal"}))
SUPPORT = Support(
    LABELS, np.ones((1, 2), int), np.full((1, 2), np.inf), np.full((1, 2), 0.25), 0.05, np.array([0, 0.5])
)


def test_the_support_of_a_model_comes_back_as_it_was(tmp_path):
    path = tmp_path / "task.json"
    TaskModel.of_automaton(visit_in_order("goal"), "rational", facts={"support": SUPPORT.to_document()}).save(path)
    again = Support.from_document(TaskModel.load(path).facts["support"])
    assert again.labels == SUPPORT.labels
    for name in ("visits", "margin", "risk", "unknown_risk", "need"):
        np.testing.assert_array_equal(getattr(again, name), getattr(SUPPORT, name))


def test_needs_of_another_number_of_labels_are_refused(tmp_path):
    path = tmp_path / "task.json"
    facts = {"support": {**SUPPORT.to_document(), "need": [0.5]}}
    TaskModel.of_automaton(visit_in_order("goal"), "rational", facts=facts).save(path)
    with pytest.raises(BrokenTaskModelError, match="needs"):
        TaskModel.load(path)
