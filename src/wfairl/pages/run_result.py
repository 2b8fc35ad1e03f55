"""The result of a run: a table of policies."""

from collections import Counter

from wfairl.pages.blocks import Column, PageTable, prose
from wfairl.pages.page import Section
from wfairl.pages.published import published_returns
from wfairl.pages.run_files import RunFiles, command_line
from wfairl.pages.text import Code, Text, number, percent
from wfairl.runs.evaluation import EVALUATION, policy_title

NO_NUMBER = "–"  # noqa: RUF001
"""A missing number in a table."""


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
    has_learned_cost = any(one.mean_learned_cost is not None for one in run.evaluation.values())
    published = published_returns(run)
    beside = ["the paper"] if published else []
    names = (
        "return",
        "± s.e.",
        *beside,
        "success",
        "mean steps",
        "true cost",
        *(["learned cost"] if has_learned_cost else []),
    )
    columns = (Column("policy"), *(Column(name, "right") for name in (*names, "episodes")), Column("outcomes"))
    rows: list[tuple[Text, ...]] = []
    for name, one in run.evaluation.items():
        ends = Counter(episode.outcome for episode in one.episodes)
        costs = (one.mean_cost, one.mean_learned_cost) if has_learned_cost else (one.mean_cost,)
        rows.append(
            (
                policy_title(name, run.task),
                number(one.mean_return),
                NO_NUMBER if len(one.episodes) == 1 else number(one.standard_error),
                *([number(published[name]) if name in published else NO_NUMBER] if published else []),
                percent(one.success_rate),
                number(sum(episode.steps for episode in one.episodes) / len(one.episodes), 1),
                *(NO_NUMBER if cost is None else number(cost, 2) for cost in costs),
                number(len(one.episodes)),
                ", ".join(f"{count} {outcome}" for outcome, count in ends.most_common()),
            )
        )
    truth = "is 1 for every control" if run.task.true_cost is None else "is defined by the task"
    caption = (
        "A return of 1 would be success in zero steps, 0 is failure. Costs are means over successful episodes; the true"
        f" cost {truth}."
    ) + (" The paper: its Table II, on 64 scenes of its own." if published else "")
    return PageTable(
        columns, tuple(rows), caption, frozenset(i for i, name in enumerate(run.evaluation) if name in run.learned)
    )
