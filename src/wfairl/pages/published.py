"""The figures of the paper's Table II, to put beside those of a run that repeats it."""

from wfairl.core.demonstrations.learners import SPECTRAL
from wfairl.pages.run_files import RunFiles
from wfairl.runs.methods import learned_name

PAPER_TASKS = ("doorkey", "multiroom", "blocked-unlock-pickup")
"""T1, T2 and T3."""

DATA_SETS = {0.0: "D1", 0.5: "D2"}
"""By the temperature of the demonstrator."""

REFERENCE_RETURNS = {
    "optimal": (0.798, 0.776, 0.734),
    "expert": (0.718, 0.668, 0.639),
    "random": (0.000, 0.000, 0.000),
}
"""The mean return of each policy on 64 scenes of each task. The expert is the one at temperature 0.5."""

WFA_IRL_RETURNS = {"D1": (0.797, 0.776, 0.733), "D2": (0.708, 0.642, 0.602)}
"""The same of the paper's method, which acts as its demonstrators do: greedily or at temperature 0.5."""


def published_returns(run: RunFiles) -> dict[str, float]:
    """What the paper has for each policy of a run; empty unless the run is its method on its tasks."""
    temperature, model = run.config.temperature, run.task_model
    if temperature not in DATA_SETS or model is None or model.learner != SPECTRAL or run.config.task not in PAPER_TASKS:
        return {}
    acting, *_ = run.method.acting_temperatures(temperature)
    returns = REFERENCE_RETURNS | {learned_name(acting): WFA_IRL_RETURNS[DATA_SETS[temperature]]}
    return {name: of_tasks[PAPER_TASKS.index(run.config.task)] for name, of_tasks in returns.items()}
