"""Laws of recordings: they are the episodes that are evaluated, and what they show is what the world shows."""

import numpy as np
import pytest
from corridors import Corridor, DrawnCorridor, corridor_task
from oracles_report import frames_of, player_data, read_page
from report_blocks import block_html

from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.automata.words import compress, format_label
from wfairl.core.planning import PlannedPolicy, RandomPolicy, expert_policy
from wfairl.core.planning.cost import unit_cost
from wfairl.core.support.errors import BadInputError
from wfairl.pages.player import EpisodePlayer, record_episode
from wfairl.pages.tiles import TILE
from wfairl.runs import evaluate
from wfairl.runs.task_registry import find_task

DOORKEY = find_task("doorkey")
POLICIES = {
    "optimal": expert_policy(DOORKEY, 0.0),
    "expert": expert_policy(DOORKEY, 0.5),
    "random": RandomPolicy(),
}


def recorded(policy, seed=5000, task=DOORKEY):
    return record_episode(task, policy, seed, np.random.default_rng([0, seed]))


@pytest.mark.parametrize("name", POLICIES)
def test_a_recording_is_the_episode_that_is_evaluated(name):
    (evaluated,) = evaluate(DOORKEY, POLICIES[name], [5003]).episodes
    assert recorded(POLICIES[name], 5003).episode == evaluated


@pytest.mark.parametrize("name", POLICIES)
def test_each_moment_has_its_label_and_its_probabilities(name):
    recording = recorded(POLICIES[name])
    steps = recording.episode.steps
    assert len(recording.trajectory.states) == steps + 1
    assert compress(recording.trajectory.labels) == recording.episode.word
    assert recording.trajectory.probabilities.shape == (steps, len(recording.trajectory.world.controls))
    np.testing.assert_allclose(recording.trajectory.probabilities.sum(axis=1), 1)
    taken = recording.trajectory.probabilities[np.arange(steps), recording.episode.controls]
    assert (taken > 0).all()


def test_a_planned_policy_has_the_states_that_its_automaton_reads_and_others_have_none():
    recording = recorded(POLICIES["expert"])
    reached = [0]
    for label in recording.trajectory.labels:
        reached.append(max(reached[-1], int("goal" in label)))
    states = list(recording.automaton_states)
    assert states == reached
    assert recording.automaton.accepting[states[-1]]
    assert recorded(POLICIES["random"]).automaton_states is None


@pytest.mark.parametrize("task", ["doorkey", "multiroom", "blocked-unlock-pickup"])
def test_the_player_shows_what_minigrid_shows(task):
    task = find_task(task)
    recording = recorded(RandomPolicy(), 5001, task)
    data = player_data(read_page(block_html(EpisodePlayer((recorded(RandomPolicy(), 5000, task), recording)))))
    environment = task.make_environment(5001, render_mode="rgb_array")
    environment.unwrapped.highlight = False
    whole, window = environment.render(), None
    for moment, frame in enumerate(frames_of(data["episodes"][1], data["atlas"])):
        if window is None:
            window = find_window(whole, frame)
        np.testing.assert_array_equal(whole[window], frame)
        if moment < recording.episode.steps:
            environment.step(recording.episode.controls[moment])
            whole = environment.render()
    assert moment == recording.episode.steps


def find_window(whole, part):
    """Where a part of a picture lies in it, on the grid of tiles; what lies outside is the same everywhere."""
    rows, columns = part.shape[:2]
    for y in range(0, whole.shape[0] - rows + 1, TILE):
        for x in range(0, whole.shape[1] - columns + 1, TILE):
            if (whole[y : y + rows, x : x + columns] == part).all():
                tiles = whole.reshape(whole.shape[0] // TILE, TILE, -1, TILE, 3).swapaxes(1, 2)
                is_outside = np.ones(tiles.shape[:2], bool)
                is_outside[y // TILE : (y + rows) // TILE, x // TILE : (x + columns) // TILE] = False
                assert len(np.unique(tiles[is_outside], axis=0)) <= 1
                return slice(y, y + rows), slice(x, x + columns)
    raise AssertionError("the part is not in the picture")


def test_the_players_data_say_what_was_recorded():
    recordings = [recorded(policy, seed) for policy in POLICIES.values() for seed in (5000, 5001)]
    root = read_page(block_html(EpisodePlayer(tuple(recordings))))
    data = player_data(root)
    for recording, episode in zip(recordings, data["episodes"], strict=True):
        assert (episode["policy"], episode["seed"]) == (recording.policy, recording.episode.seed)
        assert episode["return"] == recording.episode.episode_return
        assert episode["outcome"] == recording.episode.outcome
        controls = [moment["control"] for moment in episode["moments"]]
        assert controls == [*recording.episode.controls, None]
        assert [moment["label"] for moment in episode["moments"]] == [
            None,
            *map(format_label, recording.trajectory.labels),
        ]
        for moment, entry in enumerate(episode["moments"]):
            word = compress(recording.trajectory.labels[:moment])
            assert episode["word"][: entry["read"]] == [format_label(label) for label in word]
        drawn = [entry["probabilities"] for entry in episode["moments"][:-1]]
        np.testing.assert_allclose(drawn, recording.trajectory.probabilities, atol=1e-6)
        assert episode["moments"][-1]["probabilities"] is None
    # Optimal and expert plan with the same automaton, which is drawn once; random has none.
    assert [episode["automaton"] for episode in data["episodes"]] == [0, 0, 0, 0, None, None]
    assert len(root.all("div", class_="choice")) == 1


def test_a_policy_that_sees_no_way_is_one_moment_long():
    # The goal before the door is open: DoorKey's goal lies behind it.
    rule = all_of(visit_in_order("goal"), avoid("door"))
    recording = recorded(PlannedPolicy("hopeless", rule, unit_cost, 0.0))
    assert recording.episode.outcome == "unsatisfiable"
    assert len(recording.trajectory.states) == 1
    (episode,) = player_data(read_page(block_html(EpisodePlayer((recording,)))))["episodes"]
    assert len(episode["moments"]) == 1


def test_a_player_without_recordings_is_refused():
    with pytest.raises(BadInputError, match="at least one recording"):
        EpisodePlayer(())


@pytest.mark.parametrize("name", ["optimal", "random"])
def test_the_player_shows_what_a_world_of_ones_own_renders(name):
    task = corridor_task(DrawnCorridor)
    recording = recorded(RandomPolicy() if name == "random" else expert_policy(task, 0.0), 5002, task)
    data = player_data(read_page(block_html(EpisodePlayer((recording,)))))
    world = DrawnCorridor(5 + 5002 % 4)
    state = world.initial_state
    shown = list(frames_of(data["episodes"][0], data["atlas"]))
    assert len(shown) == recording.episode.steps + 1
    for frame, control in zip(shown, (*recording.episode.controls, None), strict=True):
        np.testing.assert_array_equal(frame, world.rendering.render(state))
        state = state if control is None else world.step(state, control)


def test_the_player_of_a_world_without_a_renderer_shows_states_as_text():
    task = corridor_task(Corridor)
    recording = recorded(expert_policy(task, 0.0), 5002, task)
    root = read_page(block_html(EpisodePlayer((recording,))))
    (episode,) = player_data(root)["episodes"]
    world = Corridor(5 + 5002 % 4)
    state, texts = world.initial_state, []
    for control in (*recording.episode.controls, None):
        texts.append(str(state))
        state = state if control is None else world.step(state, control)
    assert [moment["world_state"] for moment in episode["moments"]] == texts
    assert root.all("canvas") == []
    assert "no renderer" in root.text
