"""The Process Discovery Contest 2025: which of two traces fits a process better, learned from one log of it.

A test trace is positive if it fits the process better than the base trace of the same name. F is the harmonic mean of
the accuracies on positive and on negative traces. Kinds of training logs: noise-free, noisy, and noisy with classes of
a few traces (failures are left out). Settings were chosen on the eight models of `TUNED_ON`; classes of test logs serve
the score alone. `seconds` are processor time: of learning, and of ranking both logs.

    relations     the cost of `conform`, as a user who sets nothing has it
    alignments    its fitness: the best alignment with the automaton of the same model
    n-grams       minus the mean log-probability of an event after the four before it

Peers run in an interpreter of their own, which the variable WFAIRL_PEERS names: pm4py's log skeleton. `--methods` also
knows its inductive miner with alignments, its Declare, and AALpy's ALERGIA. Without that variable they are left out.
"""

import json
import lzma
import math
import os
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.harness import Cell, Experiment, Options, Outcome, Results, pivot, table_of
from experiments.harness.results import Sections
from wfairl.core.automata.words import Word, as_word
from wfairl.core.demonstrations.learners import Reading
from wfairl.events.conformance import Conformance, conform
from wfairl.events.shortest import ShortestLearner

LOGS = "logs.tsv.xz"
MODELS = (
    *("000000", "000001", "001010", "001100", "001101", "001110", "001111", "011100", "011110", "020100", "021000"),
    *("100101", "101000", "101001", "101110", "110000", "110001", "110110", "110111", "111001", "111011", "111100"),
    *("111111", "120010"),
)
"""The models that are given; others of the contest are named by `--tasks`."""

TUNED_ON = ("000000", "001101", "011110", "020100", "101001", "110110", "111011", "111111")
KINDS = {"noise-free": "00", "noisy": "10", "noisy with classes": "11"}
PEERS = "WFAIRL_PEERS"
PEER_METHODS = LOG_SKELETON, *_ = ("log skeleton", "inductive miner", "declare", "alergia")
N_GRAMS, LONGEST_GRAM = "n-grams", 5


def cells(options: Options) -> list[Cell]:
    """Every model, kind of log and method; a quick look has two models and our own methods."""
    folder, models = options.folder(LOGS), options.tasks or MODELS
    peers = (LOG_SKELETON,) if PEERS in os.environ and not options.quick else ()
    return [
        Cell(f"{model} {kind} {method}", measure, {"model": model, "kind": kind, "method": method}, data=folder)
        for model in models[: 2 if options.quick else None]
        for kind in options.data_sets or KINDS
        for method in options.methods or (*OURS, *peers)
    ]


def read_logs(data: Path, names: Sequence[str]) -> dict[str, list[tuple[str, Word]]]:
    """The class and the events of each trace, by the name of the log, of some logs."""
    logs: dict[str, list[tuple[str, Word]]] = {}
    wanted = tuple(f"{name}\t" for name in names)
    with lzma.open(data / LOGS, "rt", encoding="utf-8") as file:
        for line in file:
            if line.startswith(wanted):
                log, _, kind, events = line.rstrip("\n").split("\t")
                logs.setdefault(log, []).append((kind, as_word(events.split())))
    return logs


def measure(data: Path, model: str, kind: str, method: str) -> Outcome:
    """F of one method on one log, and its processor time."""
    logs = read_logs(data, [f"train-{model}{KINDS[kind]}", f"test-{model}", f"base-{model}"])
    shown = [word for flag, word in logs[f"train-{model}{KINDS[kind]}"] if flag != "0"]
    test, base = logs[f"test-{model}"], [word for _, word in logs[f"base-{model}"]]
    words = [word for _, word in test]
    if method in PEER_METHODS:
        first, second, learning, ranking = by_peer(method, shown, words, base, kind != "noise-free")
    else:
        begun = time.process_time()
        costs = learn(shown, method)
        learning, begun = time.process_time() - begun, time.process_time()
        first, second = costs(words), costs(base)
        ranking = time.process_time() - begun
    positive, truth = first < second, np.array([flag == "1" for flag, _ in test])
    rates = (positive & truth).sum() / truth.sum(), (~positive & ~truth).sum() / (~truth).sum()
    score = 2 * rates[0] * rates[1] / sum(rates) if sum(rates) else 0.0
    return Outcome([{"F": float(score), "learning": learning, "ranking": ranking}])


def learn(shown: Sequence[Word], method: str) -> Callable[[Sequence[Word]], NDArray[np.float64]]:
    """Costs from the conformance of words with what the default learner finds, or by n-grams."""
    if method == N_GRAMS:
        return by_grams(shown)
    model = ShortestLearner().fit(shown, [1.0] * len(shown), Reading(keep_repeats=True)).model
    choose = OURS[method]
    return lambda words: choose(conform(model, words))


OURS: dict[str, Callable[[Conformance], NDArray[np.float64]]] = {
    "relations": lambda found: found.cost,
    "alignments": lambda found: 1 - found.fitness,
}


def by_grams(shown: Sequence[Word]) -> Callable[[Sequence[Word]], NDArray[np.float64]]:
    """Costs in nats per event; one that never follows a context has a tenth of its chance after a shorter context."""
    counts = Counter(
        gram
        for word in shown
        for place in range(len(word) + 1)
        for length in range(min(place, LONGEST_GRAM - 1) + 1)
        for gram in ((*word, END)[place - length : place + 1], (*word[place - length : place], ANY))
    )

    def cost(word: Word) -> float:
        total = 0.0
        for place, event in enumerate((*word, END)):
            for start in range(max(place - LONGEST_GRAM + 1, 0), place + 1):
                context = word[start:place]
                if seen := counts[(*context, event)]:
                    total -= math.log(seen / counts[(*context, ANY)])
                    break
                total += math.log(10)
        return total / (len(word) + 1)

    return lambda words: np.array([cost(word) for word in words])


END, ANY = frozenset({"the end"}), frozenset({"any event"})


def by_peer(
    method: str, shown: Sequence[Word], words: Sequence[Word], base: Sequence[Word], is_noisy: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, float]:
    """Costs by a peer, in its own interpreter, and the seconds of learning and ranking."""
    logs = [[[*map(min, word)] for word in some] for some in (shown, words, base)]
    request = json.dumps({"method": method, "logs": logs, "noisy": is_noisy})
    script = Path(__file__).with_name("process_peers.py")
    ended = subprocess.run([os.environ[PEERS], script], input=request, capture_output=True, text=True, check=True)
    answer = json.loads(ended.stdout.splitlines()[-1])
    return np.array(answer["test"]), np.array(answer["base"]), answer["learning"], answer["ranking"]


def sections(results: Results) -> Sections:
    """F by kind of log and method, of the models that settings were chosen on and of the others; then seconds."""
    table = results.table
    table = table.assign(models=table["model"].isin(TUNED_ON).map({True: "tuned on", False: "others"}))
    means = table.groupby(["kind", "models", "method"], as_index=False)[["F", "learning", "ranking"]].mean()
    means["log"] = means["kind"] + ", " + means["models"]
    worst = table.groupby(["kind", "method"], as_index=False)["F"].min()
    every = table.groupby(["kind", "method"], as_index=False)["F"].mean()
    return {
        "Results": [
            table_of(pivot(every, "method", "kind", "F"), "Mean F over all models, higher is better.", "method"),
            table_of(pivot(means, "method", "log", "F"), "Mean F.", "method"),
            table_of(pivot(worst, "method", "kind", "F"), "F on the worst model.", "method"),
            table_of(pivot(means, "method", "log", "learning"), "Seconds of learning one log.", "method"),
            table_of(pivot(means, "method", "log", "ranking"), "Seconds of ranking 2,000 traces.", "method"),
        ]
    }


PROCESS_DISCOVERY_EXPERIMENT = Experiment(
    name="pdc",
    title="Process Discovery Contest 2025",
    summary="Which of two traces fits a process better",
    cells=cells,
    sections=sections,
    quick="two models, our own methods",
    options=("data", "tasks", "data_sets", "methods"),
)
