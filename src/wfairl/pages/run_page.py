"""The page of a run: what was learned, an episode to watch, how well it does, and how it was made.

    write_run_report(Path("runs/doorkey"))      writes runs/doorkey/report.html

Every number comes from the run's files, with all of its digits in the page. If an evaluation, curves or a renderer is
missing, a sentence says so; a run that is unfinished, or whose task is unknown, has no page.
"""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from wfairl import __version__
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import format_label
from wfairl.core.demonstrations import Dataset
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.task_registry import find_task
from wfairl.pages.blocks import Column, Facts, Table
from wfairl.pages.page import Block, Page, Section, check_page_file, write_page
from wfairl.pages.run_episodes import DEFAULT_SCENES, episodes_section
from wfairl.pages.run_files import RunFiles, read_run_files
from wfairl.pages.run_learned import learned_section
from wfairl.pages.run_reproduction import reproduction_section
from wfairl.pages.run_result import result_section
from wfairl.pages.run_training import training_section
from wfairl.pages.text import Chips, Number, Text, brief_number, capitalised, counted, number

REPORT = "report.html"

SHOWN_WORDS, SHOWN_ALTERNATIVES = 8, 5


def write_run_report(
    directory: Path, output: Path | None = None, scenes: int = DEFAULT_SCENES, n_jobs: int = 2
) -> Path:
    """Write the page of a run.

    Args:
        output: the file to write; `report.html` in the run's directory if None.
        scenes: how many scenes to run each policy in again.

    Returns:
        The file that was written.

    Raises:
        BadInputError: the run is unfinished, its task is unknown, or the file cannot be written.
    """
    path = Path(directory) / REPORT if output is None else Path(output)
    check_page_file(path)
    write_page(run_page(read_run_files(directory), scenes, n_jobs), path)
    return path


def run_page(run: RunFiles, scenes: int = DEFAULT_SCENES, n_jobs: int = 2, date: datetime | None = None) -> Page:
    """The page of a run; `date` is that of the page, now if None."""
    date = datetime.now(UTC) if date is None else date
    task = task_of(run)
    sections = (
        *([] if run.task_model is None else [learned_section(run, task, run.task_model)]),
        episodes_section(run, task, scenes, n_jobs),
        result_section(run, task),
        *([task_section(run, run.task_model)] if run.task_model is not None else []),
        training_section(run, task),
        reproduction_section(run, task),
    )
    return Page(
        title=task.name,
        subtitle=f"{capitalised(task.summary)}. Learned by {run.method.title}: {run.method.summary}.",
        sections=sections,
        kind="wfairl · a run",
        footer=f"Made by wfairl {__version__} on {date:%d %B %Y}. This page is one file and loads nothing else.",
    )


def task_of(run: RunFiles) -> Task:
    """The task of a run. Raises `BadInputError` if it is unknown in this process."""
    try:
        return find_task(run.config.task)
    except BadInputError as error:
        raise BadInputError(f"{run.directory}: {error}") from None


def task_section(run: RunFiles, model: TaskModel) -> Section:
    """How the automaton was learned, its certainty, and the words that it was learned from."""
    title = "How the rule was learned" if run.method.needs_task_model else "The rule it plans with"
    return Section(title, (_task_facts(model), *_certainty(model), *_demonstrated(run.dataset, model)))


def _task_facts(model: TaskModel) -> Facts:
    summary = model.summary
    sizes = [number(size) for size in (summary.rank, summary.rows, summary.cols) if size is not None]
    deviation = [] if summary.deviation is None else [("Deviation of the finite automaton", summary.deviation)]
    return Facts(
        (
            *([("Rank / rows / cols", _joined(*sizes))] if sizes else []),
            ("States", (number(summary.states), " live" if summary.closed else ", and more that are not explored")),
            ("Training words", (number(summary.words), ", of which ", number(summary.successes), " succeed")),
            ("Acceptance threshold", brief_number(model.threshold)),
            ("Loss on training words", brief_number(summary.loss)),
            *((name, brief_number(value)) for name, value in deviation),
            ("Alphabet", Chips(tuple(format_label(label) for label in model.alphabet))),
        )
    )


def _certainty(model: TaskModel) -> tuple[Block, ...]:
    """The posterior of the learner, if it has one."""
    posterior = posterior_of(model)
    if posterior is None:
        return ()
    rules = [(model.sentence, posterior.chosen.weight), *posterior.other_rules(SHOWN_ALTERNATIVES - 1)]
    rows = [(rule, f"{weight:.1%}") for rule, weight in rules]
    facts: list[tuple[str, Text]] = [("Temperature of the demonstrator", brief_number(posterior.temperature))]
    wrong = [f"{i} ({posterior.outlier_probabilities[i]:.0%})" for i in posterior.outliers]
    if wrong:
        facts.append(("Probably wrong demonstrations", ", ".join(wrong)))
    for state, labels in posterior.untested_labels().items():
        facts.append((f"Untested in state {state}", Chips(tuple(map(format_label, labels)))))
    caption = "The most probable rules and their posterior probabilities. An agent plans for all of them at once."
    return (Table((Column("rule"), Column("probability", "right")), tuple(rows), caption), Facts(tuple(facts)))


def _joined(*numbers: Number) -> Text:
    first, *rest = numbers
    return (first, *(part for one in rest for part in (" / ", one)))


def _demonstrated(dataset: Dataset | None, model: TaskModel) -> tuple[Block, ...]:
    """The words of the successes, and whether the automaton accepts them."""
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
    accepted = sum(count for (_, count), verdict in zip(successes, verdicts, strict=True) if verdict.accepted)
    wrong = sum(verdict.accepted for verdict in model.judge_all(failures))
    caption = (
        f"The words of {counted(sum(count for _, count in successes), 'successful demonstration')}, of which the"
        f" automaton accepts {accepted}; it accepts {wrong} of {counted(len(failures), 'failure')}."
    )
    if len(rows) < len(successes):
        caption += f" These are the {len(rows)} most frequent of {len(successes)} words."
    columns = (Column("word"), Column("times", "right"), Column("accepted", "center"))
    return (Table(columns, tuple(rows), caption),) if rows else ()
