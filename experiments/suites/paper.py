"""The paper's experiments as a suite, with the figures of its Table II to put beside ours."""

from dataclasses import replace

from experiments.suites.suite import DataSet, Entry, Protocol, Suite

TASKS = ("doorkey", "multiroom", "blocked-unlock-pickup")
"""T1, T2 and T3 of the paper."""

ENTRIES = {
    "wfa-irl": Entry("wfa-irl", "WFA-IRL"),
    "rational": Entry("wfa-irl", "WFA-IRL, rational logic", learner="rational"),
    "no-automaton": Entry("no-automaton", "WFA-IRL without WFA"),
    "bc": Entry("bc", "behavioural cloning"),
    "gail": Entry(
        "gail", "GAIL", variants={"log D": {"rewards": ["log-d"]}, "-log(1 - D)": {"rewards": ["minus-log-1-d"]}}
    ),
}

_RETURNS = {
    "bc": {"D1": (0.364, 0.338, 0.284), "D2": (0.253, 0.307, 0.192)},
    "gail": {"D1": (0.483, 0.274, 0.342), "D2": (0.429, 0.185, 0.257)},
    "wfa-irl": {"D1": (0.797, 0.776, 0.733), "D2": (0.708, 0.642, 0.602)},
    "no-automaton": {"D1": (0.683, 0.652, 0.566), "D2": (0.514, 0.488, 0.390)},
    "optimal": {"": (0.798, 0.776, 0.734)},
    "expert": {"": (0.718, 0.668, 0.639)},
    "random": {"": (0.000, 0.000, 0.000)},
}
"""Bottom of Table II: the mean return on 64 scenes, for T1, T2, T3. The expert is the one at temperature 0.5."""

_AUTOMATA = {
    "D1": ((5, 4, 4), (6, 5, 5), (7, 6, 6)),
    "D2": ((9, 5, 5), (9, 5, 6), (11, 6, 7)),
}
"""Top of Table II: rank, rows, cols, for T1, T2, T3."""


def paper_return(entry: str, task: str, data: str) -> float | None:
    """The paper's mean return, None where it has none; see `Published`."""
    figures = _RETURNS.get(entry, {}).get(data)
    return figures[TASKS.index(task)] if figures is not None and task in TASKS else None


def paper_automaton(task: str, data: str) -> tuple[int, int, int] | None:
    """The paper's rank, rows and cols, None for a task that it does not have."""
    return _AUTOMATA[data][TASKS.index(task)] if task in TASKS and data in _AUTOMATA else None


FULL = Protocol(
    suite="paper",
    tasks=TASKS,
    data_sets=("D1", "D2"),
    methods=tuple(ENTRIES),
    fewer=(2, 4, 8, 16),
    fewer_tasks=("doorkey",),
    fewer_methods=("wfa-irl", "bc"),
    fewer_data="D2",
)
"""The paper's protocol with three training seeds."""

SMALL_BUDGETS = {
    "bc": {"networks": 2, "epochs": 60, "validation_scenes": 16},
    "gail": {"pretraining": 40, "iterations": 6, "fresh_scenes": 64, "validation_scenes": 16},
}
"""Settings of networks for a preview that takes minutes."""

QUICK = replace(
    FULL,
    seeds=1,
    test_scenes=16,
    fewer=(4,),
    settings={
        "wfa-irl": {"epochs": 10},
        "rational": {"epochs": 10},
        "no-automaton": {"epochs": 2},
        **SMALL_BUDGETS,
    },
)

PAPER = Suite(
    name="paper",
    title="WFA-IRL, reproduced",
    summary="Inverse reinforcement learning of behaviours encoded as weighted automata: the paper's tables and figures",
    tasks=TASKS,
    data_sets={"D1": DataSet(temperature=0.0), "D2": DataSet(temperature=0.5)},
    entries=ENTRIES,
    full=FULL,
    quick=QUICK,
    source="the paper",
    published=paper_return,
    published_automaton=paper_automaton,
)
