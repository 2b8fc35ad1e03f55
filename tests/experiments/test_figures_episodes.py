"""Figures of what happens in a scene: the trajectory, the environments, the unseen word, the policies."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from corridors import Corridor, DrawnCorridor, corridor_task

from experiments.figures.environments import draw_environments
from experiments.figures.episodes import draw_episode
from experiments.figures.policies import draw_policies, find_critical_state, probabilities_at
from experiments.figures.unseen_word import (
    NoUnseenWordError,
    UnseenWord,
    draw_unseen_word,
    find_unseen_word,
    learn_from_fewer,
)
from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.automata.words import compress
from wfairl.core.demonstrations import Dataset, Demonstration, collect
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.plan import find_plan
from wfairl.core.planning.policies import PlannedPolicy, RandomPolicy, expert_policy
from wfairl.core.planning.product import build_product
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task_registry import all_tasks
from wfairl.pages.path_drawing import LANE
from wfairl.pages.world_drawing import NoRendererError, need_places, need_rendering, rendering_of

DOORKEY, MULTIROOM, BLOCKED = all_tasks()[:3]
SEED = 5_003
CELL = 32


def _texts(figure) -> list[str]:
    shown = [*figure.texts, *(text for axes in figure.axes for text in axes.texts)]
    return [text.get_text() for text in shown] + [axes.get_title(loc="left") for axes in figure.axes]


# --- an episode


def _plan(task, seed, automaton):
    product = build_product(task.make_world(seed), automaton)
    return find_plan(product, unit_cost(product)).path


@pytest.mark.parametrize("task", [DOORKEY, MULTIROOM], ids=lambda task: task.name)
def test_coloured_lines_are_the_walk_of_the_automaton(task):
    world, automaton = task.make_world(SEED), visit_in_order(*task.propositions)
    path = _plan(task, SEED, automaton)
    axes = draw_episode(task, SEED, path, "trajectory", "").figure.axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    *states, _ = automaton.run(path.labels)
    assert len(lines) == len(set(states))  # one for each state in which a step was taken
    first = 0
    for number, state in enumerate(dict.fromkeys(states)):
        xs, ys = lines[f"part-{number}"].get_data()
        assert len(xs) == states.count(state) + 1
        for x, y, at in zip(xs, ys, path.states[first:], strict=False):
            across, down = need_places(world).locate(at)
            assert abs(x - across) <= 2 * LANE * CELL
            assert x - across == pytest.approx(y - down)  # every part keeps to its lane
        first += states.count(state)
    assert first == len(path.controls)
    assert len({line.get_color() for line in lines.values()}) == len(lines)


def test_an_episode_is_told_with_its_word():
    task = corridor_task(DrawnCorridor)
    drawn = draw_episode(task, SEED, _plan(task, SEED, task.rule), "trajectory", "It carries a parcel.")
    assert "+parcel" in _texts(drawn.figure)
    assert drawn.caption.startswith("It carries a parcel. Scene 5003")
    assert drawn.to_png()


# --- the environments


def test_every_environment_is_shown_with_its_propositions_and_horizon():
    tasks = [task for task in all_tasks() if rendering_of(task.make_world(5_000))]
    assert len(tasks) > 4  # more than one row of them
    drawn = draw_environments()
    words = " ".join(_texts(drawn.figure))
    for axes, task in zip(drawn.figure.axes, tasks, strict=True):
        assert f"horizon: {task.horizon} steps" in words
        assert all(name in words for name in task.propositions)
        (image,) = axes.images
        world = task.make_world(5_000)
        np.testing.assert_array_equal(image.get_array(), need_rendering(world).render(world.initial_state))


def test_a_task_without_a_renderer_is_left_out_of_the_environments_with_a_sentence():
    drawn = draw_environments([DOORKEY, corridor_task(Corridor), corridor_task(DrawnCorridor, "drawn corridor")])
    assert len(drawn.figure.axes) == 2
    assert "1 task without a renderer left out" in drawn.caption
    with pytest.raises(NoRendererError):
        draw_environments([corridor_task(Corridor)])


def test_a_task_alone_is_as_large_as_beside_others():
    def heights(drawn):
        return [axes.get_window_extent().height for axes in drawn.figure.axes]

    of_three = heights(draw_environments([DOORKEY, MULTIROOM, BLOCKED]))[0]
    for task in (DOORKEY, MULTIROOM, BLOCKED):
        alone = draw_environments([task])
        assert heights(alone) == [pytest.approx(of_three, rel=0.02)]
        assert alone.figure.get_size_inches()[0] < draw_environments().figure.get_size_inches()[0] / 2


# --- the unseen word


def _label(text: str) -> frozenset[str]:
    return frozenset(text.split())


BALL_FIRST = tuple(map(_label, ("", "ball", "ball key", "ball door key", "ball door", "ball box door")))
KEY_FIRST = (*map(_label, ("", "key")), *BALL_FIRST)


def _automaton(*words):
    beginnings = {word[:length] for word in words for length in range(1, len(word))}
    scored = {**dict.fromkeys(beginnings, 0.0), **dict.fromkeys(words, 1.0)}
    return SpectralTaskLearner().fit(list(scored), list(scored.values()), Reading(optional_start=True)).model.finite


def test_the_unseen_word_costs_an_agent_steps_that_was_never_shown_it():
    """The paper's story: who saw only the ball moved first does not carry the key near before."""
    automata = {"both": _automaton(BALL_FIRST, KEY_FIRST), "one": _automaton(BALL_FIRST)}
    pair = find_unseen_word(BLOCKED, automata, [5_000, 5_007])
    assert (pair.seed, pair.learned_from, pair.learned_from_more) == (5_007, "one", ("both",))
    assert compress(pair.expert.labels) == KEY_FIRST
    assert compress(pair.agent.labels) == BALL_FIRST
    assert pair.extra_steps == 2
    agent, expert = draw_unseen_word(BLOCKED, pair)
    assert "30 steps where 28 are enough" in agent.caption
    assert (agent.alt.count("30 steps"), expert.alt.count("28 steps")) == (1, 1)


def test_agents_that_know_every_word_are_a_named_outcome():
    with pytest.raises(NoUnseenWordError, match="fewer demonstrations"):
        find_unseen_word(BLOCKED, {"the rule": BLOCKED.rule}, [5_000])


def test_fewer_demonstrations_are_the_first_ones_halved_down_to_one():
    dataset = collect(DOORKEY, 4, 8, 0.0, seed=7)
    automata = learn_from_fewer(dataset)
    assert list(automata) == ["4 successes and 8 failures", "2 successes and 4 failures", "1 success and 2 failures"]
    for automaton in automata.values():
        assert automaton.accepts(dataset.demonstrations[0].word)


def test_fewer_demonstrations_forget_the_words_of_those_left_out():
    def show(word, score):
        return Demonstration((0,) * len(word), word, score, 0)

    dataset = Dataset(BLOCKED.name, (show(BALL_FIRST, 1.0), show(KEY_FIRST, 1.0), show(BALL_FIRST[:3], 0.0)))
    both, one = learn_from_fewer(dataset).values()
    assert both.accepts(KEY_FIRST)
    assert not one.accepts(KEY_FIRST)
    assert one.accepts(BALL_FIRST)


# --- the policies


@dataclass(frozen=True)
class _Remembering:
    """Gives away what it was shown: probabilities that name the step, the position and the label."""

    name: str = "remembering"

    def actor(self, world: Any, rng: np.random.Generator) -> Any:
        return _RememberingActor(world)


class _RememberingActor:
    def __init__(self, world):
        self.world, self.state, self.labels = world, world.initial_state, []

    def choose(self):
        raise AssertionError("nobody acts in a figure")

    def observe(self, state, label):
        from wfairl.core.planning.agent import Status

        self.state = state
        self.labels.append(label)
        return Status.RUNNING

    def probabilities(self):
        x, y = self.world.encode(self.state).position
        return np.array([len(self.labels), x, y, len(self.labels[-1]) if self.labels else 0, 0, 0]) / 100


def test_the_critical_state_is_in_front_of_a_closed_door_on_a_shortest_path():
    for seed in range(5_000, 5_004):  # what a shortest path changes first is the first door
        world = MULTIROOM.make_world(seed)
        critical = find_critical_state(world, MULTIROOM)
        state = critical.path.states[critical.step]
        opened = world.label(state, critical.control, world.step(state, critical.control))
        assert world.controls[critical.control] == "toggle"
        assert "door1" in opened
        assert all("door1" not in label for label in critical.path.labels[: critical.step])


def test_bars_are_the_probabilities_of_actors_led_along_the_path():
    rule = expert_policy(MULTIROOM, 0.5)
    policies = {"expert": rule, "random": RandomPolicy(), "remembering": _Remembering()}
    drawn = draw_policies(MULTIROOM, policies, SEED)
    bars = {axes.get_title(loc="left"): [bar.get_width() for bar in axes.patches] for axes in drawn.figure.axes[1:]}
    world = MULTIROOM.make_world(SEED)
    critical = find_critical_state(world, MULTIROOM)
    state = world.initial_state
    for control in critical.path.controls[: critical.step]:
        state = world.step(state, control)
    x, y = world.encode(state).position
    assert bars["remembering"] == pytest.approx([critical.step / 100, x / 100, y / 100, 0, 0, 0])
    assert bars["random"] == pytest.approx([1 / 6] * 6)
    actor = rule.actor(world, np.random.default_rng(0))
    for t in range(critical.step):
        actor.observe(critical.path.states[t + 1], critical.path.labels[t])
    assert bars["expert"] == pytest.approx(list(actor.probabilities()))
    assert max(bars["expert"]) == bars["expert"][critical.control]  # the expert opens the door


def test_a_policy_that_has_stopped_gets_a_panel_without_bars():
    # Doors in an order that nobody can open them in: no way from the start.
    impossible = all_of(visit_in_order("door3", "door1"), avoid("door2"))
    world = MULTIROOM.make_world(SEED)
    lost = PlannedPolicy("lost", impossible, unit_cost, 0.5)
    assert probabilities_at(lost, world, find_critical_state(world, MULTIROOM)) is None
    drawn = draw_policies(MULTIROOM, {"lost": lost, "random": RandomPolicy()}, SEED)
    by_title = {axes.get_title(loc="left"): axes for axes in drawn.figure.axes}
    assert len(by_title["lost"].patches) == 0
    assert "has stopped" in _texts(drawn.figure)
    assert "lost has stopped" in drawn.caption


def test_a_comparison_of_no_policies_is_refused():
    with pytest.raises(BadInputError, match="no policies"):
        draw_policies(MULTIROOM, {}, SEED)


@pytest.mark.parametrize("world", [Corridor, DrawnCorridor])
def test_policies_are_compared_in_any_world(world):
    task = corridor_task(world)
    drawn = draw_policies(task, {"expert": expert_policy(task, 0.5), "random": RandomPolicy()}, SEED)
    assert sum(len(axes.images) for axes in drawn.figure.axes) == (world is DrawnCorridor)
    assert "next control is 'grab'" in drawn.caption
    assert ("no renderer" in drawn.caption) == (world is Corridor)


def test_the_unseen_word_of_a_world_without_a_renderer_is_a_named_outcome():
    task = corridor_task(Corridor)
    path = _plan(task, 0, task.rule)
    with pytest.raises(NoRendererError, match="the world Corridor has no renderer"):
        draw_unseen_word(task, UnseenWord(0, path, path, "nothing", (), 1))
