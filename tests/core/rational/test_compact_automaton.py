from itertools import product

import numpy as np
from oracles_logic import accepts
from strategies_logic import NAMES, random_automaton, random_table

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard
from wfairl.core.automata.minimisation import canonical_table, to_table
from wfairl.core.rational import moves
from wfairl.core.rational.compact_automaton import ANY, CompactAutomaton, CompactEdge, simplify
from wfairl.core.rational.constraints import Constraint
from wfairl.core.rational.errands import errands
from wfairl.core.rational.moves import MOST_STATES_OF_ERRANDS, constrained, neighbours, starts

LABELS = tuple(frozenset(name for name, there in zip(NAMES[:3], bits, strict=True) if there)
               for bits in product((0, 1), repeat=3))  # fmt: skip


def guard(*names, no=()):
    return Guard(frozenset(names), frozenset(no))


def everywhere(automaton):
    """As if a demonstration had read every label in every state."""
    return np.ones((1, automaton.states, len(LABELS)), bool)


def words(rng, labels, number=200):
    return [rng.integers(labels, size=rng.integers(1, 12)).tolist() for _ in range(number)]


def test_a_canonical_table_accepts_the_same_words():
    rng = np.random.default_rng(0)
    for _ in range(60):
        table = random_table(rng)
        smaller = canonical_table(table)
        assert len(smaller) <= len(table)
        assert all(accepts(table, word) == accepts(smaller, word) for word in words(rng, 4, 50))


def test_a_canonical_table_does_not_depend_on_how_states_are_numbered():
    rng = np.random.default_rng(1)
    for _ in range(60):
        table = random_table(rng)
        order = np.concatenate([[0], 1 + rng.permutation(len(table) - 1)])
        number = np.append(np.argsort(order), [ACCEPTED, DEAD])  # -1 and -2 count from the end
        assert canonical_table(number[table[order]].astype(np.int32)).tobytes() == canonical_table(table).tobytes()


def test_a_compact_and_its_guarded_automaton_read_labels_alike():
    rng = np.random.default_rng(2)
    for _ in range(60):
        automaton = random_automaton(rng, NAMES[:3])
        table = to_table(automaton.to_guarded(), LABELS)
        assert canonical_table(table).tobytes() == canonical_table(automaton.to_table(LABELS)).tobytes()


def test_simplifying_twice_changes_nothing():
    rng = np.random.default_rng(3)
    for _ in range(60):
        automaton = random_automaton(rng)
        assert simplify(automaton.edges) == automaton


def test_moves_give_simple_automata_within_the_limits(monkeypatch):
    monkeypatch.setattr(moves, "MAX_STATES", 5)
    monkeypatch.setattr(moves, "MAX_LITERALS", 2)
    rng = np.random.default_rng(4)
    for _ in range(5):
        automaton = random_automaton(rng, NAMES[:3])
        for other in neighbours(automaton, NAMES[:3], LABELS, everywhere(automaton)):
            assert simplify(other.edges)._replace(constraints=other.constraints) == other
            assert other.states <= (MOST_STATES_OF_ERRANDS if errands(other) else 5)
            assert all(len(edge.guard.true | edge.guard.false) <= 2 for edge in other.edges)


def test_errands_in_any_order_are_one_move_from_one_of_them():
    one = simplify([CompactEdge(0, guard("a"), 1), CompactEdge(1, guard("c"), ACCEPTED)])
    both = simplify(
        [
            CompactEdge(0, guard("a"), 1),
            CompactEdge(0, guard("b"), 2),
            CompactEdge(1, guard("b"), 3),
            CompactEdge(2, guard("a"), 3),
            CompactEdge(3, guard("c"), ACCEPTED),
        ],
    )
    wanted = canonical_table(both.to_table(LABELS)).tobytes()
    found = {canonical_table(s.to_table(LABELS)).tobytes() for s in neighbours(one, NAMES[:3], LABELS, everywhere(one))}
    assert wanted in found


def test_a_case_of_each_kind_is_one_move_from_a_detour_and_from_an_obligation():
    """The one place while one lamp is on, the other place while it is not."""
    by_case = simplify([CompactEdge(0, guard("a", "c"), ACCEPTED), CompactEdge(0, guard("b", no="c"), ACCEPTED)])
    wanted = canonical_table(by_case.to_table(LABELS)).tobytes()
    detour = simplify(
        [CompactEdge(0, guard("b"), ACCEPTED), CompactEdge(0, guard("c"), 1), CompactEdge(1, guard("a"), ACCEPTED)]
    )
    oblige = simplify([CompactEdge(0, guard("b"), ACCEPTED), CompactEdge(0, guard("c"), ACCEPTED)])
    oblige = oblige._replace(constraints=(Constraint("needed", "a", after="c"),))
    found = [list(neighbours(detour, NAMES[:3], LABELS, everywhere(detour))), list(constrained(oblige, ()))]
    for automata in found:
        assert wanted in {canonical_table(one.to_table(LABELS)).tobytes() for one in automata}


def test_what_is_forbidden_comes_first_and_a_state_s_own_edges_before_common_ones():
    automaton = CompactAutomaton(
        2,
        (
            CompactEdge(ANY, guard("a"), DEAD),
            CompactEdge(ANY, guard("b"), 1),
            CompactEdge(0, guard("c"), ACCEPTED),
        ),
    )
    table = automaton.to_table(LABELS)
    after = {label: int(target) for label, target in zip(LABELS, table[0], strict=True)}
    assert after[frozenset("abc")] == DEAD
    assert after[frozenset("bc")] == ACCEPTED
    assert after[frozenset("b")] == 1
    assert after[frozenset()] == 0


def test_the_search_starts_with_one_edge():
    nothing = frozenset()
    assert all(len(automaton.edges) == 1 for automaton in starts(NAMES, nothing, nothing))
