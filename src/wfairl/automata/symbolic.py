"""SymbolicAutomaton: an automaton of either kind over all labels at once; what is asked of two automata is asked here.

Each state is a function from labels to the state that follows, as a decision diagram. So automata over dozens of
propositions are minimised and compared exactly, though no list of their labels could be written down.
"""

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wfairl.automata.automaton import DEAD, Automaton, Guard, Label
from wfairl.automata.diagrams import Diagrams, shortest_choices
from wfairl.automata.finite import FiniteAutomaton, NoAcceptedWordError
from wfairl.automata.guarded import Edge, GuardedAutomaton
from wfairl.automata.words import Word, sort_labels


@dataclass(frozen=True, eq=False)
class SymbolicAutomaton:
    """A deterministic automaton; state 0 is the initial one.

    Attributes:
        diagrams: the functions over its propositions.
        rows: of each state, the function from labels to the state that follows, or `DEAD`.
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
        reached = _reachable(self.diagrams, self.rows)
        before: dict[int, list[int]] = {q: [] for q in reached}
        for state in reached:
            for after in self.diagrams.values(self.rows[state]):
                if after != DEAD:
                    before[after].append(state)
        live = {q for q in reached if self.accepting[q]}
        stack = list(live)
        while stack:
            new = [q for q in before[stack.pop()] if q not in live]
            live.update(new)
            stack += new
        return live

    def _quotient(self, rows: dict[int, int], classes: dict[int, int]) -> "SymbolicAutomaton":
        """One state for each class, counted breadth first, by labels of few propositions first."""
        member = {number: q for q, number in reversed(classes.items())}
        after = {DEAD: DEAD, **classes}
        class_rows = {number: self.diagrams.map(after.__getitem__, rows[q]) for number, q in member.items()}
        order = [classes[0]]
        for one in order:  # grows while we walk it
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
            raise NoAcceptedWordError("no word is accepted: this asks for something that cannot be")
        edges = [
            tuple(Edge(guard, to) for guard, to in shortest_choices([*self.diagrams.cases(row)], state, DEAD))
            for state, row in enumerate(smallest.rows)
        ]
        return GuardedAutomaton(tuple(edges), np.array(smallest.accepting, bool))


def _reachable(diagrams: Diagrams, rows: Sequence[int]) -> list[int]:
    order, seen = [0], {0, DEAD}
    for state in order:  # grows while we walk it
        for after in diagrams.values(rows[state]):
            if after not in seen:
                seen.add(after)
                order.append(after)
    return order


def symbolic(automaton: Automaton, diagrams: Diagrams | None = None) -> SymbolicAutomaton:
    """An automaton over all labels, with the states and numbers that it has."""
    diagrams = Diagrams(sorted(automaton.propositions)) if diagrams is None else diagrams
    guarded = as_guarded(automaton)
    rows = [
        diagrams.of_guards([(edge.guard, edge.target) for edge in row], state)
        for state, row in enumerate(guarded.edges)
    ]
    return SymbolicAutomaton(diagrams, tuple(rows), tuple(map(bool, automaton.accepting)))


def as_guarded(automaton: Automaton) -> GuardedAutomaton:
    """The same states with guards: where a table reads a label, an edge waits for it and for nothing else."""
    if isinstance(automaton, GuardedAutomaton):
        return automaton
    assert isinstance(automaton, FiniteAutomaton)
    names = automaton.propositions
    lost = Edge(Guard(), DEAD)
    rows = [
        (
            *(
                Edge(Guard(label, names - label), int(after))
                for label, after in zip(automaton.alphabet, row, strict=True)
                if after != DEAD
            ),
            lost,
        )
        for row in automaton.transitions
    ]
    return GuardedAutomaton(tuple(rows), automaton.accepting)


def until_fulfilled(automaton: Automaton) -> GuardedAutomaton:
    """The same automaton up to where a word is accepted first; whatever follows is accepted, too."""
    guarded = as_guarded(automaton)
    rows = [() if guarded.accepting[state] else row for state, row in enumerate(guarded.edges)]
    return GuardedAutomaton(tuple(rows), guarded.accepting)


def reads_repeats_once(automaton: Automaton) -> bool:
    """Whether a label that is read twice in a row always leads to what accepts the same as one that is read once."""
    whole = symbolic(automaton).minimal()
    for row in whole.rows:
        for guard, after in whole.diagrams.cases(row):
            again = DEAD if after == DEAD else whole.rows[after]
            if after != DEAD and any(to != after for one, to in whole.diagrams.cases(again) if one.both(guard)):
                return False
    return True


def same_words(one: Automaton, other: Automaton) -> bool:
    """Whether two automata accept the same words, over any labels."""
    return next(differing_words(one, other), None) is None


def differing_words(one: Automaton, other: Automaton, labels: Collection[Label] | None = None) -> Iterator[Word]:
    """Words that one of two automata accepts and the other does not, shortest first; one for each pair of states.

    Args:
        one, other: the automata.
        labels: what words are made of; any labels if None.
    """
    diagrams = Diagrams(sorted(one.propositions | other.propositions))
    pair = symbolic(one, diagrams), symbolic(other, diagrams)
    return (word for word, accepted in _walk(*pair, labels) if accepted[0] != accepted[1])


def implies(one: SymbolicAutomaton, other: SymbolicAutomaton) -> bool:
    """Whether every word that one automaton accepts is accepted by another over the same diagrams."""
    return not any(accepted == (True, False) for _, accepted in _walk(one, other))


def _walk(
    one: SymbolicAutomaton, other: SymbolicAutomaton, labels: Collection[Label] | None = None
) -> Iterator[tuple[Word, tuple[bool, bool]]]:
    """The shortest word to each pair of states that a word can lead to, and which of the two accept it."""
    words: dict[tuple[int, int], Word] = {(0, 0): ()}
    queue = deque(words)
    while queue:
        states = queue.popleft()
        yield words[states], (_accepts(one, states[0]), _accepts(other, states[1]))
        for label in _labels_that_matter((one, other), states) if labels is None else labels:
            after = one.read(states[0], label), other.read(states[1], label)
            if after not in words and after != (DEAD, DEAD):
                words[after] = (*words[states], label)
                queue.append(after)


def _accepts(automaton: SymbolicAutomaton, state: int) -> bool:
    return state != DEAD and automaton.accepting[state]


def _labels_that_matter(
    pair: tuple[SymbolicAutomaton, SymbolicAutomaton], states: tuple[int, int]
) -> tuple[Label, ...]:
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
    whole = symbolic(automaton)
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
