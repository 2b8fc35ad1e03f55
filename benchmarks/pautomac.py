"""PAutomaC: perplexity of learned distributions, and the time of a spectral fit.

    python benchmarks/pautomac.py DIR [--json] [--problems 1 3 7 12 24 42] [--speed-only]

DIR holds N.pautomac.train, N.pautomac.test and N.pautomac_solution.txt. The score of a model q is
2 ** (-sum_i p_i log2 q_i) over the test words, p and q each normalised; lower is better, and p itself
has the lowest. One setting for all problems; test words are used for the score only.

`splearn` is scikit-splearn 1.2.1 at its best over ranks 5-40, its rank picked with the test words.
`spectral` is `SpectralDistributionLearner` (trigram smoothing, rank and statistic by held-out words),
`refined` is `DistributionLearner`.
"""

import time
from collections import Counter
from pathlib import Path

import numpy as np
from reporting import figures_table, make_parser, report, rows_table
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

from wfairl.core.spectral.spectral_learner import LostRankError
from wfairl.events.distributions.distribution import DistributionLearner
from wfairl.events.distributions.pautomac import read_pautomac, read_pautomac_solution
from wfairl.events.distributions.spectral_distribution import SpectralDistributionLearner

SPLEARN = {1: 30.40, 3: 50.45, 7: 51.29, 12: 21.67, 24: 38.76, 42: 16.01}
RANKS = (5, 10, 15, 20, 30, 40)
STATISTICS = ("word", "prefix", "factor")
REPEATS = 20


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("--problems", type=int, nargs="+", default=list(SPLEARN))
    parser.add_argument(
        "--spectral-only", action="store_true", help="leave out the refined automata, which take minutes"
    )
    parser.add_argument("--speed-only", action="store_true", help="only the time of the fit, on the first problem")
    arguments = parser.parse_args()
    problems = [] if arguments.speed_only else arguments.problems
    figures = {
        "perplexity": [
            measure_problem(arguments.directory, problem, not arguments.spectral_only) for problem in problems
        ],
        "fit": measure_fit(arguments.directory, arguments.problems[0]),
    }
    tables = rows_table(figures["perplexity"], "perplexity", ".3f"), figures_table(figures["fit"], "spectral fit")
    report(figures, arguments.json, *tables, width=120)


def measure_problem(directory: Path, problem: int, refine: bool) -> dict:
    learned = read_pautomac(directory / f"{problem}.pautomac.train").words
    judged = read_pautomac(directory / f"{problem}.pautomac.test").words
    truth = read_pautomac_solution(directory / f"{problem}.pautomac_solution.txt")
    truth = truth / truth.sum()
    row = {"problem": problem, "minimum": perplexity(truth, np.log(truth)), "splearn": SPLEARN.get(problem)}

    started = time.perf_counter()
    spectral, rank = fit_spectral(learned)
    row["spectral_seconds"] = time.perf_counter() - started
    row["spectral"] = perplexity(truth, spectral.log_probability(judged))
    row["spectral_rank"] = rank
    if refine:
        started = time.perf_counter()
        refined = DistributionLearner().fit(learned)
        row["refined_seconds"] = time.perf_counter() - started
        row["refined"] = perplexity(truth, refined.log_probability(judged))
        row["refined_states"] = refined.states_
    if row["splearn"] is not None:
        row["relative_to_splearn"] = row.get("refined", row["spectral"]) / row["splearn"] - 1
    return row


def fit_spectral(words):
    """The smoothed spectral learner with its rank and statistic chosen on one word in ten."""
    held_out, learned = words[5::10], [word for i, word in enumerate(words) if i % 10 != 5]
    likelihood = {}
    for statistic in STATISTICS:
        for rank in RANKS:
            learner = spectral_learner(rank, statistic)
            try:
                likelihood[rank, statistic] = learner.fit(learned).score(held_out)
            except LostRankError:
                break
    rank, statistic = max(likelihood, key=likelihood.get)
    return spectral_learner(rank, statistic).fit(words), rank


def spectral_learner(rank, statistic):
    return SpectralDistributionLearner(rank=rank, rows=4, cols=4, statistic=statistic, smoothing=3)


def perplexity(truth, log_probabilities) -> float:
    shifted = np.exp(log_probabilities - log_probabilities.max())
    return float(2 ** -(truth @ np.log2(shifted / shifted.sum())))


def measure_fit(directory: Path, problem: int) -> dict:
    """The word statistic at rows = cols = 4 and rank 12: ours against dictionaries, in this process.

    Times are of the processor, not of the clock: other work on the machine then counts for neither.
    """
    words = read_pautomac(directory / f"{problem}.pautomac.train").words
    ours, plain = [], []
    for _ in range(REPEATS):
        started = time.process_time()
        learner = SpectralDistributionLearner(rank=12, rows=4, cols=4).fit(words)
        ours.append(time.process_time() - started)
        started = time.process_time()
        initial, final, transitions = fit_with_dictionaries(words, rank=12, rows=4, cols=4)
        plain.append(time.process_time() - started)
    same = np.isclose(learner.automaton_.value(words[0][:3]), value(initial, final, transitions, words[0][:3]))
    return {
        "problem": problem,
        "words": len(words),
        "seconds": min(ours),
        "dictionary_seconds": min(plain),
        "ratio": min(plain) / min(ours),
        "same_values": bool(same),
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
