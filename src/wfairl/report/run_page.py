"""The page of a run: how good it is, the policy at work, what was learned, and how all of it was made.

    write_run_report(Path("runs/doorkey"))      writes runs/doorkey/report.html

Every number is one of the run's files, with all of its digits in the page. Without an evaluation or curves, a sentence
says so in their place; a run that has not finished, or whose task nobody has registered, has no page at all.
"""

import shlex
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wfairl import __version__
from wfairl.automata.layout import TIMES
from wfairl.automata.task_model import TaskModel
from wfairl.automata.words import format_label
from wfairl.demonstrations import Dataset
from wfairl.errors import BadInputError
from wfairl.experiment import EVALUATION
from wfairl.learning.run_directory import NO_AUTOMATON
from wfairl.methods import METHODS
from wfairl.report.blocks import AutomatonDrawing, Facts, KeyFigure, KeyFigures, prose
from wfairl.report.charts import Interval, IntervalChart
from wfairl.report.figures.changes import EXPLANATION
from wfairl.report.page import Block, Page, Section, check_page_file, write_page
from wfairl.report.run_episodes import DEFAULT_SCENES, episodes_section
from wfairl.report.run_files import RunFiles, is_learned, read_run_files
from wfairl.report.run_making import making_section
from wfairl.report.run_training import training_section
from wfairl.report.tables import Column, Table
from wfairl.report.text import Chips, Code, Inline, Number, Text, brief_number, counted, number, percent, with_error
from wfairl.worlds.registry import find_task
from wfairl.worlds.task import Task

REPORT = "report.html"

SHOWN_WORDS = 8


def write_run_report(
    directory: Path, output: Path | None = None, scenes: int = DEFAULT_SCENES, n_jobs: int = 2
) -> Path:
    """Write the page of a run.

    Args:
        directory: where the run is.
        output: the file to write; `report.html` in the run's directory if None.
        scenes: how many scenes to show each policy in.
        n_jobs: episodes to record at once; it changes nothing in the page.

    Returns:
        The file that was written.

    Raises:
        BadInputError: it is no finished run, its task is not known here, or the file cannot be written.
    """
    path = Path(directory) / REPORT if output is None else Path(output)
    check_page_file(path)
    write_page(run_page(read_run_files(directory), scenes, n_jobs), path)
    return path


def run_page(run: RunFiles, scenes: int = DEFAULT_SCENES, n_jobs: int = 2, made: datetime | None = None) -> Page:
    """The page of a run; `made` is when, now if None."""
    made = datetime.now(UTC) if made is None else made
    task = task_of(run)
    sections = (
        result_section(run),
        episodes_section(run, task, scenes, n_jobs),
        *([task_section(run, run.task_model)] if run.task_model is not None else []),
        training_section(run, task),
        making_section(run),
    )
    return Page(
        title=run.task,
        subtitle=f"{_capital(task.summary)}. Learned by {run.method}: {METHODS[run.method].summary}.",
        sections=sections,
        kind="wfairl · a run",
        footer=f"Made by wfairl {__version__} on {made:%d %B %Y}. This page is one file and loads nothing else.",
    )


def task_of(run: RunFiles) -> Task:
    """The task of a run.

    Raises:
        BadInputError: it is not known in this process.
    """
    try:
        return find_task(run.task)
    except BadInputError as error:
        raise BadInputError(
            f"{run.directory}: {error}. Write its page with the script that registers the task and then calls `wfairl`"
        ) from None


def result_section(run: RunFiles) -> Section:
    """How well the policies did."""
    evaluations = run.evaluation
    if not evaluations:
        command = Code(shlex.join(["wfairl", "evaluate", run.task, "--policy", str(run.directory), "--save"]))
        missing = "The policy has not been evaluated here: there is no "
        return Section("Result", (prose((missing, Code(EVALUATION), ". ", command, " does.")),))
    learned = [name for name in evaluations if is_learned(name)]
    blocks: tuple[Block, ...] = (
        prose(_headline(evaluations, learned)),
        KeyFigures(_key_figures(run, evaluations, learned)),
        IntervalChart(
            tuple(
                Interval(name, one["mean_return"], one["standard_error"], name in learned)
                for name, one in evaluations.items()
            ),
            caption="Mean return with one standard error to both sides; 1 would be success without a single step, "
            "0 is failure.",
        ),
        evaluation_table(evaluations, learned),
    )
    return Section("Result", blocks)


def evaluation_table(evaluations: dict[str, dict[str, Any]], learned: Sequence[str]) -> Table:
    """One row a policy, the learned ones highlighted."""
    columns = (
        Column("policy"),
        Column("return", "right"),
        Column("± s.e.", "right"),
        Column("success", "right"),
        Column("mean steps", "right"),
        Column("episodes", "right"),
        Column("how they ended"),
    )
    rows: list[tuple[Text, ...]] = []
    for name, one in evaluations.items():
        episodes = one["episodes"]
        ends = Counter(episode["outcome"] for episode in episodes)
        steps = sum(episode["steps"] for episode in episodes) / len(episodes)
        rows.append(
            (
                name,
                number(one["mean_return"]),
                number(one["standard_error"]),
                percent(one["success_rate"]),
                number(steps, 1),
                number(len(episodes)),
                ", ".join(f"{count} {outcome}" for outcome, count in ends.most_common()),
            )
        )
    marked = frozenset(i for i, name in enumerate(evaluations) if name in learned)
    return Table(columns, tuple(rows), highlighted_rows=marked)


def _headline(evaluations: dict[str, dict[str, Any]], learned: Sequence[str]) -> Text:
    """One sentence: the first learned policy beside the references that there are."""
    if not learned:
        return "Only reference policies were evaluated."
    first = evaluations[learned[0]]
    scenes = counted(len(first["episodes"]), "scene")
    others: list[Inline] = []
    for name in ("optimal", "expert", "random"):
        if name in evaluations:
            start = "; " if others else ". For comparison: "
            others += [f"{start}{name} ", number(evaluations[name]["mean_return"])]
    return (
        f"On {scenes} that it has never seen, the learned policy "
        f"({learned[0].partition(', ')[2] or 'as trained'}) succeeds in ",
        percent(first["success_rate"]),
        " and returns ",
        *with_error(first["mean_return"], first["standard_error"]),
        *others,
        ".",
    )


def _key_figures(
    run: RunFiles, evaluations: dict[str, dict[str, Any]], learned: Sequence[str]
) -> tuple[KeyFigure, ...]:
    figures = []
    for name in (*learned[:1], "optimal"):
        if name in evaluations:
            one = evaluations[name]
            error: Text = ("mean return, ± ", number(one["standard_error"]))
            figures.append(KeyFigure(_capital(name), number(one["mean_return"]), error, name in learned))
    if learned:
        one = evaluations[learned[0]]
        succeeded = sum(bool(episode["success"]) for episode in one["episodes"])
        note = f"{succeeded} of {counted(len(one['episodes']), 'new scene')}"
        figures.append(KeyFigure("Success", percent(one["success_rate"]), note))
    if run.task_model is not None:
        model = run.task_model.summary
        figures.append(KeyFigure("Automaton", (number(model.states), " states"), ("rank ", number(model.rank))))
    return tuple(figures)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def task_section(run: RunFiles, model: TaskModel) -> Section:
    """What was learned of the task's logic."""
    title = "The task it plans with" if run.method == NO_AUTOMATON else "The task it learned"
    caption = (
        "State 0 is the start, a double ring accepts. An edge is taken when what is true changes, and named by the "
        f"change {EXPLANATION}; {TIMES} counts the successful demonstrations that took it."
    )
    drawing: tuple[Block, ...] = (
        (AutomatonDrawing(model.finite, model.edge_counts, caption),) if model.summary.closed else ()
    )
    return Section(title, (*drawing, _task_facts(model), *_demonstrated(run.dataset, model)))


def _task_facts(model: TaskModel) -> Facts:
    summary = model.summary
    return Facts(
        (
            ("Rank / rows / cols", _joined(number(summary.rank), number(summary.rows), number(summary.cols))),
            ("States", (number(summary.states), " live" if summary.closed else ", and more that were not explored")),
            ("Words learned from", (number(summary.words), ", of which ", number(summary.successes), " successes")),
            ("Accepts from a value of", brief_number(model.threshold)),
            ("Loss on these words", brief_number(summary.loss)),
            ("Deviation of the finite automaton", brief_number(summary.deviation)),
            ("Alphabet", Chips(tuple(format_label(label) for label in model.automaton.alphabet))),
        )
    )


def _joined(*numbers: Number) -> Text:
    first, *rest = numbers
    return (first, *(part for one in rest for part in (" / ", one)))


def _demonstrated(dataset: Dataset | None, model: TaskModel) -> tuple[Block, ...]:
    """The words of the successes, and what the automaton says of them."""
    if dataset is None:
        return ()
    scored = list(zip(dataset.words, dataset.scores, strict=True))
    successes = Counter(word for word, score in scored if score >= model.threshold).most_common()
    failures = [word for word, score in scored if score < model.threshold]
    verdicts = model.judge_all([word for word, _ in successes])
    rows: list[tuple[Text, ...]] = [
        (Chips(tuple(map(format_label, word))), number(count), "yes" if verdict.accepted else "no")
        for (word, count), verdict in zip(successes[:SHOWN_WORDS], verdicts, strict=False)
    ]
    kept = sum(count for (_, count), verdict in zip(successes, verdicts, strict=True) if verdict.accepted)
    wrong = sum(verdict.accepted for verdict in model.judge_all(failures))
    caption = (
        f"The words of {counted(sum(count for _, count in successes), 'successful demonstration')}, of which the"
        f" automaton accepts {kept}; it accepts {wrong} of {counted(len(failures), 'failure')}."
    )
    if len(rows) < len(successes):
        caption += f" The {len(rows)} most frequent of {len(successes)}."
    columns = (Column("word"), Column("times", "right"), Column("accepted", "center"))
    return (Table(columns, tuple(rows), caption),) if rows else ()
