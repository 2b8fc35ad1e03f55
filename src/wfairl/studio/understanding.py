"""What was understood, for people: the automaton, how certain each edge is, what stands behind it, what changed."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import DEAD, Arrow, Automaton
from wfairl.automata.comparison import compare
from wfairl.automata.formats.pictures import to_svg
from wfairl.automata.guarded import Edge, GuardedAutomaton
from wfairl.automata.layout import lay_out
from wfairl.automata.task_model import TaskModel
from wfairl.automata.words import format_label, format_word
from wfairl.demonstrations.demonstration import Dataset
from wfairl.logic.support import support_of, untested_labels

DONE, LOST = "done", "lost"

SHOWN_ALTERNATIVES = 3


@dataclass(frozen=True)
class KnownEdge:
    """An edge, and what is known of it.

    Attributes:
        source: the state that it leaves.
        target: the state that it leads to, `DEAD` if the task is lost then.
        text: what it waits for.
        certainty: the part of the posterior that has this edge; None where a learner keeps no alternatives.
        behind: numbers of the demonstrations that took it.
    """

    source: int
    target: int
    text: str
    certainty: float | None
    behind: tuple[int, ...]

    def key(self, accepting: NDArray[np.bool_]) -> tuple[int, str, str]:
        """What makes it the same edge in another automaton."""
        return _key(self.source, self.text, self.target, accepting)


def known_edges(model: TaskModel, dataset: Dataset) -> list[KnownEdge]:
    """The edges of a model with what is known of them, in the order of states."""
    alternatives = [
        (_edge_keys(GuardedAutomaton.from_document(one["automaton"])), float(one["weight"]))
        for one in model.facts.get("alternatives", ())
    ]
    total = sum(weight for _, weight in alternatives)
    found = []
    for arrow in model.finite.arrows():
        key = _key(arrow.source, arrow.text, arrow.target, model.finite.accepting)
        share = sum(weight for keys, weight in alternatives if key in keys) / total if total else None
        found.append(KnownEdge(arrow.source, arrow.target, arrow.text, share, _behind(arrow, model.finite, dataset)))
    return sorted(found, key=lambda edge: edge.source)


def _behind(arrow: Arrow, automaton: Automaton, dataset: Dataset) -> tuple[int, ...]:
    numbers = []
    for number, demonstration in enumerate(dataset):
        path = automaton.run(demonstration.labels)
        taken = zip(path, demonstration.labels, strict=False)
        if demonstration.is_success and any(state == arrow.source and arrow.takes(label) for state, label in taken):
            numbers.append(number)
    return tuple(numbers)


def _edge_keys(automaton: Automaton) -> set[tuple[int, str, str]]:
    return {_key(one.source, one.text, one.target, automaton.accepting) for one in automaton.arrows()}


def _key(source: int, text: str, target: int, accepting: NDArray[np.bool_]) -> tuple[int, str, str]:
    return source, text, LOST if target == DEAD else DONE if accepting[target] else str(target)


def describe(model: TaskModel, dataset: Dataset, before: TaskModel | None) -> dict[str, Any]:
    """Everything that the page shows of a model.

    Args:
        model: what was learned.
        dataset: from what.
        before: what was thought before; None if nothing was.
    """
    edges = known_edges(model, dataset)
    was = set() if before is None else _edge_keys(before.finite)
    now = _edge_keys(model.finite)
    best, *others = model.facts.get("alternatives") or [{"weight": None}]
    return {
        "svg": to_svg(lay_out(model.finite, model.edge_counts)),
        "sentence": sentence(model),
        "states": model.finite.states,
        "weight": best["weight"],
        "edges": [
            {
                "source": edge.source,
                "target": edge.target if edge.target != DEAD else model.finite.states,
                "text": edge.text,
                "leads": LOST if edge.target == DEAD else DONE if model.finite.accepting[edge.target] else edge.target,
                "certainty": edge.certainty,
                "behind": [number + 1 for number in edge.behind],
                "is_new": before is not None and edge.key(model.finite.accepting) not in was,
            }
            for edge in edges
        ],
        "apart": [] if before is None or was == now else _apart(before, model),
        "gone": [f"{source} \N{RIGHTWARDS ARROW} {leads} on {text}" for source, text, leads in sorted(was - now)],
        "alternatives": [{"text": one["text"], "weight": one["weight"]} for one in others[:SHOWN_ALTERNATIVES]],
        "untested": [
            f"in state {state}: {', '.join(map(format_label, labels))}"
            for state, labels in untested_labels(model).items()
        ],
        "can_ask": bool(model.facts.get("alternatives")),
    }


def _apart(before: TaskModel, model: TaskModel) -> list[str]:
    """Words that the old automaton and the new one judge differently."""
    support = support_of(model)
    known = () if support is None else support.labels
    found = compare(("before", "now"), (before.finite, model.finite), known, most=2)
    return [f"{format_word(word)}: {', now '.join(found.verdicts(word))}" for word in found.words]


def sentence(model: TaskModel) -> str:
    """The task in one sentence, where it is simple enough for one; else its edges."""
    automaton = model.finite
    edges = model.sentences[0] if model.sentences else f"{automaton.states} states"
    if not isinstance(automaton, GuardedAutomaton):
        return edges
    live = [state for state in range(automaton.states) if not automaton.accepting[state]]
    lost = [{str(edge.guard) for edge in automaton.edges[state] if edge.target == DEAD} for state in live]
    never = sorted(set.intersection(*lost)) if lost else []
    steps: list[str] = []
    clauses: list[str] = []
    state = 0
    while not automaton.accepting[state]:
        onward = [edge for edge in automaton.edges[state] if edge.target != DEAD]
        if len(onward) != 1 or len(steps) > automaton.states:
            return edges
        own = [edge for edge in automaton.edges[state] if edge.target == DEAD and str(edge.guard) not in never]
        clauses += [f"no {_without(edge, onward[0])} until {onward[0].guard}" for edge in own]
        steps.append(str(onward[0].guard))
        state = onward[0].target
    return "; ".join([", then ".join(steps), *clauses, *(f"never {one}" for one in never)])


def _without(edge: Edge, onward: Edge) -> str:
    """What an edge waits for, without saying that the other one does not hold."""
    return str(replace(edge.guard, false=edge.guard.false - onward.guard.true))
