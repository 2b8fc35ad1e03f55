"""Random labels, words and automata for the tests of the automata room."""

import numpy as np
from hypothesis import strategies as st

from wfairl.automata.weighted import WeightedAutomaton

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
