"""SymbolicAutomaton: an automaton of either kind over all labels, for minimisation and comparison.

Each state is a function from labels to the next state, as a decision diagram. So automata over dozens of propositions
are minimised and compared exactly, although their labels are too many to list.
"""

from collections import deque
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
    """A deterministic automaton; state 0 is the initial one.

    Attributes:
        diagrams: the functions over its propositions.
        rows: of each state, the function from labels to the next state, or `DEAD`.
        accepting: whether a word may end in a state.
    """

    diagrams: Diagrams
    rows: tuple[int, ...]
    accepting: tuple[bool, ...]

    def read(self, state: int, label: Label) -> int:
        """The state after a label, or `DEAD`."""
        return DEAD if state == DEAD else self.diagrams.value(self.rows[state], label)

    def minimal(self) -> "SymbolicAutomaton":
        """The smallest automaton of the same words; one state that never accepts if there are none."""
        live = self._live()
        if 0 not in live:
            return SymbolicAutomaton(self.diagrams, (self.diagrams.leaf(DEAD),), (False,))
        rows = {q: self.diagrams.map(lambda after: after if after in live else DEAD, self.rows[q]) for q in live}
        classes = {q: int(self.accepting[q]) for q in live}
        while True:
            after = {DEAD: DEAD, **classes}
            keys = {q: (classes[q], self.diagrams.map(after.__getitem__, rows[q])) for q in live}
            numbers = {key: number for number, key in enumerate(dict.fromkeys(keys.values()))}
            finer = {q: numbers[keys[q]] for q in live}
            if len(numbers) == len(set(classes.values())):
                break
            classes = finer
        return self._quotient(rows, finer)

    def _live(self) -> set[int]:
        """The states that can be reached and from which a word can be accepted."""
        predecessors: dict[int, list[int]] = {0: [], DEAD: []}
        reached = [0]
        for state in reached:  # which grows meanwhile
            for after in self.diagrams.values(self.rows[state]):
                if after not in predecessors:
                    predecessors[after] = []
                    reached.append(after)
                predecessors[after].append(state)
        live = {q for q in reached if self.accepting[q]}
        stack = list(live)
        while stack:
            new = [q for q in predecessors[stack.pop()] if q not in live]
            live.update(new)
            stack += new
        return live

    def _quotient(self, rows: dict[int, int], classes: dict[int, int]) -> "SymbolicAutomaton":
        """One state for each class, counted breadth first, by labels of few propositions first."""
        member = {number: q for q, number in reversed(classes.items())}
        after = {DEAD: DEAD, **classes}
        class_rows = {number: self.diagrams.map(after.__getitem__, rows[q]) for number, q in member.items()}
        order = [classes[0]]
        for one in order:  # which grows meanwhile
            smallest = self.diagrams.smallest_labels(class_rows[one])
            targets = sorted(smallest, key=lambda to: (len(smallest[to]), sorted(smallest[to])))
            order += [to for to in targets if to != DEAD and to not in order]
        number = {DEAD: DEAD, **{one: i for i, one in enumerate(order)}}
        return SymbolicAutomaton(
            self.diagrams,
            tuple(self.diagrams.map(number.__getitem__, class_rows[one]) for one in order),
            tuple(self.accepting[member[one]] for one in order),
        )

    def to_guarded(self) -> GuardedAutomaton:
        """The automaton with short guards.

        Raises:
            NoAcceptedWordError: it accepts nothing.
        """
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
    guarded = as_guarded(automaton)
    rows = [
        diagrams.of_guards([(edge.guard, edge.target) for edge in row], state)
        for state, row in enumerate(guarded.edges)
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
    return (word for word, accepted in _words_to_pairs(*pair, labels) if accepted[0] != accepted[1])


def implies(one: SymbolicAutomaton, other: SymbolicAutomaton) -> bool:
    """Whether every word that one automaton accepts is accepted by another over the same diagrams."""
    return not any(accepted == (True, False) for _, accepted in _words_to_pairs(one, other))


def _words_to_pairs(
    one: SymbolicAutomaton, other: SymbolicAutomaton, labels: Collection[Label] | None = None
) -> Iterator[tuple[Word, tuple[bool, bool]]]:
    """A shortest word to each pair of states that one word leads to, and which of the two automata accept it."""
    words: dict[tuple[int, int], Word] = {(0, 0): ()}
    queue = deque(words)
    while queue:
        states = queue.popleft()
        yield words[states], (_accepts(one, states[0]), _accepts(other, states[1]))
        for label in _smallest_labels((one, other), states) if labels is None else labels:
            after = one.read(states[0], label), other.read(states[1], label)
            if after not in words and after != (DEAD, DEAD):
                words[after] = (*words[states], label)
                queue.append(after)


def _accepts(automaton: SymbolicAutomaton, state: int) -> bool:
    return state != DEAD and automaton.accepting[state]


def _smallest_labels(pair: tuple[SymbolicAutomaton, SymbolicAutomaton], states: tuple[int, int]) -> tuple[Label, ...]:
    """A small label for each pair of states that a label can lead to, smallest first."""
    diagrams = pair[0].diagrams
    numbers: dict[tuple[int, int], int] = {}
    rows = [diagrams.leaf(DEAD) if q == DEAD else one.rows[q] for one, q in zip(pair, states, strict=True)]
    joint = diagrams.combine(lambda a, b: numbers.setdefault((a, b), len(numbers)), *rows)
    return sort_labels(diagrams.smallest_labels(joint).values())


def shortest_completion(automaton: Automaton, state: int) -> Word:
    """A shortest word that leads from a state to acceptance, of labels with few propositions.

    Raises:
        NoAcceptedWordError: no word does.
    """
    whole = as_symbolic(automaton)
    words: dict[int, Word] = {state: ()}
    queue = deque([state])
    while queue:
        here = queue.popleft()
        if whole.accepting[here]:
            return words[here]
        for after, label in whole.diagrams.smallest_labels(whole.rows[here]).items():
            if after != DEAD and after not in words:
                words[after] = (*words[here], label)
                queue.append(after)
    raise NoAcceptedWordError(f"no word leads from state {state} to acceptance")
