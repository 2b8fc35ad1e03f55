"""`wfairl learn-task`."""

from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from wfairl.cli.console import warn
from wfairl.cli.learned_task import report_rational, report_words
from wfairl.cli.options import AsJson, Jobs, check_file
from wfairl.cli.settings import Settings, settings_of, with_settings
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.demonstrations.learners import (
    LEARNERS,
    RATIONAL,
    SHORTEST,
    LearnedTask,
    Reading,
    TaskLearner,
    WordLearner,
    find_learner,
)
from wfairl.core.planning.planner import planning_of_large_world
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task
from wfairl.events.commands import (
    AttributesOption,
    CaseColumn,
    EventColumn,
    Lifecycle,
    OutcomeColumn,
    TimeColumn,
    read_scored,
)
from wfairl.events.event_logs import LogColumns, is_log
from wfairl.events.held_out import hold_out
from wfairl.events.scored_words import ScoredWords
from wfairl.questions.answer_files import answers_beside, read_answers
from wfairl.runs.data_sets import load
from wfairl.runs.task_registry import find_task

SETTINGS: dict[str, Settings] = {RATIONAL: {}}  # it has none that a text states, and words need none of its modules
SETTINGS |= {
    name: settings_of(type(learner))
    for name in LEARNERS
    if name != RATIONAL and is_dataclass(learner := LEARNERS.find(name))
}


@with_settings(SETTINGS)
def learn_task(
    words: Annotated[Path, typer.Argument(metavar="WORDS", help="Scored words, an event log, or demonstrations.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The task model to write.")] = Path("task.json"),
    learner: Annotated[
        str | None,
        typer.Option(
            help=f"The learner: {', '.join(LEARNERS)}, or your own. Default: rational for demonstrations, shortest for"
            " words."
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(help="Answers from `wfairl ask`, for rational. Default: the file beside the demonstrations."),
    ] = None,
    with_cost: Annotated[
        bool | None,
        typer.Option(
            "--with-cost/--nominal-cost",
            help="Whether to learn the demonstrators' cost along with the automaton, for rational. Default: yes, unless"
            " the task has a cost model of its own or its worlds are too large to enumerate.",
        ),
    ] = None,
    threshold: Annotated[float, typer.Option(help="Accept words of at least this value.")] = 0.5,
    keep_repeats: Annotated[
        bool | None,
        typer.Option(
            "--keep-repeats/--compress", help="Whether a repeated label counts again. Default: only in event logs."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the learner and of the held-out words.")] = 0,
    jobs: Jobs = 2,
    case_column: CaseColumn = "case",
    event_column: EventColumn = "event",
    time_column: TimeColumn = "time",
    outcome_column: OutcomeColumn = "outcome",
    verbose: Annotated[bool, typer.Option("--verbose", help="Print the edges of the automaton too.")] = False,
    lifecycle: Lifecycle = "auto",
    attributes: AttributesOption = None,
    as_json: AsJson = False,
    *,
    settings: dict[str, Any],
) -> None:
    """Learn a task as an automaton from demonstrations or scored words, and write it to a file.

    WORDS is a JSONL file with one scored word per line: {"word": [["key"], ["key", "door"]], "score": 1}. A label lists
    the propositions that hold at one time; a bare string is a label with one proposition. WORDS may also be an event
    log, either a table (.csv) with the columns case, event, time and outcome or XES (.xes, .xes.gz), or demonstrations
    (.safetensors) from `wfairl demos`.

    --learner chooses the method. For demonstrations the default, rational, finds the automaton under which the
    demonstrators act most rationally in their worlds; it needs no failures. Example:

        wfairl learn-task demos.safetensors -o task.json

    It learns what steps cost the demonstrators along with the automaton, so that places which they avoid because these
    are expensive are not taken to be forbidden; --nominal-cost judges them by the task's nominal cost instead, 1 per
    control for most tasks.

    For words the default, shortest, finds the rule with the shortest description: constraints such as 'ship only after
    pay' (declare), or a small automaton (merging); if there is none, it memorises the words. Example:

        wfairl learn-task orders.csv -o task.json

    spectral gives words that it was not shown the value zero: without --rank, --rows or --cols it reproduces every
    score. Each learner has its own settings, with defaults in parentheses. Other commands accept the results of all
    learners.
    """
    check_file(output)
    from_demonstrations = words.suffix == ".safetensors"
    name = learner or _default_learner(settings, from_demonstrations)
    chosen = _find(name, settings, seed)
    if not isinstance(chosen, WordLearner):
        if not from_demonstrations:
            raise BadInputError(f"--learner {name} needs demonstrations (.safetensors), because it uses their worlds")
        given = answers_beside(words) if answers is None else read_answers(answers)
        dataset = load(words)
        dataset = replace(dataset, answers=(*dataset.answers, *given))
        task = find_task(dataset.task)
        model = learn_from_worlds(dataset, task, chosen, jobs, with_cost)
        model.save(output)
        if name == RATIONAL:
            report_rational(model, dataset, task, output, verbose, as_json)
        else:
            report_words(LearnedTask(model), None, output, as_json)
        return
    for option, is_given in (("--answers", answers is not None), ("--with-cost", with_cost is not None)):
        if is_given:
            raise BadInputError(f"{option} is for --learner rational; {name} learns from words alone")
    columns = LogColumns(case_column, event_column, time_column, outcome_column, lifecycle, tuple(attributes or ()))
    data = read_scored(words, columns)
    reading = Reading(threshold, is_log(words) if keep_repeats is None else keep_repeats, from_demonstrations)
    _learn_from_words(chosen, data, reading, output, seed, as_json)


def _default_learner(settings: dict[str, Any], from_demonstrations: bool) -> str:
    """The learner that fits the file, unless the settings are those of another one."""
    default = RATIONAL if from_demonstrations else SHORTEST
    owners = _owners(settings)
    if default in owners or not owners:
        return default
    warn(f"these settings are for --learner {owners[0]}, which is used")
    return owners[0]


def _owners(settings: dict[str, Any]) -> list[str]:
    """The learners that have all these settings."""
    return [name for name, own in SETTINGS.items() if settings.keys() <= own.keys()]


def _find(name: str, settings: dict[str, Any], seed: int) -> TaskLearner:
    """The learner of a name with its settings; refuses settings of other learners."""
    try:
        LEARNERS.find(name)
    except BadInputError as error:
        raise BadInputError(f"--learner: {error}") from None
    own = SETTINGS.get(name, {})
    for foreign in (one for one in settings if one not in own):
        owners = " or ".join(_owners({foreign: None}))
        option = f"--{foreign.replace('_', '-')}"
        raise BadInputError(f"{option}: only for --learner {owners}, not for {name}; leave it out")
    return find_learner(name, **settings, **({"seed": seed} if "seed" in own else {}))


def learn_from_worlds(
    dataset: Dataset, task: Task, learner: TaskLearner, jobs: int, with_cost: bool | None = None
) -> TaskModel:
    """The task by a learner that uses worlds, along with the cost; see the option --with-cost."""
    if with_cost is None:
        from wfairl.core.rational.rational_learner import RationalLearner  # here, because words need none of it

        large = planning_of_large_world(task.make_world(dataset.demonstrations[0].seed)) is not None
        with_cost = isinstance(learner, RationalLearner) and task.default_cost == "auto" and not large
    if not with_cost:
        return learner.learn(dataset, task, n_jobs=jobs)
    from wfairl.core.rational.logic_with_cost import learn_logic_and_cost  # here, because it is slow to import

    return learn_logic_and_cost(dataset, task, learner=learner, n_jobs=jobs).model


def _learn_from_words(
    learner: WordLearner, data: ScoredWords, reading: Reading, output: Path, seed: int, as_json: bool
) -> None:
    """Learn from words, write the model, and report its accuracy on held-out words."""
    assert data.scores is not None
    task = learner.fit(data.words, data.scores, reading)
    held_out = hold_out(learner, data.words, data.scores, np.random.default_rng(seed), reading)
    task.model.save(output)
    if not task.model.summary.closed:
        warn(
            f"the finite automaton did not close within {task.model.max_states} states: it can score words but not"
            " plan. Learn with the full basis, or raise --tolerance or --max-states"
        )
    report_words(task, held_out, output, as_json)
