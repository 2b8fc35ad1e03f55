"""`wfairl learn-task`."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from wfairl.cli.console import facts_table, out, print_json, warn
from wfairl.cli.options import AsJson, Jobs
from wfairl.cli.settings import settings_of, with_settings
from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import format_label
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.demonstrations.learners import (
    LEARNERS,
    MEMORISED,
    RATIONAL,
    SHORTEST,
    LearnedTask,
    Reading,
    TaskLearner,
    WordLearner,
    find_learner,
)
from wfairl.core.demonstrations.storage import load
from wfairl.core.planning.cost import nominal_cost, unit_cost
from wfairl.core.planning.planner import planning_of_large_world
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.core.rational.task_posterior import TaskPosterior, posterior_of
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import check_file
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.task_registry import find_task
from wfairl.events.commands import (
    Attributes,
    CaseColumn,
    EventColumn,
    Lifecycle,
    OutcomeColumn,
    TimeColumn,
    read_scored,
)
from wfairl.events.event_logs import LogColumns, is_log
from wfairl.events.held_out import HeldOut, hold_out
from wfairl.events.learned_rule import rule_of
from wfairl.events.scored_words import ScoredWords
from wfairl.questions.answer_files import answers_beside, read_answers

SETTINGS = {name: settings_of(type(learner)) for name, learner in LEARNERS.items() if is_dataclass(learner)}

SHOWN_ALTERNATIVES = 3
SHOWN_SENTENCES = 16
RULE_FILE = "`wfairl export MODEL --as declare` prints all"
TOO_FEW_WORDS = "too few words to hold any out"


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
            "--keep-repeats/--compress",
            help="Whether a repeated label counts again. Default: only in event logs.",
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
    attributes: Attributes = None,
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
        _learn_from_demonstrations(chosen, name, words, answers, with_cost, output, jobs, verbose, as_json)
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


def _learn_from_demonstrations(
    learner: TaskLearner,
    name: str,
    demos: Path,
    answers: Path | None,
    with_cost: bool | None,
    output: Path,
    jobs: int,
    verbose: bool,
    as_json: bool,
) -> None:
    """Learn with a learner that uses the worlds of the demonstrations, and write the model."""
    dataset = load(demos)
    given = answers_beside(demos) if answers is None else read_answers(answers)
    dataset = replace(dataset, answers=(*dataset.answers, *given))
    task = find_task(dataset.task)
    model = learn_from_worlds(dataset, task, learner, jobs, with_cost)
    model.save(output)
    if as_json:
        print_json(
            _rational_document(model, dataset) if name == RATIONAL else _summary_document(LearnedTask(model), None)
        )
    elif name == RATIONAL:
        _print_rational(dataset, model, task, output, verbose)
    else:
        _print_summary(LearnedTask(model), None, output)


def learn_from_worlds(
    dataset: Dataset, task: Task, learner: TaskLearner, jobs: int, with_cost: bool | None = None
) -> TaskModel:
    """The task by a learner that uses worlds, along with the cost; see the option --with-cost."""
    if with_cost is None:
        large = planning_of_large_world(task.make_world(dataset.demonstrations[0].seed)) is not None
        with_cost = isinstance(learner, RationalLearner) and task.default_cost == "auto" and not large
    if not with_cost:
        return learner.learn(dataset, task, n_jobs=jobs)
    from wfairl.core.runs.logic_with_cost import learn_logic_and_cost  # here, because torch is slow to import

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
    if as_json:
        print_json(_summary_document(task, held_out))
    else:
        _print_summary(task, held_out, output)


def _summary_document(task: LearnedTask, held_out: HeldOut | None) -> dict[str, Any]:
    """A task learned from words, as JSON."""
    model, summary, rule = task.model, task.model.summary, rule_of(task.model)
    return {
        **_common_document(model),
        "rank": summary.rank,
        "rows": summary.rows,
        "cols": summary.cols,
        "deviation": summary.deviation,
        "condition": summary.condition,
        "sentences": list(model.sentences),
        "bits": task.bits,
        "memorised": task.memorised,
        "notes": list(task.notes),
        "accepted": summary.accepted,
        "accepted_successes": summary.accepted_successes,
        "outliers": None if rule is None else rule.outliers,
        "false_alarms": None if rule is None else rule.false_alarms,
        "held_out_words": 0 if held_out is None else held_out.words,
        "held_out_accuracy": None if held_out is None else held_out.accuracy,
        "base_rate": None if held_out is None else held_out.base_rate,
        "held_out_precision": None if held_out is None else held_out.precision,
    }


def _rational_document(model: TaskModel, dataset: Dataset) -> dict[str, Any]:
    """A task learned by the rationality of demonstrators, as JSON."""
    posterior = posterior_of(model)
    alternatives = () if posterior is None else posterior.alternatives
    return {
        **_common_document(model),
        "rank": None,
        "rows": None,
        "cols": None,
        "rule": model.sentence,
        "edges": None if posterior is None else posterior.chosen.text,
        "temperature": None if posterior is None else posterior.temperature,
        "log_posterior": None if posterior is None else posterior.log_posterior,
        "alternatives": [{"edges": one.text, "weight": one.weight} for one in alternatives],
        "doubts": [] if posterior is None else [[str(one.constraint), one.probability] for one in posterior.doubts],
        "unforeseen": None if posterior is None else posterior.unforeseen,
        "contradicts": [] if posterior is None else contradictions(posterior.chosen.automaton, dataset),
        "look_wrong": [] if posterior is None else posterior.outliers,
        "rounds": 0 if posterior is None else posterior.rounds,
        "not_told_apart": [] if posterior is None else [asdict(one) for one in posterior.not_told_apart],
        "outlier_probabilities": [] if posterior is None else posterior.outlier_probabilities.tolist(),
    }


def _common_document(model: TaskModel) -> dict[str, Any]:
    summary = model.summary
    return {
        "learner": model.learner,
        "loss": summary.loss,
        "alphabet": [sorted(label) for label in model.alphabet],
        "states": summary.states,
        "closed": summary.closed,
        "words": summary.words,
        "successes": summary.successes,
    }


def _print_summary(task: LearnedTask, held_out: HeldOut | None, output: Path) -> None:
    """Print a task learned from words."""
    model, summary = task.model, task.model.summary
    is_weighted = model.weighted is not None
    table = facts_table()
    if held_out is not None and not held_out.beats_constant and not task.trivial and summary.accepted is not None:
        out.print(
            f"No better than a guess: on {held_out.words} held-out words the rule is right in {held_out.accuracy:.1%},"
            f" and always answering the same in {held_out.base_rate:.1%}."
        )
    table.add_row("words", f"{summary.words}, of which {summary.successes} reach the threshold {model.threshold:g}")
    table.add_row("alphabet", _format_labels(model.alphabet))
    table.add_row("learner", model.learner)
    for i, sentence in enumerate(_sentences(model)):
        table.add_row("" if i else "rule", sentence)
    if task.trivial:
        table.add_row("rule", "none was found: every word is accepted")
    for i, rate in enumerate(_rates(model)):
        table.add_row("" if i else "rates", rate)
    if is_weighted:
        table.add_row("rank / rows / cols", f"{summary.rank} / {summary.rows} / {summary.cols}")
    table.add_row("loss", f"{summary.loss:.3g}")
    table.add_row("states", f"{summary.states} live" + ("" if summary.closed else ", and more that were not explored"))
    if is_weighted:
        table.add_row("deviation", f"{summary.deviation:.3g} of the finite automaton from the weighted one")
    if held_out is None:
        table.add_row("held out", TOO_FEW_WORDS)
    elif summary.accepted is None:
        table.add_row(
            "held out",
            f"{held_out.accuracy:.1%} of {held_out.words} good words keep the rule of the others;"
            f" {held_out.precision:.1%} of them do not when two of their labels are lost, doubled or moved",
        )
    else:
        table.add_row(
            "held out",
            f"{held_out.accuracy:.1%} of {held_out.words} words predicted correctly when held out; a constant answer"
            f" gives {held_out.base_rate:.1%}",
        )
    for note in ((MEMORISED,) if task.memorised else ()) + task.notes:
        table.add_row("note", note)
    table.add_row("written to", str(output))
    out.print(table)


def _sentences(model: TaskModel) -> list[str]:
    """The rule, with how many cases speak for each sentence; of many sentences, those with most evidence."""
    rule = rule_of(model)
    if rule is None or not rule.constraints:
        return [] if rule is not None else list(model.sentences)
    told = (
        [f"{one.sentence} ({one.support - one.broken:,} of {one.support:,} cases)" for one in rule.constraints]
        if rule.relations is not None
        else list(model.sentences)
    )
    more = len(told) - SHOWN_SENTENCES
    return told[:SHOWN_SENTENCES] + ([f"and {more} more; {RULE_FILE}"] if more > 0 else [])


def _rates(model: TaskModel) -> list[str]:
    """How many words succeed on either side of the rule, or how many break a rule learned from good cases."""
    summary, rule = model.summary, rule_of(model)
    if summary.accepted is not None and summary.accepted_successes is not None:
        rest = summary.words - summary.accepted
        return [
            f"{right} of {count} words that {verb} the rule succeed"
            for verb, right, count in (
                ("keep", summary.accepted_successes, summary.accepted),
                ("break", summary.successes - summary.accepted_successes, rest),
            )
        ]
    if rule is not None and rule.relations is not None:
        return [
            f"{rule.outliers:.1%} of the cases break the rule: `wfairl conform` lists them (--outliers sets the share)"
        ]
    return []


def _print_rational(dataset: Dataset, model: TaskModel, task: Task, output: Path, verbose: bool) -> None:
    """Print a task learned by the rationality of demonstrators."""
    summary, posterior = model.summary, posterior_of(model)
    table = facts_table()
    failures = summary.words - summary.successes
    table.add_row("demonstrations", f"{summary.successes} successful" + (f", {failures} failed" if failures else ""))
    if dataset.answers:
        table.add_row("answers", str(len(dataset.answers)))
    for i, sentence in enumerate(model.sentences):
        table.add_row("" if i else "rule", sentence)
    if verbose and posterior is not None:
        table.add_row("edges", posterior.chosen.text)
    table.add_row("states", str(summary.states))
    if posterior is None:
        table.add_row("note", "no automaton explains the demonstrations better than chance: give a few more")
    else:
        cost = f"learned along with the rule, in {posterior.rounds} rounds; to plan with one, train"
        if posterior.rounds < 2:
            nominal = "1 per step" if nominal_cost(task) is unit_cost else "a function of the features"
            cost = f"nominal, {nominal}" + ("; no other explains much more" if posterior.rounds else "")
        table.add_row("cost", cost)
        for rival in posterior.not_told_apart:
            text = f"under another cost, {rival.nats:.1f} nats less likely: {rival.rule}"
            table.add_row("or", f"{text}. What is avoided may be forbidden or only expensive: ask (`wfairl ask`)")
        table.add_row("posterior", _posterior_sentence(posterior))
        for i, (rule, weight) in enumerate(posterior.other_rules(SHOWN_ALTERNATIVES)):
            table.add_row("" if i else "otherwise", f"{weight:.1%}  {rule}")
        for i, doubt in enumerate(posterior.doubts[:SHOWN_ALTERNATIVES]):
            table.add_row("" if i else "in doubt", f"{doubt.probability:.1%}  {doubt.constraint}")
        table.add_row("none of these", f"{posterior.unforeseen:.1%}, that a new scene asks what nobody foresees")
        for sentence in contradictions(posterior.chosen.automaton, dataset):
            table.add_row("contradicts", sentence)
        table.add_row("temperature", f"{posterior.temperature:.2g} of the demonstrators, most likely")
        for number in posterior.outliers:
            chance, seed = posterior.outlier_probabilities[number], dataset.demonstrations[number].seed
            table.add_row("looks wrong", f"demonstration {number} (scene {seed}) follows no task, with {chance:.0%}")
        untested = posterior.untested_labels().items()
        if untested:
            states = (f"in state {state}: {_format_labels(labels, '')}" for state, labels in untested)
            table.add_row("not tested", "; ".join(states))
    table.add_row("written to", str(output))
    out.print(table)


def _posterior_sentence(posterior: TaskPosterior) -> str:
    """How far the chosen automaton is ahead of the next one, and what the figure does not say."""
    share = f"{posterior.chosen.weight:.0%} of the {len(posterior.alternatives)} best"
    if len(posterior.alternatives) > 1:
        share += f", {np.log(posterior.chosen.weight / posterior.alternatives[1].weight):.1f} nats ahead of the next"
    return f"{share}, among {posterior.automata_generated:,} automata that were searched"


def contradictions(rule: Automaton, dataset: Dataset) -> list[str]:
    """What a rule says otherwise than the demonstrations, failures and answers, one sentence for each kind."""

    def is_right(labels: Sequence[Label]) -> bool:
        return rule.fulfilled_at(labels) is not None

    wrong = {
        "{} of {} successful demonstrations do not fulfil the rule": [
            not is_right(one.labels) for one in dataset if one.is_success
        ],
        "{} of {} failures fulfil the rule": [is_right(one.labels) for one in dataset if not one.is_success],
        "{} of {} answers say otherwise": [is_right(one.labels) != one.is_right for one in dataset.answers],
    }
    return [text.format(sum(which), len(which)) for text, which in wrong.items() if any(which)]


def _format_labels(labels: Iterable[Label], quote: str = "'") -> str:
    return ", ".join(f"{quote}{format_label(label)}{quote}" for label in labels)
