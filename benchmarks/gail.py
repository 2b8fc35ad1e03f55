"""GAIL's speed: environment steps per second on each task, the shares of its parts, and the time of 500,000 steps.

    python benchmarks/gail.py [--json] [--iterations 12]

A training with the default settings is stopped after a few iterations, the first of which are slower than later ones
(an untrained generator visits more distinct states). Times are of the processor, on one thread. The limit is 500,000
steps within 15 minutes on two cores; GAIL uses one.
"""

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from reporting import make_parser, report, rows_table

from experiments.baselines.gail import GailConfig, adversarial, train_gail
from wfairl.core.costs.epochs import one_torch_thread
from wfairl.core.demonstrations import collect
from wfairl.core.worlds import Task
from wfairl.minigrid.tasks import PAPER_TASKS

STEPS = 500_000
LIMIT_MINUTES = 15.0


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--iterations", type=int, default=12, help="iterations to measure")
    arguments = parser.parse_args()
    tasks = {task.name: measure(task, arguments.iterations) for task in PAPER_TASKS}
    slowest = max(row["minutes_for_500000_steps"] for row in tasks.values())
    figures = {"tasks": tasks, "slowest_minutes": slowest, "limit_minutes": LIMIT_MINUTES}
    rows = [{"task": name, **row} for name, row in tasks.items()]
    title = f"GAIL on one core (limit: {LIMIT_MINUTES:g} minutes for {STEPS:,} steps)"
    report(figures, arguments.json, rows_table(rows, title, ",.2f"))


@one_torch_thread()
def measure(task: Task, iterations: int) -> dict[str, float]:
    dataset = collect(task, 32, 0, 0.0, 0, n_jobs=1)
    config = replace(GailConfig(), rewards=("minus-log-1-d",), iterations=iterations, validate_every=iterations)
    clock = Clock()
    originals = adversarial.clone, adversarial.validate, adversarial._Training.iterate
    judge, learn = adversarial._Training._train_discriminator, adversarial.make_ppo
    adversarial.clone = clock.timed("cloning", adversarial.clone)
    adversarial.validate = clock.timed("validation", adversarial.validate)
    adversarial._Training.iterate = clock.timed("iterations", adversarial._Training.iterate)  # type: ignore[method-assign]
    adversarial._Training._train_discriminator = clock.timed("discriminator", judge)  # type: ignore[method-assign]
    adversarial.make_ppo = clock.parts(learn)
    try:
        with tempfile.TemporaryDirectory() as directory:
            clock.timed("all", train_gail)(task, dataset, config, Path(directory))
    finally:
        adversarial.clone, adversarial.validate, adversarial._Training.iterate = originals  # type: ignore[method-assign]
        adversarial._Training._train_discriminator, adversarial.make_ppo = judge, learn  # type: ignore[method-assign]
    # `iterations` holds the last validation, which a long training does far less often.
    iterating = clock.seconds["iterations"] - clock.seconds["validation"] / 2
    rate = config.steps / iterating
    once = clock.seconds["all"] - clock.seconds["iterations"]
    return {
        "steps_per_second": rate,
        "minutes_for_500000_steps": (once + STEPS / rate) / 60,
        "rollout_share": clock.seconds["rollout"] / iterating,
        "ppo_share": clock.seconds["ppo"] / iterating,
        "discriminator_share": clock.seconds["discriminator"] / iterating,
        "seconds_before_the_first_iteration": once,
        "seconds_per_validation": clock.seconds["validation"] / 2,
    }


class Clock:
    """Processor time by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with its time counted."""

        def call(*arguments: Any, **settings: Any) -> Any:
            started = time.process_time()
            try:
                return function(*arguments, **settings)
            finally:
                self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - started

        return call

    def parts(self, make_ppo: Callable[..., Any]) -> Callable[..., Any]:
        """A maker of PPO whose rollouts and updates are counted."""

        def make(*arguments: Any, **settings: Any) -> Any:
            ppo = make_ppo(*arguments, **settings)
            ppo.collect_rollouts = self.timed("rollout", ppo.collect_rollouts)
            ppo.train = self.timed("ppo", ppo.train)
            return ppo

        return make


if __name__ == "__main__":
    main()
