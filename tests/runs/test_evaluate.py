"""Episodes in the real environment, and the protocol's measuring stick."""

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest
from experts import solve
from hypothesis import given
from hypothesis import strategies as st

from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.planning import PlannedPolicy, RandomPolicy, expert_policy
from wfairl.core.planning.agent import Status
from wfairl.core.planning.cost import feature_cost, path_cost, true_cost, unit_cost
from wfairl.core.planning.product import build_product
from wfairl.core.planning.rollout import roll_out
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds import GraphWorld, ModelTask
from wfairl.minigrid import AgentAt, AgentOn, Carrying, MiniGridTask
from wfairl.runs import evaluate
from wfairl.runs.collection import FIRST_TRAINING_SEED
from wfairl.runs.evaluation import BrokenEvaluationError, Episode, Evaluation, episode_return
from wfairl.runs.task_registry import find_task

TEST_SEEDS = range(5000, 5064)
PAPER = {
    ("doorkey", 0.0): 0.798,
    ("multiroom", 0.0): 0.776,
    ("blocked-unlock-pickup", 0.0): 0.734,
    ("doorkey", 0.5): 0.718,
    ("multiroom", 0.5): 0.668,
    ("blocked-unlock-pickup", 0.5): 0.639,
}


def agrees_with_the_paper(name, temperature):
    """Within three standard errors of the difference: the paper's figure is a mean over 64 episodes too."""
    evaluation = evaluate(find_task(name), expert_policy(find_task(name), temperature), TEST_SEEDS)
    return abs(evaluation.mean_return - PAPER[name, temperature]) <= 3 * math.sqrt(2) * evaluation.standard_error


@pytest.mark.parametrize("name", ["doorkey", "multiroom"])
@pytest.mark.parametrize("temperature", [0.0, 0.5])
def test_the_expert_returns_what_the_paper_reports(name, temperature):
    assert agrees_with_the_paper(name, temperature)


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.0, 0.5])
def test_the_expert_returns_what_the_paper_reports_on_the_hardest_task(temperature):
    assert agrees_with_the_paper("blocked-unlock-pickup", temperature)


@pytest.mark.parametrize(
    "name", ["doorkey", *(pytest.param(one, marks=pytest.mark.slow) for one in ("multiroom", "blocked-unlock-pickup"))]
)
def test_a_random_policy_never_succeeds(name):
    evaluation = evaluate(find_task(name), RandomPolicy(), TEST_SEEDS)
    assert evaluation.mean_return == evaluation.success_rate == 0
    assert {episode.outcome for episode in evaluation.episodes} == {"horizon"}


def test_the_optimal_policy_takes_the_fewest_steps_on_every_seed():
    task = find_task("doorkey")
    for episode in evaluate(task, expert_policy(task, 0.0), range(5000, 5020)).episodes:
        assert episode.success
        assert episode.steps == solve(task.make_world(episode.seed), task.rule).optimal_cost
        assert task.rule.accepts(episode.word)


def test_the_return_is_the_real_environments_own_reward():
    task = find_task("multiroom")
    (episode,) = evaluate(task, expert_policy(task, 0.5), [5000]).episodes
    env = task.make_environment(5000)
    total = sum(float(env.step(control)[1]) for control in episode.controls)
    assert episode.episode_return == pytest.approx(total)


@pytest.mark.parametrize(
    ("steps", "success", "expected"),
    [(0, True, 1.0), (75, True, 0.1), (50, True, 0.4), (50, False, 0.0), (76, True, 0.0)],
)
def test_the_return_falls_with_the_steps_and_is_zero_without_success(steps, success, expected):
    assert episode_return(steps, success, horizon=75) == pytest.approx(expected)


def test_mean_and_standard_error_are_those_of_the_returns():
    task = find_task("doorkey")
    evaluation = evaluate(task, expert_policy(task, 0.5), range(5000, 5010))
    returns = [episode.episode_return for episode in evaluation.episodes]
    assert evaluation.mean_return == pytest.approx(sum(returns) / 10)
    spread = math.sqrt(sum((value - sum(returns) / 10) ** 2 for value in returns) / 9)
    assert evaluation.standard_error == pytest.approx(spread / math.sqrt(10))


def test_the_number_of_jobs_changes_nothing():
    task = find_task("doorkey")
    policy = expert_policy(task, 0.5)
    assert evaluate(task, policy, range(8), n_jobs=1) == evaluate(task, policy, range(8), n_jobs=2)


def test_an_automaton_that_is_content_too_early_is_no_success():
    task = find_task("doorkey")
    only_the_key = visit_in_order("key")
    evaluation = evaluate(task, PlannedPolicy("hasty", only_the_key, unit_cost, 0.0), [5000])
    assert evaluation.episodes[0].outcome == "rule not kept"
    assert evaluation.mean_return == 0


def test_a_task_that_cannot_be_satisfied_is_a_failed_episode_not_a_crash():
    task = find_task("doorkey")
    goal_without_key = all_of(visit_in_order("goal"), avoid("key"))
    evaluation = evaluate(task, PlannedPolicy("keyless", goal_without_key, unit_cost, 0.0), [5000, 5001])
    assert {episode.outcome for episode in evaluation.episodes} == {"unsatisfiable"}


def own_task(visit, propositions, environment_id="MiniGrid-DoorKey-5x5-v0"):
    return MiniGridTask("own", "", environment_id, lambda _: propositions, visit_in_order(*visit), horizon=60)


def test_success_is_what_the_tasks_own_rule_says():
    """Here the environment itself would go on to the goal, or would end before the rule is fulfilled."""
    fetch = own_task(("key",), {"key": Carrying("key")})
    assert evaluate(fetch, expert_policy(fetch, 0.0), range(4)).success_rate == 1
    both = own_task(("corner", "goal"), {"corner": AgentAt(1, 3), "goal": AgentOn("goal")}, "MiniGrid-Empty-5x5-v0")
    to_the_goal = all_of(visit_in_order("goal"), avoid("corner"))
    evaluation = evaluate(both, PlannedPolicy("hasty", to_the_goal, unit_cost, 0.0), range(4))
    assert {episode.outcome for episode in evaluation.episodes} == {"lost"}
    assert evaluate(both, expert_policy(both, 0.0), range(4)).success_rate == 1


def test_another_seed_of_the_generator_gives_other_episodes():
    task = find_task("doorkey")
    policy = expert_policy(task, 0.5)
    assert evaluate(task, policy, range(4), rng_seed=0) != evaluate(task, policy, range(4), rng_seed=1)


@dataclass
class Stubborn:
    """Goes on although it knows that it is lost."""

    name: str = "stubborn"

    def actor(self, world, rng):
        return self

    def choose(self):
        return 0

    def probabilities(self):
        return np.eye(6)[0]

    def observe(self, state, label):
        return Status.LOST


def test_a_lost_agent_ends_its_episode():
    (episode,) = evaluate(find_task("doorkey"), Stubborn(), [5000]).episodes
    assert (episode.steps, episode.outcome, episode.episode_return) == (1, "lost", 0.0)


@pytest.mark.parametrize("seeds", [[], [-1], [5000, FIRST_TRAINING_SEED]])
def test_seeds_that_are_not_for_testing_are_refused(seeds):
    with pytest.raises(BadInputError, match="seed"):
        evaluate(find_task("doorkey"), RandomPolicy(), seeds)


def test_the_json_document_holds_the_figures():
    task = find_task("doorkey")
    document = evaluate(task, expert_policy(task, 0.0), range(5000, 5004)).to_document()
    assert set(document) == {
        "task", "policy", "horizon", "episodes", "mean_return", "standard_error", "success_rate", "mean_cost",
        "mean_learned_cost",
    }  # fmt: skip
    assert document["mean_return"] == pytest.approx(np.mean([episode["return"] for episode in document["episodes"]]))
    assert {"seed", "steps", "success", "return", "word"} <= set(document["episodes"][0])
    assert document["mean_cost"] == pytest.approx(np.mean([episode["steps"] for episode in document["episodes"]]))
    assert document["mean_learned_cost"] is None


def crossing(_):
    """A short road that costs 9 and a long one that costs 4 lead from node 0 to node 3, which shows the goal."""
    edges = [(0, 3), (0, 1), (1, 2), (2, 3), (3, 0)]
    features = np.array([[9.0, 0.0], [1.0, 0.0], [1.0, 0.0], [2.0, 1.0], [1.0, 0.0]])
    return GraphWorld.from_edges(edges, start=0, marks={3: ["goal"]}, features=features)


ROADS = ModelTask(
    "roads", "", ("goal",), visit_in_order("goal"), 6, crossing, true_cost=lambda features: features[:, 0]
)


def test_the_true_cost_is_what_the_features_of_transitions_say():
    product = build_product(crossing(0), ROADS.rule)
    costs = true_cost(ROADS)(product)
    world = product.world
    for node, control in np.argwhere(product.available):
        state = product.state(node)
        assert costs[node, control] == world.features(state, control, world.step(state, control))[0]
    np.testing.assert_array_equal(true_cost(find_task("doorkey"))(product), unit_cost(product))


def test_an_episode_is_priced_by_the_true_and_by_the_learned_cost():
    cheap = evaluate(ROADS, expert_policy(ROADS, 0.0), [1], learned=feature_cost(lambda phi: 1 + 2 * phi[:, 1]))
    assert (cheap.episodes[0].steps, cheap.episodes[0].cost, cheap.episodes[0].learned_cost) == (3, 4.0, 5.0)
    hasty = evaluate(ROADS, PlannedPolicy("fewest steps", ROADS.rule, unit_cost, 0.0), [1])
    assert (hasty.mean_cost, hasty.mean_learned_cost, hasty.mean_return) == (9.0, None, 1 - 0.9 / 6)


@pytest.mark.parametrize("task", [ROADS, find_task("doorkey")], ids=lambda task: task.name)
def test_a_trajectory_costs_the_sum_of_its_steps(task):
    """Each step is priced by itself, by the features of its transition."""

    def price(features):
        return 1 + features @ np.arange(1, features.shape[1] + 1)

    for seed in range(3):
        trajectory = roll_out(task, RandomPolicy(), seed, np.random.default_rng(seed))
        steps = zip(trajectory.states, trajectory.controls, trajectory.states[1:], strict=False)
        paid = [price(trajectory.world.features(*step)[None])[0] for step in steps]
        assert path_cost(feature_cost(price), trajectory) == pytest.approx(sum(paid))
        assert path_cost(unit_cost, trajectory) == len(trajectory) == len(paid)


def test_a_trajectory_is_a_walk_through_the_model_with_the_chances_of_its_controls():
    task = find_task("doorkey")
    trajectory = roll_out(task, expert_policy(task, 0.5), 5000, np.random.default_rng(0))
    world = task.make_world(5000)
    assert trajectory.states[0] == world.initial_state
    for t, control in enumerate(trajectory.controls):
        assert trajectory.states[t + 1] == world.step(trajectory.states[t], control)
        assert trajectory.labels[t] == world.label(trajectory.states[t], control, trajectory.states[t + 1])
    assert trajectory.probabilities.shape == (len(trajectory), 6)
    assert trajectory.probabilities.sum(axis=1) == pytest.approx(1)
    assert (trajectory.probabilities[np.arange(len(trajectory)), list(trajectory.controls)] > 0).all()
    assert Episode.of(trajectory, task).steps == len(trajectory)


def test_an_unsatisfiable_scene_costs_nothing():
    blocked = all_of(visit_in_order("goal"), avoid("goal"))
    (episode,) = evaluate(ROADS, PlannedPolicy("blocked", blocked, unit_cost, 0.0), [0]).episodes
    assert (episode.outcome, episode.steps, episode.cost) == ("unsatisfiable", 0, 0.0)


labels = st.frozensets(st.sampled_from(["key", "door"]))
episodes = st.builds(
    Episode,
    seed=st.integers(0, 2**40),
    steps=st.integers(0, 75),
    success=st.booleans(),
    episode_return=st.floats(0, 1),
    word=st.lists(labels, max_size=4).map(tuple),
    controls=st.lists(st.integers(0, 5), max_size=5).map(tuple),
    outcome=st.sampled_from(["success", "horizon", "lost"]),
    cost=st.floats(0, 1e6),
    learned_cost=st.none() | st.floats(0, 1e6),
)


@given(st.lists(episodes, min_size=1, max_size=4))
def test_an_evaluation_is_read_back_as_itself(some):
    evaluation = Evaluation("doorkey", "expert", 75, tuple(some))
    document = json.loads(json.dumps(evaluation.to_document()))
    assert Evaluation.from_document(document) == evaluation


@pytest.mark.parametrize(
    "document",
    [None, [], {}, {"task": "x", "policy": "y", "horizon": 5, "episodes": []}, {"episodes": [{"seed": 1}]},
     {"task": "x", "policy": "y", "horizon": "long", "episodes": 3}],
)  # fmt: skip
def test_a_document_that_is_no_evaluation_is_named(document):
    with pytest.raises(BrokenEvaluationError, match="not an evaluation"):
        Evaluation.from_document(document)
