"""The time of learning constraints from event logs, by the number of logs.

    python benchmarks/event_logs.py [--json] [--quick] [--largest 1000000]

A rule of three constraints is hidden in logs of about 12 events out of 15, and 3 % of the flags are wrong. `said` tells
whether the sentences are those of the rule.
"""

import math
import time
from typing import Any

import numpy as np
from reporting import growth_exponent, make_parser, report

from wfairl.core.automata.word_corpus import encode
from wfairl.core.automata.words import sort_labels
from wfairl.core.demonstrations.learners import Reading, find_learner
from wfairl.events.constraints import EventConstraint, Occurrences

EVENTS = tuple(f"event{i:02d}" for i in range(15))
ALPHABET = sort_labels(frozenset({event}) for event in EVENTS)
MEAN_LENGTH, WRONG_FLAGS = 12, 0.03
RULE = (("precedence", EVENTS[0], EVENTS[1]), ("existence", EVENTS[2]), ("responded existence", *EVENTS[3:5]))


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--largest", type=int, default=1_000_000)
    arguments = parser.parse_args()
    largest = 10_000 if arguments.quick else arguments.largest
    measure(100)  # compiles
    rows = [measure(10**k) for k in range(3, int(math.log10(largest)) + 1)]
    exponent = {"exponent": growth_exponent(rows, "logs", "seconds")}
    report({"learning constraints": rows, "seconds grow as logs ** exponent, from 10,000 on": exponent}, arguments.json)


def measure(count: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    rule = [EventConstraint.of(*parts) for parts in RULE]
    lengths = rng.poisson(MEAN_LENGTH, size=count)
    events = np.split(rng.integers(len(EVENTS), size=int(lengths.sum())), np.cumsum(lengths)[:-1])
    words = [tuple(ALPHABET[i] for i in word) for word in events]
    places = Occurrences.of(encode(words, ALPHABET), ALPHABET, EVENTS)
    kept = np.logical_and.reduce([constraint.holds(places) for constraint in rule])
    flags = (kept ^ (rng.random(count) < WRONG_FLAGS)).astype(float).tolist()
    started = time.perf_counter()
    task = find_learner("declare").fit(words, flags, Reading(keep_repeats=True))
    seconds = time.perf_counter() - started
    said = sorted(task.model.sentences) == sorted(constraint.sentence for constraint in rule)
    return {"logs": count, "seconds": seconds, "said": said}


if __name__ == "__main__":
    main()
