"""The commands about task automata: learn-task, score, draw."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from wfairl.automata.finite import DEFAULT_MAX_STATES, DEFAULT_TOLERANCE
from wfairl.cli.app import AsJson, command_group, out, print_json
from wfairl.errors import BadInputError

if TYPE_CHECKING:
    from wfairl.automata.selection import Setting
    from wfairl.automata.task_model import TaskModel, Verdict
    from wfairl.automata.words import ScoredWords, Word
    from wfairl.baselines.recurrent_automaton import RecurrentTask

app = command_group()

LEARN_EXAMPLE = """
Learn the task of scored words as an automaton, and write it to a file.

WORDS is a JSONL file, one scored word a line: {"word": [["key"], ["key", "door"]], "score": 1}.
A label is the list of what holds at a time; a bare string is a label with one proposition.
It may also be a dataset of demonstrations (.safetensors) that `wfairl demos` wrote; there, an
empty label at the beginning is optional, since it depends on where the agent happens to start.

Without --rank, --rows or --cols every prefix and suffix is used and the rank is that of the data,
so the automaton gives back every score. Example:

    wfairl learn-task words.jsonl -o task.json

With --model gru a recurrent network learns the words instead, and a finite automaton is read off it; what is
written works in the same commands. It may accept words that were never shown. Example:

    wfairl learn-task demos.safetensors --model gru -o task.json
"""


class Learner(StrEnum):
    """What learns the words."""

    WFA = "wfa"
    GRU = "gru"


@app.command("learn-task", help=LEARN_EXAMPLE)
def learn_task(
    words: Annotated[Path, typer.Argument(metavar="WORDS", help="Scored words (.jsonl) or demonstrations.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Where the task model goes.")] = Path("task.json"),
    learner: Annotated[
        Learner, typer.Option("--model", help="A weighted automaton, or a recurrent network that one is read off.")
    ] = Learner.WFA,
    rank: Annotated[int | None, typer.Option(help="States of the weighted automaton.")] = None,
    rows: Annotated[int | None, typer.Option(help="Longest prefix of the basis.")] = None,
    cols: Annotated[int | None, typer.Option(help="Longest suffix of the basis.")] = None,
    preset: Annotated[str | None, typer.Option(help="Rank, rows and cols of the paper, such as doorkey-d1.")] = None,
    select: Annotated[bool, typer.Option("--select", help="Choose rank, rows and cols on held-out words.")] = False,
    threshold: Annotated[float, typer.Option(help="Words of this value or more are accepted.")] = 0.5,
    keep_repeats: Annotated[
        bool, typer.Option("--keep-repeats", help="A repeated label means something: do not compress words.")
    ] = False,
    tolerance: Annotated[
        float | None,
        typer.Option(min=0, help=f"Merge states whose values differ by at most this ({DEFAULT_TOLERANCE:g})."),
    ] = None,
    max_states: Annotated[
        int | None,
        typer.Option(min=1, help="Give up on a finite automaton beyond this size (10,000; gru: 1,000)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the split into folds by --select, and of a network.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Learn an automaton from scored words."""
    from wfairl.automata.selection import preset as preset_setting
    from wfairl.automata.task_model import fit_task_model

    settings = {"--rank": rank, "--rows": rows, "--cols": cols, "--preset": preset, "--select": select or None}
    if learner is Learner.GRU:
        _refuse_settings({**settings, "--tolerance": tolerance})
        _learn_recurrent(words, output, threshold, keep_repeats, max_states, seed, as_json)
        return
    if sum([rank is not None or rows is not None or cols is not None, preset is not None, select]) > 1:
        raise BadInputError("give --rank, --rows, --cols, or --preset, or --select: each of them sets the same things")
    data = _read_scored(words)
    assert data.scores is not None
    setting = preset_setting(preset) if preset is not None else None
    if select:
        setting = _select(data, _of_episodes(words), keep_repeats, seed)
    if setting is not None:
        rank, rows, cols = setting.rank, setting.rows, setting.cols
    model = fit_task_model(
        data.words,
        data.scores,
        rank=rank,
        rows=rows,
        cols=cols,
        threshold=threshold,
        keep_repeats=keep_repeats,
        tolerance=DEFAULT_TOLERANCE if tolerance is None else tolerance,
        max_states=max_states or DEFAULT_MAX_STATES,
        optional_start=_of_episodes(words),
    )
    model.save(output)
    if not model.summary.closed:
        sys.stderr.write(
            f"wfairl: the finite automaton did not close within {model.max_states} states: scores can be computed, "
            "plans cannot. Learn with the full basis, or raise --tolerance or --max-states\n"
        )
    if as_json:
        print_json(_summary_document(model))
    else:
        _print_summary(model, output)


def _refuse_settings(settings: dict[str, object]) -> None:
    """See that nothing is set that a recurrent network does not have."""
    given = [name for name, setting in settings.items() if setting is not None]
    if given:
        raise BadInputError(f"{', '.join(given)}: of a weighted automaton, which --model gru does not learn; leave out")


def _learn_recurrent(
    words: Path,
    output: Path,
    threshold: float,
    keep_repeats: bool,
    max_states: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Learn with a recurrent network, and write the automaton that is read off it."""
    from wfairl.baselines.recurrent import RecurrentLearner
    from wfairl.baselines.recurrent_automaton import DEFAULT_MAX_STATES as FEWER_STATES
    from wfairl.baselines.recurrent_automaton import fit_recurrent_task
    from wfairl.progress import track

    data = _read_scored(words)
    assert data.scores is not None
    learned = fit_recurrent_task(
        data.words,
        data.scores,
        threshold=threshold,
        keep_repeats=keep_repeats,
        max_states=max_states or FEWER_STATES,
        optional_start=_of_episodes(words),
        learner=RecurrentLearner(seed=seed),
        track=track,
    )
    learned.model.save(output)
    if as_json:
        print_json(_recurrent_document(learned))
    else:
        _print_recurrent(learned, threshold, output)


SCORE_EXAMPLE = """
Score words with a task model, and say where a rejected word was lost.

WORDS is a JSONL file as for `learn-task`; scores in it are not needed. Example:

    wfairl score task.json words.jsonl
"""


@app.command("score", help=SCORE_EXAMPLE)
def score(
    task_model: Annotated[Path, typer.Argument(metavar="TASK_MODEL", help="What `learn-task` wrote.")],
    words: Annotated[Path, typer.Argument(metavar="WORDS", help="Words (.jsonl) or demonstrations.")],
    as_json: AsJson = False,
) -> None:
    """Score words."""
    from wfairl.automata.task_model import TaskModel

    model = TaskModel.load(task_model)
    data = _read_words(words)
    verdicts = model.judge_all(data.words)
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


DRAW_EXAMPLE = """
Draw the automaton of a task model.

The suffix of the output says how: .svg or .png as a picture (Graphviz is not needed), .dot for
Graphviz, .hoa for tools that read the Hanoi format.

A label that repeats is read once, so the loops that this makes are not drawn. Example:

    wfairl draw task.json -o task.svg
"""


@app.command("draw", help=DRAW_EXAMPLE)
def draw(
    task_model: Annotated[Path, typer.Argument(metavar="TASK_MODEL", help="What `learn-task` wrote.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="A .svg, .png, .dot or .hoa file.")] = Path("task.svg"),
    as_json: AsJson = False,
) -> None:
    """Draw an automaton."""
    from wfairl.automata.export import write_drawing
    from wfairl.automata.task_model import TaskModel

    model = TaskModel.load(task_model)
    write_drawing(output, model.finite, model.edge_counts)
    if as_json:
        print_json({"path": str(output), "states": model.finite.states})
    else:
        out.print(f"{output}: {model.finite.states} states, {len(model.finite.arrows())} edges")


def _read_words(path: Path) -> "ScoredWords":
    from wfairl.automata.words import ScoredWords, read_jsonl

    if _of_episodes(path):
        from wfairl.demonstrations.storage import load

        dataset = load(path)
        return ScoredWords(tuple(demonstration.labels for demonstration in dataset), dataset.scores)
    return read_jsonl(path)


def _of_episodes(path: Path) -> bool:
    """Whether the words are those of demonstrations."""
    return path.suffix == ".safetensors"


def _read_scored(path: Path) -> "ScoredWords":
    data = _read_words(path)
    if data.scores is None:
        raise BadInputError(
            f'{path}: the words have no scores; add "score" to each line, 1 for a success and 0 for a failure'
        )
    return data


def _select(data: "ScoredWords", of_episodes: bool, keep_repeats: bool, seed: int) -> "Setting":
    """The setting that held-out words choose, on the words that the model will be learned from."""
    import numpy as np

    from wfairl.automata.selection import select_setting
    from wfairl.automata.words import compress, with_optional_start
    from wfairl.progress import track

    assert data.scores is not None
    words, scores = list(data.words if keep_repeats else map(compress, data.words)), list(data.scores)
    if of_episodes:
        words, scores = with_optional_start(words, scores)
    return select_setting(words, scores, np.random.default_rng(seed), track=track).chosen


def _summary_document(model: "TaskModel") -> dict[str, object]:
    return {
        "rank": model.summary.rank,
        "rows": model.summary.rows,
        "cols": model.summary.cols,
        "loss": model.summary.loss,
        "alphabet": list(model.alphabet),
        "states": model.summary.states,
        "closed": model.summary.closed,
        "deviation": model.summary.deviation,
        "words": model.summary.words,
        "successes": model.summary.successes,
        "condition": model.summary.condition,
    }


def _print_summary(model: "TaskModel", output: Path) -> None:

    summary = model.summary
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row("words", f"{summary.words}, of which {summary.successes} reach the threshold {model.threshold:g}")
    table.add_row("alphabet", ", ".join(f"'{text}'" for text in model.alphabet))
    table.add_row("rank / rows / cols", f"{summary.rank} / {summary.rows} / {summary.cols}")
    table.add_row("loss", f"{summary.loss:.3g}")
    table.add_row("states", f"{summary.states} live" + ("" if summary.closed else ", and more that were not explored"))
    table.add_row("deviation", f"{summary.deviation:.3g} of the finite automaton from the weighted one")
    table.add_row("written to", str(output))
    out.print(table)


def _recurrent_document(learned: "RecurrentTask") -> dict[str, object]:
    summary = learned.model.summary
    return {
        "model": "gru",
        "epochs": learned.learner.epochs_,
        "loss": summary.loss,
        "alphabet": [sorted(label) for label in learned.learner.alphabet_],
        "states": summary.states,
        "closed": summary.closed,
        "words": summary.words,
        "successes": summary.successes,
        "held_out_words": len(learned.learner.held_out_),
        "held_out_accuracy": learned.held_out_accuracy,
        "agreement": learned.agreement,
        "likely_agreement": learned.likely_agreement,
    }


def _print_recurrent(learned: "RecurrentTask", threshold: float, output: Path) -> None:
    from wfairl.automata.words import format_label

    summary, learner = learned.model.summary, learned.learner
    held_out = "too few words to hold any out"
    if learned.held_out_accuracy is not None:
        held_out = f"{learned.held_out_accuracy:.1%} of {len(learner.held_out_)} words right before they were learned"
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row("words", f"{summary.words}, of which {summary.successes} are successes; threshold {threshold:g}")
    table.add_row("alphabet", ", ".join(f"'{format_label(label)}'" for label in learner.alphabet_))
    table.add_row("network", f"{learner.hidden} hidden units, trained for {learner.epochs_} epochs")
    table.add_row("held out", held_out)
    table.add_row("states", f"{summary.states} live, of the automaton read off the network")
    table.add_row("loss", f"{summary.loss:.3g} of that automaton, whose values are 0 and 1")
    table.add_row(
        "agreement",
        f"with the network: {learned.agreement:.1%} on the words, {learned.likely_agreement:.1%} on likely others",
    )
    table.add_row("written to", str(output))
    out.print(table)


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
