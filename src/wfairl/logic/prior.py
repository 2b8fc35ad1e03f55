"""The prior: how long it takes to describe an automaton.

    log prior(A) = - ln 2 * bits(A)

The description is read from left to right, and is a prefix code: the priors of all sketches add up to at most 1.

    sketch     = guards that are forbidden throughout, edges of every state in turn, edges of any state
    each list  = (1 bit "another" and its item)*, 1 bit "end";  edges of any state are rare: 5 % "another"
    edge       = guard, target
    target     = the next new state (40 %), done (30 %), a known other state (25 %, and which), dead (5 %)
    guard      = 1 bit "known" and which of the guards used so far, or 1 bit "new" and its literals
    literals   = their number k in unary, which k of the P propositions, positive (90 %) or negated (10 %) each

States are numbered as they are first mentioned, so that their number need not be told. An edge with a guard of its
own costs about 5 to 7 nats: it has to make the demonstrations e^5 to e^7 times as likely.
"""

from functools import cache
from math import comb, inf, log, log2

from wfairl.logic.guarded import DEAD, Guard
from wfairl.logic.kernels import ACCEPTED
from wfairl.logic.sketch import ANY, Sketch, SketchEdge, description_order

POSITIVE = 0.9
NEW, DONE, KNOWN, HOPELESS = 0.4, 0.3, 0.25, 0.05
ANOTHER_COMMON = 0.05


def log_prior(sketch: Sketch, propositions: int) -> float:
    """Natural logarithm of the prior probability of a sketch over a number of propositions."""
    return -log(2) * description_bits(sketch, propositions)


def description_bits(sketch: Sketch, propositions: int) -> float:
    """The length of the description in bits."""
    used: list[Guard] = []
    bits = 1.0 + sketch.states - log2(1 - ANOTHER_COMMON)  # the ends of all lists
    for edge in sketch.edges:
        if edge.source == ANY and edge.target == DEAD:
            bits += 1 + _guard_bits(edge.guard, used, propositions)
    mentioned = 1
    for edge in description_order(sketch.edges):
        bits += -log2(ANOTHER_COMMON) if edge.source == ANY else 1
        bits += _guard_bits(edge.guard, used, propositions) + _target_bits(edge, mentioned)
        mentioned = max(mentioned, edge.target + 1)
    return bits


@cache
def literal_bits(guard: Guard, propositions: int) -> float:
    """The length of the literals of a guard."""
    positive, negative = len(guard.true), len(guard.false)
    count = positive + negative
    if not count:
        return inf
    return count + log2(comb(propositions, count)) - positive * log2(POSITIVE) - negative * log2(1 - POSITIVE)


def _guard_bits(guard: Guard, used: list[Guard], propositions: int) -> float:
    """The length of a guard, which is known from now on."""
    if guard in used:
        return 1 + log2(len(used))
    used.append(guard)
    return 1 + literal_bits(guard, propositions)


def _target_bits(edge: SketchEdge, mentioned: int) -> float:
    if edge.target == DEAD:
        return -log2(HOPELESS)
    if edge.target == ACCEPTED:
        return -log2(DONE)
    if edge.target >= mentioned:
        return -log2(NEW)
    return -log2(KNOWN) + log2(max(1, mentioned - 1))
