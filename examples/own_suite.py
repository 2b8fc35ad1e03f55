"""Your own suite: tasks x data sets x methods, computed, compared and shown like the paper's.

    wfairl --tasks examples/own_suite.py reproduce --suite corridor -o runs/corridor

Each cell runs in its own process; an interrupted suite continues when you start it again.
"""

from pathlib import Path

from own_world import TASK

from experiments.suites import DataSet, Entry, Protocol, Suite, register_suite
from wfairl import register_task

ENTRIES = {
    "wfa-irl": Entry("wfa-irl", "WFA-IRL", settings={"epochs": 5}),
    "no-automaton": Entry("no-automaton", "without the automaton", settings={"epochs": 5}),
}
WHOLE = Protocol(
    suite="corridor",
    tasks=("corridor",),
    data_sets=("greedy", "noisy"),
    methods=tuple(ENTRIES),
    seeds=2,
    successes=8,
    failures=16,
    test_scenes=16,
)
QUICK = Protocol(
    suite="corridor",
    tasks=("corridor",),
    data_sets=("noisy",),
    methods=tuple(ENTRIES),
    seeds=1,
    successes=8,
    failures=16,
    test_scenes=4,
)
register_task(TASK)
SUITE = register_suite(
    Suite(
        name="corridor",
        title="What the automaton is worth in a corridor",
        summary="fetch the parcel and bring it home, with and without knowing that there is a parcel",
        tasks=("corridor",),
        data_sets={"greedy": DataSet(temperature=0.0), "noisy": DataSet(temperature=0.5)},
        entries=ENTRIES,
        full=WHOLE,
        quick=QUICK,
    )
)

if __name__ == "__main__":
    from experiments.suites import reproduce

    print(reproduce(SUITE.quick, Path("runs/corridor"), n_jobs=1).to_markdown())
