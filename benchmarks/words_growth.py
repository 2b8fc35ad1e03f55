"""How time and memory of a spectral fit grow with the number of words and the size of the alphabet.

    python benchmarks/words_growth.py [--json] [--quick] [--largest 1000000]

Words are drawn from a random Markov chain, lengths geometric with mean 8; rows = cols = 2, rank 8. `exponent` is the
slope of log(seconds) against log(words) from 10^4 words on: 1 is linear. Each fit runs in its own process, so that its
peak memory is its own.
"""

import math
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from reporting import growth_exponent, make_parser, report

from wfairl.core.spectral.spectral_learner import SpectralLearner

ALPHABETS = (8, 64, 256)
MEAN_LENGTH = 8
BATCH = 1_000


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--largest", type=int, default=1_000_000)
    arguments = parser.parse_args()
    sizes = [10**k for k in range(3, int(math.log10(1e4 if arguments.quick else arguments.largest)) + 1)]
    rows = [measure_alone(words, labels) for labels in ALPHABETS for words in sizes]
    by_labels = {labels: [row for row in rows if row["labels"] == labels] for labels in ALPHABETS}
    exponents = {labels: growth_exponent(some, "words", "fit_seconds") for labels, some in by_labels.items()}
    report({"fits": rows, "exponent of the time by labels": exponents}, arguments.json)


def measure_alone(words: int, labels: int) -> dict:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, words, labels).result()


def measure(words: int, labels: int) -> dict:
    sample = draw_sample(words, labels)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    learner = SpectralLearner(rank=8, rows=2, cols=2)
    learner.fit(sample, np.ones(words))
    fit_seconds = time.perf_counter() - started
    started = time.perf_counter()
    learner.predict(sample)
    return {
        "words": words,
        "labels": labels,
        "fit_seconds": fit_seconds,
        "predict_seconds": time.perf_counter() - started,
        "sample_megabytes": before / 1024,
        "extra_megabytes": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
    }


def draw_sample(words: int, labels: int) -> list:
    """Words in small batches, so that the peak of memory is that of the words."""
    rng = np.random.default_rng(0)
    alphabet = [frozenset({f"event{i}"}) for i in range(labels)]
    chain = rng.dirichlet(np.full(labels, 4 / labels), size=labels).cumsum(axis=1)
    sample: list = []
    while len(sample) < words:
        batch = min(BATCH, words - len(sample))
        lengths = rng.geometric(1 / MEAN_LENGTH, size=batch) - 1
        steps = [rng.integers(labels, size=batch)]
        for _ in range(int(lengths.max())):
            passed = chain[steps[-1]] < rng.random(batch)[:, None]
            steps.append(np.minimum(passed.sum(axis=1), labels - 1))
        for row, length in zip(np.array(steps).T, lengths.tolist(), strict=True):
            sample.append(tuple(alphabet[i] for i in row[:length].tolist()))
    return sample


if __name__ == "__main__":
    main()
