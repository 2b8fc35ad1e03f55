"""`wfairl learn-task`."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfairl.cli.app import command_group, print_json, warn
from wfairl.cli.learned import print_rational, print_summary, rational_document, summary_document
from wfairl.cli.options import AsJson, Executor, Jobs, workers_at
from wfairl.cli.words import CaseColumn, EventColumn, OutcomeColumn, TimeColumn, are_demonstrations, read_scored
from wfairl.core.automata.finite import DEFAULT_MAX_STATES, DEFAULT_TOLERANCE
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import check_file

if TYPE_CHECKING:
    from wfairl.core.automata.words import ScoredWords, Word
    from wfairl.core.spectral.selection import SpectralSetting
    from wfairl.events.word_learners import WordLearner

app = command_group()

HELP = """
Learn a task as an automaton from demonstrations or scored words, and write it to a file.

WORDS is a JSONL file with one scored word per line: {"word": [["key"], ["key", "door"]], "score": 1}. A label lists
the propositions that hold at one time; a bare string is a label with one proposition. WORDS may also be an event
log, either a table (.csv) with the columns case, event, time and outcome or XES (.xes, .xes.gz), or demonstrations
(.safetensors) from `wfairl demos`.

--learner chooses the method. For demonstrations the default, rational, finds the automaton under which the
demonstrators act most rationally in their worlds; it needs no failures. Example:

    wfairl learn-task demos.safetensors -o task.json

It judges them by the task's nominal cost, 1 per control for most tasks. If they avoid places that are expensive but not
forbidden, --with-cost learns their cost along with the automaton.

For words the default, shortest, finds the rule with the shortest description: constraints such as 'ship only after
pay' (declare), or a small automaton (merging); if there is none, it memorises the words. Example:

    wfairl learn-task orders.csv -o task.json

spectral gives words that it was not shown the value zero: without --rank, --rows or --cols it reproduces every
score. Other commands accept the results of all learners.
"""


class Learner(StrEnum):
    """The learners of this package."""

    RATIONAL = "rational"
    SHORTEST = "shortest"
    DECLARE = "declare"
    MERGING = "merging"
    SPECTRAL = "spectral"


@app.command("learn-task", help=HELP)
def learn_task(
    words: Annotated[Path, typer.Argument(metavar="WORDS", help="Scored words, an event log, or demonstrations.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The task model to write.")] = Path("task.json"),
    learner: Annotated[
        str | None,
        typer.Option(
            help=f"The learner: {', '.join(Learner)}, or your own. Default: rational for demonstrations, shortest for"
            " words."
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(help="Answers from `wfairl ask`, for rational. Default: the file beside the demonstrations."),
    ] = None,
    with_cost: Annotated[
        bool, typer.Option("--with-cost", help="Learn the demonstrators' cost along with the automaton, for rational.")
    ] = False,
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
            help="Whether a repeated label counts again. Default: only in event logs.",
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(min=0, help=f"Merge states whose values differ by at most this ({DEFAULT_TOLERANCE:g})."),
    ] = None,
    max_states: Annotated[
        int | None,
        typer.Option(min=1, help="Largest finite automaton to build, in states (10,000)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the held-out words.")] = 0,
    jobs: Jobs = 2,
    executor: Executor = None,
    case_column: CaseColumn = "case",
    event_column: EventColumn = "event",
    time_column: TimeColumn = "time",
    outcome_column: OutcomeColumn = "outcome",
    as_json: AsJson = False,
) -> None:
    """Learn a task as an automaton."""
    from wfairl.core.automata.words import read_sample
    from wfairl.core.spectral.selection import preset as find_preset
    from wfairl.events.event_logs import LogColumns, is_log
    from wfairl.events.word_learners import Reading, SpectralSettings, SpectralWordLearner, find_word_learner

    check_file(output)
    if learner is not None and learner not in list(Learner):
        if with_cost:
            raise _not_for("--with-cost", learner)
        _learn_registered(learner, words, output, jobs, as_json)
        return
    if executor is not None and not select:
        raise BadInputError("--executor is for --select, which computes independent folds; leave it out")
    settings: dict[str, object] = {"--rank": rank, "--rows": rows, "--cols": cols, "--preset": preset}
    settings |= {"--select": select or None, "--tolerance": tolerance}
    from_demonstrations = are_demonstrations(words)
    chosen = _choose_learner(None if learner is None else Learner(learner), settings, max_states, from_demonstrations)
    if chosen is Learner.RATIONAL:
        _learn_rational(words, answers, with_cost, output, jobs, as_json)
        return
    for name, is_given in (("--answers", answers is not None), ("--with-cost", with_cost)):
        if is_given:
            raise _not_for(name, chosen)
    data = read_scored(words, LogColumns(case_column, event_column, time_column, outcome_column))
    reading = Reading(threshold, is_log(words) if keep_repeats is None else keep_repeats)
    if chosen is Learner.SPECTRAL:
        quotient = DEFAULT_TOLERANCE if tolerance is None else tolerance, max_states or DEFAULT_MAX_STATES
        spectral = SpectralSettings(rank, rows, cols, *quotient, optional_start=from_demonstrations)
        if preset is not None or select:
            assert data.scores is not None
            sample = read_sample(data.words, data.scores, reading.keep_repeats, from_demonstrations)
            setting = find_preset(preset) if preset else _select(*sample, seed, executor, jobs)
            spectral = replace(spectral, rank=setting.rank, rows=setting.rows, cols=setting.cols)
        _learn(data, SpectralWordLearner(reading, spectral), output, threshold, seed, as_json)
    else:
        _learn(data, find_word_learner(chosen, reading), output, threshold, seed, as_json)


def _not_for(option: str, learner: str) -> BadInputError:
    return BadInputError(f"{option} is for --learner rational, not for {learner}; leave it out")


def _learn_registered(name: str, demos: Path, output: Path, jobs: int, as_json: bool) -> None:
    """Learn with another learner, registered by a file or module of --tasks."""
    from wfairl.core.demonstrations.storage import load
    from wfairl.core.rational.learners import LEARNERS
    from wfairl.core.worlds.task_registry import find_task
    from wfairl.events.word_learners import LearnedTask

    if name not in LEARNERS:
        known = ", ".join(dict.fromkeys((*Learner, *LEARNERS)))
        raise BadInputError(f"--learner {name}: there is no such learner; known are {known}. {LEARNERS.advice}")
    if not are_demonstrations(demos):
        raise BadInputError(f"--learner {name} needs demonstrations (.safetensors)")
    dataset = load(demos)
    task = LearnedTask(LEARNERS[name].learn(dataset, find_task(dataset.task), n_jobs=jobs), None)
    task.model.save(output)
    if as_json:
        print_json(summary_document(task, None))
    else:
        print_summary(task, None, output)


def _choose_learner(
    learner: Learner | None, settings: dict[str, object], max_states: int | None, from_demonstrations: bool
) -> Learner:
    """The given learner, or the default for the settings and the words; refuses settings of another learner."""
    given = [name for name, setting in settings.items() if setting is not None]
    if len({"--rank" if name in ("--rows", "--cols") else name for name in given} - {"--tolerance"}) > 1:
        raise BadInputError("--rank, --rows and --cols, --preset, and --select exclude each other: give one of them")
    if learner is None:
        if given or max_states is not None:
            warn("these settings are for --learner spectral, which is used")
            return Learner.SPECTRAL
        return Learner.RATIONAL if from_demonstrations else Learner.SHORTEST
    if learner is Learner.RATIONAL and not from_demonstrations:
        raise BadInputError("--learner rational needs demonstrations (.safetensors), because it plans in their worlds")
    if max_states is not None:
        given.append("--max-states")
    if given and learner is not Learner.SPECTRAL:
        raise BadInputError(f"{', '.join(given)}: only for --learner spectral, not for {learner}; leave it out")
    return learner


def _learn_rational(demos: Path, answers: Path | None, with_cost: bool, output: Path, jobs: int, as_json: bool) -> None:
    """Learn the automaton under which the demonstrators act most rationally, and write it."""
    from wfairl.core.demonstrations.answers import answers_beside, read_answers
    from wfairl.core.demonstrations.storage import load
    from wfairl.core.rational.learners import RATIONAL, find_learner
    from wfairl.core.runs.logic_with_cost import learn_logic_and_cost
    from wfairl.core.worlds.task_registry import find_task

    dataset = load(demos)
    given = answers_beside(demos) if answers is None else read_answers(answers)
    dataset = replace(dataset, answers=(*dataset.answers, *given))
    task = find_task(dataset.task)
    if with_cost:
        model = learn_logic_and_cost(dataset, task, n_jobs=jobs).model
    else:
        model = find_learner(RATIONAL).learn(dataset, task, n_jobs=jobs)
    model.save(output)
    if as_json:
        print_json(rational_document(model))
    else:
        print_rational(dataset, model, task, output)


def _learn(
    data: "ScoredWords", learner: "WordLearner", output: Path, threshold: float, seed: int, as_json: bool
) -> None:
    """Learn from words, write the model, and report its accuracy on held-out words."""
    import numpy as np

    from wfairl.events.word_learners import hold_out

    assert data.scores is not None
    task = learner.fit(data.words, data.scores)
    held_out = hold_out(learner, data.words, data.scores, np.random.default_rng(seed), threshold)
    task.model.save(output)
    if not task.model.summary.closed:
        warn(
            f"the finite automaton did not close within {task.model.max_states} states: it can score words but not"
            " plan. Learn with the full basis, or raise --tolerance or --max-states"
        )
    if as_json:
        print_json(summary_document(task, held_out))
    else:
        print_summary(task, held_out, output)


def _select(
    words: "Sequence[Word]", scores: Sequence[float], seed: int, executor: str | None, jobs: int
) -> "SpectralSetting":
    """Choose rank, rows and cols on held-out words."""
    import numpy as np

    from wfairl.core.spectral.selection import select_setting
    from wfairl.core.support.progress import track
    from wfairl.core.worlds.workers import map_on

    with workers_at(executor, jobs) as workers:
        mapping = map if workers is None else partial(map_on, workers)
        return select_setting(words, scores, np.random.default_rng(seed), track=track, mapping=mapping).chosen
