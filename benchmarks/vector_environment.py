"""The compiled vector environment against as many real MiniGrid environments in Gymnasium's SyncVectorEnv.

    python benchmarks/vector_environment.py [--json] [--quick] [--environments 64] [--repeats 5]

Both take the same random controls, and start a new episode when one has ended (which is measured, too: the real
environment builds its next scene, ours draws one from a precompiled pool). Both return what a network needs: the real
ones the full grid by MiniGrid's FullyObsWrapper, ours the index of the grid in a bank of distinct ones. MiniGrid is
also measured without that wrapper. Times are of the processor, the fastest of the repeats.
"""

import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from minigrid.wrappers import FullyObsWrapper
from reporting import fastest, make_parser, report

from experiments.baselines.vector_environment import CompiledVectorEnv, compile_scenes
from wfairl.minigrid.physics import CONTROLS
from wfairl.minigrid.tasks import PAPER_TASKS, MiniGridTask

SCENES = 256
FIRST_SCENE = 1_000_000
STEPS, REAL_STEPS = 1_000, 80
REQUIRED_RATIO = 50.0


def main() -> None:
    parser = make_parser(__doc__, repeats=5)
    parser.add_argument("--environments", type=int, default=64, help="episodes at a time")
    arguments = parser.parse_args()
    tasks = PAPER_TASKS[:1] if arguments.quick else PAPER_TASKS
    rows = [{"task": task.name, **measure(task, arguments.environments, arguments.repeats)} for task in tasks]
    title = f"steps per second, {arguments.environments} environments (at least {REQUIRED_RATIO:g} times)"
    report({title: rows}, arguments.json)


def measure(task: MiniGridTask, count: int, repeats: int) -> dict[str, float]:
    started = time.process_time()
    pool = compile_scenes(task, range(FIRST_SCENE, FIRST_SCENE + SCENES))
    compiling = (time.process_time() - started) / SCENES
    ours = rate(CompiledVectorEnv(pool, count), STEPS, repeats)
    plain = rate(real_environments(task, count, lambda environment: environment), REAL_STEPS, repeats)
    full = rate(real_environments(task, count, FullyObsWrapper), REAL_STEPS, repeats)
    return {
        "ours": ours,
        "minigrid": plain,
        "minigrid_full_grid": full,
        "ratio": ours / plain,
        "ratio_full_grid": ours / full,
        "compile_seconds_per_scene": compiling,
    }


def real_environments(task: MiniGridTask, count: int, wrap: Callable[[Any], Any]) -> SyncVectorEnv:
    def make() -> Any:
        real = gymnasium.make(task.environment_id, max_steps=task.horizon, disable_env_checker=True)
        # Gymnasium cannot batch MiniGrid's mission, a text; what is left is the image and the direction.
        return gymnasium.wrappers.FilterObservation(wrap(real), ["image", "direction"])

    return SyncVectorEnv([make] * count, autoreset_mode=AutoresetMode.SAME_STEP)


def rate(environment: Any, steps: int, repeats: int) -> float:
    """Steps per second of processor time, those of all rows together."""
    controls = np.random.default_rng(0).integers(len(CONTROLS), size=(steps, environment.num_envs))
    environment.reset(seed=0)
    environment.step(controls[0])  # compiles, or loads what was compiled
    return controls.size / fastest(lambda: [environment.step(row) for row in controls], repeats)


if __name__ == "__main__":
    main()
