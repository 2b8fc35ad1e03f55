"""SymbolicAutomaton: an automaton of either kind over all labels, for minimisation and comparison.

Each state is a function from labels to the next state, as a decision diagram. So automata over dozens of propositions
are minimised and compared exactly, although their labels are too many to list.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from wfairl.core.automata.automaton import DEAD, Automaton, Guard, Label
from wfairl.core.automata.finite import FiniteAutomaton, NoAcceptedWordError
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.words import Word, sort_labels
from wfairl.specifications.diagrams import Diagrams, shortest_choices


@dataclass(frozen=True, eq=False)
class SymbolicAutomaton:
    """A deterministic automaton; state 0 is the initial one."""

    diagrams: Diagrams
    rows: tuple[int, ...]  # of each state, the function from labels to the next state, or `DEAD`
    accepting: tuple[bool, ...]

    def read(self, state: int, label: Label) -> int:
        """The state after a label, or `DEAD`."""
        return DEAD if state == DEAD else int(self.diagrams.value(self.rows[state], label))

    def accepts_in(self, state: int) -> bool:
        """Whether a word may end in a state, which may be `DEAD`."""
        return state != DEAD and self.accepting[state]

    def successors(self, state: int) -> set[int]:
        """The states that labels lead to, `DEAD` among them."""
        return set(self.diagrams.smallest_labels(self.rows[state]))

    def minimal(self) -> "SymbolicAutomaton":
        """The smallest automaton of the same words; one state that never accepts if there are none.

        States are counted breadth first, by labels of few propositions first.
        """
        live = self._live()
        if 0 not in live:
            return SymbolicAutomaton(self.diagrams, (self.diagrams.leaf(DEAD),), (False,))
        classes = dict.fromkeys((DEAD, *range(len(self.rows))), DEAD) | {q: int(self.accepting[q]) for q in live}
        keys: dict[int, tuple[int, int]] = {}
        while True:
            count = len(set(keys.values()))
            keys = {q: (classes[q], self.diagrams.map(classes.__getitem__, self.rows[q])) for q in live}
            numbers = {key: number for number, key in enumerate(dict.fromkeys(keys.values()))}
            if len(numbers) == count:
                break
            classes |= {q: numbers[keys[q]] for q in live}
        rows, accepting = dict(keys.values()), {classes[q]: self.accepting[q] for q in live}
        order = [classes[0]]
        for one in order:  # which grows meanwhile
            smallest = self.diagrams.smallest_labels(rows[one])
            targets = sorted(smallest, key=lambda to: (len(smallest[to]), sorted(smallest[to])))
            order += [to for to in targets if to != DEAD and to not in order]
        number = {DEAD: DEAD, **{one: i for i, one in enumerate(order)}}
        return SymbolicAutomaton(
            self.diagrams,
            tuple(self.diagrams.map(number.__getitem__, rows[one]) for one in order),
            tuple(accepting[one] for one in order),
        )

    def _live(self) -> set[int]:
        """The states from which a word can be accepted."""
        successors = [self.successors(q) for q in range(len(self.rows))]
        live = {q for q, accepts in enumerate(self.accepting) if accepts}
        while new := {q for q, after in enumerate(successors) if q not in live and after & live}:
            live |= new
        return live

    def to_guarded(self) -> GuardedAutomaton:
        """The automaton with short guards; if it accepts nothing, a `NoAcceptedWordError`."""
        smallest = self.minimal()
        if not any(smallest.accepting):
            raise NoAcceptedWordError("no word is accepted: the conditions contradict each other")
        edges = [
            tuple(Edge(guard, to) for guard, to in shortest_choices([*self.diagrams.cases(row)], state, DEAD))
            for state, row in enumerate(smallest.rows)
        ]
        return GuardedAutomaton(tuple(edges), np.array(smallest.accepting, bool))


def as_symbolic(automaton: Automaton, diagrams: Diagrams | None = None) -> SymbolicAutomaton:
    """An automaton over all labels, with the states and numbers that it has."""
    diagrams = Diagrams(sorted(automaton.propositions)) if diagrams is None else diagrams
    rows = [
        diagrams.of_guards([(edge.guard, edge.target) for edge in row], state)
        for state, row in enumerate(as_guarded(automaton).edges)
    ]
    return SymbolicAutomaton(diagrams, tuple(rows), tuple(map(bool, automaton.accepting)))


def as_guarded(automaton: Automaton) -> GuardedAutomaton:
    """The same states with guards: where a table reads a label, an edge has a guard for exactly that label."""
    if isinstance(automaton, GuardedAutomaton):
        return automaton
    assert isinstance(automaton, FiniteAutomaton)
    guards = [Guard(label, automaton.propositions - label) for label in automaton.alphabet]
    rows = [
        tuple(Edge(guard, to) for guard, to in zip(guards, row, strict=True) if to != DEAD)
        for row in automaton.transitions.tolist()
    ]
    lost = Edge(Guard(), DEAD)
    return GuardedAutomaton(tuple((*row, lost) for row in rows), automaton.accepting)


def until_fulfilled(automaton: Automaton) -> GuardedAutomaton:
    """The automaton that accepts a word as soon as a prefix of it is accepted."""
    guarded = as_guarded(automaton)
    rows = [() if guarded.accepting[state] else row for state, row in enumerate(guarded.edges)]
    return GuardedAutomaton(tuple(rows), guarded.accepting)


def reads_repeats_once(automaton: Automaton) -> bool:
    """Whether a label read twice in a row always leads to a state that accepts the same as that of one read once."""
    whole = as_symbolic(automaton).minimal()
    return not any(
        to != after
        for row in whole.rows
        for guard, after in whole.diagrams.cases(row)
        if after != DEAD
        for repeated, to in whole.diagrams.cases(whole.rows[after])
        if repeated.both(guard)
    )


def same_words(one: Automaton, other: Automaton) -> bool:
    """Whether two automata accept the same words, over any labels."""
    return next(differing_words(one, other), None) is None


def differing_words(one: Automaton, other: Automaton, labels: Collection[Label] | None = None) -> Iterator[Word]:
    """Words that one of two automata accepts and the other does not, shortest first; one for each pair of states.

    They consist of the given labels, of any labels if None.
    """
    diagrams = Diagrams(sorted(one.propositions | other.propositions))
    pair = as_symbolic(one, diagrams), as_symbolic(other, diagrams)
    return (word for word, accepted in _words_to_pairs(*pair, labels=labels) if accepted[0] != accepted[1])


def implies(one: SymbolicAutomaton, other: SymbolicAutomaton) -> bool:
    """Whether every word that one automaton accepts is accepted by another over the same diagrams."""
    return not any(accepted == (True, False) for _, accepted in _words_to_pairs(one, other))


def shortest_completion(automaton: Automaton, state: int) -> Word:
    """A shortest word that leads from a state to acceptance, of small labels; if none does, a `NoAcceptedWordError`."""
    whole = as_symbolic(automaton)
    for word, accepted in _words_to_pairs(whole, whole, (state, state)):
        if accepted[0]:
            return word
    raise NoAcceptedWordError(f"no word leads from state {state} to acceptance")


def _words_to_pairs(
    one: SymbolicAutomaton,
    other: SymbolicAutomaton,
    start: tuple[int, int] = (0, 0),
    labels: Collection[Label] | None = None,
) -> Iterator[tuple[Word, tuple[bool, bool]]]:
    """A shortest word to each pair of states that one word leads to, and which of the two automata accept it."""
    words: dict[tuple[int, int], Word] = {start: ()}
    queue = [start]
    for states in queue:  # which grows meanwhile
        yield words[states], (one.accepts_in(states[0]), other.accepts_in(states[1]))
        for label in _smallest_labels((one, other), states) if labels is None else labels:
            after = one.read(states[0], label), other.read(states[1], label)
            if after not in words and after != (DEAD, DEAD):
                words[after] = (*words[states], label)
                queue.append(after)


def _smallest_labels(pair: tuple[SymbolicAutomaton, SymbolicAutomaton], states: tuple[int, int]) -> tuple[Label, ...]:
    """A small label for each pair of states that a label can lead to, smallest first."""
    diagrams = pair[0].diagrams
    rows = [diagrams.leaf(DEAD) if q == DEAD else one.rows[q] for one, q in zip(pair, states, strict=True)]
    joint = diagrams.combine(lambda a, b: (a, b), *rows)
    return sort_labels(diagrams.smallest_labels(joint).values())
