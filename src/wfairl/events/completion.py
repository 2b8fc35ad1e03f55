"""Hankel completion: a weighted automaton from part of a function's values, the rest unknown rather than zero.

After Balle and Mohri (2012), who complete the table before they factorise it. The table H(u, v) = h(uv) over prefixes u
and suffixes v has low rank, and equal words have equal values; the value of an unseen word is unknown.

    1. Alternating projections fill the table: on the tables of rank m, then on Hankel tables, in which a word that
       stands at several places has the mean of its values there and known values stay; until nothing moves.
    2. The spectral method (Theorem 1 of the paper) gives an automaton of the table.
    3. The automaton is fitted to the known values by least squares (Levenberg and Marquardt), with

           d h(sigma_0 .. sigma_T) / d W_sigma  =  sum over t with sigma_t = sigma of alpha_t beta_{t+1}^T

The rank is the smallest that predicts values held out nearly as well as any.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt, Lt
from numpy.typing import NDArray
from scipy.optimize import least_squares

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.corpus import Corpus, build_prefix_tree, random_part
from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.support.bounds import AtLeastOne, Seed, check_bounds

UNMOVED = 1e-6
"""The projections end when no value moves by more than this share of the largest."""

RIDGE = 1e-6
"""Weight of the squared parameters beside the squared errors, which keeps weights small that no word determines."""

NEARLY = 1.05
"""A held-out error within this factor of the lowest is as good."""

EXACT = 1e-6
"""A held-out error below this share of the values' own square is rounding."""


@dataclass(frozen=True)
class CompletionSettings:
    """Settings of `complete`.

    Attributes:
        rank: number of states; None chooses on values held out.
        max_rank: the largest rank to try.
        max_prefixes, max_suffixes: rows and columns of the table, the most frequent ones.
        sweeps: most projections.
        evaluations: most evaluations of the least squares.
        max_words: known words that are fitted, a random part if there are more.
        held_out: share of the known words that choose the rank.
        seed: of the words held out, and of that random part.
    """

    rank: AtLeastOne | None = None
    max_rank: AtLeastOne = 6
    max_prefixes: AtLeastOne = 128
    max_suffixes: AtLeastOne = 128
    sweeps: AtLeastOne = 200
    evaluations: AtLeastOne = 100
    max_words: AtLeastOne = 1_000
    held_out: Annotated[float, Gt(0), Lt(1)] = 0.2
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True, eq=False)
class Completion:
    """A completed function.

    Attributes:
        automaton: its weighted automaton.
        rows: length of the longest prefix of the table.
        cols: length of the longest suffix of the table.
    """

    automaton: WeightedAutomaton
    rows: int
    cols: int


def complete(sample: Corpus, alphabet: tuple[Label, ...], settings: CompletionSettings | None = None) -> Completion:
    """The automaton of low rank that agrees with a sample: distinct words over `alphabet`, weighted by their values."""
    settings = settings or CompletionSettings()
    rng = np.random.default_rng(settings.seed)
    sample = sample.take(random_part(len(sample), settings.max_words, rng))
    rank = settings.rank or _choose_rank(sample, alphabet, settings, rng)
    table = _Table.of(sample, len(alphabet), settings)
    return Completion(_fit(table, sample, alphabet, rank, settings), table.rows, table.cols)


def _choose_rank(
    sample: Corpus, alphabet: tuple[Label, ...], settings: CompletionSettings, rng: np.random.Generator
) -> int:
    """The smallest rank whose error on held-out words is nearly the lowest."""
    order = rng.permutation(len(sample))
    count = round(settings.held_out * len(sample))
    if count < 1 or count == len(sample):
        return 1
    judged, learned = sample.take(order[:count]), sample.take(np.sort(order[count:]))
    table = _Table.of(learned, len(alphabet), settings)
    enough = EXACT * float(np.mean(sample.weights**2))
    errors: list[float] = []
    for rank in range(1, settings.max_rank + 1):
        automaton = _fit(table, learned, alphabet, rank, settings)
        errors.append(float(np.mean((automaton.values_of_corpus(judged) - judged.weights) ** 2)))
        if errors[-1] <= enough or min(errors[-2:]) > min(errors):  # exact, or two in a row that are worse
            break
    return 1 + next(i for i, error in enumerate(errors) if error <= NEARLY * min(errors))


@dataclass(frozen=True, eq=False)
class _Table:
    """The Hankel blocks as one table: a row for each prefix u, then for each u sigma; a column for each suffix.

    Attributes:
        entries: number of the word at each place, shape [prefixes * (1 + labels), suffixes].
        sample_words: the numbers of the known words, shape [known words in the table].
        values: their values.
        words: how many words there are.
        prefixes: how many prefixes.
        rows, cols: lengths of the longest prefix and suffix.
    """

    entries: NDArray[np.int64]
    sample_words: NDArray[np.int64]
    values: NDArray[np.float64]
    words: int
    prefixes: int
    rows: int
    cols: int

    @classmethod
    def of(cls, sample: Corpus, labels: int, settings: CompletionSettings) -> "_Table":
        prefixes = _most_frequent(sample, settings.max_prefixes)
        suffixes = [word[::-1] for word in _most_frequent(sample.reversed(), settings.max_suffixes)]
        heads = prefixes + [(*prefix, label) for prefix in prefixes for label in range(labels)]
        number: dict[tuple[int, ...], int] = {}
        entries = np.array([[number.setdefault(u + v, len(number)) for v in suffixes] for u in heads], np.int64)
        bounds = zip(sample.offsets[:-1].tolist(), sample.offsets[1:].tolist(), strict=True)
        places = [number.get(tuple(sample.symbols[a:b].tolist()), -1) for a, b in bounds]
        inside = np.array(places, np.int64)
        return cls(
            entries.reshape(len(heads), len(suffixes)),
            inside[inside >= 0],
            sample.weights[inside >= 0],
            len(number),
            len(prefixes),
            max(map(len, prefixes)),
            max(map(len, suffixes)),
        )


def _most_frequent(corpus: Corpus, count: int) -> list[tuple[int, ...]]:
    """The most frequent prefixes, the empty one first; among equals the shorter."""
    tree = build_prefix_tree(corpus, int(corpus.lengths.max(initial=0) + 1) // 2)
    passing = np.bincount(tree.visits[tree.visits >= 0], minlength=len(tree))
    chosen = np.sort(np.argsort(-passing, kind="stable")[:count])
    words: dict[int, tuple[int, ...]] = {0: ()}
    for node in range(1, len(tree)):
        words[node] = (*words[int(tree.parents[node])], int(tree.symbols[node]))
    return [words[int(node)] for node in chosen]


def _fit(
    table: _Table, sample: Corpus, alphabet: tuple[Label, ...], rank: int, settings: CompletionSettings
) -> WeightedAutomaton:
    """Complete the table, learn from it, fit."""
    if len(table.sample_words) < SPARSEST * table.words:
        start = _near_the_mean(sample, alphabet, rank, settings.seed)
    else:
        start = _spectral(_project(table, rank, settings.sweeps), table, alphabet, rank)
    return _least_squares(start, sample, settings.evaluations)


SPARSEST = 0.02
"""A table with a smaller share of known words does not determine the rest."""


def _near_the_mean(sample: Corpus, alphabet: tuple[Label, ...], rank: int, seed: int) -> WeightedAutomaton:
    """An automaton that gives every word about the mean of the known values, each state a little different."""
    rng = np.random.default_rng([seed, rank])
    mean, first = float(sample.weights.mean()), np.eye(rank)[0]
    noise = rng.normal(scale=0.1 / np.sqrt(rank), size=(len(alphabet), rank, rank))
    return WeightedAutomaton(alphabet, first, mean * first + 0.1 * rng.normal(size=rank), np.eye(rank) + noise)


def _project(table: _Table, rank: int, sweeps: int) -> NDArray[np.float64]:
    """The values of all words of the table, nearly of the rank; shape [words]."""
    values = np.zeros(table.words)
    values[table.sample_words] = table.values
    places = np.maximum(np.bincount(table.entries.reshape(-1), minlength=table.words), 1)
    scale = np.abs(table.values).max(initial=0.0)
    for _ in range(sweeps):
        left, singular_values, right = np.linalg.svd(values[table.entries], full_matrices=False)
        low_rank = (left[:, :rank] * singular_values[:rank]) @ right[:rank]
        moved = np.bincount(table.entries.reshape(-1), low_rank.reshape(-1), table.words) / places
        moved[table.sample_words] = table.values
        change = np.abs(moved - values).max()
        values = moved
        if change <= UNMOVED * scale:
            break
    return values


def _spectral(values: NDArray[np.float64], table: _Table, alphabet: tuple[Label, ...], rank: int) -> WeightedAutomaton:
    """The spectral method on the filled table, with alpha_0 and beta of about the same size."""
    n, labels = table.prefixes, len(alphabet)
    left, singular_values, right = np.linalg.svd(values[table.entries[:n]], full_matrices=False)
    size = max(min(rank, int((singular_values > SMALL * singular_values[0]).sum())), 1)
    root = np.sqrt(np.maximum(singular_values[:size], np.finfo(float).tiny))
    P_inverse, S_inverse = left[:, :size].T / root[:, None], right[:size].T / root
    blocks = values[table.entries[n:]].reshape(n, labels, -1)  # row u sigma: H_sigma
    return WeightedAutomaton(
        alphabet,
        initial=left[0, :size] * root,  # P = U Lambda^(1/2), S = Lambda^(1/2) V^T
        final=right[:size, 0] * root,
        transitions=np.einsum("iu,usv,vj->sij", P_inverse, blocks, S_inverse, optimize=True),
    )


SMALL = 1e-8
"""Singular values below this share of the largest are rounding."""


def _least_squares(start: WeightedAutomaton, sample: Corpus, evaluations: int) -> WeightedAutomaton:
    """Fit all weights to the known values, from `start` on."""
    m, labels = start.rank, len(start.alphabet)
    padded = _pad(sample, labels)

    def unpack(weights: NDArray[np.float64]) -> WeightedAutomaton:
        return WeightedAutomaton(
            start.alphabet, weights[:m], weights[m : 2 * m], weights[2 * m :].reshape(labels, m, m)
        )

    def residuals(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        errors = _run(unpack(weights), padded)[0] - sample.weights
        return np.nan_to_num(np.concatenate([errors, RIDGE * weights]), nan=LARGEST, posinf=LARGEST, neginf=-LARGEST)

    def slopes(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        slope = _run(unpack(weights), padded)[1]
        return np.nan_to_num(np.vstack([slope, RIDGE * np.eye(len(weights))]), posinf=LARGEST, neginf=-LARGEST)

    first = np.concatenate([start.initial, start.final, start.transitions.reshape(-1)])
    with np.errstate(over="ignore", invalid="ignore"):
        fitted = least_squares(residuals, first, slopes, method="lm", max_nfev=evaluations)
    return unpack(fitted.x)


LARGEST = 1e100
"""Replaces numbers that overflow in a step that is too long."""


def _pad(corpus: Corpus, labels: int) -> NDArray[np.int64]:
    """The words as rows of one length, filled up with the symbol `labels`; shape [words, longest]."""
    padded = np.full((len(corpus), int(corpus.lengths.max(initial=0))), labels)
    words = np.repeat(np.arange(len(corpus)), corpus.lengths)
    padded[words, np.arange(len(corpus.symbols)) - corpus.offsets[words]] = corpus.symbols
    return padded


def _run(automaton: WeightedAutomaton, padded: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The value of each word, shape [words], and its slope in every weight, shape [words, weights]."""
    m, (words, longest) = automaton.rank, padded.shape
    W = np.concatenate([automaton.transitions, np.eye(m)[None]])  # the symbol that fills up changes nothing
    alphas = np.empty((longest + 1, words, m))
    betas = np.empty((longest + 1, words, m))
    alphas[0], betas[longest] = automaton.initial, automaton.final
    for t in range(longest):
        alphas[t + 1] = np.einsum("ni,nij->nj", alphas[t], W[padded[:, t]])
    for t in range(longest - 1, -1, -1):
        betas[t] = np.einsum("nij,nj->ni", W[padded[:, t]], betas[t + 1])
    slope = np.zeros((words, len(W), m, m))
    each = np.arange(words)
    for t in range(longest):
        slope[each, padded[:, t]] += alphas[t][:, :, None] * betas[t + 1][:, None, :]
    values = alphas[longest] @ automaton.final
    return values, np.hstack([betas[0], alphas[longest], slope[:, :-1].reshape(words, -1)])
