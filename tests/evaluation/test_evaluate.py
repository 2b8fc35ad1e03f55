"""Episodes in the real environment, and the protocol's measuring stick."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from wfairl.automata.finite import from_rule
from wfairl.demonstrations import FIRST_TRAINING_SEED, solve
from wfairl.errors import BadInputError
from wfairl.evaluation import PlannedPolicy, RandomPolicy, evaluate, expert_policy
from wfairl.evaluation.evaluate import episode_return
from wfairl.planning.agent import Status
from wfairl.planning.cost import unit_cost
from wfairl.worlds import Rule, Task, find_task
from wfairl.worlds.minigrid.propositions import AgentAt, AgentOn, Carrying

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


@pytest.mark.parametrize("name", ["doorkey", "multiroom", "blocked-unlock-pickup"])
def test_a_random_policy_never_succeeds(name):
    evaluation = evaluate(find_task(name), RandomPolicy(), TEST_SEEDS)
    assert evaluation.mean_return == evaluation.success_rate == 0
    assert {episode.outcome for episode in evaluation.episodes} == {"horizon"}


def test_the_optimal_policy_takes_the_fewest_steps_on_every_seed():
    task = find_task("doorkey")
    for episode in evaluate(task, expert_policy(task, 0.0), range(5000, 5020)).episodes:
        assert episode.success
        assert episode.steps == solve(task.make_world(episode.seed), task.rule).optimal_cost
        assert task.rule.succeeds(episode.word)


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
    only_the_key = from_rule(("key",), (), task.proposition_names)
    evaluation = evaluate(task, PlannedPolicy("hasty", only_the_key, unit_cost, 0.0), [5000])
    assert evaluation.episodes[0].outcome == "stopped early"
    assert evaluation.mean_return == 0


def test_a_task_that_cannot_be_satisfied_is_a_failed_episode_not_a_crash():
    task = find_task("doorkey")
    goal_without_key = from_rule(("goal",), ("key",), task.proposition_names)
    evaluation = evaluate(task, PlannedPolicy("keyless", goal_without_key, unit_cost, 0.0), [5000, 5001])
    assert {episode.outcome for episode in evaluation.episodes} == {"unsatisfiable"}


def own_task(visit, propositions, environment_id="MiniGrid-DoorKey-5x5-v0"):
    return Task("own", "", environment_id, lambda _: propositions, Rule(visit), horizon=60)


def test_success_is_what_the_tasks_own_rule_says():
    """Here the environment itself would go on to the goal, or would end before the rule is fulfilled."""
    fetch = own_task(("key",), {"key": Carrying("key")})
    assert evaluate(fetch, expert_policy(fetch, 0.0), range(4)).success_rate == 1
    both = own_task(("corner", "goal"), {"corner": AgentAt(1, 3), "goal": AgentOn("goal")}, "MiniGrid-Empty-5x5-v0")
    to_the_goal = from_rule(("goal",), ("corner",), both.proposition_names)
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
        "task", "policy", "horizon", "episodes", "mean_return", "standard_error", "success_rate",
    }  # fmt: skip
    assert document["mean_return"] == pytest.approx(np.mean([episode["return"] for episode in document["episodes"]]))
    assert {"seed", "steps", "success", "return", "word"} <= set(document["episodes"][0])
