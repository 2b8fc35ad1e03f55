"""`wfairl learn-task --learner rational`."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from wfairl.cli.app import out, print_json

if TYPE_CHECKING:
    from wfairl.automata.task_model import TaskModel
    from wfairl.demonstrations.demonstration import Dataset

SHOWN_ALTERNATIVES = 3


def learn_rational(demos: Path, answers: Path | None, output: Path, jobs: int, as_json: bool) -> None:
    """Learn the task of demonstrations by how rational the demonstrators look, and write it."""
    from wfairl.demonstrations.answers import place_of_answers, read_answers
    from wfairl.demonstrations.storage import load
    from wfairl.logic.learners import RATIONAL, find_learner
    from wfairl.worlds.registry import find_task

    dataset = load(demos)
    if answers is None and place_of_answers(demos).exists():
        answers = place_of_answers(demos)
    if answers is not None:
        dataset = replace(dataset, answers=(*dataset.answers, *read_answers(answers)))
    model = find_learner(RATIONAL).learn(dataset, find_task(dataset.task), n_jobs=jobs)
    model.save(output)
    if as_json:
        print_json(_document(model))
    else:
        out.print(_table(dataset, model, output))


def _document(model: "TaskModel") -> dict[str, Any]:
    summary, facts = model.summary, model.facts
    return {
        "learner": model.learner,
        "rank": None,
        "rows": None,
        "cols": None,
        "loss": summary.loss,
        "alphabet": [sorted(label) for label in model.alphabet],
        "states": summary.states,
        "closed": summary.closed,
        "words": summary.words,
        "successes": summary.successes,
        "rule": model.sentences[0],
        "temperature": facts.get("temperature"),
        "log_posterior": facts.get("log_posterior"),
        "alternatives": [{"rule": one["text"], "weight": one["weight"]} for one in facts.get("alternatives", ())],
        "look_wrong": facts.get("look_wrong", []),
        "outlier_probabilities": facts.get("outlier_probabilities", []),
    }


def _table(dataset: "Dataset", model: "TaskModel", output: Path) -> Table:
    summary, facts = model.summary, model.facts
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    failures = summary.words - summary.successes
    also = f", and {failures} that failed" if failures else ""
    table.add_row("demonstrations", f"{summary.successes} successful{also}")
    if dataset.answers:
        table.add_row("answers", str(len(dataset.answers)))
    table.add_row("rule", model.sentences[0])
    table.add_row("states", str(summary.states))
    if not facts:
        table.add_row("note", "no automaton explains the demonstrations better than chance: show a few more")
        table.add_row("written to", str(output))
        return table
    best, *others = facts["alternatives"]
    table.add_row("posterior", f"{best['weight']:.0%} among the automata that were kept")
    for i, one in enumerate(others[:SHOWN_ALTERNATIVES]):
        table.add_row("" if i else "otherwise", f"{one['weight']:.1%}  {one['text']}")
    table.add_row("temperature", f"{facts['temperature']:.2g} of the demonstrators, most likely")
    for number in facts["look_wrong"]:
        chance, seed = facts["outlier_probabilities"][number], dataset.demonstrations[number].seed
        table.add_row("looks wrong", f"demonstration {number} (scene {seed}) follows no task, with {chance:.0%}")
    untested = _untested(model)
    if untested:
        table.add_row("not tested", untested)
    table.add_row("written to", str(output))
    return table


def _untested(model: "TaskModel") -> str:
    """The labels of which no demonstration tells where they lead, by state; for people."""
    from wfairl.automata.words import format_label
    from wfairl.logic.support import untested_labels

    found = untested_labels(model).items()
    return "; ".join(f"in state {state}: {', '.join(map(format_label, labels))}" for state, labels in found)
