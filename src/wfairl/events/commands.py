"""`wfairl score` and `wfairl conform`, and the words that `wfairl learn-task` reads."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from wfairl.cli.console import out, print_json, warn
from wfairl.cli.options import AsJson, TaskModelFile, check_file
from wfairl.core.automata.task_model import TaskModel, Verdict
from wfairl.core.automata.words import Word, format_label, format_word
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import write_atomically
from wfairl.events.conformance import Conformance, attributes_of, conform, good_or_scored
from wfairl.events.event_logs import EventLog, LogColumns, is_log, read_event_log
from wfairl.events.learned_rule import list_names, unknown_propositions
from wfairl.events.scored_words import ScoredWords, read_jsonl
from wfairl.runs.data_sets import load

CaseColumn = Annotated[str, typer.Option("--case-column", help="Column of a .csv log with the case.")]
EventColumn = Annotated[str, typer.Option("--event-column", help="Column of a log with the event.")]
TimeColumn = Annotated[str, typer.Option("--time-column", help="Column of a .csv log with the time.")]
OutcomeColumn = Annotated[
    str,
    typer.Option(
        "--outcome-column",
        help="Column of a log with the outcome: success or failure, or a number. Instead of a column, a case succeeds"
        " with 'event: NAME' if it has the event, with 'days: N' if it takes at most that long, and with 'NAME = VALUE'"
        " or 'NAME > NUMBER' if an attribute is so.",
    ),
]
Lifecycle = Annotated[
    str,
    typer.Option(help="The transition whose events count: complete, another one, or all. auto: complete, if any is."),
]
AttributesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--attribute",
        metavar="NAME",
        help="An attribute that becomes propositions, as 'amount' or 'amount > 1000'; 'days' are those since the"
        " first event. Repeat it for several.",
    ),
]
Most = Annotated[int, typer.Option("--most", min=0, help="Largest number of cases to show; 0 shows all.")]


def score(
    task_model: TaskModelFile,
    words: Annotated[Path, typer.Argument(metavar="WORDS", help="Words, an event log, or demonstrations.")],
    case_column: CaseColumn = "case",
    event_column: EventColumn = "event",
    time_column: TimeColumn = "time",
    outcome_column: OutcomeColumn = "outcome",
    lifecycle: Lifecycle = "auto",
    differing: Annotated[
        bool,
        typer.Option(
            "--differing", help="Show only the words whose score contradicts the model; without scores, those rejected."
        ),
    ] = False,
    most: Most = 40,
    as_json: AsJson = False,
) -> None:
    """Score words with a task model, and show where a rejected word was lost.

    WORDS is a JSONL file or an event log as for `learn-task`; it needs no scores. If it has scores, --differing shows
    the words whose score contradicts the model: these deserve a check. Examples:

        wfairl score task.json words.jsonl
        wfairl score orders.json orders.csv --differing
    """
    model = TaskModel.load(task_model)
    columns = LogColumns(case_column, event_column, time_column, outcome_column, lifecycle, attributes_of(model))
    data = read_words(words, columns)
    verdicts, unknown = model.judge_all(data.words), unknown_propositions(model, data.words)
    given = None if data.scores is None else [score >= model.threshold for score in data.scores]
    if as_json:
        print_json(
            {
                **({"cases": list(data.cases)} if data.cases else {}),
                **({} if given is None else {"given": given}),
                "values": [verdict.value for verdict in verdicts],
                "accepted": [verdict.accepted for verdict in verdicts],
                "predicted": model.predict(data.words),
                "lost_at": [verdict.lost_at for verdict in verdicts],
                "expected": [list(verdict.expected) for verdict in verdicts],
                "violated": [list(verdict.broken) for verdict in verdicts],
                "unknown_propositions": unknown.names,
            }
        )
        return
    _print_verdicts(data, verdicts, given, differing, most)
    for sentence in unknown.sentences:
        out.print(sentence)


def _print_verdicts(
    data: ScoredWords, verdicts: list[Verdict], given: Sequence[bool] | None, differing: bool, most: int
) -> None:
    """One row per word, with its case and its outcome in the file, if there are any."""
    words, cases = data.words, data.cases
    expected = [True] * len(words) if given is None else given
    differ = [verdict.accepted != one for verdict, one in zip(verdicts, expected, strict=True)]
    shown = [i for i in range(len(words)) if differ[i] or not differing]
    table = Table(*(["case"] if cases else []), "word", "value", *([] if given is None else ["in the file"]), "verdict")
    for i in shown[: most or None]:
        case = [cases[i]] if cases else []
        outcome = [] if given is None else ["success" if given[i] else "failure"]
        table.add_row(*case, _format(words[i]), f"{verdicts[i].value:.4g}", *outcome, _explain(words[i], verdicts[i]))
    if shown:
        out.print(table)
    if most and len(shown) > most:
        out.print(f"{len(shown) - most:,} more are not shown; --most 0 shows all, --json has them for programs")
    if given is not None:
        out.print(f"{sum(differ)} of {len(words)}: the file contradicts the model")
    else:
        out.print(f"{len(words) - sum(differ)} of {len(words)} accepted")


def conform_command(
    task_model: TaskModelFile,
    log: Annotated[Path, typer.Argument(metavar="LOG", help="An event log, or words.")],
    case_column: CaseColumn = "case",
    event_column: EventColumn = "event",
    time_column: TimeColumn = "time",
    lifecycle: Lifecycle = "auto",
    event_cost: Annotated[
        list[str] | None,
        typer.Option("--cost", metavar="EVENT=COST", help="The cost of an extra or missing event, instead of 1."),
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="A .csv file with one row per case.")] = None,
    most: Most = 20,
    as_json: AsJson = False,
) -> None:
    """Tell how far each case of a log is from a model, and why: the cases farthest off first.

    The fitness of a case is 1 minus the cost of its best alignment with the automaton, as a share of the largest
    possible cost; an extra or missing event costs 1. The cost of a case ranks it: the cost of its alignment and, for a
    model learned from good cases, how unusual its events are, in number, in order and together. Example:

        wfairl learn-task orders.csv -o orders.json
        wfairl conform orders.json new-orders.csv

    --json prints {"cost": [..], "fitness": [..], "violated": [[sentence, ..], ..]}, in the order of the log.
    """
    if output is not None:
        check_file(output)
    model = TaskModel.load(task_model)
    data = read_words(
        log, LogColumns(case_column, event_column, time_column, lifecycle=lifecycle, attributes=attributes_of(model))
    )
    cases = data.cases or tuple(str(number) for number in range(len(data)))
    found = conform(model, data.words, cases, dict(map(_parse_cost, event_cost or ())))
    if output is not None:
        text = io.StringIO(newline="")
        columns = found.columns()
        csv.writer(text).writerows([columns, *zip(*columns.values(), strict=True)])
        write_atomically(output, text.getvalue())
    if as_json:
        print_json(
            {
                "cases": list(cases),
                "cost": found.cost.tolist(),
                "fitness": found.fitness.tolist(),
                "violated": [list(sentences) for sentences in found.violated],
                "conforming": found.conforming.tolist(),
            }
        )
        return
    _print_conformance(found, most)
    for sentence in unknown_propositions(model, data.words).sentences:
        out.print(sentence)


def _parse_cost(text: str) -> tuple[str, float]:
    name, sign, cost = text.rpartition("=")
    try:
        return name, float(cost if sign else "")
    except ValueError:
        raise BadInputError(f"--cost {text}: write it as EVENT=COST, such as ship=2.5") from None


def _print_conformance(found: Conformance, most: int) -> None:
    """The cases that are farthest off, and how many cases break each sentence."""
    shown = [int(i) for i in found.ranking if found.cost[i] > 0]
    table = Table("case", "cost", "fitness", "keeps the rule", "why")
    for i in shown[: most or None]:
        keeps = "yes" if found.conforming[i] else "no"
        table.add_row(found.cases[i], f"{found.cost[i]:.3g}", f"{found.fitness[i]:.3f}", keeps, found.reason(i))
    if shown:
        out.print(table)
    if most and len(shown) > most:
        out.print(f"{len(shown) - most:,} more cases with a cost are not shown; --most 0 shows all, -o writes them")
    broken = Counter(sentence for sentences in found.violated for sentence in sentences)
    for sentence, times in broken.most_common(SHOWN_SENTENCES):
        out.print(f"{times:,} of {len(found.words):,} cases break: {sentence}")
    if len(broken) > SHOWN_SENTENCES:
        out.print(f"and {len(broken) - SHOWN_SENTENCES} more sentences are broken")
    out.print(
        f"{found.conforming.sum():,} of {len(found.words):,} cases keep the rule; the mean fitness is"
        f" {found.fitness.mean():.3f}"
    )


SHOWN_SENTENCES = 10


def _format(word: Word) -> str:
    """The labels of a word, each with the number of its repetitions in a row; what every label has is said once."""
    always = frozenset.intersection(*word) if len(set(word)) > 1 else frozenset()
    runs = [(format_label(label - always), len(list(run))) for label, run in groupby(word)]
    texts = [label if length == 1 else f"{label} \N{MULTIPLICATION SIGN}{length}" for label, length in runs]
    return (", ".join(texts) or format_word(())) + (f"; always {format_label(always)}" if always else "")


def _explain(word: Word, verdict: Verdict) -> str:
    if verdict.accepted:
        return "accepted"
    if verdict.broken:
        more = len(verdict.broken) - SHOWN_BROKEN
        named = "; ".join(verdict.broken[:SHOWN_BROKEN]) + (f"; and {more} more" if more > 0 else "")
        return f"rejected, as it breaks: {named}"
    if verdict.lost_at is None:
        return "rejected"
    expected = list_names(verdict.expected, SHOWN_BROKEN, " or ") or "nothing more"
    if verdict.lost_at == len(word):
        return f"rejected: it ended where {expected} was expected"
    return f"rejected at label {verdict.lost_at + 1}, '{format_label(word[verdict.lost_at])}': expected {expected}"


SHOWN_BROKEN = 3
"""Sentences and expected labels that a verdict names."""


def read_words(path: Path, columns: LogColumns) -> ScoredWords:
    """The words of scored words, an event log or demonstrations, with scores if the file has them."""
    if path.suffix == ".safetensors":
        dataset = load(path)
        return ScoredWords(tuple(demonstration.labels for demonstration in dataset), dataset.scores)
    if not is_log(path):
        return read_jsonl(path)
    log = read_event_log(path, columns)
    for note in log.notes:
        warn(f"{path}: {note}")
    return log


def read_scored(path: Path, columns: LogColumns) -> ScoredWords:
    """The words with scores; the cases of a log without outcomes all count as successes."""
    data = read_words(path, columns)
    if isinstance(data, EventLog) and data.scores is None:
        if not data.outcomes:
            warn(
                f"{path} has no column {columns.outcome!r}, so all of its cases are taken for successes; if another"
                " column holds the outcome, name it with --outcome-column"
            )
        scored = good_or_scored(data)
        for note in scored.notes[len(data.notes) :]:
            warn(f"{path}: {note}")
        return scored
    if data.scores is None:
        raise BadInputError(
            f'{path}: the words have no scores; add "score" to each line, 1 for a success and 0 for a failure'
        )
    if isinstance(data, EventLog) and min(data.scores) >= Reading().threshold:
        warn(f"{path}: every case succeeds, so what the cases have in common is learned")
    return data
