"""The prior: an automaton is the less probable, the longer its description.

    log prior(A) = - ln 2 * bits(A)

The description of a `CompactAutomaton` is a prefix code: the priors of all automata add up to at most 1. Its first bit
selects one of two codes, edges or errands, and the shorter one counts:

    edges      = guards that are forbidden throughout, edges of every state in turn, edges of any state
    errands    = guards that are forbidden throughout, stages (`errands`)
    stage      = guard, (1 bit "another" and a guard)*, 1 bit "end";  of several guards all (80 %), or how many;
                 and nothing in between (90 %), or 1 bit whether the next is deadly before that, and a guard;
                 of one of several guards, nothing after each (90 %), or 1 bit likewise, and a guard for each
    each list  = (1 bit "another" and its item)*, 1 bit "end";  edges of any state are rare: 5 % "another"
    edge       = guard, target
    target     = the next new state (40 %), done (30 %), a known other state (25 %, and which), dead (5 %)
    guard      = 1 bit "known" and which of the guards used so far, or 1 bit "new" and its literals;
                 the end of what holds, !p after p, is 3 bits and which p
    constraint = 6 bits "another" and its kind, a guard for each proposition; constraints come last
    literals   = their number k in unary, which k of the P propositions, positive (90 %) or negated (10 %) each

States are numbered as they are first mentioned, so that numbers need no bits. An edge with a guard of its own costs
about 5 to 7 nats: it must make the demonstrations e^5 to e^7 times as likely. One more errand costs the same, however
many states and edges it takes: "coffee and mail, then the office" is short, as it is for people.
"""

from functools import cache
from math import comb, inf, log, log2

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard
from wfairl.core.rational.compact_automaton import ANY, CompactAutomaton, CompactEdge, description_order
from wfairl.core.rational.constraints import Constraint
from wfairl.core.rational.errands import Errand, errands

P_POSITIVE = 0.9
"""Probability that a literal is positive."""

P_NEW_STATE, P_DONE, P_KNOWN_STATE, P_DEAD = 0.4, 0.3, 0.25, 0.05
"""Probabilities of the kinds of targets."""

P_ANOTHER_OF_ANY = 0.05
"""Probability that another edge of any state follows."""

P_ALL = 0.8
"""Probability that all events of a stage are needed, and not a smaller number of them."""

P_NOTHING_BETWEEN = 0.9
"""Probability that nothing is needed between two events of a stage, or after the one that is."""

CONSTRAINT_BITS = 6.0
"""Length of the sign that a constraint follows, and of its kind."""


def log_prior(automaton: CompactAutomaton, propositions: int) -> float:
    """Natural logarithm of the prior probability of an automaton over a number of propositions."""
    return -log(2) * description_bits(automaton, propositions)


def description_bits(automaton: CompactAutomaton, propositions: int) -> float:
    """The length of the shorter description in bits."""
    used: list[Guard] = []
    bits, stages = _edge_bits(automaton, propositions, used), errands(automaton)
    if stages is not None:
        used_by_errands: list[Guard] = []
        errand_bits = _errand_bits(automaton, stages, propositions, used_by_errands)
        if errand_bits < bits:
            bits, used = errand_bits, used_by_errands
    return 1 + bits + sum(_constraint_bits(one, propositions, used) for one in automaton.constraints)


def _constraint_bits(constraint: Constraint, propositions: int, used: list[Guard]) -> float:
    names = (Guard(frozenset({name})) for name in constraint.propositions)
    return CONSTRAINT_BITS + sum(_guard_bits(name, used, propositions) for name in names)


def _errand_bits(automaton: CompactAutomaton, stages: list[Errand], propositions: int, used: list[Guard]) -> float:
    bits = 2.0  # the ends of both lists
    for edge in automaton.edges:
        if edge.source == ANY:
            bits += 1 + _guard_bits(edge.guard, used, propositions)
    for guards, needed, between, _, own in stages:
        bits += 1 + sum(1 + _guard_bits(guard, used, propositions) for guard in guards)
        if len(guards) > 1:
            bits -= log2(P_ALL) if needed == len(guards) else log2((1 - P_ALL) / (len(guards) - 1))
            bits -= log2(P_NOTHING_BETWEEN if between is None and not own else 1 - P_NOTHING_BETWEEN)
        for after in own if between is None else (between,):
            bits += _guard_bits(after, used, propositions)
        bits += between is not None or bool(own)
    return bits


def _edge_bits(automaton: CompactAutomaton, propositions: int, used: list[Guard]) -> float:
    bits = 1.0 + automaton.states - log2(1 - P_ANOTHER_OF_ANY)  # the ends of all lists
    for edge in automaton.edges:
        if edge.source == ANY and edge.target == DEAD:
            bits += 1 + _guard_bits(edge.guard, used, propositions)
    mentioned = 1
    for edge in description_order(automaton.edges):
        bits += -log2(P_ANOTHER_OF_ANY) if edge.source == ANY else 1
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
    return count + log2(comb(propositions, count)) - positive * log2(P_POSITIVE) - negative * log2(1 - P_POSITIVE)


def _guard_bits(guard: Guard, used: list[Guard], propositions: int) -> float:
    """The length of a guard, which counts as used from now on."""
    if guard in used:
        return 1 + log2(len(used))
    used.append(guard)
    if len(guard.literals) == 1 and Guard(guard.false, guard.true) in used:  # what holds must end
        return 3 + log2(len(used))
    return 1 + literal_bits(guard, propositions)


def _target_bits(edge: CompactEdge, mentioned: int) -> float:
    if edge.target == DEAD:
        return -log2(P_DEAD)
    if edge.target == ACCEPTED:
        return -log2(P_DONE)
    if edge.target >= mentioned:
        return -log2(P_NEW_STATE)
    return -log2(P_KNOWN_STATE) + log2(max(1, mentioned - 1))
