"""The result of a run: a table of policies, beside the figures of the paper's Table II where the run repeats it."""

from wfairl.core.demonstrations.learners import SPECTRAL
from wfairl.pages.blocks import Column, PageTable, prose
from wfairl.pages.page import Section
from wfairl.pages.run_files import RunFiles, command_line
from wfairl.pages.text import Code, Text, number, percent
from wfairl.runs.evaluation import EVALUATION, policy_title
from wfairl.runs.methods import learned_name

NO_NUMBER = "–"  # noqa: RUF001
"""A missing number in a table."""

PAPER_TASKS = ("doorkey", "multiroom", "blocked-unlock-pickup")
"""T1, T2 and T3."""

DATA_SETS = {0.0: "D1", 0.5: "D2"}
"""By the temperature of the demonstrator."""

REFERENCE_RETURNS = {"optimal": (0.798, 0.776, 0.734), "expert": (0.718, 0.668, 0.639), "random": (0.000, 0.000, 0.000)}
"""The mean return of each policy on 64 scenes of each task. The expert is the one at temperature 0.5."""

WFA_IRL_RETURNS = {"D1": (0.797, 0.776, 0.733), "D2": (0.708, 0.642, 0.602)}
"""The same of the paper's method, which acts as its demonstrators do: greedily or at temperature 0.5."""


def result_section(run: RunFiles) -> Section:
    """The evaluations of the policies."""
    if not run.evaluation:
        command = Code(command_line("evaluate", run.config.task, "--policy", str(run.directory), "--save"))
        missing = "The policy is not evaluated yet: there is no "
        return Section("Result", (prose((missing, Code(EVALUATION), ". Run ", command, ".")),))
    note = () if run.learned else (prose("Only reference policies were evaluated."),)
    return Section("Result", (*note, evaluation_table(run)))


def evaluation_table(run: RunFiles) -> PageTable:
    """One row per policy, the learned ones highlighted."""
    names, evaluations, published = list(run.evaluation), list(run.evaluation.values()), published_returns(run)
    cells: dict[str, list[Text]] = {
        "policy": [policy_title(name, run.task) for name in names],
        "return": [number(one.mean_return) for one in evaluations],
        "± s.e.": [_number(one.standard_error if len(one.episodes) > 1 else None) for one in evaluations],
        "the paper": [_number(published.get(name)) for name in names],
        "success": [percent(one.success_rate) for one in evaluations],
        "mean steps": [number(sum(each.steps for each in one.episodes) / len(one.episodes), 1) for one in evaluations],
        "true cost": [_number(one.mean_cost, 2) for one in evaluations],
        "learned cost": [_number(one.mean_learned_cost, 2) for one in evaluations],
        "episodes": [number(len(one.episodes)) for one in evaluations],
        "outcomes": [", ".join(f"{count} {end}" for end, count in one.outcomes.most_common()) for one in evaluations],
    }
    for name in ("the paper", "learned cost"):
        if set(cells[name]) == {NO_NUMBER}:
            del cells[name]
    columns = tuple(Column(name, "left" if name in ("policy", "outcomes") else "right") for name in cells)
    truth = "is 1 for every control" if run.task.true_cost is None else "is defined by the task"
    caption = (
        "A return of 1 would be success in zero steps, 0 is failure. Costs are means over successful episodes; the true"
        f" cost {truth}."
    ) + (" The paper: its Table II, on 64 scenes of its own." if published else "")
    learned = frozenset(i for i, name in enumerate(names) if name in run.learned)
    return PageTable(columns, tuple(zip(*cells.values(), strict=True)), caption, learned)


def _number(value: float | None, digits: int = 3) -> Text:
    return NO_NUMBER if value is None else number(value, digits)


def published_returns(run: RunFiles) -> dict[str, float]:
    """What the paper has for each policy of a run; empty unless the run is its method on its tasks."""
    temperature, model = run.config.temperature, run.task_model
    if temperature not in DATA_SETS or model is None or model.learner != SPECTRAL or run.config.task not in PAPER_TASKS:
        return {}
    acting, *_ = run.method.acting_temperatures(temperature)
    returns = REFERENCE_RETURNS | {learned_name(acting): WFA_IRL_RETURNS[DATA_SETS[temperature]]}
    return {name: of_tasks[PAPER_TASKS.index(run.config.task)] for name, of_tasks in returns.items()}
