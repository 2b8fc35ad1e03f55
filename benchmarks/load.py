"""Large inputs on the command line: processor time and peak memory of learning and scoring, and how they grow.

    python benchmarks/load.py [--json] [--quick] [--largest 1.0] [--parts words,labels] [--learner spectral]

words           many words of a few labels, as in an event log; at most 10^6
long            20 words that grow to 10^4 labels each
labels          2,000 words over an alphabet that grows to 2,000 labels
propositions    2,000 words whose labels are random sets of up to 64 propositions
demonstrations  recorded paths in a small world, up to 10^5

Each row is a command in its own process, with its start. `exponent` is the slope of the logarithm of time (of memory)
against that of the size, between two sizes, without the constant part: 1 is linear. `score one` scores a single word
with the learned model. --largest 0.1 stops at a tenth of these sizes. Kernels are compiled beforehand.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from reporting import make_parser, report

from wfairl.core.demonstrations import Dataset, Demonstration
from wfairl.runs.data_sets import save

SIZES = {
    "words": (1_000, 10_000, 100_000, 1_000_000),
    "long": (10, 100, 1_000, 10_000),
    "labels": (2, 20, 200, 2_000),
    "propositions": (4, 8, 16, 32, 64),
    "demonstrations": (100, 1_000, 10_000, 100_000),
}

SECONDS = 900
"""Processor time after which a command is stopped."""


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--largest", type=float, default=1.0, help="part of the largest sizes to stop at")
    parser.add_argument("--parts", default=",".join(SIZES))
    parser.add_argument("--learner", default="shortest", help="of `wfairl learn-task`")
    arguments = parser.parse_args()
    largest = 0.01 if arguments.quick else arguments.largest
    with tempfile.TemporaryDirectory() as place:
        measure("words", SIZES["words"][0], Path(place), arguments.learner)
    rows = []
    for part in arguments.parts.split(","):
        for size in (size for size in SIZES[part] if size <= largest * SIZES[part][-1]):
            with tempfile.TemporaryDirectory() as place:
                rows.append(measure(part, size, Path(place), arguments.learner))
                sys.stderr.write(f"{json.dumps(rows[-1])}\n")
    for row, two, three in zip(rows, rows[1:], rows[2:], strict=False):
        if row["part"] == three["part"]:
            three["exponent of time"] = exponent(row, two, three, "learn, s")
            three["exponent of memory"] = exponent(row, two, three, "learn, MB")
    report({"large inputs": rows}, arguments.json)


def measure(part: str, size: int, place: Path, learner: str) -> dict[str, Any]:
    source = MAKERS[part](size, np.random.default_rng(0), place)
    model, one = place / "task.json", place / "one.jsonl"
    learned = command("learn-task", source, "--learner", learner, "-o", model)
    row = {"part": part, "size": size, "megabytes of input": source.stat().st_size / 1e6}
    row |= {"learn, s": learned.seconds, "learn, MB": learned.megabytes, "said": learned.said}
    if model.exists():
        one.write_text('{"word": [["e0"], ["e1"]]}\n')
        scored = command("score", model, one)
        row |= {"score one, s": scored.seconds, "score one, MB": scored.megabytes}
    return row


class command:  # noqa: N801 - reads as a verb
    """A command, run to its end: its processor time, its peak memory, and the error that it ended with, if any."""

    def __init__(self, *arguments: str | Path):
        program = [sys.executable, "-m", "wfairl", *map(str, arguments)]
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=said, preexec_fn=limit)
            _, status, used = os.wait4(process.pid, 0)
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
        self.seconds, self.megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
        code = os.waitstatus_to_exitcode(status)
        self.said = "" if code == 0 else f"exit code {code}: {lines[-1] if lines else ''}"


def limit() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def exponent(smallest: dict[str, Any], before: dict[str, Any], after: dict[str, Any], name: str) -> float:
    """The slope between two sizes, without what every command takes."""
    fixed = smallest[name] * 0.9
    grown = max(after[name] - fixed, 1e-9) / max(before[name] - fixed, 1e-9)
    return math.log(grown) / math.log(after["size"] / before["size"])


def drawn_words(rng: np.random.Generator, count: int, length: int, alphabet: list[frozenset[str]]) -> list[Any]:
    """Words in which neighbours differ, so that all of their labels are read."""
    steps = rng.integers(1, max(2, len(alphabet)), size=(count, length)).cumsum(axis=1) % len(alphabet)
    return [tuple(alphabet[label] for label in row) for row in steps.tolist()]


def written(words: list[Any], place: Path) -> Path:
    """Those in which e1 comes after e0 are successes, as somebody's rule might be."""
    path = place / "words.jsonl"
    documents = ({"word": [*map(sorted, word)], "score": float(succeeds(word))} for word in words)
    path.write_text("".join(f"{json.dumps(document)}\n" for document in documents))
    return path


def succeeds(word: tuple[frozenset[str], ...]) -> bool:
    first = next((i for i, label in enumerate(word) if "e0" in label), len(word))
    return any("e1" in label for label in word[first + 1 :])


def events(count: int) -> list[frozenset[str]]:
    return [frozenset({f"e{i}"}) for i in range(count)]


def many_words(size: int, rng: np.random.Generator, place: Path) -> Path:
    return written(drawn_words(rng, size, 6, events(8)), place)


def long_words(size: int, rng: np.random.Generator, place: Path) -> Path:
    return written(drawn_words(rng, 20, size, events(4)), place)


def many_labels(size: int, rng: np.random.Generator, place: Path) -> Path:
    alphabet = events(size)
    words = drawn_words(rng, 2_000, 6, alphabet)
    words[::4] = [(alphabet[0], *word[1:-1], alphabet[1]) for word in words[::4]]  # chance alone would show no success
    return written(words, place)


def many_propositions(size: int, rng: np.random.Generator, place: Path) -> Path:
    names = np.array([f"e{i}" for i in range(size)])
    sets = [frozenset(names[rng.random(size) < 0.5].tolist()) for _ in range(200)]
    return written(drawn_words(rng, 2_000, 6, sets), place)


def many_demonstrations(size: int, rng: np.random.Generator, place: Path) -> Path:
    words = drawn_words(rng, 200, 20, events(4))
    walks = [
        Demonstration(tuple([0] * 20), words[i % 200], float(succeeds(words[i % 200])), 20_000 + i) for i in range(size)
    ]
    path = place / "demos.safetensors"
    save(Dataset("doorkey", tuple(walks), 0.5), path)
    return path


MAKERS: dict[str, Callable[[int, np.random.Generator, Path], Path]] = {
    "words": many_words,
    "long": long_words,
    "labels": many_labels,
    "propositions": many_propositions,
    "demonstrations": many_demonstrations,
}


if __name__ == "__main__":
    main()
