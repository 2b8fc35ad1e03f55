"""The words in a file: scored words, an event log, or demonstrations."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfairl.cli.app import warn
from wfairl.core.support.errors import BadInputError

if TYPE_CHECKING:
    from wfairl.core.automata.words import ScoredWords
    from wfairl.events.event_logs import LogColumns

CaseColumn = Annotated[str, typer.Option("--case-column", help="Column of a .csv log with the case.")]
EventColumn = Annotated[str, typer.Option("--event-column", help="Column of a log with the event.")]
TimeColumn = Annotated[str, typer.Option("--time-column", help="Column of a .csv log with the time.")]
OutcomeColumn = Annotated[
    str, typer.Option("--outcome-column", help="Column of a log with the outcome: success or failure, or a number.")
]


def read_words(path: Path, columns: "LogColumns") -> "ScoredWords":
    """The words in a file, with scores if it has them."""
    from wfairl.core.automata.words import ScoredWords, read_jsonl
    from wfairl.events.event_logs import is_log, read_event_log

    if are_demonstrations(path):
        from wfairl.core.demonstrations.storage import load

        dataset = load(path)
        return ScoredWords(tuple(demonstration.labels for demonstration in dataset), dataset.scores)
    return read_event_log(path, columns) if is_log(path) else read_jsonl(path)


def are_demonstrations(path: Path) -> bool:
    """Whether a file holds demonstrations, by its name."""
    return path.suffix == ".safetensors"


def read_scored(path: Path, columns: "LogColumns") -> "ScoredWords":
    """The words with scores; the cases of a log without outcomes all count as successes."""
    from wfairl.core.automata.words import ScoredWords
    from wfairl.events.event_logs import is_log

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
