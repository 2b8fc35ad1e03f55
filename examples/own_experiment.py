"""Your own comparison of methods: tasks x data sets x methods, computed, compared and shown like the paper's.

    python -m experiments corridor --load examples/own_experiment.py

Each cell runs in its own process; an interrupted experiment continues when you start it again.
"""

from dataclasses import replace
from pathlib import Path

from own_world import TASK

from experiments.harness import Options, register_experiment, run_experiment
from experiments.method_comparison.protocol import DataSet, Entry, MethodComparison, Protocol
from wfairl import register_task

register_task(TASK)

WHOLE = Protocol(
    tasks=("corridor",),
    data_sets={"greedy": DataSet(temperature=0.0), "noisy": DataSet(temperature=0.5)},
    entries={
        "wfa-irl": Entry("wfa-irl", "WFA-IRL", settings={"epochs": 5}),
        "no-automaton": Entry("no-automaton", "without the automaton", settings={"epochs": 5}),
    },
    seeds=2,
    successes=8,
    failures=16,
    test_scenes=16,
)

COMPARISON = MethodComparison(
    name="corridor",
    title="What the automaton is worth in a corridor",
    summary="Fetch the parcel and bring it home, with and without knowing that there is a parcel",
    full=WHOLE,
    quick=replace(WHOLE, data_sets={"noisy": DataSet(temperature=0.5)}, seeds=1, test_scenes=4),
)

EXPERIMENT = register_experiment(COMPARISON.experiment)

if __name__ == "__main__":
    print(run_experiment(EXPERIMENT, Options(quick=True), Path("runs/corridor"), n_jobs=1).to_markdown())
