"""The contract of a task automaton, deterministic and finite, and the labels it reads.

    column(label)     the state after reading a label, from each state

says what an automaton does; its other abstract members are for files, drawings and messages. A planner asks for the
columns of the labels of its world only. So an automaton may have any number of propositions: nothing is tabulated over
all sets of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Lt
from numpy.typing import NDArray

from wfairl.core.support.errors import BadInputError, did_you_mean

Label = frozenset[str]
"""A set of propositions: those that hold after a transition."""


def as_label(written: Iterable[str]) -> Label:
    """A label from what people write: a string is the label with that one proposition."""
    return frozenset((written,) if isinstance(written, str) else written)


DEAD = -1
"""In a table of successors: from here the task can never be fulfilled."""

ACCEPTED = -2
"""In a table of successors: the transition fulfils the task."""

UNAVAILABLE = -3
"""In a table of successors: the control cannot be chosen here."""

StateNumber = Annotated[int, Ge(DEAD), Lt(2**31)]
"""The number of a state, or `DEAD`."""


@dataclass(frozen=True)
class Guard:
    """A conjunction: everything in `true` holds and nothing in `false` does. Without literals it always holds."""

    true: frozenset[str] = frozenset()
    false: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.true & self.false:
            both = ", ".join(sorted(self.true & self.false))
            raise BadInputError(f"a guard asks for {both} to hold and not to hold at once")

    def holds(self, label: Label) -> bool:
        """Whether a label fulfils the guard."""
        return self.true <= label and not self.false & label

    def covers(self, other: "Guard") -> bool:
        """Whether it holds wherever another guard does."""
        return self.true <= other.true and self.false <= other.false

    def both(self, other: "Guard") -> "Guard | None":
        """The guard that holds where both do, None if that is nowhere."""
        true, false = self.true | other.true, self.false | other.false
        return None if true & false else Guard(true, false)

    @property
    def literals(self) -> list[str]:
        """The literals as text, those that must hold first."""
        return [*sorted(self.true), *(f"!{name}" for name in sorted(self.false))]

    def __str__(self) -> str:
        return " & ".join(self.literals) or "anything"


EdgeCounts = Mapping[tuple[int, Label], int]
"""How many words took an edge, by the state it leaves and the label it reads."""


@dataclass(frozen=True)
class Arrow:
    """An edge of a drawing; `takes` tells whether it is taken on a label, and the target may be `DEAD`."""

    source: int
    target: int
    text: str
    takes: Callable[[Label], bool]

    def count(self, counts: EdgeCounts) -> int:
        """How many words took it."""
        return sum(times for (state, label), times in counts.items() if state == self.source and self.takes(label))


class Automaton(ABC):
    """A deterministic automaton over labels; state 0 is the initial one.

    Attributes:
        accepting: whether a word that ends in a state is accepted, shape [states] of bool.
        keep_repeats: whether a repeated label is read again. If not, consecutive equal labels count as one label:
            `words.as_read` leaves the repeats out, and the automaton stays in its state at a repeat.
    """

    accepting: NDArray[np.bool_]
    keep_repeats: bool

    @property
    @abstractmethod
    def propositions(self) -> frozenset[str]:
        """The propositions that it reads."""

    @abstractmethod
    def column(self, label: Label) -> NDArray[np.int32]:
        """The state after reading a label, or `DEAD`, from each state; shape [states]."""

    @abstractmethod
    def guarded_edges(self, propositions: Collection[str]) -> list[tuple[int, Guard, int]]:
        """Source, guard and target of every edge between two different live states, in a world of some propositions."""

    @abstractmethod
    def arrows(self) -> list[Arrow]:
        """The edges for a drawing, without trivial loops."""

    @abstractmethod
    def to_document(self) -> dict[str, Any]:
        """The automaton as a JSON object; `from_document` of its class reads it back."""

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.accepting)

    def read(self, state: int, label: Label) -> int:
        """The state after reading a label, or `DEAD`."""
        return DEAD if state == DEAD else int(self.column(label)[state])

    def run(self, word: Iterable[Label]) -> list[int]:
        """The states along a word, from the initial one on; after `DEAD` only `DEAD`."""
        path = [0]
        for label in word:
            path.append(self.read(path[-1], as_label(label)))
        return path

    def accepts(self, word: Iterable[Label]) -> bool:
        """Whether the whole word is accepted."""
        state = self.run(word)[-1]
        return state != DEAD and bool(self.accepting[state])

    def accepts_all(self, words: Sequence[tuple[Label, ...]]) -> NDArray[np.bool_]:
        """Whether each of many words is accepted, shape [words]."""
        return np.array([self.accepts(word) for word in words], bool)

    def fulfilled_at(self, word: Sequence[Label]) -> int | None:
        """The number of labels after which the word is accepted for the first time, None if it never is."""
        states = self.run(word)[1:]
        return next((i for i, q in enumerate(states, start=1) if q != DEAD and self.accepting[q]), None)

    def lacking(self, state: int, labels: Collection[Label]) -> tuple[str, ...]:
        """What a state still waits for: the edges to other live states, as text, that no given label takes."""
        leads_on = (one for one in self.arrows() if one.source == state and one.target not in (DEAD, state))
        return tuple(one.text for one in leads_on if not any(map(one.takes, labels)))

    def column_with_acceptance(self, label: Label) -> NDArray[np.int32]:
        """As `column`, with `ACCEPTED` where the state after the label is accepting; shape [states]."""
        after = self.column(label)
        return np.where((after != DEAD) & self.accepting[after], np.int32(ACCEPTED), after)

    def check_propositions(self, propositions: Sequence[str]) -> None:
        """Raise `BadInputError` for a world that lacks propositions of the automaton."""
        foreign = sorted(self.propositions - set(propositions))
        if foreign:
            near = did_you_mean(foreign[0], propositions)
            raise BadInputError(
                f"the automaton reads {', '.join(foreign)}, which the world does not know{near} (it has "
                f"{', '.join(propositions)}); mend the rule, or learn the automaton from words of this task"
            )
