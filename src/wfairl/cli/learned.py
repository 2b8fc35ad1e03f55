"""What a learner found, told to a person or as JSON."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from wfairl.cli.app import out

if TYPE_CHECKING:
    from wfairl.automata.word_learners import HeldOut, LearnedTask
    from wfairl.baselines.recurrent_automaton import RecurrentTask


def summary_document(task: "LearnedTask", held_out: "HeldOut | None") -> dict[str, object]:
    """A task as JSON."""
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
        "notes": list(task.notes),
        "held_out_words": 0 if held_out is None else held_out.words,
        "held_out_accuracy": None if held_out is None else held_out.accuracy,
        "base_rate": None if held_out is None else held_out.base_rate,
    }


def print_summary(task: "LearnedTask", held_out: "HeldOut | None", output: Path) -> None:
    """A task as a table."""
    from wfairl.automata.task_model_file import SPECTRAL
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
    for note in ((MEMORISED,) if task.memorised else ()) + task.notes:
        table.add_row("note", note)
    table.add_row("written to", str(output))
    out.print(table)


def _say_held_out(held_out: "HeldOut | None") -> str:
    if held_out is None:
        return "too few words to hold any out"
    return (
        f"{held_out.accuracy:.1%} of {held_out.words} words right when they were not learned; saying always the same "
        f"gives {held_out.base_rate:.1%}"
    )


def recurrent_document(learned: "RecurrentTask") -> dict[str, object]:
    """A task that was read off a network, as JSON."""
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


def print_recurrent(learned: "RecurrentTask", threshold: float, output: Path, network: Path) -> None:
    """A task that was read off a network, as a table."""
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
