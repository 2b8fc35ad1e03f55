"""A spectral fit of words of a random Markov chain, against the same fit with dictionaries of counts.

    python benchmarks/spectral_fit.py [--json] [--quick] [--repeats 20]

The score of a word is its frequency; rows = cols = 4, rank 12. Times are of the processor: other work on the
machine then counts for neither.
"""

from collections import Counter

import numpy as np
from reporting import fastest, make_parser, report
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

from wfairl.core.spectral.spectral_learner import SpectralLearner

DRAWN_WORDS, DRAWN_LABELS, MEAN_LENGTH = 20_000, 8, 8


def main() -> None:
    arguments = make_parser(__doc__, repeats=20).parse_args()
    words = draw_words(np.random.default_rng(0))
    report({"a spectral fit": measure(words, 1 if arguments.quick else arguments.repeats)}, arguments.json)


def draw_words(rng: np.random.Generator) -> list:
    """Words of a random Markov chain, of geometric lengths."""
    alphabet = [frozenset({f"event{i}"}) for i in range(DRAWN_LABELS)]
    chain = rng.dirichlet(np.full(DRAWN_LABELS, 4 / DRAWN_LABELS), size=DRAWN_LABELS).cumsum(axis=1)
    lengths = rng.geometric(1 / MEAN_LENGTH, size=DRAWN_WORDS) - 1
    steps = [rng.integers(DRAWN_LABELS, size=DRAWN_WORDS)]
    for _ in range(int(lengths.max())):
        passed = chain[steps[-1]] < rng.random(DRAWN_WORDS)[:, None]
        steps.append(np.minimum(passed.sum(axis=1), DRAWN_LABELS - 1))
    rows = zip(np.array(steps).T.tolist(), lengths.tolist(), strict=True)
    return [tuple(alphabet[i] for i in row[:length]) for row, length in rows]


def measure(words: list, repeats: int) -> dict:
    learner = SpectralLearner(rank=12, rows=4, cols=4)
    counts = Counter(words)
    frequencies = np.array([counts[word] for word in words]) / len(words)
    ours = fastest(lambda: learner.fit(words, frequencies), repeats)
    plain = fastest(lambda: fit_with_dictionaries(words, rank=12, rows=4, cols=4), repeats)
    initial, final, transitions = fit_with_dictionaries(words, rank=12, rows=4, cols=4)
    word = max(words[:100], key=len)[:3]
    same = np.isclose(learner.automaton_.value(word), value(initial, final, transitions, word))
    return {
        "words": len(words),
        "ours, s": ours,
        "with dictionaries, s": plain,
        "ratio": plain / ours,
        "same values": bool(same),
    }


def fit_with_dictionaries(words, rank, rows, cols):
    """The same fit as one would write it first: dictionaries of counts, of prefixes and of suffixes."""
    counts = Counter(words)
    prefixes = {word[:i] for word in counts for i in range(min(rows, len(word)) + 1)}
    suffixes = {word[i:] for word in counts for i in range(max(0, len(word) - cols), len(word) + 1)}
    row_of = {prefix: i for i, prefix in enumerate(sorted(prefixes, key=len))}
    col_of = {suffix: i for i, suffix in enumerate(sorted(suffixes, key=len))}
    alphabet = {label for word in counts for label in word}
    entries = {label: {} for label in [None, *alphabet]}  # block -> (row, col) -> value; None is H itself
    for word, count in counts.items():
        for i in range(len(word) + 1):
            row = row_of.get(word[:i])
            if row is None:
                continue
            col = col_of.get(word[i:])
            if col is not None:
                entries[None][row, col] = count / len(words)
            if i < len(word) and (col := col_of.get(word[i + 1 :])) is not None:
                entries[word[i]][row, col] = count / len(words)
    shape = len(row_of), len(col_of)
    block, *label_blocks = (to_sparse(block, shape) for block in entries.values())
    u, s, v = svds(block, k=rank)
    transitions = {
        label: u.T @ (label_block @ (v.T / s))
        for label, label_block in zip(list(entries)[1:], label_blocks, strict=True)
    }
    return u[0], s * v[:, 0], transitions


def to_sparse(entries, shape):
    rows, cols = np.array(list(entries), dtype=int).reshape(-1, 2).T
    return csr_array((list(entries.values()), (rows, cols)), shape=shape)


def value(initial, final, transitions, word):
    for label in word:
        initial = initial @ transitions[label]
    return initial @ final


if __name__ == "__main__":
    main()
