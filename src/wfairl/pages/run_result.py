"""The result of a run: key figures, a table of policies, and a comparison scene by scene."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import sqrt

from wfairl.core.planning.policies import policy_title
from wfairl.core.runs.evaluation import EVALUATION, Evaluation
from wfairl.core.worlds.task import Task
from wfairl.pages.blocks import Column, KeyFigure, KeyFigures, Table, prose
from wfairl.pages.page import Block, Section
from wfairl.pages.policy_comparison import Estimate, compare_evaluations, regret_of
from wfairl.pages.run_files import RunFiles, command_line, is_learned
from wfairl.pages.text import Code, Text, capitalised, counted, number, percent

NO_NUMBER = "–"  # noqa: RUF001
"""A missing number in a table."""


def result_section(run: RunFiles, task: Task) -> Section:
    """The evaluations of the policies."""
    if not run.evaluation:
        command = Code(command_line("evaluate", run.config.task, "--policy", str(run.directory), "--save"))
        missing = "The policy is not evaluated yet: there is no "
        return Section("Result", (prose((missing, Code(EVALUATION), ". Run ", command, ".")),))
    learned = [name for name in run.evaluation if is_learned(name)]
    blocks: tuple[Block, ...] = (
        *([] if learned else [prose("Only reference policies were evaluated.")]),
        KeyFigures(tuple(_key_figures(run, learned, task))),
        evaluation_table(run.evaluation, learned, task),
        *_comparison(run.evaluation, learned, task),
    )
    return Section("Result", blocks)


def evaluation_table(evaluations: dict[str, Evaluation], learned: Sequence[str], task: Task) -> Table:
    """One row per policy, the learned ones highlighted."""
    has_learned_cost = any(one.mean_learned_cost is not None for one in evaluations.values())
    names = ("return", "± s.e.", "success", "mean steps", "true cost", *(["learned cost"] if has_learned_cost else []))
    columns = (
        Column("policy"),
        *(Column(name, "right") for name in (*names, "episodes")),
        Column("outcomes"),
    )
    rows: list[tuple[Text, ...]] = []
    for name, one in evaluations.items():
        ends = Counter(episode.outcome for episode in one.episodes)
        costs = (one.mean_cost, one.mean_learned_cost) if has_learned_cost else (one.mean_cost,)
        rows.append(
            (
                policy_title(name, task),
                number(one.mean_return),
                NO_NUMBER if (error := _error_of(one)) is None else number(error),
                percent(one.success_rate),
                number(sum(episode.steps for episode in one.episodes) / len(one.episodes), 1),
                *(NO_NUMBER if cost is None else number(cost, 2) for cost in costs),
                number(len(one.episodes)),
                ", ".join(f"{count} {outcome}" for outcome, count in ends.most_common()),
            )
        )
    truth = "is 1 for every control" if task.true_cost is None else "is defined by the task"
    caption = (
        "A return of 1 would be success in zero steps, 0 is failure. Costs are means over successful episodes; the true"
        f" cost {truth}."
    )
    marked = frozenset(i for i, name in enumerate(evaluations) if name in learned)
    return Table(columns, tuple(rows), caption, marked)


def _comparison(evaluations: dict[str, Evaluation], learned: Sequence[str], task: Task) -> tuple[Block, ...]:
    """The first learned policy against each other one that was evaluated in the same scenes."""
    first = evaluations[learned[0]] if learned else None
    if first is None or len(first.episodes) == 1:
        return ()
    rows: list[tuple[Text, ...]] = []
    for name, one in evaluations.items():
        if name != learned[0] and {each.seed for each in one.episodes} == {each.seed for each in first.episodes}:
            pair = compare_evaluations(first, one)
            rows.append((policy_title(name, task), *map(_with_interval, (pair.difference, pair.improvement), (3, 2))))
    caption = (
        f"{capitalised(learned[0])} against each other policy in the same scenes: mean difference in return, and the"
        " probability of a higher return in a scene (ties count half); 95% bootstrap intervals over scenes."
    )
    columns = (Column("against"), Column("difference in return", "right"), Column("probability", "right"))
    return (Table(columns, tuple(rows), caption),) if rows else ()


def _with_interval(estimate: Estimate, digits: int) -> Text:
    value = number(estimate.value + 0.0, digits)
    if estimate.low == estimate.high:
        return value
    return (value, " [", number(estimate.low + 0.0, digits), ", ", number(estimate.high + 0.0, digits), "]")


def _error_of(evaluation: Evaluation) -> float | None:
    """The standard error of the mean return; None for a single episode."""
    return None if len(evaluation.episodes) == 1 else evaluation.standard_error


def _doubt_of_success(evaluation: Evaluation) -> str:
    """The interval of 95 % of a probability of success, by Wilson; nothing where all episodes succeed."""
    n, p, z = len(evaluation.episodes), evaluation.success_rate, 1.96
    middle, half = (p + z**2 / (2 * n)) / (1 + z**2 / n), z * sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return "" if p == 1 else f" ({middle - half:.0%} to {middle + half:.0%})"


def _cost_figure(one: Evaluation, optimal: Evaluation | None) -> KeyFigure:
    """The true cost of a learned policy, and its regret."""
    assert one.mean_cost is not None
    regret = None if optimal is None else regret_of(one, optimal)
    note: Text = "mean of the successes"
    if optimal is not None and optimal.mean_cost is not None and regret is not None:
        note = ("optimal ", number(optimal.mean_cost, 2), f"; {_percents(regret)} more")
    return KeyFigure("True cost", number(one.mean_cost, 2), note, True)


def _percents(estimate: Estimate) -> str:
    value, low, high = (f"{100 * one + 0.0:.1f}" for one in (estimate.value, estimate.low, estimate.high))
    return f"{value} %" if low == high else f"{value} % [{low}, {high}]"


def _key_figures(run: RunFiles, learned: Sequence[str], task: Task) -> Iterator[KeyFigure]:
    """The figures of the learned policy and the optimal one; where costs differ, the true cost before the return."""
    has_costs = bool(learned) and task.true_cost is not None and run.evaluation[learned[0]].mean_cost is not None
    if has_costs:
        yield _cost_figure(run.evaluation[learned[0]], run.evaluation.get("optimal"))
    for name in (*learned[:1], "optimal"):
        if name in run.evaluation:
            one = run.evaluation[name]
            error = _error_of(one)
            note: Text = "return of one episode" if error is None else ("mean return, ± ", number(error))
            is_leading = name in learned and not has_costs
            yield KeyFigure(capitalised(policy_title(name, task)), number(one.mean_return), note, is_leading)
    if learned:
        one = run.evaluation[learned[0]]
        succeeded = sum(episode.success for episode in one.episodes)
        note = f"{succeeded} of {counted(len(one.episodes), 'new scene')}{_doubt_of_success(one)}"
        optimal = run.evaluation.get("optimal")
        if optimal is not None and optimal.success_rate < 1:
            note += f"; the optimal policy {optimal.success_rate:.0%}{_doubt_of_success(optimal)}"
        yield KeyFigure("Success", percent(one.success_rate), note)
    if run.task_model is not None:
        summary = run.task_model.summary
        how: Text = f"states, {run.task_model.learner}"
        rank: Text = how if summary.rank is None else ("states, rank ", number(summary.rank))
        yield KeyFigure("Automaton", number(summary.states), rank)
