"""The file of a task model (`task.json`): its fields, its versions, and what is checked when it is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wfairl.automata import finite, guarded
from wfairl.automata.automaton import Automaton, Label
from wfairl.automata.facts import check_facts
from wfairl.automata.fit_summary import FitSummary
from wfairl.automata.weighted import WeightedAutomaton
from wfairl.documents import Count, Form, NotNegative, unchanged
from wfairl.errors import BadInputError

SPECTRAL = "spectral"
"""The learner of all models of the first version."""

KINDS: dict[str, type[finite.FiniteAutomaton] | type[guarded.GuardedAutomaton]] = {
    finite.KIND: finite.FiniteAutomaton,
    guarded.KIND: guarded.GuardedAutomaton,
}
"""The kinds of automata that a file may hold."""


class BrokenTaskModelError(BadInputError):
    """A file is not a task model, or one that was cut or changed."""


@dataclass(frozen=True)
class StoredTaskModel:
    """A task model on disk: the fields of `TaskModel`, with edge counts as a list of [state, label, count]."""

    learner: str
    threshold: float
    keep_repeats: bool
    tolerance: NotNegative
    max_states: Count
    summary: FitSummary
    sentences: tuple[str, ...]
    facts: Mapping[str, Any]
    edge_counts: tuple[tuple[Count, Label, Count], ...]
    automaton: Mapping[str, Any] | None
    weighted: Mapping[str, Any] | None

    def automata(self) -> tuple[Automaton | None, WeightedAutomaton | None]:
        """The automaton for a planner and the weighted one, of which there is at least one.

        Raises:
            KeyError, ValueError: they are none, or the facts are not of them.
        """
        if self.weighted is None and self.automaton is None:
            raise ValueError("no automaton")
        kind = None if self.automaton is None else KINDS[str(self.automaton.get("kind"))]
        automaton = None if kind is None else kind.from_document(self.automaton)
        check_facts(self.facts, automaton)
        if "alternatives" in self.facts and not self.sentences:
            raise ValueError("alternatives to a rule that is not told")
        return automaton, None if self.weighted is None else WeightedAutomaton.from_document(self.weighted)


def _from_version_1(document: dict[str, Any]) -> dict[str, Any]:
    """A document of the first version, which knew weighted automata alone, as one of this version."""
    return {
        **document,
        "learner": SPECTRAL,
        "sentences": [],
        "facts": {},
        "weighted": document["automaton"],
        "automaton": None,
    }


FORM = Form(
    "wfairl-task-model",
    "a task model",
    3,
    StoredTaskModel,
    BrokenTaskModelError,
    "`wfairl learn-task` writes one",
    {1: _from_version_1, 2: unchanged},
)
