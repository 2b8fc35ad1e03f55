"""Peers of process discovery, for an interpreter that has pm4py and AALpy; reads and writes JSON.

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
    """The cost of alignments with the net of the inductive miner."""
    import pm4py

    net = pm4py.discover_petri_net_inductive(event_log(shown), noise_threshold=0.2 if noisy else 0.0)

    def costs(words: Any) -> Any:
        known = {}
        distinct = list(dict.fromkeys(map(tuple, words)))
        for word, one in zip(
            distinct, pm4py.conformance_diagnostics_alignments(event_log(distinct), *net), strict=True
        ):
            known[word] = one["cost"]
        return [known[tuple(word)] for word in words]

    return costs


def alergia(shown: Any, noisy: bool) -> Any:  # noqa: ARG001 - it has no setting for noise
    """Minus the log-probability by ALERGIA, a small probability for what it has not seen."""
    from aalpy.learning_algs import run_Alergia

    chain = run_Alergia([["begin", *word, "end"] for word in shown], automaton_type="mc", eps=0.05)

    def cost(word: Any) -> float:
        state, total = chain.initial_state, 0.0
        for name in (*word, "end"):
            following = [(after, p) for after, p in state.transitions if after.output == name]
            if following:
                state, probability = following[0]
                total -= math.log(max(probability, 1e-9))
            else:
                total += 10.0
        return total

    return lambda words: [cost(word) for word in words]


def net_alignments(net_file: str, words: Any) -> Any:
    """The least costs of words in a net: 1 for an extra or missing event, 0 for what leaves no event."""
    import pm4py
    from pm4py.algo.conformance.alignments.petri_net import algorithm

    net, initial, final = pm4py.read_pnml(net_file)
    parameters: dict[str, Any] = {
        "model_cost_function": {one: 0 if one.label is None else 1 for one in net.transitions},
        "sync_cost_function": dict.fromkeys(net.transitions, 0),
    }
    costs = []
    for word, trace in zip(words, event_log(words), strict=True):
        parameters["trace_cost_function"] = [1] * len(word)
        costs.append(algorithm.apply(trace, net, initial, final, parameters=parameters)["cost"])
    return costs


METHODS = {"log skeleton": log_skeleton, "inductive miner": inductive_miner, "ALERGIA": alergia}

if __name__ == "__main__":
    request = json.load(sys.stdin)
    if "net" in request:
        print(json.dumps(net_alignments(request["net"], request["words"])))
        sys.exit()
    shown, test, base = request["logs"]
    begun = time.process_time()
    rank = METHODS[request["method"]](shown, request["noisy"])
    learned = time.process_time()
    answer = {"test": rank(test), "base": rank(base)}
    answer |= {"learning": learned - begun, "ranking": time.process_time() - learned}
    print(json.dumps(answer))
