"""The alternatives of a task model: the most probable automata, which a rational learner keeps among its facts."""

from dataclasses import dataclass
from typing import Any

from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.automata.task_model import TaskModel

ALTERNATIVES = "alternatives"
"""The fact of a task model that holds them."""


@dataclass(frozen=True, eq=False)
class Alternative:
    """An automaton that may be the task.

    Attributes:
        automaton: its last state is the accepting one.
        text: the automaton in one line.
        weight: its share of the posterior among the alternatives.
    """

    automaton: GuardedAutomaton
    text: str
    weight: float

    def to_document(self) -> dict[str, Any]:
        """The alternative as a JSON object."""
        return {"automaton": self.automaton.to_document(), "text": self.text, "weight": self.weight}


def alternatives_of(model: TaskModel) -> list[Alternative]:
    """The most probable automata of a model, its own first; none if its learner keeps none."""
    return [
        Alternative(GuardedAutomaton.from_document(one["automaton"]), one["text"], float(one["weight"]))
        for one in model.facts.get(ALTERNATIVES, ())
    ]
