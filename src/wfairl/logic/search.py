"""Search for the automata of highest posterior."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wfairl.logic.evidence import Evidence, log_mean
from wfairl.logic.moves import neighbours, starts
from wfairl.logic.prior import log_prior
from wfairl.logic.sketch import Sketch, canonical, to_table


@dataclass(frozen=True, eq=False)
class Candidate:
    sketch: Sketch
    log_prior: float
    evidence: NDArray[np.float64]
    log_posterior: float
    key: bytes
    promising: bool = True


def search(evidence, propositions, width=8, max_states=8, max_literals=3, failure_weight=3.0, patience=0, log=None, share=0.5, gain=-np.inf):
    known: dict[Sketch, None] = {}
    tables: dict[bytes, NDArray | None] = {}
    pool: dict[bytes, Candidate] = {}
    counts = dict(seen=0, planned=0, complete=0)
    totals_best = None

    def judge(sketch, needed, parent=None):
        nonlocal totals_best
        if sketch in known: return None
        known[sketch] = None
        counts['seen'] += 1
        lp = log_prior(sketch, len(propositions))
        if lp < needed: return None
        table = canonical(to_table(sketch, evidence.labels))
        key = table.tobytes()
        if key in pool:
            old = pool[key]
            if lp > old.log_prior:
                pool[key] = Candidate(sketch, lp, old.evidence, old.log_posterior - old.log_prior + lp, key)
                return pool[key]
            return None
        lf = -failure_weight * evidence.failures_accepted(table)
        if key in tables and tables[key] >= lp + lf - needed: 
            return None
        counts['planned'] += 1
        result = evidence.evaluate(table, needed - lp - lf)
        if result is None:
            tables[key] = lp + lf - needed
            return None
        counts['complete'] += 1
        if totals_best is None: totals_best = result.copy()
        else: np.maximum(totals_best, result, out=totals_best)
        ll = lp + lf + log_mean(result.sum(0))
        promising = parent is None or lp > parent.log_prior or ll - lp > parent.log_posterior - parent.log_prior + gain
        c = Candidate(sketch, lp, result, ll, key, promising)
        pool[key] = c
        return c

    for s in starts(propositions): judge(s, -np.inf)
    evidence.optimistic = share * totals_best * (totals_best > evidence.log_outlier[:, None] + 1)
    expanded = set()
    rounds = 0
    while True:
        best = sorted((c for c in pool.values() if c.promising), key=lambda c: -c.log_posterior)[:width]
        todo = [c for c in best if c.sketch not in expanded]
        if not todo: break
        c = todo[0]
        if log: log(f"{c.log_posterior:9.2f} {str(c.sketch)} {counts}")
        expanded.add(c.sketch)
        for s in neighbours(c.sketch, propositions, max_states, max_literals):
            needed = best[-1].log_posterior if len(best) == width else -np.inf
            judge(s, needed, c)
        if len(pool) : 
            evidence.optimistic = share * totals_best * (totals_best > evidence.log_outlier[:, None] + 1)
    return sorted(pool.values(), key=lambda c: -c.log_posterior), counts
