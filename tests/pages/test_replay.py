"""An episode that is played back is the one that was evaluated, and one that cannot be is refused."""

from dataclasses import replace

import numpy as np
import pytest

from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.planning import PlannedPolicy, RandomPolicy, expert_policy
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.rollout import roll_out
from wfairl.core.runs import evaluate
from wfairl.core.runs.evaluation import episode_rng
from wfairl.core.worlds.task_registry import find_task
from wfairl.pages.player import OtherEpisodeError, replay_episode

DOORKEY = find_task("doorkey")
POLICIES = {
    "success": expert_policy(DOORKEY, 0.5),
    "horizon": RandomPolicy(),
    "stopped early": PlannedPolicy("until the key", visit_in_order("key"), unit_cost, 0.0),
    "unsatisfiable": PlannedPolicy("hopeless", all_of(visit_in_order("goal"), avoid("door")), unit_cost, 0.0),
}


@pytest.mark.parametrize("outcome", POLICIES)
def test_what_is_played_back_is_what_happened(outcome):
    (episode,) = evaluate(DOORKEY, POLICIES[outcome], [5003]).episodes
    assert episode.outcome == outcome
    before = roll_out(DOORKEY, POLICIES[outcome], 5003, episode_rng(5003))
    again = replay_episode(DOORKEY, episode)
    assert (again.states, again.controls, again.labels) == (before.states, before.controls, before.labels)
    assert again.outcome == outcome
    assert np.isnan(again.probabilities).all()


def test_controls_that_lead_elsewhere_are_refused():
    (episode,) = evaluate(DOORKEY, POLICIES["success"], [5003]).episodes
    for changed in (
        replace(episode, seed=5004),
        replace(episode, outcome="lost"),
        replace(episode, controls=((episode.controls[0] + 1) % 6, *episode.controls[1:])),
        replace(episode, word=episode.word[:-1]),
        replace(episode, controls=episode.controls[:-1]),
        replace(episode, controls=(6,)),
    ):
        with pytest.raises(OtherEpisodeError, match=f"scene {changed.seed}"):
            replay_episode(DOORKEY, changed)
