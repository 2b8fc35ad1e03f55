"""Tasks where the logic and the cost matter: the world enforces neither, only demonstrations show them.

    offices         one place before another, and decorations that end the task in failure
    ordered-pickup  three balls in an order that only the demonstrations show
    errand          a corner before the goal
    terrain         floor with a hidden cost per colour; what was learned on maps of 8x8 cells is tested on maps of
                    16x16 cells too

An agent that learned neither reaches the goal and breaks the rule, or pays too much. All planners act greedily: the
question is what they learned, not how noisy the demonstrator was.
"""

from dataclasses import replace

from experiments.method_comparison.paper import LITTLE_TRAINED, SMALL_BUDGETS
from experiments.method_comparison.protocol import Curve, DataSet, Entry, MethodComparison, Protocol
from wfairl.runs.methods import GREEDY

OFFICES = tuple(
    f"{kind}-{name}" for kind in ("office", "random-office") for name in ("coffee", "mail", "coffee-mail", "patrol")
)

GRIDS = ("ordered-pickup", "errand", "terrain", "doorkey-terrain")

TASKS = (*OFFICES, *GRIDS)

TRANSFERS = {"terrain": ("terrain-16",), "doorkey-terrain": ("doorkey-terrain-16",)}

DATA_SETS = {
    "D1": DataSet(temperature=0.0),
    "D2": DataSet(temperature=0.5),
    "S1": DataSet(temperature=0.0, failures=0),
    "S2": DataSet(temperature=0.5, failures=0),
}
"""As the paper's, and the same successes without failures."""

WITH_FAILURES = ("D1", "D2")

ENTRIES = {
    "rational": Entry("wfa-irl", "rational", "rational", acts=GREEDY, transferred=WITH_FAILURES),
    "spectral": Entry("wfa-irl", "spectral", "spectral", acts=GREEDY),
    # These two learn the same from successes alone.
    "no-automaton": Entry("no-automaton", "no automaton", data_sets=WITH_FAILURES, acts=GREEDY),
    "unit-cost": Entry(
        "wfa-irl",
        "rational, unit cost",
        "rational",
        {"epochs": 0},
        data_sets=WITH_FAILURES,
        acts=GREEDY,
        transferred=("D2",),
    ),
    # These are expensive, do not use failures, and see maps of MiniGrid.
    "bc": Entry("bc", "behavioural cloning", data_sets=("D2",), tasks=GRIDS),
    "gail": Entry("gail", "GAIL", data_sets=("D2",), tasks=GRIDS),
}

FULL = Protocol(
    tasks=TASKS,
    data_sets=DATA_SETS,
    entries=ENTRIES,
    curve=Curve((1, 2, 4, 8, 16), tasks=TASKS, entries=("rational", "spectral"), data="S2"),
    transfers=TRANSFERS,
)

QUICK = replace(
    FULL,
    tasks=("office-coffee", "random-office-coffee-mail", "ordered-pickup", "errand", "terrain"),
    data_sets={name: DATA_SETS[name] for name in ("D2", "S2")},
    entries={**ENTRIES, **{name: ENTRIES[name].changed(**budget) for name, budget in SMALL_BUDGETS.items()}},
    seeds=1,
    test_scenes=16,
    curve=Curve((4,), ("random-office-coffee-mail", "terrain"), ("rational", "spectral"), data="S2"),
)

LOGIC_AND_COST = MethodComparison(
    name="logic-and-cost",
    title="Where the logic and the cost matter",
    summary="Tasks whose order nothing but demonstrations tells, and floors of hidden cost",
    full=FULL,
    quick=QUICK,
    quick_note=f"five tasks, {LITTLE_TRAINED}",
    measures=("kept", "regret"),
)

LOGIC_AND_COST_EXPERIMENT = LOGIC_AND_COST.experiment
