"""Partial orders of steps, drawn from their posterior given few words that may contain mistakes.

A person does n steps in one of the words that the order allows. The likelihood is a size principle: the fewer words an
order allows, the likelier is each of them. A word is

    kept      with probability 0.90: every step comes after all that it waits for;
    repaired  with probability 0.05: so it does once steps that came too early are left out, for they were done again;
    neither   with probability 0.05: any of the n! words.

A step is done again without need in one word of ten. So a word in which a step is done again speaks for an order that
needs it.

The first two are drawn from their end: of the steps on which no open step waits, x comes last with probability

    (steps before x, x included) / (the same, summed over all steps that may come last)

These probabilities add up to 1 over the words that keep the order. If no step has two direct successors, they are all
equal. `OrderPrior` says which orders are likely before any word was seen. A Markov chain (Metropolis) draws orders. The
order that agrees best with all of them is the estimate.
"""

from collections.abc import Sequence
from math import lgamma
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import inner, njit

P_KEPT, P_REPAIRED, P_NEITHER, P_AGAIN = 0.9, 0.05, 0.05, 0.1

SHARE_OF_WORDS = 0.75
"""An edge is tried if so many words have its two steps in this order."""

THINNING = 50
"""Of so many orders of the chain, one is used; the first quarter of all is left out."""

RARE_EDGE = 0.08
"""An edge of a smaller share of the drawn orders is not tried in the estimate."""

NO_STEP = -1
"""Fills the places after the end of a word."""

MOST_STEPS = 62
"""The successors of a step are the bits of an integer."""


class OrderPrior(NamedTuple):
    """Minus the log prior of an order in nats: a sum over its direct successions (edges) and its steps."""

    edge: float = 0.0  # each edge
    first: float = 0.0  # each step that others wait for
    branch: float = 0.0  # each step with more than one direct successor
    loose_end: float = 0.0  # each last step but one
    start: float = 0.0  # each first step


ERRANDS = OrderPrior(edge=0.5, first=1.25)
"""Few orders; several steps that wait for the same one cost little more than one of them."""

JOINED = OrderPrior(branch=3.0, loose_end=2.0, start=1.0)
"""The steps make one result: what a step makes is used once, and one step is the last. Recipes are like this."""


def draw_orders(
    words: Sequence[Sequence[int]],
    prior: OrderPrior,
    affinity: NDArray[np.float64],
    draws: int,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Direct successions drawn from the posterior, shape [orders, steps, steps].

    Args:
        words: the numbers of steps in the order in which they were done, some perhaps again; every word has all steps.
        prior: of orders.
        affinity: log prior of each edge beside `prior`, shape [steps, steps].
        draws: how many orders the chain visits.
        rng: moves the chain.
    """
    steps = len(affinity)
    ranks = np.argsort(np.argsort([[word.index(step) for step in range(steps)] for word in words], axis=1), axis=1)
    order = np.argsort(ranks.mean(axis=0), kind="stable")  # edges lead from earlier to later steps of it
    place = np.argsort(order)
    ranks = ranks[:, order]
    before = (ranks[:, :, None] < ranks[:, None, :]).sum(axis=0)
    tried = np.triu(before >= SHARE_OF_WORDS * len(words), 1)
    start = covers(_transitive_closure(tried))
    table = np.full((len(words), max(map(len, words))), NO_STEP)
    for row, word in zip(table, words, strict=True):
        row[: len(word)] = place[list(word)]
    table, counts = np.unique(table, axis=0, return_counts=True)
    bits = (start.astype(np.int64) << np.arange(steps)).sum(axis=1)
    chain = _run_chain(bits, tried, affinity[np.ix_(order, order)], table, counts, prior, lgamma(steps + 1), draws, rng)
    drawn = (chain[len(chain) // 4 :, :, None] >> np.arange(steps)) & 1
    return drawn.astype(bool)[:, place][:, :, place]


def agreed_order(orders: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The direct successions that agree best with drawn ones, shape [steps, steps].

    The search begins with the drawn order whose edges have the highest mean F1 with all drawn orders; beginnings and
    ends count as edges. It adds and drops single edges while that mean rises, and leaves out what follows from others.
    """
    distinct, times = np.unique(orders, axis=0, return_counts=True)
    drawn = np.array([_with_ends(order) for order in distinct], np.float32)
    sizes = drawn.sum(axis=1)

    def agreement(edges: NDArray[np.bool_]) -> float:
        whole = _with_ends(edges)
        return float(2 * (drawn @ whole.astype(np.float32) / (sizes + whole.sum())) @ times / len(orders))

    best = max(distinct, key=agreement)
    tried = np.argwhere(orders.mean(axis=0) > RARE_EDGE)
    while True:
        changed = [best.copy() for _ in tried]
        for edges, (i, j) in zip(changed, tried, strict=True):
            edges[i, j] ^= True
        better = max(changed, key=agreement, default=best)
        if not agreement(better) > agreement(best):
            return covers(_transitive_closure(best))
        best = better


def _with_ends(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The edges, the steps without a step before them, and those without one after them, as one row."""
    return np.concatenate([edges.ravel(), ~edges.any(axis=0), ~edges.any(axis=1)])


def covers(relation: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The pairs of a transitive relation with nothing between them."""
    return relation & ~(relation.astype(np.int64) @ relation.astype(np.int64) > 0)


def _transitive_closure(relation: NDArray[np.bool_]) -> NDArray[np.bool_]:
    closure = relation.copy()
    for middle in range(len(closure)):
        closure |= closure[:, middle : middle + 1] & closure[middle]
    return closure


@njit(cache=True, nogil=True)
def _run_chain(start, tried, affinity, table, counts, prior, log_words, draws, rng):  # type: ignore[no-untyped-def]
    """Orders as the direct successors of each step in bits; shape [draws / THINNING, steps]."""
    steps = len(start)
    after, before, drawn = start.copy(), start.copy(), np.zeros((draws // THINNING, steps), np.int64)
    score = _log_posterior(after, affinity, table, counts, prior, log_words)
    for draw in range(len(drawn) * THINNING):
        before[:] = after
        if steps > 1 and _move(after, tried, rng):
            proposed = _log_posterior(after, affinity, table, counts, prior, log_words)
            if np.log(rng.random()) < proposed - score:
                score = proposed
            else:
                after[:] = before
        drawn[draw // THINNING] = after
    return drawn


@njit(cache=True, nogil=True)
def _move(after, tried, rng):  # type: ignore[no-untyped-def]
    """Add or drop an edge from i to j, take j instead of another successor, or change whether i comes before j.

    Every move is as probable as its way back. False if there is no such change.
    """
    steps, kind = len(after), rng.random()
    i = rng.integers(0, steps - 1)
    j = rng.integers(i + 1, steps)
    if not tried[i, j]:
        return False
    edge = 1 << j
    if kind < 0.4:
        after[i] ^= edge
        return True
    if kind < 0.8:
        other = rng.integers(i + 1, steps)
        if after[i] & edge or not tried[i, other] or not after[i] >> other & 1:
            return False
        after[i] ^= edge | 1 << other
        return True
    return _flip_relation(after, i, j)


@inner
def _flip_relation(after, i, j):  # type: ignore[no-untyped-def]
    """Let i come before j, or no longer, and leave all other pairs as they are; False if that is no order."""
    steps = len(after)
    below = np.zeros(steps, np.int64)
    for k in range(steps - 1, -1, -1):
        below[k] = after[k]
        for other in range(k + 1, steps):
            if after[k] >> other & 1:
                below[k] |= below[other]
    if not after[i] >> j & 1:
        if below[i] >> j & 1 or below[j] & ~below[i]:
            return False
        for k in range(i):
            if below[k] >> i & 1 and not below[k] >> j & 1:
                return False
    below[i] ^= 1 << j
    for k in range(steps):
        further = 0
        for other in range(k + 1, steps):
            if below[k] >> other & 1:
                further |= below[other]
        after[k] = below[k] & ~further
    return True


@inner
def _log_posterior(after, affinity, table, counts, prior, log_words):  # type: ignore[no-untyped-def]
    """Up to a constant; minus infinity if an edge follows from others."""
    steps = len(after)
    below, size = np.zeros(steps, np.int64), np.ones(steps)
    waited = 0
    total = prior.loose_end
    for i in range(steps - 1, -1, -1):
        edges = 0
        for j in range(i + 1, steps):
            if after[i] >> j & 1:
                below[i] |= below[j]
                total += affinity[i, j] - prior.edge
                edges += 1
        if below[i] & after[i]:
            return -np.inf
        below[i] |= after[i]
        waited |= after[i]
        for j in range(i + 1, steps):
            size[j] += below[i] >> j & 1
        total -= prior.first * (edges > 0) + prior.branch * (edges > 1) + prior.loose_end * (edges == 0)
    for i in range(steps):
        total -= prior.start * (not waited >> i & 1)
    counted = np.zeros(steps, np.int64)
    for word in range(len(table)):
        chance = np.log(P_NEITHER) - log_words
        complete, early, again = _leave_out_early(after, table[word], counted)
        if complete:
            kind = np.log((P_REPAIRED if early else P_KEPT) * (P_AGAIN if again else 1.0))
            chance = np.logaddexp(chance, kind + log_word_probability(after, size, counted))
        total += counts[word] * chance
    return total


@inner
def _leave_out_early(after, word, counted):  # type: ignore[no-untyped-def]
    """Write the steps into `counted` as they are first done after all that they wait for.

    Returns:
        Whether all steps are, whether a step came too early, and whether one was done again without need.
    """
    done, number, early, again = 0, 0, False, False
    for step in word:
        if step == NO_STEP:
            break
        if done >> step & 1:
            again = True
            continue
        waits = False
        for other in range(step):
            waits |= bool(after[other] >> step & 1) and not done >> other & 1
        if waits:
            early = True
        else:
            counted[number] = step
            number += 1
            done |= 1 << step
    return number == len(counted), early, again


@njit(cache=True, nogil=True)
def log_word_probability(after, size, word):  # type: ignore[no-untyped-def]
    """Of a word, drawn from its end; minus infinity if it does not keep the order."""
    placed, total = 0, 0.0
    for place in range(len(word) - 1, -1, -1):
        step = word[place]
        if after[step] & ~placed:
            return -np.inf
        among = 0.0
        for other in range(len(word)):
            if not placed >> other & 1 and not after[other] & ~placed:
                among += size[other]
        total += np.log(size[step] / among)
        placed |= 1 << step
    return total
