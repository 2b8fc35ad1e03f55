"""The results of the learners of `wfairl learn-task`, as tables and as JSON."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wfairl.cli.console import facts_table, out
from wfairl.core.automata.automaton import Label
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import format_label
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.demonstrations.learners import MEMORISED, LearnedTask
from wfairl.core.planning.cost import nominal_cost, unit_cost
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.worlds.task import Task
from wfairl.events.held_out import HeldOut

SHOWN_ALTERNATIVES = 3
TOO_FEW_WORDS = "too few words to hold any out"


def summary_document(task: LearnedTask, held_out: HeldOut | None) -> dict[str, Any]:
    """A task learned from words, as JSON."""
    model, summary = task.model, task.model.summary
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
        "held_out_words": 0 if held_out is None else held_out.words,
        "held_out_accuracy": None if held_out is None else held_out.accuracy,
        "base_rate": None if held_out is None else held_out.base_rate,
    }


def rational_document(model: TaskModel) -> dict[str, Any]:
    """A task learned by the rationality of demonstrators, as JSON."""
    posterior = posterior_of(model)
    alternatives = () if posterior is None else posterior.alternatives
    return {
        **_common_document(model),
        "rank": None,
        "rows": None,
        "cols": None,
        "rule": model.sentences[0],
        "temperature": None if posterior is None else posterior.temperature,
        "log_posterior": None if posterior is None else posterior.log_posterior,
        "alternatives": [{"rule": one.text, "weight": one.weight} for one in alternatives],
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


def print_summary(task: LearnedTask, held_out: HeldOut | None, output: Path) -> None:
    """Print a task learned from words."""
    model, summary = task.model, task.model.summary
    is_weighted = model.weighted is not None
    table = facts_table()
    table.add_row("words", f"{summary.words}, of which {summary.successes} reach the threshold {model.threshold:g}")
    table.add_row("alphabet", _format_labels(model.alphabet))
    table.add_row("learner", model.learner)
    for i, sentence in enumerate(model.sentences):
        table.add_row("" if i else "rule", sentence)
    if task.trivial:
        table.add_row("rule", "none was found: every word is accepted")
    if is_weighted:
        table.add_row("rank / rows / cols", f"{summary.rank} / {summary.rows} / {summary.cols}")
    table.add_row("loss", f"{summary.loss:.3g}")
    table.add_row("states", f"{summary.states} live" + ("" if summary.closed else ", and more that were not explored"))
    if is_weighted:
        table.add_row("deviation", f"{summary.deviation:.3g} of the finite automaton from the weighted one")
    if held_out is None:
        table.add_row("held out", TOO_FEW_WORDS)
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


def print_rational(dataset: Dataset, model: TaskModel, task: Task, output: Path) -> None:
    """Print a task learned by the rationality of demonstrators."""
    summary, posterior = model.summary, posterior_of(model)
    table = facts_table()
    failures = summary.words - summary.successes
    table.add_row("demonstrations", f"{summary.successes} successful" + (f", {failures} failed" if failures else ""))
    if dataset.answers:
        table.add_row("answers", str(len(dataset.answers)))
    table.add_row("rule", model.sentences[0])
    table.add_row("states", str(summary.states))
    if posterior is None:
        table.add_row("note", "no automaton explains the demonstrations better than chance: give a few more")
    else:
        cost = f"learned along with the rule, in {posterior.rounds} rounds; to plan with one, train"
        if not posterior.rounds:
            nominal = "1 per step" if nominal_cost(task) is unit_cost else "a function of the features"
            cost = f"nominal, {nominal}; --with-cost learns theirs along with the rule"
        table.add_row("cost", cost)
        for rival in posterior.not_told_apart:
            table.add_row("or", f"under another cost, {rival.nats:.1f} nats less likely: {rival.rule}")
        table.add_row("posterior", f"{posterior.chosen.weight:.0%} among the automata that were kept")
        for i, one in enumerate(posterior.alternatives[1 : SHOWN_ALTERNATIVES + 1]):
            table.add_row("" if i else "otherwise", f"{one.weight:.1%}  {one.text}")
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


def _format_labels(labels: Iterable[Label], quote: str = "'") -> str:
    return ", ".join(f"{quote}{format_label(label)}{quote}" for label in labels)
