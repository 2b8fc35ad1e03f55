"""The model and the real MiniGrid, step by step, over every environment id that is registered."""

import gymnasium
import numpy as np
import pytest

from wfairl.minigrid.environment import make_environment, reset
from wfairl.minigrid.physics import UnknownPhysicsError
from wfairl.minigrid.world import MiniGridWorld

REFUSED = {id for id in gymnasium.registry if "Dynamic-Obstacles" in id}
CANNOT_BE_MADE = {id for id in gymnasium.registry if "-WFC-" in id}  # minigrid's wheel lacks their images
REGISTERED = {id for id in gymnasium.registry if id.startswith(("MiniGrid-", "BabyAI-"))}
COVERED = sorted(REGISTERED - REFUSED - CANNOT_BE_MADE)
FAST_STEPS = 100
SLOW_STEPS = 6_100
DRAWN_EVERY = 5
"""Steps after which the whole grid is compared as MiniGrid encodes it; between them, the fields of the state are."""


def agrees_in_lockstep(environment_id: str, steps: int, seed: int, restart_every: int) -> int:
    """Step the real environment and the model side by side; the number of steps that were compared."""
    rng = np.random.default_rng(seed)
    environment = make_environment(environment_id)
    real = environment.unwrapped
    compared = 0
    while compared < steps:
        reset(environment, int(rng.integers(2**31)))
        world = MiniGridWorld.from_environment(environment)
        state = world.initial_state
        assert_same(world, state, real)
        for step in range(min(restart_every, steps - compared)):
            # With fewer turns a random walk meets more doors and objects.
            control = int(rng.choice(6, p=[0.12, 0.12, 0.36, 0.14, 0.1, 0.16]))
            on_final_terrain_before = world.is_final(state)
            state = world.step(state, control)
            _, _, terminated, truncated, _ = environment.step(control)
            compared += 1
            assert not on_final_terrain_before
            assert world.state_of(real) == state
            if step % DRAWN_EVERY == 0 or terminated or truncated:
                assert_same(world, state, real)
            cell = real.grid.get(*real.agent_pos)
            stands_on_an_end = cell is not None and cell.type in ("goal", "lava")
            assert world.encode(state).terminated == stands_on_an_end
            assert terminated or not stands_on_an_end
            if terminated or truncated:
                break
    return compared


def assert_same(world, state, real):
    scene = world.encode(state)
    np.testing.assert_array_equal(scene.grid, real.grid.encode())
    assert scene.position == tuple(map(int, real.agent_pos))
    assert scene.direction == real.agent_dir
    assert scene.carried == (None if real.carrying is None else real.carrying.encode())
    assert world.state_of(real) == state


@pytest.mark.parametrize("environment_id", COVERED)
def test_the_model_is_in_lockstep_with_the_real_environment(environment_id):
    assert agrees_in_lockstep(environment_id, FAST_STEPS, seed=1, restart_every=50) == FAST_STEPS


@pytest.mark.slow
@pytest.mark.parametrize("environment_id", COVERED)
def test_the_model_stays_in_lockstep_over_many_seeds(environment_id):
    assert agrees_in_lockstep(environment_id, SLOW_STEPS, seed=2, restart_every=200) == SLOW_STEPS


def test_both_tiers_compare_as_many_steps_as_the_readme_says():
    assert len(COVERED) * FAST_STEPS >= 16_000
    assert len(COVERED) * SLOW_STEPS >= 1_000_000
    assert (len(COVERED), len(REFUSED), len(CANNOT_BE_MADE)) == (166, 6, 6)  # what the README says


@pytest.mark.parametrize("environment_id", sorted(REFUSED))
def test_moving_obstacles_are_refused_by_name(environment_id):
    environment = make_environment(environment_id)
    reset(environment, 0)
    with pytest.raises(UnknownPhysicsError, match="DynamicObstaclesEnv is not deterministic"):
        MiniGridWorld.from_environment(environment)
