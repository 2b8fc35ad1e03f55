"""`wfairl score`, and the words that `wfairl learn-task` reads."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from wfairl.cli.console import out, print_json, warn
from wfairl.cli.options import AsJson, TaskModelFile
from wfairl.core.automata.task_model import TaskModel, Verdict
from wfairl.core.automata.words import Word, format_label, format_word
from wfairl.core.demonstrations.storage import load
from wfairl.core.support.errors import BadInputError
from wfairl.events.event_logs import LogColumns, is_log, read_event_log
from wfairl.events.scored_words import ScoredWords, read_jsonl
from wfairl.events.unknown_propositions import unknown_propositions

CaseColumn = Annotated[str, typer.Option("--case-column", help="Column of a .csv log with the case.")]
EventColumn = Annotated[str, typer.Option("--event-column", help="Column of a log with the event.")]
TimeColumn = Annotated[str, typer.Option("--time-column", help="Column of a .csv log with the time.")]
OutcomeColumn = Annotated[
    str, typer.Option("--outcome-column", help="Column of a log with the outcome: success or failure, or a number.")
]


def score(
    task_model: TaskModelFile,
    words: Annotated[Path, typer.Argument(metavar="WORDS", help="Words, an event log, or demonstrations.")],
    case_column: CaseColumn = "case",
    event_column: EventColumn = "event",
    time_column: TimeColumn = "time",
    outcome_column: OutcomeColumn = "outcome",
    differing: Annotated[
        bool, typer.Option("--differing", help="Show only the words whose score in the file contradicts the model.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Score words with a task model, and show where a rejected word was lost.

    WORDS is a JSONL file or an event log as for `learn-task`; it needs no scores. If it has scores, --differing shows
    the words whose score contradicts the model: these deserve a check. Examples:

        wfairl score task.json words.jsonl
        wfairl score orders.json orders.csv --differing
    """
    data = read_words(words, LogColumns(case_column, event_column, time_column, outcome_column))
    model = TaskModel.load(task_model)
    verdicts, unknown = model.judge_all(data.words), unknown_propositions(model, data.words)
    if differing and data.scores is None:
        raise BadInputError(f"{words}: --differing needs scores or outcomes to compare with, and this file has none")
    given = None if data.scores is None else [score >= model.threshold for score in data.scores]
    cases = getattr(data, "cases", ())
    if as_json:
        print_json(
            {
                **({"cases": list(cases)} if cases else {}),
                **({} if given is None else {"given": given}),
                "values": [verdict.value for verdict in verdicts],
                "accepted": [verdict.accepted for verdict in verdicts],
                "lost_at": [verdict.lost_at for verdict in verdicts],
                "expected": [list(verdict.expected) for verdict in verdicts],
                "unknown_propositions": unknown.names,
            }
        )
        return
    _print_verdicts(data.words, verdicts, cases, given, differing)
    for sentence in unknown.sentences:
        out.print(sentence)


def _print_verdicts(
    words: tuple[Word, ...],
    verdicts: list[Verdict],
    cases: Sequence[str],
    given: Sequence[bool] | None,
    differing: bool,
) -> None:
    """One row per word, with its case and its outcome in the file, if there are any."""
    differ = [given is not None and given[i] != verdict.accepted for i, verdict in enumerate(verdicts)]
    table = Table(*(["case"] if cases else []), "word", "value", *([] if given is None else ["in the file"]), "verdict")
    for i, (word, verdict) in enumerate(zip(words, verdicts, strict=True)):
        if differ[i] or not differing:
            outcome = [] if given is None else ["success" if given[i] else "failure"]
            value = f"{verdict.value:.4g}"
            table.add_row(*([cases[i]] if cases else []), _format(word), value, *outcome, _explain(word, verdict))
    out.print(table)
    if given is not None:
        out.print(f"{sum(differ)} of {len(words)}: the file contradicts the model")


def _format(word: Word) -> str:
    """The labels of a word, each with the number of its repetitions in a row."""
    runs = [(format_label(label), len(list(run))) for label, run in groupby(word)]
    texts = [label if length == 1 else f"{label} \N{MULTIPLICATION SIGN}{length}" for label, length in runs]
    return ", ".join(texts) or format_word(())


def _explain(word: Word, verdict: Verdict) -> str:
    if verdict.accepted:
        return "accepted"
    if verdict.lost_at is None:
        return "rejected"
    expected = " or ".join(f"'{text}'" for text in verdict.expected) or "nothing more"
    if verdict.lost_at == len(word):
        return f"rejected: it ended where {expected} was expected"
    return f"rejected at label {verdict.lost_at + 1}, '{format_label(word[verdict.lost_at])}': expected {expected}"


def read_words(path: Path, columns: LogColumns) -> ScoredWords:
    """The words of scored words, an event log or demonstrations, with scores if the file has them."""
    if path.suffix == ".safetensors":
        dataset = load(path)
        return ScoredWords(tuple(demonstration.labels for demonstration in dataset), dataset.scores)
    return read_event_log(path, columns) if is_log(path) else read_jsonl(path)


def read_scored(path: Path, columns: LogColumns) -> ScoredWords:
    """The words with scores; the cases of a log without outcomes all count as successes."""
    data = read_words(path, columns)
    if data.scores is None and is_log(path):
        warn(
            f"{path} has no column {columns.outcome!r}, so all of its cases are taken for successes; if another column"
            " holds the outcome, name it with --outcome-column"
        )
        return ScoredWords(data.words, (1.0,) * len(data))
    if data.scores is None:
        raise BadInputError(
            f'{path}: the words have no scores; add "score" to each line, 1 for a success and 0 for a failure'
        )
    return data
