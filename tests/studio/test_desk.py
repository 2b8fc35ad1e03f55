"""A desk: what a page asks for is done, what it cannot have is said, and views are plain JSON."""

import ast
import asyncio
import io
import json
import subprocess
import sys
import zipfile
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from corridors import Corridor, corridor_task
from hypothesis import given
from hypothesis import strategies as st
from studio_sessions import CORNER, FOUR_ROOMS, GOAL, Inline, errand_plan, show_errand

from wfairl.automata.formats import FORMATS, read_automaton
from wfairl.errors import BadInputError
from wfairl.logic.proposals import find_scene
from wfairl.studio.assignment import assignment_of
from wfairl.studio.desk import Desk
from wfairl.studio.downloads import download
from wfairl.studio.drawing import lead_through
from wfairl.studio.keys import can_point, headed, keys_of, pointed_at
from wfairl.studio.session import Session
from wfairl.studio.tiles import corner_of, film_walk
from wfairl.studio.understanding import known_edges
from wfairl.worlds import registry
from wfairl.worlds.documents import task_of_document
from wfairl.worlds.registry import find_task


def finish(coroutine):
    """Run a coroutine in a thread of its own: the browser's driver may have a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def tell(desk, *messages):
    for message in messages:
        finish(desk.handle(message))
    return desk


@pytest.fixture(scope="module")
def errand_session(tmp_path_factory):
    """A directory with three demonstrations of corner before goal, and what was learned from them."""
    session = Session(tmp_path_factory.mktemp("desk") / "one", assignment_of(FOUR_ROOMS))
    session.do(CORNER)
    session.do(GOAL)
    for _ in range(3):
        show_errand(session)
    tell(Desk(session, Inline()), {"do": "learn"})
    return session.directory


@pytest.fixture
def desk(errand_session, tmp_path):
    for file in errand_session.iterdir():
        (tmp_path / "one").mkdir(exist_ok=True)
        (tmp_path / "one" / file.name).write_bytes(file.read_bytes())
    desk = Desk(Session(tmp_path / "one"), Inline())
    finish(desk.ready())
    return desk


def test_demonstrations_are_understood_and_the_views_are_json(desk):
    mind = json.loads(json.dumps(desk.view("mind"), allow_nan=False))
    assert mind["model"]["sentence"] == "corner, then goal"
    assert mind["model"]["states"] == 3
    assert [edge["behind"] for edge in mind["model"]["edges"]] == [[1, 2, 3], [1, 2, 3]]
    assert all(0.5 < edge["certainty"] <= 1 for edge in mind["model"]["edges"])
    for mode in ("show", "watch", "answer"):
        stage = json.loads(json.dumps(tell(desk, {"do": "mode", "mode": mode}).view("stage"), allow_nan=False))
        assert stage["mode"] == mode
        assert stage["frames"][0]["columns"] == 19


def test_an_edge_is_as_certain_as_the_automata_that_have_it(desk):
    session = desk.session
    alternatives = session.model.facts["alternatives"]
    for edge in known_edges(session.model, session.dataset):
        target = "done" if session.model.finite.accepting[edge.target] else edge.target
        text = f"{edge.source} -{edge.text}-> {target}"
        share = sum(one["weight"] for one in alternatives if text in one["text"].split(", "))
        assert edge.certainty == pytest.approx(share / sum(one["weight"] for one in alternatives))


def test_the_agent_takes_the_cheapest_way_and_says_what_another_costs(desk):
    stage = tell(desk, {"do": "watch", "seed": 5000}).view("stage")
    episode = stage["episode"]
    assert episode["controls"] == [int(control) for control in episode["controls"]]
    assert len(episode["controls"]) == len(errand_plan(5000)) == episode["cost"] == episode["best_cost"]
    assert len(stage["frames"]) == len(episode["moments"]) == len(episode["controls"]) + 1
    first = episode["moments"][0]
    assert first["costs"][first["control"]] == min(first["costs"]) == episode["cost"]
    assert first["after"].startswith("it is after corner")
    other = next(control for control in range(6) if first["costs"][control] > episode["cost"])
    detour = tell(desk, {"do": "watch", "seed": 5000, "controls": [other]}).view("stage")["episode"]
    assert (detour["imposed"], detour["controls"][0]) == (1, other)
    assert detour["cost"] == pytest.approx(first["costs"][other])
    assert f"{first['costs'][other] - episode['cost']:.3g} more" in first["why"][other]


def test_a_control_that_breaks_a_law_says_so(desk):
    tell(desk, {"do": "correct", "correction": {"kind": "before", "first": "corner", "second": "goal"}, "law": True})
    assert desk.session.model.finite.states == 3
    goal_first = shortest_to_goal(5000)
    moments = tell(desk, {"do": "watch", "seed": 5000, "controls": goal_first[:-1]}).view("stage")["episode"]["moments"]
    assert "breaks a rule: goal" in moments[len(goal_first) - 1]["why"][goal_first[-1]]
    lost = tell(desk, {"do": "watch", "seed": 5000, "controls": goal_first}).view("stage")["episode"]
    assert (lost["success"], lost["cost"], lost["moments"][-1]["state"]) == (False, None, -1)


def test_a_drawn_way_leads_through_its_places_by_the_fewest_steps(desk):
    stage = tell(desk, {"do": "watch", "seed": 5000}).view("stage")
    columns, wall, begun = stage["frames"][0]["columns"], 0, 4
    own = [frame["agent"] for frame in stage["frames"]]
    cells = [own[begun + 6], wall, own[begun]]  # on, into a wall, which is passed over, and back again
    places = [[32 * (cell % columns) + 16, 32 * (cell // columns) + 16] for cell in cells]
    controls = stage["episode"]["controls"]
    message = {"do": "watch", "seed": 5000, "controls": controls[:begun], "places": places}
    drawn = tell(desk, message).view("stage")
    way = drawn["episode"]["controls"]
    assert way[:begun] == controls[:begun]

    world = find_task("errand").make_world(5000)
    state = world.initial_state
    for control in way[:begun]:
        state = world.step(state, control)
    cell = begun
    for goal in (cells[0], cells[2]):
        on, state = fewest_steps(world, state, lambda one, goal=goal: agent_cell(world, one, columns) == goal)
        cell += on
        assert drawn["frames"][cell]["agent"] == goal
    assert drawn["episode"]["imposed"] == cell
    assert drawn["episode"]["cost"] == len(way) > stage["episode"]["cost"]
    assert "nothing leads there" in tell(desk, {**message, "places": [[1, 1]]}).notice.lower()


def test_a_drawn_way_opens_doors_as_the_real_environment_does():
    task = find_task("babyai-goto")
    world, environment = task.make_world(5000), task.make_environment(5000)
    column, row = corner_of(world)
    controls = lead_through(world, (), [(18 * 32 + 16, 3 * 32 + 16)], 5000)
    assert world.controls.index("toggle") in controls
    for control in controls:
        environment.step(int(control))
    assert tuple(environment.unwrapped.agent_pos) == (18 + column, 3 + row)
    assert film_walk(world, [world.initial_state]).instruction == environment.unwrapped.mission


def agent_cell(world, state, columns):
    x, y = world.locate(state)
    return int(y // 32) * columns + int(x // 32)


def fewest_steps(world, start, is_there):
    layer, seen = [start], {start}
    for steps in range(1000):
        arrived = [state for state in layer if is_there(state)]
        if arrived:
            return steps, arrived[0]
        layer = list({world.step(state, control) for state in layer for control in range(3)} - seen)
        seen |= set(layer)
    raise AssertionError


def shortest_to_goal(seed):
    world = find_task("errand").make_world(seed)
    queue, seen = deque([(world.initial_state, [])]), {world.initial_state}
    while queue:
        state, controls = queue.popleft()
        for control in range(3):
            after = world.step(state, control)
            if "goal" in world.label(state, control, after):
                return [*controls, control]
            if after not in seen:
                seen.add(after)
                queue.append((after, [*controls, control]))
    raise AssertionError


def test_a_question_is_asked_and_the_answer_is_kept(desk):
    question = tell(desk, {"do": "mode", "mode": "answer"}).view("stage")["question"]
    assert question is not None
    tell(desk, {"do": "answer", "right": True})
    assert [one.is_right for one in desk.session.answered] == [True]
    assert desk.session.is_understood
    assert Session(desk.session.directory).dataset.answers == desk.session.dataset.answers
    assert tell(desk, {"do": "answer", "right": True}).notice.startswith("Nothing was asked")


def test_a_correction_that_leaves_no_task_is_withdrawn(desk):
    before = desk.session.model.sentences
    tell(desk, {"do": "correct", "correction": {"kind": "never", "proposition": "goal"}, "law": True})
    assert "nothing could fulfil" in desk.notice
    assert desk.session.corrected == []
    assert desk.session.model.sentences == before
    tell(desk, {"do": "correct", "correction": {"kind": "before", "first": "corner", "second": "goal"}, "law": False})
    assert "obeys already" in desk.notice


def test_ten_new_scenes_are_tried_in_the_real_environment(desk):
    tried = tell(desk, {"do": "try"}).view("mind")["tried"]
    assert [one["outcome"] for one in tried] == ["success"] * 10
    assert [one["steps"] for one in tried] == [len(errand_plan(one["seed"])) for one in tried]


def test_a_map_shows_the_least_cost_from_every_cell(desk):
    stage = tell(desk, {"do": "watch", "seed": 5000}, {"do": "map", "kind": "to_go", "state": 0}).view("stage")
    here = stage["frames"][0]["agent"]
    cost = stage["episode"]["cost"]
    assert cost - 2 <= stage["map"]["values"][here] <= cost  # two turns at most
    assert stage["map"]["values"][0] is None  # a wall
    steps = tell(desk, {"do": "map", "kind": "step", "state": 0}).view("stage")["map"]["values"]
    assert {one for one in steps if one is not None} == {1.0}


def test_the_agent_is_watched_on_after_its_cost_was_learned(desk, monkeypatch):
    monkeypatch.setattr("wfairl.studio.jobs.learn_cost", lambda *_: "twice as dear")
    stage = tell(desk, {"do": "watch", "seed": 5000}, {"do": "cost"}).view("stage")
    assert (stage["mode"], stage["seed"], stage["episode"] is None) == ("watch", 5000, False)
    assert "twice as dear" in stage["notice"]


def test_a_cell_that_nobody_can_stand_on_is_refused(desk):
    journal = (desk.session.directory / "journal.jsonl").read_text()
    assert "There is a wall" in tell(desk, {"do": "cell", "x": 5, "y": 5, "name": "w"}).notice
    assert "There is a wall" in tell(desk, {"do": "cell", "x": -40, "y": 99999, "name": "w"}).notice
    assert (desk.session.directory / "journal.jsonl").read_text() == journal


@pytest.mark.parametrize(
    "message",
    [None, 3, [], {}, {"do": "x"}, {"do": "mode", "mode": "../x"}, {"do": "watch", "seed": "a"},
     {"do": "watch", "seed": float("inf")}, {"do": "watch", "places": [[float("inf"), 0]]},
     {"do": "watch", "places": [[1]]}, {"do": "cell", "x": "a"}, {"do": "watch", "controls": [99]},
     {"do": "map", "kind": "x"},
     {"do": "edge", "source": 9, "text": "x", "law": True}, {"do": "keep", "right": "yes"},
     {"do": "correct", "correction": {"kind": "never", "proposition": ["x"]}, "law": True}],
)  # fmt: skip
def test_messages_that_make_no_sense_are_answered_and_change_nothing(desk, message):
    journal = (desk.session.directory / "journal.jsonl").read_text()
    tell(desk, message)
    assert desk.notice
    assert (desk.session.directory / "journal.jsonl").read_text() == journal


@pytest.mark.parametrize("content", [None, "", "{}", '{"format": "wfairl-task-model", "version": 99}'])
def test_what_was_shown_is_understood_again_where_the_model_is_lost(desk, content):
    (desk.session.directory / "task.json").unlink()
    if content is not None:
        (desk.session.directory / "task.json").write_text(content)
    again = Desk(Session(desk.session.directory), Inline())
    assert again.session.model is None
    finish(again.ready())
    assert again.session.model.sentences == desk.session.model.sentences


@given(st.lists(st.sampled_from(["left", "right", "forward", "toggle", "north", "run", "unx", "go 1"]), unique=True))
def test_every_control_has_a_key_of_its_own(controls):
    keys = [one["key"] for one in keys_of(controls)]
    assert all(keys)
    assert len(set(keys)) == len(keys)
    assert not set(keys) & set("urntyx123")


class Crossing:
    """A world whose controls have no names to speak of: from the middle to places around it, and nowhere else."""

    WAYS = ((30, 0), (0, 40), (-20, 2), (5, -50), (10, 0))

    def __init__(self):
        self.controls = tuple(f"way {number}" for number in range(len(self.WAYS)))
        self.initial_state = None

    def step(self, state, control):
        return control if state is None else state

    def locate(self, state):
        x, y = (0, 0) if state is None else self.WAYS[state]
        return 100 + x, 100 + y

    def render(self, state):
        return np.zeros((200, 200, 3), np.uint8)


def test_one_points_where_controls_have_no_keys():
    world = Crossing()
    assert can_point(world)
    assert not can_point(find_task("errand").make_world(0))
    arrows = {"ArrowRight": 0, "ArrowDown": 1, "ArrowLeft": 2, "ArrowUp": 3}
    assert {key: headed(world, None, key) for key in arrows} == arrows
    for control, (x, y) in enumerate(world.WAYS):
        assert pointed_at(world, None, 100 + x, 100 + y) == control
    for impossible in (lambda: headed(world, 0, "ArrowUp"), lambda: pointed_at(world, None, 100, 100)):
        with pytest.raises(BadInputError):
            impossible()
    with pytest.raises(BadInputError, match="no such direction"):
        headed(world, None, "Home")


def test_the_most_telling_scene_is_proposed_and_gone_to(desk):
    model = desk.session.model
    proposal = find_scene(
        model, desk.session.dataset, desk.session.task, range(1000003 + 1, 1000003 + 13), np.random.default_rng(0)
    )
    stage = tell(desk, {"do": "mode", "mode": "watch"}, {"do": "propose"}).view("stage")
    assert (stage["mode"], stage["seed"]) == ("show", proposal.seed)
    assert [one["weight"] for one in stage["proposal"]] == [one.weight for one in proposal.ways[:4]]
    assert tell(desk, {"do": "next"}).view("stage")["proposal"] == []


def test_evidence_takes_a_step_out_that_was_shown_three_times(desk):
    tell(desk, {"do": "edge", "source": 0, "text": "corner", "law": False})
    assert desk.session.model.sentences == ("0 -goal-> done",)
    again = Session(desk.session.directory)
    assert again.dataset == desk.session.dataset
    assert again.dataset.answers[0].weight > 1
    tell(desk, {"do": "withdraw", "correction": 0})
    assert desk.session.model.sentences == ("0 -corner-> 1, 1 -goal-> done",)


def test_a_demonstration_that_nothing_explains_is_kept_as_it_is_and_can_be_watched(tmp_path):
    session = Session(tmp_path / "one", assignment_of(FOUR_ROOMS))
    session.do(CORNER)
    session.do(GOAL)
    for control in errand_plan(session.seed):
        for idle in (3, 4, 5, 0, 1, 3):  # nobody who wants anything would do so
            session.do({"do": "control", "control": idle})
        session.do({"do": "control", "control": int(control)})
    session.do({"do": "keep", "right": True, "by": "person"})
    desk = tell(Desk(session, Inline()), {"do": "learn"})
    assert session.model.judge(session.dataset.words[0]).accepted
    json.dumps(desk.view("mind"), allow_nan=False)
    tell(desk, {"do": "watch", "seed": 5000})
    assert desk.view("stage")["episode"] is not None or desk.notice


def test_a_world_without_a_renderer_is_shown_as_text(tmp_path, monkeypatch):
    task = corridor_task(Corridor)
    monkeypatch.setattr(registry, "_tasks", {**registry._known(), task.name: task})
    desk = Desk(Session(tmp_path / "one", assignment_of(task.name)), Inline())
    assert desk.view("stage")["frames"] == [{"text": str(task.make_world(desk.session.seed).name(0))}]


def test_the_automaton_is_given_in_formats_of_other_tools(desk, tmp_path):
    for form in FORMATS.values():
        name = f"task{form.suffixes[0]}"
        content, _ = download(desk.session, name)
        assert content
        if form.read is not None:
            (tmp_path / name).write_bytes(content)
            again = read_automaton(tmp_path / name)
            assert all(again.accepts(one.labels) for one in desk.session.dataset)
    assert finish(desk.download("scene.prism"))[0].decode().count("\nmdp\n") == 1
    document = json.loads(finish(desk.download("my-fourrooms.task.json"))[0])
    assert all(task_of_document(document).rule.accepts(one.labels) for one in desk.session.dataset)
    with pytest.raises(BadInputError):
        download(desk.session, "../journal.jsonl")


@pytest.mark.parametrize("name", ["'); import os; ('", '"""; x', "{first}", "\\", "<script>"])
def test_names_in_the_script_are_text(tmp_path, name):
    session = Session(tmp_path / "one", assignment_of(FOUR_ROOMS))
    session.do({**GOAL, "name": name})
    correction = {"kind": "never", "proposition": name}
    session.do({"do": "correct", "correction": correction, "law": True, "answers": []})
    named = {
        line.targets[0].id: ast.literal_eval(line.value)
        for line in ast.parse(download(session, "repeat.py")[0]).body
        if isinstance(line, ast.Assign) and line.targets[0].id.isupper()
    }
    assert named["LAWS"] == [correction]
    assert list(named["TASK"]["propositions"]) == [name]


@pytest.mark.slow
def test_downloads_are_the_session_and_repeat_it(desk, tmp_path):
    content, kind = finish(desk.download("session.zip"))
    assert kind == "application/zip"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path / "out")
    files = {path.name for path in (tmp_path / "out" / "one").iterdir()}
    assert files >= {"demos.safetensors", "task.json", "my-fourrooms.task.json", "report.html", "repeat.py"}
    ran = subprocess.run(
        [sys.executable, str(tmp_path / "out" / "one" / "repeat.py")], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines() == ["0 -corner-> 1, 1 -goal-> done", "100% of ten new scenes done right"]
