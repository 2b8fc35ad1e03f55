"""Random labels, words and automata for the tests of the automata room."""

import numpy as np
from hypothesis import strategies as st

from wfairl.core.automata.automaton import DEAD, Guard
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.specifications.ltlf_formula import FALSE, TRUE, Formula, conjunction, disjunction, negation, proposition

PROPOSITIONS = ("a", "b", "c", "d")

labels = st.frozensets(st.sampled_from(PROPOSITIONS), max_size=3)
words = st.lists(labels, max_size=6).map(tuple)
seeds = st.integers(0, 2**32 - 1)


def single_labels(count):
    return tuple(frozenset({f"s{i}"}) for i in range(count))


def random_automaton(rng, rank, labels):
    """A weighted automaton whose matrices neither explode nor die out over a dozen labels."""
    transitions = rng.normal(size=(labels, rank, rank))
    transitions /= np.linalg.norm(transitions, ord=2, axis=(1, 2), keepdims=True)
    return WeightedAutomaton(single_labels(labels), rng.normal(size=rank), rng.normal(size=rank), transitions)


def random_word(rng, alphabet, longest):
    return tuple(alphabet[i] for i in rng.integers(len(alphabet), size=rng.integers(0, longest + 1)))


@st.composite
def guarded_automata(draw, max_states=5, propositions="abc"):
    """An automaton with guards at random, some of which hold at once, some never, and some of which lose the task."""
    rng = np.random.default_rng(draw(seeds))
    count = int(rng.integers(1, max_states + 1))
    rows = [tuple(_random_edge(rng, count, propositions) for _ in range(rng.integers(5))) for _ in range(count)]
    return GuardedAutomaton(tuple(rows), rng.random(count) < 0.4)


def _random_edge(rng, states, propositions):
    sides = rng.choice(3, size=len(propositions), p=[0.5, 0.3, 0.2])  # not spoken of, true, false
    true, false = (
        frozenset(name for name, one in zip(propositions, sides, strict=True) if one == side) for side in (1, 2)
    )
    return Edge(Guard(true, false), int(rng.integers(DEAD, states)))


def guards(propositions="abc"):
    names = st.frozensets(st.sampled_from(propositions), max_size=2)
    return st.tuples(names, names).map(lambda sides: Guard(sides[0], sides[1] - sides[0]))


def formulas(propositions="ab", depth=4):
    """Formulas of LTLf, of all operators."""
    leaves = st.sampled_from([*map(proposition, propositions), TRUE, FALSE])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            inner.map(negation),
            st.tuples(st.sampled_from(["X[!]", "WX", "F", "G"]), inner).map(lambda one: Formula(one[0], one[1:])),
            st.tuples(st.sampled_from(["U", "R", "W", "M"]), inner, inner).map(lambda one: Formula(one[0], one[1:])),
            st.tuples(inner, inner).map(lambda both: conjunction(*both)),
            st.tuples(inner, inner).map(lambda both: disjunction(*both)),
        ),
        max_leaves=depth,
    )


def spell(corpus, alphabet):
    """The words of a corpus."""
    return [
        tuple(alphabet[symbol] for symbol in corpus.symbols[start:end])
        for start, end in zip(corpus.offsets, corpus.offsets[1:], strict=False)
    ]
