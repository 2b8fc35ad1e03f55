"""A session's controller: it does what a page asks for, says why it cannot, and its views are plain JSON."""

import json
import runpy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from corridors import Corridor, corridor_task
from studio_sessions import CORNER, FOUR_ROOMS, GOAL, InlineRunner, errand_plan, finish, send, shortest_to_goal

from wfairl.core.automata.automaton import DEAD, Guard
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import format_label
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.plan import UnsatisfiableTaskError
from wfairl.core.rational.task_posterior import Support, posterior_of
from wfairl.core.support.files import write_json
from wfairl.pages.tiles import TILE
from wfairl.pages.world_drawing import rendering_of
from wfairl.questions.hypotheses import hypotheses_of
from wfairl.questions.scene_proposal import propose_scene
from wfairl.runs import task_registry as registry
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task
from wfairl.studio import jobs
from wfairl.studio.controller import SessionController
from wfairl.studio.episodes import how_read
from wfairl.studio.session import COST_WORDS, Session
from wfairl.studio.task_spec import find_task_spec
from wfairl.studio.understanding import describe_understanding, edge_evidence
from wfairl.studio.views import PARTS

CORNER_FIRST = {"kind": "before", "first": "corner", "second": "goal"}


def test_the_task_is_inferred_and_the_views_are_json(controller):
    view = json.loads(json.dumps(controller.view("understanding"), allow_nan=False))
    assert view["model"]["sentence"] == "corner, then goal"
    assert view["model"]["states"] == 3
    assert [edge["demonstrations"] for edge in view["model"]["edges"]] == [[1, 2, 3], [1, 2, 3]]
    assert all(0.5 < edge["certainty"] <= 1 for edge in view["model"]["edges"])
    send(controller, {"do": "watch"}, {"do": "ask"})
    for part in PARTS:
        shown = json.loads(json.dumps(controller.view(part), allow_nan=False))
        assert part not in ("scene", "watch", "answer") or shown["frames"][0]["columns"] == 19


def test_a_demonstration_that_a_killed_server_did_not_save_is_saved_when_the_session_opens(tmp_path):
    session = Session(tmp_path / "one", find_task_spec("errand"))
    plan, seed = errand_plan(session.state.seed), session.state.seed
    for control in plan:
        session.do({"do": "control", "control": int(control)})
    assert session.state.demonstrations == ()
    opened = SessionController(Session(tmp_path / "one"), InlineRunner())
    finish(opened.ready())
    (saved,) = opened.session.state.demonstrations
    assert (saved.seed, saved.controls, saved.right, saved.judge) == (seed, tuple(plan), True, "rule")
    assert opened.session.model is not None


def edges_of(automaton):
    """The edges of an automaton as people read them."""
    names = {DEAD: "dead", automaton.states - 1: "done"}
    return {
        (source, str(edge.guard), names.get(edge.target, str(edge.target)))
        for source, row in enumerate(automaton.edges)
        for edge in row
    }


def test_an_edge_is_as_certain_as_the_automata_that_have_it(controller):
    """The page says one belief: an edge is as certain as the tasks that have it, and not less than the task is."""
    session = controller.session
    posterior = posterior_of(session.model)
    edges = {one.text: edges_of(one.automaton) for one in posterior.alternatives}
    view = controller.view("understanding")["model"]
    assert 0 < view["weight"] <= view["weight_or_stricter"] < 1
    for edge in edge_evidence(session.model, session.dataset):
        source, guard, target = edge["source"], edge["text"], edge["target_name"]
        found = (
            one.weight
            for one in hypotheses_of(posterior, posterior.labels)
            if (int(source), guard, str(target)) in edges.get(one.text.split(", and ")[0], ())
        )
        assert edge["certainty"] == pytest.approx(sum(found))
        assert edge["certainty"] >= view["weight_or_stricter"]


def test_the_agent_takes_the_cheapest_path_and_says_what_another_costs(controller):
    scene = send(controller, {"do": "watch", "seed": 5000}).view("watch")
    episode = scene["episode"]
    assert all(isinstance(control, int) for control in episode["controls"])
    assert episode["unit"] == "in steps"
    assert len(episode["controls"]) == len(errand_plan(5000)) == episode["cost"] == episode["best_cost"]
    assert len(scene["frames"]) == len(episode["moments"]) == len(episode["controls"]) + 1
    first = episode["moments"][0]
    assert first["costs"][first["control"]] == min(first["costs"]) == episode["cost"]
    assert first["goal"].startswith("heading for corner")
    other = next(control for control in range(6) if first["costs"][control] > episode["cost"])
    detour = send(controller, {"do": "watch", "seed": 5000, "controls": [other]}).view("watch")["episode"]
    assert (detour["imposed"], detour["controls"][0]) == (1, other)
    assert detour["cost"] == pytest.approx(first["costs"][other])
    assert f"{first['costs'][other] - episode['cost']:.3g} more" in first["reasons"][other]


def test_a_control_that_breaks_a_law_says_so(controller):
    send(controller, {"do": "correct", "correction": CORNER_FIRST, "law": True})
    assert controller.session.model.finite.states == 3
    goal_first = shortest_to_goal(5000)
    before = send(controller, {"do": "watch", "seed": 5000, "controls": goal_first[:-1]}).view("watch")["episode"]
    assert "breaks a rule: goal" in before["moments"][len(goal_first) - 1]["reasons"][goal_first[-1]]
    lost = send(controller, {"do": "watch", "seed": 5000, "controls": goal_first}).view("watch")["episode"]
    assert (lost["is_success"], lost["cost"], lost["moments"][-1]["state"]) == (False, None, -1)


def test_a_demonstration_that_a_law_forbids_is_marked(controller):
    send(controller, {"do": "correct", "correction": CORNER_FIRST, "law": True})
    controls = shortest_to_goal(controller.session.state.seed)
    send(controller, *({"do": "control", "control": control} for control in controls), {"do": "keep", "right": True})
    shown = controller.view("understanding")["demonstrations"]
    assert [one["is_rejected"] for one in shown] == [False, False, False, True]


def test_a_question_is_asked_and_the_answer_is_kept(controller):
    question = send(controller, {"do": "ask"}).view("answer")["question"]
    answer = {"do": "answer", "seed": question["seed"], "controls": question["controls"], "right": True}
    send(controller, answer)
    assert [one.right for one in controller.session.state.answers] == [True]
    assert controller.session.is_current
    assert Session(controller.session.directory).dataset.answers == controller.session.dataset.answers
    send(controller, {"do": "unanswer", "answer": 0})
    assert controller.session.state.answers == ()
    assert controller.session.dataset.answers == ()


def test_a_correction_that_leaves_no_task_is_withdrawn(controller):
    before = controller.session.model.sentences
    send(controller, {"do": "correct", "correction": {"kind": "never", "proposition": "goal"}, "law": True})
    assert "nothing could fulfil" in controller.notice
    assert controller.session.state.corrections == ()
    assert controller.session.model.sentences == before
    send(controller, {"do": "correct", "correction": CORNER_FIRST, "law": False})
    assert "obeys already" in controller.notice


def test_ten_new_scenes_are_tried_in_the_real_environment(controller):
    trials = send(controller, {"do": "try"}).view("understanding")["trials"]
    assert [one["outcome"] for one in trials] == ["success"] * 10
    assert [one["steps"] for one in trials] == [len(errand_plan(one["seed"])) for one in trials]


def test_a_scene_in_which_the_task_cannot_be_done_is_named_and_passed_over(controller, monkeypatch):
    run, first = jobs.run_agent, controller.findings.watched_seed

    def run_agent(snapshot, seed, *others):
        if seed == first:
            raise UnsatisfiableTaskError("every path is blocked. Type a command")
        return run(snapshot, seed, *others)

    monkeypatch.setattr(jobs, "run_agent", run_agent)
    view = send(controller, {"do": "watch", "seed": first}).view("watch")
    assert (view["refusal"], view["seed"], view["episode"]) == ("Every path is blocked.", first, None)
    assert len(view["frames"]) == 1  # the scene, so that one sees why
    assert send(controller, {"do": "watch"}).findings.watched_seed == first + 1


def test_a_map_shows_the_least_cost_from_every_cell(controller):
    scene = send(controller, {"do": "watch", "seed": 5000}, {"do": "map", "kind": "to_go", "state": 0}).view("watch")
    here = scene["map"]["places"].index(list(scene["frames"][0]["place"]))
    cost = scene["episode"]["cost"]
    assert cost - 2 <= scene["map"]["values"][here] <= cost  # two turns at most
    assert [0.0, 0.0] not in scene["map"]["places"]  # a wall
    assert (scene["map"]["size"], scene["map"]["unit"]) == (1.0, "in steps")
    steps = send(controller, {"do": "map", "kind": "step", "state": 0}).view("watch")["map"]["values"]
    assert {one for one in steps if one is not None} == {1.0}


@pytest.mark.parametrize("name", ["coffee-and-mail", "warehouse"])
def test_a_map_covers_the_cells_of_a_world_whatever_their_size(name):
    """Two tiles across in an office, half a tile in the warehouse."""
    task = runpy.run_path("examples/warehouse.py")["TASK"] if name == "warehouse" else find_task(name)
    world, model = task.make_world(5000), TaskModel.of_automaton(task.rule, "stated")
    snapshot = jobs.SessionSnapshot("one", SimpleNamespace(task=task), model, None, (), 5000)
    found = jobs.map_scene(snapshot, 5000, 0)
    height, width = rendering_of(world).render(world.initial_state).shape[:2]
    across, down = (len({place[axis] for place in found["places"]}) for axis in (0, 1))
    assert found["size"] * TILE == pytest.approx(width / across, rel=0.1) == pytest.approx(height / down, rel=0.1)


@pytest.mark.parametrize("is_known", [False, True])
def test_a_map_is_empty_where_the_demonstrations_leave_the_cost_open(is_known):
    def charge(product):
        return np.ones(product.successors.shape)

    class Learned(jobs.SessionSnapshot):
        cost = staticmethod(charge)

    charge.is_known = lambda product: np.full(product.successors.shape, is_known)
    task = find_task("errand")
    model = TaskModel.of_automaton(task.rule, "stated")
    found = jobs.map_scene(Learned("one", SimpleNamespace(task=task), model, None, (), 5000), 5000, 0)
    assert set(found["step"]) - {None} == ({1.0} if is_known else set())
    assert set(found["to_go"]) - {None}  # what a plan costs is told all the same


def test_a_path_is_read_as_it_is_walked():
    """Whoever stays where "a" and "b" hold reads both twice; an explanation of each label once would reject that."""
    a, b = (Guard(frozenset({name})) for name in ("a", "b"))
    rule = GuardedAutomaton(((Edge(a, 1),), (Edge(b, 2),), ()), np.array([False, False, True]))
    model, both = TaskModel.of_automaton(rule, "stated"), frozenset({"a", "b"})
    path = [frozenset()] * 3 + [both] * 2
    assert model.finite.accepts(path)
    first, *others, last = how_read(model, path)
    assert "Label 1, '-', changes nothing" in first
    assert [one.split(",")[0] for one in others] == ["Label 4", "Label 5"]
    assert "accepted" in last
    assert "rejected" in how_read(model, path[:-1])[-1]


def test_what_is_untested_alone_is_not_listed_again_with_others(controller):
    posterior = posterior_of(controller.session.model)
    a, b, both, c = (frozenset(one.split()) for one in ("a", "b", "a b", "c d"))
    support = Support((frozenset(), a, b, both, c), np.array([[1, 1, 0, 1, 1], [0, 0, 1, 1, 0]], bool))
    model = replace(controller.session.model, record=replace(posterior, support=support))
    untested = describe_understanding(model, controller.session.dataset, None)["untested"]
    assert untested == ["nothing, a, c & d at the beginning", "b after corner"]


def test_who_does_not_know_is_asked_something_else(controller):
    first = send(controller, {"do": "ask"}).view("answer")["question"]
    revision = controller.view("scene")["revision"]
    send(controller, {"do": "answer", "seed": first["seed"], "controls": first["controls"], "right": None})
    assert controller.view("answer")["question"] is None
    assert controller.view("scene")["revision"] > revision  # so that pages ask again
    second = send(controller, {"do": "ask"}).view("answer")["question"]
    assert second["labels"] != first["labels"]


def test_an_episode_is_known_to_be_old_once_the_cost_was_learned(controller, monkeypatch):
    def learn_cost(snapshot, directory, evidence):
        words = {"text": "Twice as dear.", "is_shown": False, "evidence": evidence, "world": snapshot.spec.world_key}
        directory.mkdir()
        write_json(directory / COST_WORDS, words)

    monkeypatch.setattr("wfairl.studio.jobs.learn_session_cost", learn_cost)
    revision = send(controller, {"do": "watch", "seed": 5000}).view("scene")["revision"]
    scene = send(controller, {"do": "cost"}).view("watch")
    assert controller.view("scene")["revision"] > revision  # so that pages ask for another
    assert (scene["seed"], scene["is_outdated"]) == (5000, True)
    assert "Twice as dear" in controller.notice
    cost = controller.view("understanding")["cost"]
    assert (cost["text"], cost["is_current"]) == ("Twice as dear.", True)
    assert "do not show a preference" in send(controller, {"do": "map", "kind": "step"}).notice
    controller.session.do({"do": "drop", "demonstration": 0})
    assert not controller.view("understanding")["cost"]["is_current"]
    controller.session.do({"do": "forget", "name": "corner"})  # other worlds
    assert controller.view("understanding")["cost"] is None


def test_a_question_shows_what_the_agent_would_do_with_the_learned_cost(controller, monkeypatch):
    cost, act, planned_with = unit_cost, jobs.act_after, []

    def record(*arguments):
        planned_with.append(arguments[4])
        return act(*arguments)

    monkeypatch.setattr(jobs.SessionSnapshot, "cost", property(lambda self: cost))
    monkeypatch.setattr(jobs, "act_after", record)
    send(controller, {"do": "ask"})
    assert planned_with
    assert all(one is cost for one in planned_with)


def test_where_the_world_slips_one_watches_answers_and_repeats_what_was_drawn(tmp_path):
    task = find_task("office-coffee-slip-0.1")
    controller = SessionController(Session(tmp_path / "one", find_task_spec(task.name)), InlineRunner())
    for one in collect(task, successes=2, failures=0, temperature=0.0, seed=0):
        send(controller, {"do": "scene", "seed": one.seed})
        send(controller, *({"do": "control", "control": int(control)} for control in one.controls))
    model = controller.session.model
    watched = send(controller, {"do": "watch"}).view("watch")["episode"]
    simulator = task.make_simulator(watched["seed"])
    labels = [format_label(simulator.step(control).label) for control in watched["controls"]]
    assert labels == [one["label"] for one in watched["moments"][1:]]
    assert "at most 500 points" in send(controller, {"do": "watch", "waypoints": [[40, 40]] * 501}).notice
    assert "no such map" in send(controller, {"do": "map", "kind": "places"}).notice
    assert "nobody can choose a path" in send(controller, {"do": "watch", "waypoints": [[40, 40]]}).notice
    asked = send(controller, {"do": "ask"}).view("answer")["question"]
    reply = {name: asked[name] for name in ("seed", "controls", "effects")}
    send(controller, {"do": "answer", "right": True, **reply})
    (answer,) = controller.session.dataset.answers
    assert [format_label(one) for one in answer.labels] == list(asked["labels"][1:])
    assert controller.session.model != model
    assert (
        "make it a law"
        in send(controller, {"do": "correct", "correction": {"kind": "never", "proposition": "a"}, "law": False}).notice
    )
    scope = runpy.run_path(str(write(tmp_path / "repeat.py", finish(controller.download("repeat.py"))[0])))
    assert scope["dataset"].demonstrations == controller.session.dataset.demonstrations


def write(path, content):
    path.write_bytes(content)
    return path


def test_propositions_stand_beside_their_meaning_and_what_the_world_enforces_is_said(tmp_path):
    controller = send(SessionController(Session(tmp_path / "one", find_task_spec("doorkey")), InlineRunner()))
    propositions = controller.view("understanding")["propositions"]
    assert [one["text"] for one in propositions["names"]] == ["carrying a key", "the door is open", "on goal"]
    assert propositions["menu"] == []
    assert jobs.enforced(find_task_spec("doorkey")).startswith(
        "The world itself asks for door before goal, and for key"
    )
    assert jobs.enforced(find_task_spec("errand")) == ""


def test_the_number_of_an_answer_is_its_own_even_where_the_scene_of_another_is_not_made_yet(controller):
    for seed in (7, 8):
        send(controller, {"do": "answer", "seed": seed, "controls": [0], "right": False})
    session = Session(controller.session.directory)
    session.worlds.world(session.state.spec, 8)
    view = SessionController(session, InlineRunner()).view("understanding")
    assert [(one["number"], one["seed"]) for one in view["answers"]] == [(1, 8)]


def test_a_cell_that_nobody_can_stand_on_is_refused(controller):
    journal = (controller.session.directory / "journal.jsonl").read_text()
    assert "There is a wall" in send(controller, {"do": "cell", "x": 5, "y": 5, "name": "w"}).notice
    assert "There is a wall" in send(controller, {"do": "cell", "x": -40, "y": 99999, "name": "w"}).notice
    assert (controller.session.directory / "journal.jsonl").read_text() == journal


@pytest.mark.parametrize(
    "message",
    [None, 3, [], {}, {"do": "x"}, {"do": "history", "at": 0}, {"do": "history", "at": 10_000}, {"do": "redo"},
     {"do": "unanswer", "answer": 3}, {"do": "watch", "seed": "a"},
     {"do": "watch", "seed": float("inf")}, {"do": "watch", "waypoints": [[float("inf"), 0]]},
     {"do": "watch", "waypoints": [[1]]}, {"do": "cell", "x": "a"}, {"do": "watch", "controls": [99]},
     {"do": "map", "kind": "x"},
     {"do": "edge", "source": 9, "text": "x", "law": True}, {"do": "keep", "right": "yes"},
     {"do": "correct", "correction": {"kind": "never", "proposition": ["x"]}, "law": True}],
)  # fmt: skip
def test_messages_that_make_no_sense_are_answered_and_change_nothing(controller, message):
    journal = (controller.session.directory / "journal.jsonl").read_text()
    send(controller, message)
    assert controller.notice
    assert (controller.session.directory / "journal.jsonl").read_text() == journal


@pytest.mark.parametrize("content", [None, "", "{}", '{"format": "wfairl-task-model", "version": 99}'])
def test_what_was_shown_is_current_again_where_the_model_is_lost(controller, content):
    (controller.session.directory / "task.json").unlink()
    if content is not None:
        (controller.session.directory / "task.json").write_text(content)
    again = SessionController(Session(controller.session.directory), InlineRunner())
    assert again.session.model is None
    finish(again.ready())
    assert again.session.model.sentences == controller.session.model.sentences


def test_the_most_telling_scene_is_proposed_and_gone_to(controller):
    session, seeds = controller.session, range(1000003 + 1, 1000003 + 13)
    proposal = propose_scene(session.model, session.dataset, session.task, seeds, np.random.default_rng(0))
    scene = send(controller, {"do": "propose"}).view("scene")
    assert scene["seed"] == scene["proposal"]["seed"] == proposal.seed
    assert [one["text"] for one in scene["proposal"]["plans"]] == [one.text for one in proposal.plans[:4]]


def test_evidence_takes_a_step_out_that_was_shown_three_times(controller):
    send(controller, {"do": "edge", "source": 0, "text": "corner", "law": False})
    assert controller.session.model.sentence == "goal"
    again = Session(controller.session.directory)
    assert again.dataset == controller.session.dataset
    assert again.dataset.answers[0].weight > 1
    send(controller, {"do": "withdraw", "correction": 0})
    assert controller.session.model.sentence == "corner, then goal"


def test_a_demonstration_that_nothing_explains_is_kept_as_it_is_and_can_be_watched(tmp_path):
    session = Session(tmp_path / "one", find_task_spec(FOUR_ROOMS))
    session.do(CORNER)
    session.do(GOAL)
    for control in errand_plan(session.state.seed):
        for idle in (3, 4, 5, 0, 1, 3):  # nobody who wants anything would do so
            session.do({"do": "control", "control": idle})
        session.do({"do": "control", "control": int(control)})
    session.do({"do": "keep", "right": True, "by": "person"})
    controller = send(SessionController(session, InlineRunner()), {"do": "learn"})
    assert session.model.judge(session.dataset.words[0]).accepted
    json.dumps(controller.view("understanding"), allow_nan=False)
    send(controller, {"do": "watch", "seed": 5000})
    assert controller.view("watch")["episode"] is not None or controller.notice


def test_a_world_without_a_renderer_is_shown_as_text(tmp_path, monkeypatch):
    task = corridor_task(Corridor)
    monkeypatch.setattr(registry._tasks, "_entries", {**registry._registered(), task.name: task})
    controller = SessionController(Session(tmp_path / "one", find_task_spec(task.name)), InlineRunner())
    assert controller.view("scene")["frames"] == [{"text": str(task.make_world(controller.session.state.seed).name(0))}]
