"""What `wfairl learn-task` prints of a learned task, for people and as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import RenderableType

from wfairl.cli.console import facts_table, tell
from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.automata.sentences import describe_state
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import format_label
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.demonstrations.learners import MEMORISED, LearnedTask
from wfairl.core.planning.cost import nominal_cost, unit_cost
from wfairl.core.rational.task_posterior import TaskPosterior, posterior_of
from wfairl.core.worlds.task import Task
from wfairl.events.held_out import HeldOut
from wfairl.events.learned_rule import MOST_NAMED, learned_rule_of, list_names

SHOWN_ALTERNATIVES = 3
SHOWN_SENTENCES = 16


def report_words(task: LearnedTask, held_out: HeldOut | None, output: Path, as_json: bool) -> None:
    """Print a task learned from words."""
    lines: list[RenderableType] = [facts_table([*_facts_of_words(task, held_out), ("written to", str(output))])]
    accepted = task.model.summary.accepted
    if held_out is not None and not held_out.beats_constant and not task.trivial and accepted is not None:
        guess = (
            f"No better than a guess: on {held_out.words} held-out words the rule is right in {held_out.accuracy:.1%},"
            f" and always answering the same in {held_out.base_rate:.1%}."
        )
        lines.insert(0, guess)
    tell(_document_of_words(task, held_out), lines, as_json)


def report_rational(model: TaskModel, dataset: Dataset, task: Task, output: Path, verbose: bool, as_json: bool) -> None:
    """Print a task learned by the rationality of demonstrators; the edges of its automaton only if asked to."""
    summary, posterior = model.summary, posterior_of(model)
    failures = summary.words - summary.successes
    facts = [("demonstrations", f"{summary.successes} successful" + (f", {failures} failed" if failures else ""))]
    if dataset.answers:
        facts.append(("answers", str(len(dataset.answers))))
    facts += [("rule", sentence) for sentence in model.sentences]
    if verbose and posterior is not None:
        facts.append(("edges", posterior.chosen.text))
    facts.append(("states", str(summary.states)))
    nothing = "no automaton explains the demonstrations better than chance: give a few more"
    facts += [("note", nothing)] if posterior is None else _facts_of_posterior(posterior, dataset, task)
    tell(_document_of_posterior(model, dataset), [facts_table([*facts, ("written to", str(output))])], as_json)


def _facts_of_words(task: LearnedTask, held_out: HeldOut | None) -> Iterator[tuple[str, str]]:
    model, summary = task.model, task.model.summary
    yield "words", f"{summary.words}, of which {summary.successes} reach the threshold {model.threshold:g}"
    yield "alphabet", _alphabet(model)
    yield "learner", model.learner
    yield from (("rule", sentence) for sentence in _sentences(model))
    if task.trivial:
        yield "rule", "none was found: every word is accepted"
    yield from (("rates", rate) for rate in ([] if task.trivial else _rates(model)))
    if model.weighted is not None:
        yield "rank / rows / cols", f"{summary.rank} / {summary.rows} / {summary.cols}"
    yield "loss", f"{summary.loss:.3g}"
    yield "states", f"{summary.states} live" + ("" if summary.closed else ", and more that were not explored")
    if model.weighted is not None:
        yield "deviation", f"{summary.deviation:.3g} of the finite automaton from the weighted one"
    yield "held out", _held_out_sentence(held_out)
    yield from (("note", note) for note in ((MEMORISED,) if task.memorised else ()) + task.notes)


def _alphabet(model: TaskModel) -> str:
    """The labels; if many labels have several propositions, the propositions."""
    labels, names = model.alphabet, sorted({name for label in model.alphabet for name in label})
    if len(labels) <= MOST_NAMED or len(labels) <= len(names):
        return list_names([*map(format_label, labels)], MOST_NAMED)
    return f"{len(labels)} labels of {len(names)} propositions, {list_names(names, MOST_NAMED)}"


def _held_out_sentence(held_out: HeldOut | None) -> str:
    """How well the rule does on words that it was not learned from."""
    if held_out is None:
        return "too few words to hold any out"
    if held_out.precision is not None:  # all words are good
        return (
            f"{held_out.accuracy:.1%} of {held_out.words} good words keep the rule of the others;"
            f" {held_out.precision:.1%} of them do not when two of their labels are lost, doubled or moved"
        )
    return (
        f"{held_out.accuracy:.1%} of {held_out.words} words predicted correctly when held out; a constant answer"
        f" gives {held_out.base_rate:.1%}"
    )


def _sentences(model: TaskModel) -> list[str]:
    """The rule, with how many cases speak for each sentence; of many sentences, those with most evidence."""
    rule = learned_rule_of(model)
    if rule is None or not rule.constraints:
        return [] if rule is not None else list(model.sentences)
    told = (
        [f"{one.sentence} ({one.support - one.broken:,} of {one.support:,} cases)" for one in rule.constraints]
        if rule.relations is not None
        else list(model.sentences)
    )
    more = len(told) - SHOWN_SENTENCES
    rest = [f"and {more} more; `wfairl export MODEL --as declare` prints all"] if more > 0 else []
    return told[:SHOWN_SENTENCES] + rest


def _rates(model: TaskModel) -> list[str]:
    """How many words succeed on either side of the rule, or how many break a rule learned from good cases."""
    summary, rule = model.summary, learned_rule_of(model)
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
        if not rule.outliers:
            return ["no case breaks the rule (--outliers sets the share that may)"]
        return [
            f"{rule.outliers:.1%} of the cases break the rule: `wfairl conform` lists them (--outliers sets the share)"
        ]
    return []


def _facts_of_posterior(posterior: TaskPosterior, dataset: Dataset, task: Task) -> Iterator[tuple[str, str]]:
    cost = f"learned along with the rule, in {posterior.rounds} rounds; to plan with one, train"
    if posterior.rounds < 2:
        nominal = "1 per step" if nominal_cost(task) is unit_cost else "a function of the features"
        cost = f"nominal, {nominal}" + ("; no other explains much more" if posterior.rounds else "")
    yield "cost", cost
    for rival in posterior.not_told_apart:
        text = f"under another cost, {rival.nats:.1f} nats less likely: {rival.rule}"
        yield "or", f"{text}. What is avoided may be forbidden or only expensive: ask (`wfairl ask`)"
    yield "posterior", _posterior_sentence(posterior)
    for rule, weight in posterior.other_rules(SHOWN_ALTERNATIVES):
        yield "otherwise", f"{weight:.1%}  {rule}"
    for doubt in posterior.open_doubts[:SHOWN_ALTERNATIVES]:
        yield "in doubt", f"{doubt.probability:.1%}  {doubt}"
    yield "none of these", f"{posterior.unforeseen:.1%}, that a new scene asks what nobody foresees"
    yield from (("contradicts", sentence) for sentence in _contradictions(posterior.chosen.automaton, dataset))
    yield "temperature", f"{posterior.temperature:.2g} of the demonstrators, most likely"
    yield from (("does not fit", sentence) for sentence in _misfits(posterior, dataset))
    for state, labels in posterior.untested_labels().items():
        where = describe_state(posterior.chosen.automaton, state)
        yield "not tested", f"{where}: {', '.join(map(format_label, labels))}"


def _misfits(posterior: TaskPosterior, dataset: Dataset) -> Iterator[str]:
    """The demonstrations that the rule does not explain, and what that may mean."""
    for number in posterior.outliers:
        chance, seed = posterior.outlier_probabilities[number], dataset.demonstrations[number].seed
        yield f"demonstration {number} (scene {seed}) does not fit this rule, with {chance:.0%}"
    if posterior.outliers:
        yield "a mistake, or a sign that the task is another: `wfairl evidence` weighs a rule of yours"


def _posterior_sentence(posterior: TaskPosterior) -> str:
    """How far the chosen automaton is ahead of the next one, and what the figure does not say."""
    share = f"{posterior.chosen.weight:.0%} of the {len(posterior.alternatives)} best"
    if len(posterior.alternatives) > 1:
        share += f", {np.log(posterior.chosen.weight / posterior.alternatives[1].weight):.1f} nats ahead of the next"
    return f"{share}, among {posterior.automata_generated:,} automata that were searched"


def _contradictions(rule: Automaton, dataset: Dataset) -> list[str]:
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


def _document_of_words(task: LearnedTask, held_out: HeldOut | None) -> dict[str, Any]:
    """A task learned from words, as JSON."""
    rule = learned_rule_of(task.model)
    return {
        **_common_document(task.model),
        "sentences": list(task.model.sentences),
        "bits": task.bits,
        "memorised": task.memorised,
        "notes": list(task.notes),
        "outliers": None if rule is None else rule.outliers,
        "false_alarms": None if rule is None else rule.false_alarms,
        "held_out_words": 0 if held_out is None else held_out.words,
        "held_out_accuracy": None if held_out is None else held_out.accuracy,
        "base_rate": None if held_out is None else held_out.base_rate,
        "held_out_precision": None if held_out is None else held_out.precision,
    }


def _document_of_posterior(model: TaskModel, dataset: Dataset) -> dict[str, Any]:
    """A task learned by the rationality of demonstrators, as JSON."""
    posterior = posterior_of(model)
    alternatives = () if posterior is None else posterior.alternatives
    return {
        **_common_document(model),
        "rule": model.sentence,
        "edges": None if posterior is None else posterior.chosen.text,
        "temperature": None if posterior is None else posterior.temperature,
        "log_posterior": None if posterior is None else posterior.log_posterior,
        "alternatives": [{"edges": one.text, "weight": one.weight} for one in alternatives],
        "doubts": [] if posterior is None else [[str(one.constraint), one.probability] for one in posterior.doubts],
        "unforeseen": None if posterior is None else posterior.unforeseen,
        "unexplained": None if posterior is None else posterior.unexplained,
        "contradicts": [] if posterior is None else _contradictions(posterior.chosen.automaton, dataset),
        "look_wrong": [] if posterior is None else posterior.outliers,
        "rounds": 0 if posterior is None else posterior.rounds,
        "not_told_apart": [] if posterior is None else [asdict(one) for one in posterior.not_told_apart],
        "outlier_probabilities": [] if posterior is None else posterior.outlier_probabilities.tolist(),
    }


def _common_document(model: TaskModel) -> dict[str, Any]:
    alphabet = [sorted(label) for label in model.alphabet]
    return {"learner": model.learner, "alphabet": alphabet, **asdict(model.summary)}
