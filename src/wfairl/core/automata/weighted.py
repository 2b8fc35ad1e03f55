"""WeightedAutomaton: a function from words to numbers (paper, Definition 2).

    h(sigma_0 .. sigma_T) = alpha_0^T W_{sigma_0} ... W_{sigma_T} beta

A label outside the alphabet has the matrix 0: every word with it has the value 0.
"""

import math
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import MaxLen
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.word_corpus import build_prefix_tree, encode, indices_by_symbol
from wfairl.core.automata.words import Word
from wfairl.core.support.bounds import Count
from wfairl.core.support.documents import parse
from wfairl.core.support.errors import BadInputError

LEAST_ZEROS = 8
"""Transitions are written as edges if fewer than one entry in this many is not zero."""

FEWEST_PACKED = 20_000
"""Transitions of more weights than this are written packed, since reading that many numbers as text takes seconds."""

MOST_WEIGHTS = 1 << 26
"""Most weights in all transitions of an automaton that is read: half a gigabyte."""


@dataclass(frozen=True)
class WeightedDocument:
    """A weighted automaton on disk; see `WeightedAutomaton.to_document`."""

    alphabet: tuple[Label, ...]
    initial: Annotated[tuple[float, ...], MaxLen(MOST_WEIGHTS)]
    final: tuple[float, ...]
    transitions: tuple[tuple[tuple[float, ...], ...], ...] | str | None = None
    edges: tuple[tuple[Count, Count, Count, float], ...] | None = None


@dataclass(frozen=True, eq=False)
class WeightedAutomaton:
    """A weighted finite automaton with m states."""

    alphabet: tuple[Label, ...]  # the labels it can read
    initial: NDArray[np.float64]  # alpha_0, shape [m]
    final: NDArray[np.float64]  # beta, shape [m]
    transitions: NDArray[np.float64]  # W_sigma in the order of the alphabet, shape [labels, m, m]

    def __post_init__(self) -> None:
        m = len(self.initial)
        wanted = {"initial": (m,), "final": (m,), "transitions": (len(self.alphabet), m, m)}
        for name, shape in wanted.items():
            array = np.asarray(getattr(self, name), np.float64)
            if array.shape != shape:
                raise BadInputError(f"{name}: the shape is {array.shape} where {shape} fits the rest")
            if not np.isfinite(array).all():
                raise BadInputError(f"{name}: not all weights are finite numbers")
            object.__setattr__(self, name, array)
        if len(set(self.alphabet)) != len(self.alphabet):
            raise BadInputError("alphabet: a label occurs twice")

    @property
    def rank(self) -> int:
        """The number of states m."""
        return len(self.initial)

    def value(self, word: Word) -> float:
        """h(word)."""
        return float(self.values([word])[0])

    def values(self, words: Sequence[Word]) -> NDArray[np.float64]:
        """h of each word, shape [words]; common prefixes are evaluated once."""
        tree = build_prefix_tree(encode(words, self.alphabet))
        values = np.zeros(len(tree))
        alphas = self.initial[None, :]
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow shows in the value itself
            for depth in range(len(tree.levels) - 1):
                here = slice(tree.levels[depth], tree.levels[depth + 1])
                if depth:
                    above = alphas[tree.parents[here] - tree.levels[depth - 1]]
                    alphas = self.step(above, tree.symbols[here])
                values[here] = alphas @ self.final
        return values[tree.ends]

    def step(self, alphas: NDArray[np.float64], symbols: NDArray[np.int64]) -> NDArray[np.float64]:
        """One symbol read in each of many states: shapes [n, m] and [n] to [n, m]."""
        nexts = np.zeros_like(alphas)
        for rows, weights in zip(indices_by_symbol(symbols, len(self.alphabet)), self.transitions, strict=True):
            if len(rows):
                nexts[rows] = alphas[rows] @ weights
        return nexts

    def to_document(self) -> dict[str, Any]:
        """The automaton as JSON data; floats keep every bit.

        Transitions that are nearly all zero, such as those of a finite automaton, are the list `edges` of
        [label, from, to, weight] instead of whole matrices; many others are the base64 of float64, little end first.
        """
        document: dict[str, Any] = {
            "alphabet": [sorted(label) for label in self.alphabet],
            "initial": self.initial.tolist(),
            "final": self.final.tolist(),
        }
        places = np.argwhere(self.transitions)
        if LEAST_ZEROS * len(places) < self.transitions.size:
            weights = self.transitions[tuple(places.T)].tolist()
            document["edges"] = [[*place, weight] for place, weight in zip(places.tolist(), weights, strict=True)]
        elif self.transitions.size > FEWEST_PACKED:
            document["transitions"] = b64encode(self.transitions.astype("<f8").tobytes()).decode()
        else:
            document["transitions"] = self.transitions.tolist()
        return document

    @classmethod
    def from_document(cls, document: Any) -> "WeightedAutomaton":
        """The automaton that `to_document` wrote.

        Raises:
            BadInputError: a field is missing or has the wrong form, or they do not fit together.
        """
        try:
            read: WeightedDocument = parse(WeightedDocument, document)
            shape = (len(read.alphabet), len(read.initial), len(read.initial))
            if math.prod(shape) > MOST_WEIGHTS or (read.edges is None) == (read.transitions is None):
                raise ValueError("too many of them, or none")
            transitions = np.zeros(shape)
            if isinstance(read.transitions, str):
                transitions[...] = np.frombuffer(b64decode(read.transitions, validate=True), "<f8").reshape(shape)
            elif read.edges is None:
                transitions[...] = np.array(read.transitions, np.float64).reshape(shape)
            for label, before, after, weight in read.edges or ():
                transitions[label, before, after] = weight
        except (ValueError, IndexError) as error:
            raise BadInputError(f"the weights are not arrays of numbers that fit together ({error})") from None
        return cls(read.alphabet, np.array(read.initial), np.array(read.final), transitions)


def span_of_products(
    start: NDArray[np.float64], matrices: NDArray[np.float64], tolerance: float
) -> NDArray[np.float64]:
    """A basis of the space of all products start^T M_1 .. M_k that consists of products, shortest first; [rank, m].

    A further label is tried on the unit direction that a product added, not on the product: so rounding does not
    accumulate. A direction shorter than `tolerance`, relative to its vector, is rounding.
    """
    m = len(start)
    products, span = np.zeros((0, m)), np.zeros((0, m))
    norms = np.linalg.norm(matrices, axis=(1, 2))
    start_norm = np.linalg.norm(start)
    queue = [(start, start / start_norm, 1.0)] if start_norm > 0 else []
    for product, direction, scale in queue:  # which grows meanwhile; at most m entries extend it
        if np.linalg.norm(direction) <= tolerance * scale:
            continue
        residual = direction
        for _ in range(2):  # twice is enough for orthogonality to rounding
            residual = residual - span.T @ (span @ residual)
        length = np.linalg.norm(residual)
        if length > tolerance * scale:
            added = residual / length
            products, span = np.vstack([products, product]), np.vstack([span, added])
            queue.extend(zip(product @ matrices, added @ matrices, norms, strict=True))
    return products
