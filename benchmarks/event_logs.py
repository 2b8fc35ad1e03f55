"""The time of learning constraints from event logs, by the number of logs.

    python benchmarks/event_logs.py [--json] [--quick] [--largest 1000000]

A rule of three constraints is hidden in logs of about 12 events out of 15, and 3 % of the flags are wrong; the logs are
those of the experiment `event-rules`. `said` tells whether the sentences are those of the rule.
"""

import math
import time
from typing import Any

import numpy as np
from reporting import growth_exponent, make_parser, report

from experiments.procedures.event_rules import EVENTS, WRONG_FLAGS, draw_logs, kept
from wfairl.core.demonstrations.learners import Reading, find_learner
from wfairl.events.constraints import Constraint

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
    rule = [Constraint.of(*parts) for parts in RULE]
    words = draw_logs(rng, count)
    flags = (kept(rule, words) ^ (rng.random(count) < WRONG_FLAGS)).astype(float).tolist()
    started = time.perf_counter()
    task = find_learner("declare").fit(words, flags, Reading(keep_repeats=True))
    seconds = time.perf_counter() - started
    said = sorted(task.model.sentences) == sorted(constraint.sentence for constraint in rule)
    return {"logs": count, "seconds": seconds, "said": said}


if __name__ == "__main__":
    main()
