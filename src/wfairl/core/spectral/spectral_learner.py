"""SpectralLearner: a weighted automaton from scored words (paper, Section IV-A, Theorem 1).

With a factorisation H = P S of rank m of the Hankel block, here by a truncated singular value
decomposition H = U Lambda V^T, P = U, S = Lambda V^T, the automaton is

    alpha_0^T = P(lambda, :)    beta = S(:, lambda)    W_sigma = P^+ H_sigma S^+

with P^+ = U^T and S^+ = V Lambda^{-1}.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.automata.word_corpus import Corpus, encode_all, merge_equal_words
from wfairl.core.automata.words import BadWordsError, Word
from wfairl.core.spectral.hankel import HankelBlocks, blocks_from_corpus
from wfairl.core.support.errors import BadInputError, FailedRunError

Matrix: TypeAlias = NDArray[np.float64]
WordScores: TypeAlias = Sequence[float] | NDArray[np.float64]

DENSE_LIMIT = 2_000
"""The smaller side of the largest block that is decomposed densely, in a few seconds."""

MAX_AUTOMATIC_RANK = 500
"""Beyond it, matrices of rank x rank numbers per label are larger than the words that they summarise."""

TRUNCATION_GAIN = 8
"""A truncated decomposition pays off when the block is this many times larger than the rank."""

RANK_TOLERANCE = 1e-10
"""Singular values below this share of the largest count as zero."""


@dataclass(eq=False, repr=False)
class SpectralLearner(RegressorMixin, BaseEstimator):
    """Learns a `WeightedAutomaton` from words, a scikit-learn estimator.

    The value of a word is the mean of its scores, and that of an unseen word is zero.

    Attributes:
        rank: number of states m; None takes the numerical rank of the Hankel block.
        rows: length of the longest prefix of the basis; None takes all.
        cols: length of the longest suffix of the basis; None takes all.
        automaton_: the `WeightedAutomaton`.
        rows_, cols_: lengths of the longest prefix and suffix of the basis that was used.
        condition_: largest over smallest singular value used.
    """

    rank: int | None = None
    rows: int | None = None
    cols: int | None = None

    def fit(self, words: Sequence[Word], scores: WordScores) -> "SpectralLearner":
        """Learn the automaton.

        Raises:
            BadWordsError: no words, scores that do not fit or are not finite, nothing but zeros.
            BadInputError: an impossible limit of the basis.
            FailedRunError: the block has a smaller rank than the one asked for, or too high an automatic one.
        """
        corpus, alphabet = check_words(words, scores)
        blocks = blocks_from_corpus(mean_values(corpus), len(alphabet), self.rows, self.cols)
        U, singular_values, V = factorise(blocks.block, self.rank)
        self.automaton_ = assemble(blocks, U, singular_values, V, alphabet)
        self.rows_, self.cols_ = blocks.rows, blocks.cols
        self.condition_ = float(singular_values[0] / singular_values[-1])
        return self

    def predict(self, words: Sequence[Word]) -> NDArray[np.float64]:
        """The value of each word, shape [words]; zero for a word with an unknown label."""
        check_is_fitted(self, "automaton_")
        values: NDArray[np.float64] = self.automaton_.values(words)
        return values

    def score(self, words: Sequence[Word], scores: WordScores) -> float:
        """Minus the loss of eq. (2), so that higher is better, as scikit-learn has it."""
        check_is_fitted(self, "automaton_")
        return -mean_squared_error(self.automaton_, words, scores)

    def __sklearn_tags__(self) -> Any:
        """Words are sequences of labels, not rows of a matrix."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


def mean_squared_error(automaton: WeightedAutomaton, words: Sequence[Word], scores: WordScores) -> float:
    """The loss of eq. (2): L = 1/N sum_n (h(sigma^n) - s^n)^2."""
    return float(np.mean((automaton.values(words) - np.asarray(scores, np.float64)) ** 2))


def check_words(words: Sequence[Word], scores: WordScores) -> tuple[Corpus, tuple[Label, ...]]:
    """The words as a corpus weighted by their scores, and its alphabet."""
    if len(words) == 0:
        raise BadWordsError("there are no words to learn from")
    weights = np.asarray(scores, np.float64)
    if weights.shape != (len(words),):
        raise BadWordsError(f"{len(words)} words need as many scores, not an array of shape {weights.shape}")
    if not np.isfinite(weights).all():
        first = int(np.flatnonzero(~np.isfinite(weights))[0])
        raise BadWordsError(f"the score of word {first} is {weights[first]}, which is not a finite number")
    if not weights.any():
        raise BadWordsError(
            "every score is 0, so the automaton would be 0 everywhere; learning needs at least one success"
        )
    return encode_all(words, weights)


def mean_values(corpus: Corpus) -> Corpus:
    """The distinct words whose mean score is not zero, weighted by it.

    A prefix of words of value zero alone has a zero row in H, hence in U: leaving it out is exact.
    """
    distinct, counts = merge_equal_words(corpus)
    means = distinct.weights / counts
    if not means.any():
        raise BadWordsError("the scores of each word cancel out to 0; nothing is left to learn")
    indices = np.flatnonzero(means)
    return distinct.take(indices, means[indices])


def factorise(block: csr_array, rank: int | None) -> tuple[Matrix, Matrix, Matrix]:
    """The singular value decomposition H ~ U Lambda V^T of a Hankel block, cut to `rank` or to its numerical rank.

    Returns:
        U, shape [prefixes, rank]; the diagonal of Lambda, falling, shape [rank]; V, shape [suffixes, rank].

    Raises:
        FailedRunError: fewer than `rank` singular values are above `RANK_TOLERANCE` times the largest, or
            no rank was given and the block is too large for all its singular values.
    """
    if rank is not None and rank < 1:
        raise BadInputError(f"rank is {rank}; give at least 1, or leave it out")
    smaller_side = min(block.shape)
    if rank is not None and rank * TRUNCATION_GAIN < smaller_side:
        start = np.ones(smaller_side)  # a fixed start: the same data give the same automaton
        left, spectrum, right = svds(block, k=rank, v0=start)
        left, spectrum, right = left[:, ::-1], spectrum[::-1], right[::-1]
    elif smaller_side <= DENSE_LIMIT:
        left, spectrum, right = np.linalg.svd(block.toarray(), full_matrices=False)
    else:
        raise FailedRunError(
            f"the Hankel block has {block.shape[0]} prefixes and {block.shape[1]} suffixes, too many for "
            f"{'an automatic rank' if rank is None else f'rank {rank}'}; "
            "limit the basis (rows, cols) or give a smaller rank"
        )
    block_rank = int(np.sum(spectrum > RANK_TOLERANCE * spectrum[0]))
    if spectrum[0] == 0:
        raise FailedRunError("the Hankel block is zero: no word is short enough for the basis; raise rows and cols")
    if rank is not None and rank > block_rank:
        raise FailedRunError(f"the Hankel block has rank {block_rank}, less than the rank {rank} asked for; lower it")
    if rank is None and block_rank > MAX_AUTOMATIC_RANK:
        raise FailedRunError(
            f"these words need rank {block_rank} to be told apart exactly, more than {MAX_AUTOMATIC_RANK}: they have "
            "little in common; give a lower rank, or limit the basis"
        )
    m = block_rank if rank is None else rank
    return left[:, :m], spectrum[:m], right[:m].T


def assemble(
    blocks: HankelBlocks, U: Matrix, singular_values: Matrix, V: Matrix, alphabet: Sequence[Label]
) -> WeightedAutomaton:
    """The automaton of Theorem 1 over the statistic that the blocks hold, from `factorise`."""
    S_pseudoinverse = V / singular_values
    transitions = np.zeros((len(alphabet), len(singular_values), len(singular_values)))
    for i, label_block in enumerate(blocks.label_blocks):
        transitions[i] = U.T @ (label_block @ S_pseudoinverse)  # W_sigma = P^+ H_sigma S^+
    return WeightedAutomaton(
        tuple(alphabet),
        initial=U[0],  # alpha_0 = P(lambda, :)
        final=singular_values * V[0],  # beta = S(:, lambda)
        transitions=transitions,
    )
