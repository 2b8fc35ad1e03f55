"""The learned task for people: its automaton, the certainty and the evidence of each edge, and what changed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Arrow, Automaton, Label
from wfairl.core.automata.sentences import describe_state
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import format_label, format_word
from wfairl.core.demonstrations.demonstration import Dataset, Demonstration
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.pages.automata.images import automaton_svg
from wfairl.questions.hypotheses import Hypothesis, hypotheses_of, in_words
from wfairl.specifications.comparison import compare_automata

DONE, LOST, SHOWN_ALTERNATIVES = "done", "lost", 3

EdgeKey = tuple[int, str, str]
"""Source, guard and target of an edge, as text: equal for the same edge of two automata."""


def belief_of(model: TaskModel) -> tuple[Hypothesis, ...]:
    """How probable each task is, as all of the page says; empty if the learner keeps no alternatives."""
    posterior = posterior_of(model)
    return () if posterior is None else hypotheses_of(posterior, posterior.labels)


def edge_evidence(model: TaskModel, dataset: Dataset, before: TaskModel | None = None) -> list[dict[str, Any]]:
    """The edges of a model with their evidence, ordered by source; none is less certain than the task itself."""
    posterior, belief = posterior_of(model), belief_of(model)
    known = {} if posterior is None else {one.text: _edge_keys(one.automaton) for one in posterior.alternatives}
    chosen = set() if posterior is None else known[posterior.chosen.text]  # also of what is asked beside it
    old = None if before is None else _edge_keys(before.finite)
    edges = []
    for arrow in sorted(model.finite.arrows(), key=lambda arrow: arrow.source):
        key = _edge_key(arrow, model.finite.accepting)
        edge = {
            "source": arrow.source,
            "target": arrow.target if arrow.target != DEAD else model.finite.states,
            "text": arrow.text,
            "target_name": key[2],
            # probability of the automata that have the edge; None if a learner keeps no alternatives
            "certainty": sum(one.weight for one in belief if key in known.get(one.text, chosen)) if belief else None,
            "demonstrations": _demonstrations_of(arrow, model.finite, dataset),  # those that took it
            "is_new": old is not None and key not in old,
        }
        edges.append(edge)
    return edges


def _demonstrations_of(arrow: Arrow, automaton: Automaton, dataset: Dataset) -> list[int]:
    """The numbers, from 1, of the demonstrations that take an edge."""

    def is_taken(demonstration: Demonstration) -> bool:
        steps = zip(automaton.run(demonstration.labels), demonstration.labels, strict=False)
        return any(state == arrow.source and arrow.takes(label) for state, label in steps)

    return [number for number, one in enumerate(dataset, start=1) if one.is_success and is_taken(one)]


def _edge_keys(automaton: Automaton) -> set[EdgeKey]:
    return {_edge_key(arrow, automaton.accepting) for arrow in automaton.arrows()}


def _edge_key(arrow: Arrow, accepting: NDArray[np.bool_]) -> EdgeKey:
    target = LOST if arrow.target == DEAD else DONE if accepting[arrow.target] else str(arrow.target)
    return arrow.source, arrow.text, target


def describe_understanding(model: TaskModel, dataset: Dataset, before: TaskModel | None) -> dict[str, Any]:
    """Everything that the page shows of a model, of what it was learned from, and of the model before it, if any."""
    old = set() if before is None else _edge_keys(before.finite)
    new = _edge_keys(model.finite)
    posterior, belief = posterior_of(model), belief_of(model)
    rule = "" if posterior is None else posterior.chosen.text
    exactly = [one for one in belief if one.text == rule]
    stricter = [one for one in belief if one.text.startswith(f"{rule}, and ")]
    return {
        "svg": automaton_svg(model.finite, model.edge_counts),
        "sentence": model.sentence,
        "states": model.finite.states,
        "weight": sum(one.weight for one in exactly) if belief else None,
        "weight_or_stricter": sum(one.weight for one in (*exactly, *stricter)) if belief else None,
        "unforeseen": 0.0 if posterior is None else posterior.unforeseen,
        "edges": edge_evidence(model, dataset, before),
        "differing_words": [] if before is None or old == new else _differing_words(before, model),
        "removed": [f"{source} \N{RIGHTWARDS ARROW} {target} on {text}" for source, text, target in sorted(old - new)],
        "alternatives": [
            {"text": one.text if posterior is None else in_words(posterior, one.text), "weight": one.weight}
            for one in [one for one in belief if one not in exactly][:SHOWN_ALTERNATIVES]
        ],
        "untested": [
            f"{_least(labels)} {describe_state(model.finite, state)}"
            for state, labels in ({} if posterior is None else posterior.untested_labels()).items()
        ],
    }


def _least(labels: Sequence[Label]) -> str:
    """The labels of which no part is among them, too: what holds beside that is as little known."""
    least = [label for label in labels if not any(part and part < label for part in labels)]
    return ", ".join(format_label(one) if one else "nothing" for one in least)


def _differing_words(before: TaskModel, model: TaskModel) -> list[str]:
    """Words that the old automaton and the new one judge differently."""
    posterior = posterior_of(model)
    labels = () if posterior is None else posterior.labels
    comparison = compare_automata(("before", "now"), (before.finite, model.finite), labels, most=2)
    return [f"{format_word(word)}: {', now '.join(comparison.verdicts(word))}" for word in comparison.words]
