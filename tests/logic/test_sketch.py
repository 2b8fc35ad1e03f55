from itertools import product

import numpy as np
from oracles_logic import accepts
from strategies_logic import NAMES, random_sketch, random_table

from wfairl.automata.automaton import ACCEPTED, DEAD, Guard
from wfairl.logic import tables
from wfairl.logic.moves import neighbours, starts
from wfairl.logic.sketch import ANY, Sketch, SketchEdge, canonical, tidy, to_automaton, to_table

LABELS = tuple(frozenset(name for name, there in zip(NAMES[:3], bits, strict=True) if there)
               for bits in product((0, 1), repeat=3))  # fmt: skip


def guard(name):
    return Guard(frozenset({name}))


def everywhere(sketch):
    """As if demonstrations had read every label in every state."""
    return np.ones((sketch.states, len(LABELS)), int)


def words(rng, labels, number=200):
    return [rng.integers(labels, size=rng.integers(1, 12)).tolist() for _ in range(number)]


def test_a_canonical_table_accepts_the_same_words():
    rng = np.random.default_rng(0)
    for _ in range(60):
        table = random_table(rng)
        smaller = canonical(table)
        assert len(smaller) <= len(table)
        assert all(accepts(table, word) == accepts(smaller, word) for word in words(rng, 4, 50))


def test_a_canonical_table_does_not_depend_on_how_states_are_numbered():
    rng = np.random.default_rng(1)
    for _ in range(60):
        table = random_table(rng)
        order = np.concatenate([[0], 1 + rng.permutation(len(table) - 1)])
        number = np.append(np.argsort(order), [ACCEPTED, DEAD])  # -1 and -2 count from the end
        assert canonical(number[table[order]].astype(np.int32)).tobytes() == canonical(table).tobytes()


def test_a_sketch_and_its_automaton_read_labels_alike():
    rng = np.random.default_rng(2)
    for _ in range(60):
        sketch = random_sketch(rng, NAMES[:3])
        table = tables.to_table(to_automaton(sketch), LABELS)[:-1].copy()
        assert canonical(table).tobytes() == canonical(to_table(sketch, LABELS)).tobytes()


def test_tidying_is_done_once():
    rng = np.random.default_rng(3)
    for _ in range(60):
        sketch = random_sketch(rng)
        assert tidy(sketch.states, sketch.edges) == sketch


def test_moves_give_tidy_sketches_within_the_limits():
    rng = np.random.default_rng(4)
    for _ in range(5):
        sketch = random_sketch(rng, NAMES[:3])
        for other in neighbours(sketch, NAMES[:3], LABELS, everywhere(sketch), max_states=5, max_literals=2):
            assert tidy(other.states, other.edges) == other
            assert other.states <= 5
            assert all(len(edge.guard.true | edge.guard.false) <= 2 for edge in other.edges)


def test_errands_in_any_order_are_one_move_from_one_of_them():
    one = tidy(2, [SketchEdge(0, guard("a"), 1), SketchEdge(1, guard("c"), ACCEPTED)])
    both = tidy(
        4,
        [
            SketchEdge(0, guard("a"), 1),
            SketchEdge(0, guard("b"), 2),
            SketchEdge(1, guard("b"), 3),
            SketchEdge(2, guard("a"), 3),
            SketchEdge(3, guard("c"), ACCEPTED),
        ],
    )
    wanted = canonical(to_table(both, LABELS)).tobytes()
    found = {
        canonical(to_table(s, LABELS)).tobytes() for s in neighbours(one, NAMES[:3], LABELS, everywhere(one), 6, 2)
    }
    assert wanted in found


def test_what_is_forbidden_comes_first_and_a_state_s_own_edges_before_common_ones():
    sketch = Sketch(
        2, (SketchEdge(ANY, guard("a"), DEAD), SketchEdge(ANY, guard("b"), 1), SketchEdge(0, guard("c"), ACCEPTED))
    )
    table = to_table(sketch, LABELS)
    after = {label: int(target) for label, target in zip(LABELS, table[0], strict=True)}
    assert after[frozenset("abc")] == DEAD
    assert after[frozenset("bc")] == ACCEPTED
    assert after[frozenset("b")] == 1
    assert after[frozenset()] == 0


def test_the_search_starts_with_one_edge():
    assert all(len(sketch.edges) == 1 for sketch in starts(NAMES))
