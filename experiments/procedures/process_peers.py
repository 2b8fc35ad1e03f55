"""Peers of the contest, for an interpreter that has pm4py and AALpy; reads and writes JSON.

It imports nothing of this project: pm4py's licence (AGPL) is another one. Request: {"method", "logs": [train, test,
base], "noisy"}. Answer: {"test": costs, "base": costs, "learning": seconds, "ranking": seconds}.
"""

import json
import math
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


def inductive_miner(shown: Any, noisy: bool) -> Any:
    """The fitness of the best alignment with the net of the inductive miner."""
    import pm4py

    net = pm4py.discover_petri_net_inductive(event_log(shown), noise_threshold=0.2 if noisy else 0.0)
    return lambda words: [-one["fitness"] for one in pm4py.conformance_diagnostics_alignments(event_log(words), *net)]


def declare(shown: Any, noisy: bool) -> Any:
    """The share of Declare constraints that are broken."""
    import pm4py

    least = 0.9 if noisy else 0.99
    model = pm4py.discover_declare(event_log(shown), min_support_ratio=0.05, min_confidence_ratio=least)
    return lambda words: [-one["dev_fitness"] for one in pm4py.conformance_declare(event_log(words), model)]


def alergia(shown: Any, _: bool) -> Any:
    """Minus the mean log-probability of an event in the Markov chain of ALERGIA; what cannot be costs 20 nats."""
    from aalpy.learning_algs import run_Alergia

    begin, end = "the beginning", "the end"
    chain = run_Alergia([[begin, *word, end] for word in shown], automaton_type="mc", eps=0.05)

    def cost(word: Any) -> float:
        state, total = chain.initial_state, 0.0
        for name in (*word, end):
            after = {one.output: (one, chance) for one, chance in state.transitions}
            state, chance = after.get(name, (state, math.exp(-20)))
            total -= math.log(chance)
        return total / (len(word) + 1)

    return lambda words: [cost(word) for word in words]


PEERS = {
    "log skeleton": log_skeleton,
    "inductive miner": inductive_miner,
    "declare": declare,
    "alergia": alergia,
}

if __name__ == "__main__":
    request = json.load(sys.stdin)
    shown, test, base = request["logs"]
    begun = time.process_time()
    rank = PEERS[request["method"]](shown, request["noisy"])
    learned = time.process_time()
    answer = {"test": rank(test), "base": rank(base)}
    answer |= {"learning": learned - begun, "ranking": time.process_time() - learned}
    print(json.dumps(answer))
