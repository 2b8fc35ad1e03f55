"""The command that learns a task: learn-task."""

import sys
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfairl.automata.finite import DEFAULT_MAX_STATES, DEFAULT_TOLERANCE
from wfairl.cli.app import AsJson, command_group, out, print_json
from wfairl.cli.learned import print_recurrent, print_summary, recurrent_document, summary_document
from wfairl.cli.rational import learn_rational
from wfairl.cli.words import CaseColumn, EventColumn, OutcomeColumn, TimeColumn, of_episodes, read_scored
from wfairl.cli.workers import ExecutorOption, workers_at
from wfairl.errors import BadInputError

if TYPE_CHECKING:
    from wfairl.automata.selection import SpectralSetting
    from wfairl.automata.word_learners import Reading, WordLearner
    from wfairl.automata.words import ScoredWords

app = command_group()

LEARN_EXAMPLE = """
Learn the task of scored words as an automaton, and write it to a file.

WORDS is a JSONL file with one scored word per line: {"word": [["key"], ["key", "door"]], "score": 1}. A label lists the
propositions that hold at a time; a bare string is a label with one proposition. WORDS may also be an event log, a table
(.csv) with the columns case, event, time and outcome or XES (.xes, .xes.gz), or demonstrations (.safetensors) that
`wfairl demos` wrote.

--learner chooses the method. For demonstrations the default, rational, finds the automaton under which the
demonstrators look most rational in their worlds; failures are not needed. Example:

    wfairl learn-task demos.safetensors -o task.json

For words the default, shortest, takes the rule with the shortest description: constraints such as 'ship only after pay'
(declare), or a small automaton (merging); where there is none, it keeps what it was shown. Example:

    wfairl learn-task orders.csv -o task.json

completion treats the values of unseen words as unknown, spectral as zero: without --rank, --rows or --cols it
reproduces every score. gru trains a recurrent network and extracts a finite automaton from it. Other commands read the
results of all learners alike. Example:

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


@app.command("learn-task", help=LEARN_EXAMPLE)
def learn_task(
    words: Annotated[Path, typer.Argument(metavar="WORDS", help="Scored words, an event log, or demonstrations.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The task model to write.")] = Path("task.json"),
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
    rank: Annotated[int | None, typer.Option(help="Rank of the weighted automaton: its number of states.")] = None,
    rows: Annotated[int | None, typer.Option(help="Longest prefix of the basis.")] = None,
    cols: Annotated[int | None, typer.Option(help="Longest suffix of the basis.")] = None,
    preset: Annotated[str | None, typer.Option(help="Rank, rows and cols of the paper, such as doorkey-d1.")] = None,
    select: Annotated[bool, typer.Option("--select", help="Choose rank, rows and cols on held-out words.")] = False,
    threshold: Annotated[float, typer.Option(help="Accept words of at least this value.")] = 0.5,
    keep_repeats: Annotated[
        bool | None,
        typer.Option(
            "--keep-repeats/--compress",
            help="Whether a repeated label means something. Default: only in event logs.",
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(min=0, help=f"Merge states whose values differ by at most this ({DEFAULT_TOLERANCE:g})."),
    ] = None,
    max_states: Annotated[
        int | None,
        typer.Option(min=1, help="Largest finite automaton to build, in states (10,000; gru: 1,000)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the held-out words and of a network.")] = 0,
    jobs: Annotated[int, typer.Option(help="Number of worlds to explore in parallel (rational).")] = 2,
    executor: ExecutorOption = None,
    case_column: CaseColumn = "case",
    event_column: EventColumn = "event",
    time_column: TimeColumn = "time",
    outcome_column: OutcomeColumn = "outcome",
    as_json: AsJson = False,
) -> None:
    """Learn an automaton from scored words."""
    from wfairl.automata.event_logs import LogColumns, is_log
    from wfairl.automata.selection import preset as find_preset
    from wfairl.automata.word_learners import Reading, SpectralSettings, SpectralWordLearner, find_word_learner

    if learner is not None and learner not in list(Learner):
        _learn_registered(learner, words, output, jobs, as_json)
        return
    if executor is not None and not select:
        raise BadInputError("--executor: for --select, whose folds are independent; leave it out")
    settings: dict[str, object] = {"--rank": rank, "--rows": rows, "--cols": cols, "--preset": preset}
    settings |= {"--select": select or None, "--tolerance": tolerance}
    chosen = _choose_learner(None if learner is None else Learner(learner), settings, max_states, of_episodes(words))
    if answers is not None and chosen is not Learner.RATIONAL:
        raise BadInputError(f"--answers: for --learner rational, not for {chosen}; leave it out")
    if chosen is Learner.RATIONAL:
        learn_rational(words, answers, output, jobs, as_json)
        return
    data = read_scored(words, LogColumns(case_column, event_column, time_column, outcome_column))
    reading = Reading(threshold, is_log(words) if keep_repeats is None else keep_repeats)
    if chosen is Learner.GRU:
        _learn_recurrent(data, of_episodes(words), output, reading, max_states, seed, as_json)
    elif chosen is Learner.SPECTRAL:
        merging, most = DEFAULT_TOLERANCE if tolerance is None else tolerance, max_states or DEFAULT_MAX_STATES
        spectral = SpectralSettings(rank, rows, cols, merging, most, optional_start=of_episodes(words))
        if preset is not None or select:
            found = find_preset(preset) if preset else _select(data, words, reading.keep_repeats, seed, executor, jobs)
            spectral = replace(spectral, rank=found.rank, rows=found.rows, cols=found.cols)
        _learn(data, SpectralWordLearner(reading, spectral), output, threshold, seed, as_json)
    else:
        _learn(data, find_word_learner(chosen, reading), output, threshold, seed, as_json)


def _learn_registered(name: str, demos: Path, output: Path, jobs: int, as_json: bool) -> None:
    """Learn with a learner of the user's own, which was registered by a file of --tasks."""
    from wfairl.automata.word_learners import LearnedTask
    from wfairl.demonstrations.storage import load
    from wfairl.logic.learners import LEARNERS
    from wfairl.worlds.registry import find_task

    if name not in LEARNERS:
        known = ", ".join(dict.fromkeys((*Learner, *LEARNERS)))
        raise BadInputError(f"--learner {name}: there is no such learner; known are {known}")
    if not of_episodes(demos):
        raise BadInputError(f"--learner {name} needs demonstrations (.safetensors)")
    dataset = load(demos)
    task = LearnedTask(LEARNERS[name].learn(dataset, find_task(dataset.task), n_jobs=jobs), None)
    task.model.save(output)
    if as_json:
        print_json(summary_document(task, None))
    else:
        print_summary(task, None, output)


def _choose_learner(
    learner: Learner | None, settings: dict[str, object], max_states: int | None, of_episodes: bool
) -> Learner:
    """The learner that was asked for, or that the settings or the words ask for; settings of another are refused."""
    given = [name for name, setting in settings.items() if setting is not None]
    if len({"--rank" if name in ("--rows", "--cols") else name for name in given} - {"--tolerance"}) > 1:
        raise BadInputError("give --rank, --rows, --cols, or --preset, or --select: each of them sets the same things")
    if learner is None:
        if given or max_states is not None:
            sys.stderr.write("wfairl: these settings are of --learner spectral, which is taken\n")
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
    data: "ScoredWords", learner: "WordLearner", output: Path, threshold: float, seed: int, as_json: bool
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
        print_json(summary_document(task, held_out))
    else:
        print_summary(task, held_out, output)


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
        print_json({**recurrent_document(learned), "network": str(kept)})
    else:
        print_recurrent(learned, reading.threshold, output, kept)


def _select(
    data: "ScoredWords", path: Path, keep_repeats: bool, seed: int, executor: str | None, jobs: int
) -> "SpectralSetting":
    """The setting that held-out words choose, on the words that the model will be learned from."""
    import numpy as np

    from wfairl.automata.selection import select_setting
    from wfairl.automata.words import compress, with_optional_start
    from wfairl.progress import track
    from wfairl.worlds.workers import map_on

    assert data.scores is not None
    words, scores = list(data.words if keep_repeats else map(compress, data.words)), list(data.scores)
    if of_episodes(path):
        words, scores = with_optional_start(words, scores)
    with workers_at(executor, jobs) as workers:
        mapping = map if workers is None else partial(map_on, workers)
        return select_setting(words, scores, np.random.default_rng(seed), track=track, mapping=mapping).chosen
