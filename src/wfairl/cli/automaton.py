"""The commands about task automata: learn-task, score, draw."""

import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from wfairl.automata.finite import DEFAULT_MAX_STATES, DEFAULT_TOLERANCE
from wfairl.cli.app import AsJson, command_group, out, print_json
from wfairl.cli.rational import learn_rational
from wfairl.errors import BadInputError

if TYPE_CHECKING:
    from wfairl.automata.event_logs import LogColumns
    from wfairl.automata.selection import Setting
    from wfairl.automata.task_model import Verdict
    from wfairl.automata.word_learners import HeldOut, LearnedTask, Reading, TaskLearner
    from wfairl.automata.words import ScoredWords, Word
    from wfairl.baselines.recurrent_automaton import RecurrentTask

app = command_group()

LEARN_EXAMPLE = """
Learn the task of scored words as an automaton, and write it to a file.

WORDS is a JSONL file, one scored word a line: {"word": [["key"], ["key", "door"]], "score": 1}. A label is the list of
what holds at a time; a bare string is a label with one proposition. Or it is an event log: a table (.csv) with the
columns case, event, time and outcome, or XES (.xes, .xes.gz). It may also be a dataset of demonstrations (.safetensors)
that `wfairl demos` wrote.

--learner says how. From demonstrations, the default, rational, finds the automaton under which the demonstrators look
most rational in their worlds; failures are not needed. Example:

    wfairl learn-task demos.safetensors -o task.json

From words, the default, shortest, takes the rule with the shortest description: constraints such
as 'ship only after pay' (declare), or a small automaton (merging); where there is none, it keeps what it was shown.
Example:

    wfairl learn-task orders.csv -o task.json

completion takes the values of words that were not shown as unknown, spectral takes them as zero: without --rank, --rows
or --cols it gives back every score. With gru a recurrent network learns the
words, and a finite automaton is read off it. What is written works in the same commands. Example:

    wfairl learn-task demos.safetensors --learner gru -o task.json
"""


class Learner(StrEnum):
    """What learns the task."""

    RATIONAL = "rational"
    SHORTEST = "shortest"
    DECLARE = "declare"
    MERGING = "merging"
    COMPLETION = "completion"
    SPECTRAL = "spectral"
    GRU = "gru"


CaseColumn = Annotated[str, typer.Option("--case-column", help="Of a .csv log: which case a row belongs to.")]
EventColumn = Annotated[str, typer.Option("--event-column", help="Of a log: what happened.")]
TimeColumn = Annotated[str, typer.Option("--time-column", help="Of a .csv log: when.")]
OutcomeColumn = Annotated[str, typer.Option("--outcome-column", help="Of a log: success or failure, or a number.")]


@app.command("learn-task", help=LEARN_EXAMPLE)
def learn_task(
    words: Annotated[Path, typer.Argument(metavar="WORDS", help="Scored words, an event log, or demonstrations.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Where the task model goes.")] = Path("task.json"),
    learner: Annotated[
        str | None,
        typer.Option(
            help=f"What learns: {', '.join(Learner)}, or one of your own. Default: rational for demonstrations,"
            " shortest for words."
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(help="Answers to questions of `wfairl ask`, for rational; those kept beside DEMOS if not given."),
    ] = None,
    rank: Annotated[int | None, typer.Option(help="States of the weighted automaton.")] = None,
    rows: Annotated[int | None, typer.Option(help="Longest prefix of the basis.")] = None,
    cols: Annotated[int | None, typer.Option(help="Longest suffix of the basis.")] = None,
    preset: Annotated[str | None, typer.Option(help="Rank, rows and cols of the paper, such as doorkey-d1.")] = None,
    select: Annotated[bool, typer.Option("--select", help="Choose rank, rows and cols on held-out words.")] = False,
    threshold: Annotated[float, typer.Option(help="Words of this value or more are accepted.")] = 0.5,
    keep_repeats: Annotated[
        bool | None,
        typer.Option(
            "--keep-repeats/--compress",
            help="Whether a repeated label means something: in event logs it does, in other words it does not.",
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(min=0, help=f"Merge states whose values differ by at most this ({DEFAULT_TOLERANCE:g})."),
    ] = None,
    max_states: Annotated[
        int | None,
        typer.Option(min=1, help="Give up on a finite automaton beyond this size (10,000; gru: 1,000)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the words held out, and of a network.")] = 0,
    jobs: Annotated[int, typer.Option(help="Worlds to explore at once, for rational.")] = 2,
    case_column: CaseColumn = "case",
    event_column: EventColumn = "event",
    time_column: TimeColumn = "time",
    outcome_column: OutcomeColumn = "outcome",
    as_json: AsJson = False,
) -> None:
    """Learn an automaton from scored words."""
    from wfairl.automata.event_logs import LogColumns, is_log
    from wfairl.automata.selection import preset as preset_setting
    from wfairl.automata.word_learners import Reading, SpectralSettings, SpectralTaskLearner, find_learner

    settings: dict[str, object] = {
        "--rank": rank,
        "--rows": rows,
        "--cols": cols,
        "--preset": preset,
        "--select": select or None,
        "--tolerance": tolerance,
    }
    if learner is not None and learner not in list(Learner):
        _learn_registered(learner, words, output, jobs, as_json)
        return
    chosen = None if learner is None else Learner(learner)
    learner = _choose_learner(chosen, settings, max_states, _of_episodes(words))
    if chosen is None and learner is Learner.SPECTRAL:
        sys.stderr.write("wfairl: these settings are of --learner spectral, which is taken\n")
    if answers is not None and learner is not Learner.RATIONAL:
        raise BadInputError(f"--answers: for --learner rational, not for {learner}; leave it out")
    if learner is Learner.RATIONAL:
        learn_rational(words, answers, output, jobs, as_json)
        return
    if sum([rank is not None or rows is not None or cols is not None, preset is not None, select]) > 1:
        raise BadInputError("give --rank, --rows, --cols, or --preset, or --select: each of them sets the same things")
    data = _read_scored(words, LogColumns(case_column, event_column, time_column, outcome_column))
    reading = Reading(threshold, is_log(words) if keep_repeats is None else keep_repeats)
    if learner is Learner.GRU:
        _learn_recurrent(data, _of_episodes(words), output, reading, max_states, seed, as_json)
        return
    if learner is Learner.SPECTRAL:
        spectral = SpectralSettings(
            rank,
            rows,
            cols,
            DEFAULT_TOLERANCE if tolerance is None else tolerance,
            max_states or DEFAULT_MAX_STATES,
            optional_start=_of_episodes(words),
        )
        if preset is not None or select:
            setting = preset_setting(preset) if preset is not None else _select(data, words, reading.keep_repeats, seed)
            spectral = replace(spectral, rank=setting.rank, rows=setting.rows, cols=setting.cols)
        _learn(data, SpectralTaskLearner(reading, spectral), output, threshold, seed, as_json)
    else:
        _learn(data, find_learner(learner, reading), output, threshold, seed, as_json)


def _learn_registered(name: str, demos: Path, output: Path, jobs: int, as_json: bool) -> None:
    """Learn with a learner of the user's own, which was registered by a file of --tasks."""
    from wfairl.automata.word_learners import LearnedTask
    from wfairl.demonstrations.storage import load
    from wfairl.logic.learners import LEARNERS
    from wfairl.worlds.registry import find_task

    if name not in LEARNERS:
        known = ", ".join(dict.fromkeys((*Learner, *LEARNERS)))
        raise BadInputError(f"--learner {name}: there is no such learner; known are {known}")
    if not _of_episodes(demos):
        raise BadInputError(f"--learner {name} needs demonstrations (.safetensors)")
    dataset = load(demos)
    task = LearnedTask(LEARNERS[name].learn(dataset, find_task(dataset.task), n_jobs=jobs), None)
    task.model.save(output)
    if as_json:
        print_json(_summary_document(task, None))
    else:
        _print_summary(task, None, output)


def _choose_learner(
    learner: Learner | None, settings: dict[str, object], max_states: int | None, of_episodes: bool
) -> Learner:
    """The learner that was asked for, or that the settings or the words ask for; settings of another are refused."""
    given = [name for name, setting in settings.items() if setting is not None]
    if learner is None:
        if given or max_states is not None:
            return Learner.SPECTRAL
        return Learner.RATIONAL if of_episodes else Learner.SHORTEST
    if learner is Learner.RATIONAL and not of_episodes:
        raise BadInputError("--learner rational needs demonstrations (.safetensors), whose worlds it plans in")
    if given and learner is not Learner.SPECTRAL:
        raise BadInputError(
            f"{', '.join(given)}: of a weighted automaton by --learner spectral, not by {learner}; leave out"
        )
    if max_states is not None and learner not in (Learner.SPECTRAL, Learner.GRU):
        raise BadInputError(f"--max-states: of --learner spectral and gru, not of {learner}; leave it out")
    return learner


def _learn(
    data: "ScoredWords", learner: "TaskLearner", output: Path, threshold: float, seed: int, as_json: bool
) -> None:
    """Learn, write the model, and say what it is worth."""
    import numpy as np

    from wfairl.automata.word_learners import hold_out

    assert data.scores is not None
    task = learner.fit(data.words, data.scores)
    held_out = hold_out(learner, data.words, data.scores, np.random.default_rng(seed), threshold)
    task.model.save(output)
    if not task.model.summary.closed:
        sys.stderr.write(
            f"wfairl: the finite automaton did not close within {task.model.max_states} states: scores can be "
            "computed, plans cannot. Learn with the full basis, or raise --tolerance or --max-states\n"
        )
    if as_json:
        print_json(_summary_document(task, held_out))
    else:
        _print_summary(task, held_out, output)


def _learn_recurrent(
    data: "ScoredWords",
    of_episodes: bool,
    output: Path,
    reading: "Reading",
    max_states: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Learn with a recurrent network, keep it, and write the automaton that is read off it."""
    from wfairl.automata.finite import NoAcceptedWordError, TooManyStatesError
    from wfairl.automata.words import compress, with_optional_start
    from wfairl.baselines.recurrent import RecurrentLearner
    from wfairl.baselines.recurrent_automaton import DEFAULT_MAX_STATES as FEWER_STATES
    from wfairl.baselines.recurrent_automaton import read_off_task
    from wfairl.baselines.recurrent_storage import KeptNetwork
    from wfairl.progress import track

    assert data.scores is not None
    words, scores = list(data.words if reading.keep_repeats else map(compress, data.words)), list(data.scores)
    if of_episodes:
        words, scores = with_optional_start(words, scores)
    network = RecurrentLearner(prefixes_fail=of_episodes, seed=seed).fit(words, scores, track)
    kept = output.with_suffix(".gru.safetensors")
    KeptNetwork(network, reading.threshold, reading.keep_repeats).save(kept)
    try:
        learned = read_off_task(
            network,
            data.words,
            data.scores,
            threshold=reading.threshold,
            keep_repeats=reading.keep_repeats,
            max_states=max_states or FEWER_STATES,
            optional_start=of_episodes,
        )
    except (NoAcceptedWordError, TooManyStatesError) as error:
        sys.stderr.write(f"wfairl: no automaton was read off the network ({error}); `wfairl score {kept}` asks it\n")
        if as_json:
            print_json({"learner": "gru", "network": str(kept), "states": None, "closed": False})
        else:
            out.print(f"{kept}: the network")
        return
    learned.model.save(output)
    if as_json:
        print_json({**_recurrent_document(learned), "network": str(kept)})
    else:
        _print_recurrent(learned, reading.threshold, output, kept)


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

    data = _read_words(words, LogColumns(case_column, event_column, time_column, outcome_column))
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


def _ask_network(path: Path, words: "tuple[Word, ...]") -> "list[Verdict]":
    """What a network without an automaton says; it cannot say where a word was lost."""
    from wfairl.automata.task_model import Verdict
    from wfairl.baselines.recurrent_storage import KeptNetwork

    network = KeptNetwork.load(path)
    return [Verdict(float(v), bool(v >= network.threshold), None, ()) for v in network.values(list(words))]


def _read_words(path: Path, columns: "LogColumns") -> "ScoredWords":
    from wfairl.automata.event_logs import is_log, read_log
    from wfairl.automata.words import ScoredWords, read_jsonl

    if _of_episodes(path):
        from wfairl.demonstrations.storage import load

        dataset = load(path)
        return ScoredWords(tuple(demonstration.labels for demonstration in dataset), dataset.scores)
    return read_log(path, columns) if is_log(path) else read_jsonl(path)


def _of_episodes(path: Path) -> bool:
    """Whether the words are those of demonstrations."""
    return path.suffix == ".safetensors"


def _read_scored(path: Path, columns: "LogColumns") -> "ScoredWords":
    """The words with scores; the cases of a log without outcomes are all taken for successes."""
    from wfairl.automata.event_logs import is_log
    from wfairl.automata.words import ScoredWords

    data = _read_words(path, columns)
    if data.scores is None and is_log(path):
        sys.stderr.write(f"wfairl: {path} has no outcomes, so all of its cases are taken for successes\n")
        return ScoredWords(data.words, (1.0,) * len(data))
    if data.scores is None:
        raise BadInputError(
            f'{path}: the words have no scores; add "score" to each line, 1 for a success and 0 for a failure'
        )
    return data


def _select(data: "ScoredWords", path: Path, keep_repeats: bool, seed: int) -> "Setting":
    """The setting that held-out words choose, on the words that the model will be learned from."""
    import numpy as np

    from wfairl.automata.selection import select_setting
    from wfairl.automata.words import compress, with_optional_start
    from wfairl.progress import track

    assert data.scores is not None
    words, scores = list(data.words if keep_repeats else map(compress, data.words)), list(data.scores)
    if _of_episodes(path):
        words, scores = with_optional_start(words, scores)
    return select_setting(words, scores, np.random.default_rng(seed), track=track).chosen


def _summary_document(task: "LearnedTask", held_out: "HeldOut | None") -> dict[str, object]:
    model, summary = task.model, task.model.summary
    return {
        "learner": model.learner,
        "rank": summary.rank,
        "rows": summary.rows,
        "cols": summary.cols,
        "loss": summary.loss,
        "alphabet": [sorted(label) for label in model.alphabet],
        "states": summary.states,
        "closed": summary.closed,
        "deviation": summary.deviation,
        "words": summary.words,
        "successes": summary.successes,
        "condition": summary.condition,
        "sentences": list(model.sentences),
        "bits": task.bits,
        "memorised": task.memorised,
        "held_out_words": 0 if held_out is None else held_out.words,
        "held_out_accuracy": None if held_out is None else held_out.accuracy,
        "base_rate": None if held_out is None else held_out.base_rate,
    }


def _print_summary(task: "LearnedTask", held_out: "HeldOut | None", output: Path) -> None:
    from wfairl.automata.task_model import SPECTRAL
    from wfairl.automata.word_learners import COMPLETION, MEMORISED
    from wfairl.automata.words import format_label

    model, summary = task.model, task.model.summary
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row("words", f"{summary.words}, of which {summary.successes} reach the threshold {model.threshold:g}")
    table.add_row("alphabet", ", ".join(f"'{format_label(label)}'" for label in model.alphabet))
    table.add_row("learner", model.learner)
    for i, sentence in enumerate(model.sentences):
        table.add_row("" if i else "rule", sentence)
    if task.trivial:
        table.add_row("rule", "none was found: every word is accepted")
    if model.learner in (SPECTRAL, COMPLETION):
        table.add_row("rank / rows / cols", f"{summary.rank} / {summary.rows} / {summary.cols}")
    table.add_row("loss", f"{summary.loss:.3g}")
    table.add_row("states", f"{summary.states} live" + ("" if summary.closed else ", and more that were not explored"))
    if model.learner in (SPECTRAL, COMPLETION):
        table.add_row("deviation", f"{summary.deviation:.3g} of the finite automaton from the weighted one")
    table.add_row("held out", _say_held_out(held_out))
    if task.memorised:
        table.add_row("note", MEMORISED)
    table.add_row("written to", str(output))
    out.print(table)


def _say_held_out(held_out: "HeldOut | None") -> str:
    if held_out is None:
        return "too few words to hold any out"
    return (
        f"{held_out.accuracy:.1%} of {held_out.words} words right when they were not learned; saying always the same "
        f"gives {held_out.base_rate:.1%}"
    )


def _recurrent_document(learned: "RecurrentTask") -> dict[str, object]:
    summary = learned.model.summary
    return {
        "learner": "gru",
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
        "exact": learned.exact,
    }


def _print_recurrent(learned: "RecurrentTask", threshold: float, output: Path, network: Path) -> None:
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
    approximate = "" if learned.exact else ", an approximation: the network needs more"
    table.add_row("states", f"{summary.states} live, of the automaton read off the network{approximate}")
    table.add_row("loss", f"{summary.loss:.3g} of that automaton, whose values are 0 and 1")
    table.add_row(
        "agreement",
        f"with the network: {learned.agreement:.1%} on the words, {learned.likely_agreement:.1%} on likely others",
    )
    table.add_row("written to", f"{output}, and the network to {network}")
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
