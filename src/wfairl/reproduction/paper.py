"""The figures of the paper's Table II, to put beside ours."""

TASKS = {"doorkey": "T1", "multiroom": "T2", "blocked-unlock-pickup": "T3"}
"""What the paper calls the tasks."""

DATA_SETS = {"D1": 0.0, "D2": 0.5}
"""The temperature of the expert in each data set."""

METHODS = {
    "wfa-irl": "WFA-IRL",
    "no-automaton": "WFA-IRL without WFA",
    "bc": "behavioural cloning",
    "gail": "GAIL",
}
"""What the paper compares, in our order, by the name that `wfairl train --method` has for it."""

REFERENCES = ("optimal", "expert", "random")

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


def paper_return(method: str, task: str, data: str) -> float | None:
    """The paper's mean return of a method, None where it has none.

    Args:
        method: a method, or a reference policy.
        task: the name of the task.
        data: D1 or D2; nothing for a reference policy.
    """
    figures = _RETURNS.get(method, {}).get(data)
    return figures[_column(task)] if figures is not None and task in TASKS else None


def paper_automaton(task: str, data: str) -> tuple[int, int, int] | None:
    """The paper's rank, rows and cols, None for a task that it does not have."""
    return _AUTOMATA[data][_column(task)] if task in TASKS and data in _AUTOMATA else None


def _column(task: str) -> int:
    return tuple(TASKS).index(task)
