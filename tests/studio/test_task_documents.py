"""Tasks as plain JSON: read back, they label as what they were made of; what is none is refused, and nothing is run."""

import json

import numpy as np
import pytest

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.planning.path import follow
from wfairl.core.support.errors import BadInputError
from wfairl.minigrid import AgentAt, MiniGridTask
from wfairl.minigrid.documents import proposition_document, proposition_of_document
from wfairl.minigrid.propositions import proposition_menu
from wfairl.runs.task_laws import check_task
from wfairl.runs.task_registry import load_tasks, task_of_document
from wfairl.studio.task_spec import Inventive, TaskSpec, environments

GOAL = {"goal": {"is": "on", "terrain": "goal"}}


@pytest.mark.parametrize(
    "environment",
    ["MiniGrid-FourRooms-v0", "MiniGrid-DoorKey-8x8-v0", "MiniGrid-BlockedUnlockPickup-v0", "MiniGrid-LavaGapS7-v0",
     "MiniGrid-KeyCorridorS3R3-v0", "wfairl/Terrain-8x8-v0", "BabyAI-GoToObj-v0"],
)  # fmt: skip
def test_everything_on_the_menu_labels_as_the_proposition_it_stands_for(environment):
    bare = task_of_document(TaskSpec("bare", environment).to_document(None))
    world = bare.make_world(0)
    assert isinstance(world, Inventive)
    offered = {**dict(proposition_menu(world.layout)), "there": AgentAt(1, 1)}
    documents = {**dict(world.proposition_menu()), "there": {"is": "at", "x": 1, "y": 1}}
    assert list(offered) == list(documents)
    for name, proposition in offered.items():
        assert proposition_document(proposition) == documents[name]
        assert proposition_of_document(json.loads(json.dumps(documents[name]))) == proposition
    made = task_of_document(json.loads(json.dumps(TaskSpec("made", environment, documents).to_document(None))))
    direct = MiniGridTask("direct", "", environment, lambda _: offered, visit_in_order("there"), 10)
    controls = np.random.default_rng(0).integers(6, size=60).tolist()
    assert follow(made.make_world(0), controls).labels == follow(direct.make_world(0), controls).labels
    check_task(made)


def test_a_task_keeps_its_rule(tmp_path):
    rule = visit_in_order("goal")
    document = TaskSpec("mine", "MiniGrid-FourRooms-v0", GOAL).to_document(TaskModel.of_automaton(rule, "given"))
    assert task_of_document(document).rule.to_document() == rule.to_document()
    nothing = task_of_document({**document, "rule": None})
    assert not nothing.rule.accepts([frozenset({"goal"})])


def whole(**changes):
    return {**TaskSpec("mine", "MiniGrid-FourRooms-v0", GOAL).to_document(None), **changes}


@pytest.mark.parametrize(
    "document",
    [None, [], 3, {}, {"kind": "minigrid"}, {"kind": "os"}, whole(version=2), whole(format="x"), whole(propositions=[]),
     whole(horizon="x"), whole(horizon=0), whole(environment="os:MiniGrid-FourRooms-v0"), whole(environment="Cart-v0"),
     whole(propositions={"x": {"is": "at", "x": "1", "y": 1}}), whole(propositions={"x": {"is": "at", "x": 1}}),
     whole(propositions={"x": {"is": "Carrying"}}), whole(propositions={"x": {"is": "on", "terrain": "goal", "y": 1}}),
     whole(rule={"edges": 3}), whole(propositions={"x": 3})],
)  # fmt: skip
def test_what_is_no_task_is_refused(document, tmp_path):
    with pytest.raises(BadInputError):
        task_of_document(document)
    (tmp_path / "bad.task.json").write_text(json.dumps(document))
    with pytest.raises(BadInputError, match=r"bad\.task\.json"):
        load_tasks(str(tmp_path / "bad.task.json"))


def test_environments_that_cannot_be_modelled_are_not_offered():
    assert len(environments()) > 150
    assert not any("Dynamic" in name or "WFC" in name or ":" in name for name in environments())
    with pytest.raises(BadInputError):
        TaskSpec("x", "MiniGrid-Dynamic-Obstacles-5x5-v0").to_document(None)
