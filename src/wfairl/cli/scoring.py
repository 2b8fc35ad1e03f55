"""The command that judges words: score."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from wfairl.cli.app import AsJson, command_group, out, print_json
from wfairl.cli.words import CaseColumn, EventColumn, OutcomeColumn, TimeColumn, read_words

if TYPE_CHECKING:
    from wfairl.automata.task_model import Verdict
    from wfairl.automata.words import Word

app = command_group()

SCORE_EXAMPLE = """
Score words with a task model, and say where a rejected word was lost.

WORDS is a JSONL file or an event log as for `learn-task`; scores in it are not needed. Example:

    wfairl score task.json words.jsonl
"""


@app.command("score", help=SCORE_EXAMPLE)
def score(
    task_model: Annotated[Path, typer.Argument(metavar="TASK_MODEL", help="What `learn-task` wrote.")],
    words: Annotated[Path, typer.Argument(metavar="WORDS", help="Words, an event log, or demonstrations.")],
    case_column: CaseColumn = "case",
    event_column: EventColumn = "event",
    time_column: TimeColumn = "time",
    outcome_column: OutcomeColumn = "outcome",
    as_json: AsJson = False,
) -> None:
    """Score words."""
    from wfairl.automata.event_logs import LogColumns
    from wfairl.automata.task_model import TaskModel

    data = read_words(words, LogColumns(case_column, event_column, time_column, outcome_column))
    if task_model.suffix == ".safetensors":
        verdicts = _ask_network(task_model, data.words)
    else:
        verdicts = TaskModel.load(task_model).judge_all(data.words)
    if as_json:
        print_json(
            {
                "values": [verdict.value for verdict in verdicts],
                "accepted": [verdict.accepted for verdict in verdicts],
                "lost_at": [verdict.lost_at for verdict in verdicts],
                "expected": [list(verdict.expected) for verdict in verdicts],
            }
        )
        return
    _print_verdicts(data.words, verdicts)


def _ask_network(path: Path, words: "tuple[Word, ...]") -> "list[Verdict]":
    """What a network without an automaton says; it cannot say where a word was lost."""
    from wfairl.automata.task_model import Verdict
    from wfairl.baselines.recurrent_storage import KeptNetwork

    network = KeptNetwork.load(path)
    return [Verdict(float(v), bool(v >= network.threshold), None, ()) for v in network.values(list(words))]


def _print_verdicts(words: "tuple[Word, ...]", verdicts: "list[Verdict]") -> None:
    from wfairl.automata.words import format_word

    table = Table("word", "value", "verdict")
    for word, verdict in zip(words, verdicts, strict=True):
        table.add_row(format_word(word), f"{verdict.value:.4g}", _explain(word, verdict))
    out.print(table)


def _explain(word: "Word", verdict: "Verdict") -> str:
    from wfairl.automata.words import format_label

    if verdict.accepted:
        return "accepted"
    if verdict.lost_at is None:
        return "rejected"
    expected = " or ".join(f"'{text}'" for text in verdict.expected) or "nothing more"
    if verdict.lost_at == len(word):
        return f"rejected: it ended where {expected} was expected"
    return f"rejected at label {verdict.lost_at + 1}, '{format_label(word[verdict.lost_at])}': expected {expected}"
