"""What worlds enforce by themselves."""

import pytest

from wfairl.core.worlds.graph import GraphWorld
from wfairl.pages.enforced import enforced_orders, enforced_sentence
from wfairl.runs.task_registry import find_task

NAMES = ("key", "door", "goal")


def corridor(*edges):
    """States in a row, each edge with its labels."""
    ends, labels = zip(*edges, strict=True)
    last = max(max(pair) for pair in ends)
    return GraphWorld.from_edges([*ends, (last, last)], start=0, labels=[*labels, []], propositions=NAMES)


ONE_WAY = corridor(((0, 1), ["key"]), ((1, 2), ["door"]), ((2, 3), ["goal"]))
SHORTCUT = corridor(((0, 1), ["key"]), ((1, 2), ["door"]), ((2, 3), ["goal"]), ((1, 3), ["goal"]))


@pytest.mark.parametrize(
    ("worlds", "orders"),
    [
        ([ONE_WAY], [("door", "goal"), ("key", "door")]),
        ([SHORTCUT], [("key", "door"), ("key", "goal")]),
        ([ONE_WAY, SHORTCUT], [("key", "door"), ("key", "goal")]),
        ([corridor(((0, 1), ["key"]))], []),  # what can never hold is not said to be asked for
    ],
)
def test_what_every_path_does_first_is_enforced(worlds, orders):
    assert enforced_orders(worlds, NAMES) == orders


def test_the_door_asks_for_the_key():
    task = find_task("doorkey")
    orders = enforced_orders([task.make_world(5000)], task.propositions)
    assert enforced_sentence(orders) == "the world itself asks for door before goal, and for key before door"


def test_offices_enforce_nothing():
    task = find_task("coffee-and-mail")
    assert enforced_orders([task.make_world(5000)], task.propositions) == []
    assert enforced_sentence([]) == ""
