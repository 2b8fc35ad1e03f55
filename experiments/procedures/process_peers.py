"""pm4py's log skeleton, for an interpreter that has pm4py; reads and writes JSON.

It imports nothing of this project: pm4py's licence (AGPL) is another one. Request: {"logs": [train, test, base],
"noisy"}. Answer: {"test": costs, "base": costs, "learning": seconds, "ranking": seconds}.
"""

import json
import sys
import time
from typing import Any


def event_log(words: Any) -> Any:
    """The words as a log of pm4py."""
    from pm4py.objects.log.obj import Event, EventLog, Trace

    return EventLog(
        [
            Trace([Event({"concept:name": name}) for name in word], attributes={"concept:name": str(i)})
            for i, word in enumerate(words)
        ]
    )


def log_skeleton(shown: Any, noisy: bool) -> Any:
    """The share of relations that are broken; noise threshold 0.05 on noisy logs, the best of three on eight models."""
    from pm4py.algo.conformance.log_skeleton import algorithm as conformance
    from pm4py.algo.discovery.log_skeleton import algorithm as discovery

    skeleton = discovery.apply(event_log(shown), parameters={"noise_threshold": 0.05 if noisy else 0.0})
    return lambda words: [-one["dev_fitness"] for one in conformance.apply(event_log(words), skeleton)]


if __name__ == "__main__":
    request = json.load(sys.stdin)
    shown, test, base = request["logs"]
    begun = time.process_time()
    rank = log_skeleton(shown, request["noisy"])
    learned = time.process_time()
    answer = {"test": rank(test), "base": rank(base)}
    answer |= {"learning": learned - begun, "ranking": time.process_time() - learned}
    print(json.dumps(answer))
