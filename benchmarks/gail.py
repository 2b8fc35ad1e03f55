"""GAIL's speed: environment steps per second on each task, the shares of its parts, and the time of 500,000 steps.

    python benchmarks/gail.py [--json] [--quick] [--iterations 12]

A training with the default settings is stopped after a few iterations, the first of which are slower than later ones
(an untrained generator visits more distinct states). Times are of the processor, on one thread. The limit is 500,000
steps within 15 minutes on two cores; GAIL uses one.
"""

from functools import partial
from typing import Any

from reporting import Clock, make_parser, report

from experiments.baselines.gail.train import AdversarialTraining, GailConfig, prepare_data
from wfairl.core.worlds import Task
from wfairl.minigrid.tasks import PAPER_TASKS
from wfairl.networks.epochs import one_torch_thread
from wfairl.runs.collection import collect

STEPS = 500_000
LIMIT_MINUTES = 15.0


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--iterations", type=int, default=12, help="iterations to measure")
    arguments = parser.parse_args()
    tasks, iterations = (PAPER_TASKS[:1], 2) if arguments.quick else (PAPER_TASKS, arguments.iterations)
    title = f"GAIL on one core (limit: {LIMIT_MINUTES:g} minutes for {STEPS:,} steps)"
    report({title: [measure(task, iterations) for task in tasks]}, arguments.json)


@one_torch_thread()
def measure(task: Task, iterations: int) -> dict[str, Any]:
    clock = Clock()
    config = GailConfig(rewards=("minus-log-1-d",), iterations=iterations, validate_every=iterations)
    dataset = collect(task, 32, 0, 0.0, 0, n_jobs=1)
    data = clock.time("start", prepare_data, task, dataset, config, 1)
    training = clock.time("start", AdversarialTraining, data, config.rewards[0], config)
    clock.time("start", training.begin)
    ppo = training._ppo
    ppo.collect_rollouts = partial(clock.time, "rollout", ppo.collect_rollouts)
    ppo.train = partial(clock.time, "ppo", ppo.train)
    training._train_discriminator = partial(clock.time, "discriminator", training._train_discriminator)  # type: ignore[method-assign]
    training._validate = partial(clock.time, "validation", training._validate)  # type: ignore[method-assign]
    for iteration in range(iterations):
        clock.time("iterations", training.iterate, iteration)
    seconds = clock.processor
    iterating = seconds["iterations"] - seconds["validation"]  # a long training validates far less often
    rate = iterations * config.environments * config.rollout / iterating
    return {
        "task": task.name,
        "steps per second": rate,
        f"minutes for {STEPS:,} steps": (seconds["start"] + STEPS / rate) / 60,
        **{f"{name} share": seconds[name] / iterating for name in ("rollout", "ppo", "discriminator")},
        "seconds before the first iteration": seconds["start"],
        "seconds per validation": seconds["validation"],
    }


if __name__ == "__main__":
    main()
