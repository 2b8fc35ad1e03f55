"""The paper's experiment, with the figures of its Table II to put beside ours."""

from dataclasses import replace
from itertools import product

from experiments.method_comparison.protocol import Curve, DataSet, Entry, MethodComparison, Protocol
from wfairl.pages.run_result import PAPER_TASKS, REFERENCE_RETURNS, WFA_IRL_RETURNS

ENTRIES = {
    "wfa-irl": Entry("wfa-irl", "WFA-IRL"),
    "rational": Entry("wfa-irl", "WFA-IRL, rational logic", learner="rational"),
    "no-automaton": Entry("no-automaton", "WFA-IRL without WFA"),
    "bc": Entry("bc", "behavioural cloning"),
    "gail": Entry("gail", "GAIL"),
}

_RETURNS = {
    "bc": {"D1": (0.364, 0.338, 0.284), "D2": (0.253, 0.307, 0.192)},
    "gail": {"D1": (0.483, 0.274, 0.342), "D2": (0.429, 0.185, 0.257)},
    "wfa-irl": WFA_IRL_RETURNS,
    "no-automaton": {"D1": (0.683, 0.652, 0.566), "D2": (0.514, 0.488, 0.390)},
    **{name: {"": figures} for name, figures in REFERENCE_RETURNS.items()},
}
"""Bottom of Table II: the mean return on 64 scenes, for T1, T2, T3."""

PUBLISHED_RETURNS = {
    (entry, task, data): figure
    for entry, of_data in _RETURNS.items()
    for data, figures in of_data.items()
    for task, figure in zip(PAPER_TASKS, figures, strict=True)
}

PUBLISHED_AUTOMATA = {
    **dict(zip(product(PAPER_TASKS, ["D1"]), ((5, 4, 4), (6, 5, 5), (7, 6, 6)), strict=True)),
    **dict(zip(product(PAPER_TASKS, ["D2"]), ((9, 5, 5), (9, 5, 6), (11, 6, 7)), strict=True)),
}
"""Top of Table II: rank, rows, cols."""

FULL = Protocol(
    tasks=PAPER_TASKS,
    data_sets={"D1": DataSet(temperature=0.0), "D2": DataSet(temperature=0.5)},
    entries=ENTRIES,
    curve=Curve((2, 4, 8, 16), tasks=("doorkey",), entries=("wfa-irl", "bc"), data="D2"),
)
"""The paper's protocol with three training seeds."""

SMALL_BUDGETS = {
    "bc": {"networks": 2, "epochs": 60, "validation_scenes": 16},
    "gail": {"pretraining": 40, "iterations": 6, "fresh_scenes": 64, "validation_scenes": 16},
}
"""Settings of networks for a preview that takes minutes."""

QUICK = replace(
    FULL,
    entries={
        "wfa-irl": ENTRIES["wfa-irl"].changed(epochs=10),
        "rational": ENTRIES["rational"].changed(epochs=10),
        "no-automaton": ENTRIES["no-automaton"].changed(epochs=2),
        **{name: ENTRIES[name].changed(**budget) for name, budget in SMALL_BUDGETS.items()},
    },
    seeds=1,
    test_scenes=16,
    curve=Curve((4,), tasks=("doorkey",), entries=("wfa-irl", "bc"), data="D2"),
)

LITTLE_TRAINED = (
    "one training seed, 16 test scenes, and networks that are little trained. These are not the figures of the full"
    " protocol, and a low return says nothing about a method"
)

PAPER = MethodComparison(
    name="paper",
    title="WFA-IRL, reproduced",
    summary="Inverse reinforcement learning of behaviours encoded as weighted automata: the paper's tables and figures",
    full=FULL,
    quick=QUICK,
    quick_note=LITTLE_TRAINED,
    published_by="the paper",
    published_returns=PUBLISHED_RETURNS,
    published_automata=PUBLISHED_AUTOMATA,
)

PAPER_EXPERIMENT = PAPER.experiment
