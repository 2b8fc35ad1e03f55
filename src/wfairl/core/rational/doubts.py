"""What demonstrations leave open: constraints that the task may have, and where untested labels lead.

The automaton of highest posterior is short, and so it is silent about much: it allows what no demonstration tests, and
it requires nothing that may have happened by chance. Each constraint C (`constraints`) that would change the automaton
A is added in turn:

    odds(C) = prior odds of its kind * P(observations | A and C) / P(observations | A)
    doubt(C) = odds(C) / (1 + sum of the odds of all constraints about the same proposition)

The length of C does not count, since from a few demonstrations the shorter automaton would always win. Constraints
about one proposition explain the same steps of the demonstrations, so that at most one of them holds. The prior odds
are shared by those of a kind. What a proposition obliges to is one of the propositions that the automaton does not
require anyway. One that no demonstration reads may be deadly, and it may oblige to what nobody has shown. Demonstrators
would avoid it for that as if it were deadly, so that both have the same evidence, P(observations | never p) /
P(observations | p changes nothing). A scene in which p cannot be avoided refutes the first, and not the second. Where
every demonstration reads one of two or three propositions, one of them may be needed, at any time or in a state. One
that every demonstration reads in a state of A may be needed there, before A goes on; "at any time" and these states
share its odds. Two may be needed, one after the other, or at once. A may allow orders that nobody has shown: they may
all be fatal, or not count. Where A forgets what came first, what comes later may depend on it: whole sequences of
events that nobody has shown may be fatal, too.

Where demonstrations refute many constraints on the order of two propositions, the task has few of them, and the odds of
the others fall: times pairs / (pairs + refuted), of the ordered pairs of propositions. They fall also with the number
of demonstrations (`TELLING`). Those of obligations fall in the same way with refuted obligations.

A pair of a state and a label is untested if no demonstration reads the label in the state, and if another target would
explain the observations about as well:

    log P(observations | another target) > log P(observations | as it is) - `LEAST_MARGIN`

Where worlds slip, that may depend on what a failure costs the demonstrators, which nobody knows. The pair is untested
if this holds at one of two prices.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Label
from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.automata.minimisation import Table, canonical_table, to_table
from wfairl.core.rational.compact_automaton import CompactAutomaton
from wfairl.core.rational.constraints import LARGEST_LOG_ODDS, Constraint, Doubt, conjoin, constraints_on
from wfairl.core.rational.evidence import Evidence
from wfairl.core.rational.task_posterior import Support

DEADLY_ODDS, OBLIGATION_ODDS = 0.03, 0.3
"""Prior odds that a proposition ends the task in failure; that it requires something afterwards, after one
demonstration. After n of them they are an n-th of that: many demonstrations show what matters."""

NEEDED_ODDS = 0.2
"""Prior odds that a demonstrated proposition is needed."""

PHASE_ODDS, STATE_ODDS, AGAIN_ODDS = 0.15, 0.3, 0.05
"""Prior odds that a proposition is deadly at times, after or until another; in a state; that it must not hold again."""

SHOWN_ODDS = 0.4
"""Prior odds that a task whose automaton allows several orders is right in those alone that demonstrations show."""

SEQUENCE_ODDS = 0.1
"""Prior odds that of several sequences of events those alone are right that demonstrations show."""

TELLING = 4.0
"""So many demonstrations show most constraints between propositions. From more of them on, the odds of the others fall:
after n demonstrations they are `TELLING` / n times as large."""

LEAST_DOUBT = 1e-4
"""Doubts of smaller odds are not kept."""

LEAST_MARGIN = 1.0
"""Nats of evidence below which the demonstrations hardly determine where a label leads."""

PRICES = (1.0, 0.1)
"""What a failure may cost demonstrators where worlds slip, as parts of the price that is assumed elsewhere."""


def measure_doubts(evidence: Evidence, automaton: CompactAutomaton) -> tuple[Doubt, ...]:
    """The doubts about an automaton, the largest first."""
    labels, demonstrations = evidence.labels, len(evidence.log_uniform)
    table, most_probable = canonical_table(automaton.to_table(labels)), automaton.to_guarded()
    rows = to_table(most_probable, labels)
    known, chosen = table.tobytes(), evidence.log_probability(table)
    read = frozenset().union(*(labels[i] for i in np.flatnonzero(evidence.reads(table).any(axis=(0, 1)))))
    unread = frozenset().union(*labels) - read
    possible = _possible(evidence, sorted(read), list(_phases(most_probable)), rows)
    changing = [(one, odds, canonical_table(conjoin(table, one, labels, rows))) for one, odds in possible]
    changing = [(one, odds, changed) for one, odds, changed in changing if changed.tobytes() != known]
    obliging = Counter(one.after for one, _, _ in changing if one.is_obligation)
    kept: list[tuple[Constraint, float]] = []  # with their odds
    refuted: list[Constraint] = []
    for constraint, prior_odds, changed in changing:
        if constraint.is_obligation:
            prior_odds /= obliging[constraint.after] + len(unread)
        ratio = evidence.log_probability(changed, chosen + np.log(LEAST_DOUBT / prior_odds)) - chosen
        odds = prior_odds * float(np.exp(min(ratio, LARGEST_LOG_ODDS)))
        if odds > LEAST_DOUBT:
            kept.append((constraint, odds))
        elif constraint.is_order:
            refuted.append(constraint)
    pairs = max(len(read) * (len(read) - 1), 1)
    share = pairs / (pairs + len(refuted)) * min(1.0, TELLING / demonstrations)
    of_obligations = pairs / (pairs + sum(one.is_obligation for one in refuted))
    found = list(_odds_of_unread(evidence, table, sorted(unread)))
    for constraint, odds in kept:
        if constraint.is_obligation:
            odds *= of_obligations
        elif constraint.is_about_orders:
            odds *= min(1.0, TELLING / demonstrations)
        elif len(constraint.propositions) > 1 or (constraint.state is not None and constraint.kind == "never"):
            odds *= share
        found.append((constraint, odds))
    return _doubts(found)


def _doubts(found: Sequence[tuple[Constraint, float]]) -> tuple[Doubt, ...]:
    """The doubts from the odds of constraints, the largest first; of those about one proposition at most one holds."""
    total = defaultdict[str, float](float)
    for constraint, odds in found:
        total[constraint.proposition] += odds
    doubts = (Doubt(constraint, odds / (1 + total[constraint.proposition])) for constraint, odds in found)
    return tuple(sorted(doubts, key=lambda one: -one.probability))


def _odds_of_unread(
    evidence: Evidence, table: Table, propositions: Iterable[str]
) -> Iterator[tuple[Constraint, float]]:
    """The odds of constraints on propositions that occur in the scenes, and that no demonstration reads."""
    labels = evidence.labels
    for p in propositions:
        never = canonical_table(conjoin(table, Constraint("never", p), labels))
        free = canonical_table(_ignoring(table, p, labels))
        ratio = evidence.log_probability(never) - evidence.log_probability(free)
        is_new = never.tobytes() != table.tobytes()
        for constraint, prior_odds in _unread(p, len(evidence.log_uniform)):
            odds = prior_odds * float(np.exp(min(ratio, LARGEST_LOG_ODDS)))
            if odds > LEAST_DOUBT and (is_new or constraint.kind == "unseen"):
                yield constraint, odds


def _ignoring(table: Table, proposition: str, labels: tuple[Label, ...]) -> Table:
    """The automaton to which a proposition means nothing: it reads the label without it, if there is one."""
    changed, number = table.copy(), {label: i for i, label in enumerate(labels)}
    for i, label in enumerate(labels):
        if proposition in label:
            other = number.get(label - {proposition})
            changed[:, i] = np.arange(len(table)) if other is None else table[:, other]
    return changed


def doubts_of_unknown(propositions: Iterable[str]) -> tuple[Doubt, ...]:
    """The doubts about propositions that occur in no scene of the demonstrations, however many these are."""
    return _doubts([one for p in sorted(propositions) for one in _unread(p, 1)])


def _unread(proposition: str, demonstrations: int) -> Iterator[tuple[Constraint, float]]:
    yield Constraint("never", proposition), DEADLY_ODDS
    yield Constraint("unseen", proposition), OBLIGATION_ODDS / demonstrations


def _phases(automaton: GuardedAutomaton) -> Iterator[tuple[int, str]]:
    """The states of an automaton, without the accepting one, with words: what begins a state and what ends it."""
    edges = [(state, edge) for state, row in enumerate(automaton.edges) for edge in row if edge.target != state]
    for state in range(automaton.states - 1):
        begins = {p for _, edge in edges if edge.target == state for p in edge.guard.true}
        ends = {p for source, edge in edges if source == state and edge.target != DEAD for p in edge.guard.true}
        first, last = (" or ".join(sorted(names)) or "that" for names in (begins, ends))
        yield state, f"between {first} and {last}" if state else f"before {last}"


def _possible(
    evidence: Evidence, read: Sequence[str], phases: Sequence[tuple[int, str]], rows: Table
) -> Iterator[tuple[Constraint, float]]:
    """The constraints in question on the propositions that demonstrations read, with their prior odds.

    `phases` are the states of the automaton with their words: something may be deadly there, or needed. `rows` is its
    table. The odds of obligations are those of all obligations after one proposition.
    """
    reads = evidence.reads(rows)
    for p in read:
        holds = [p in label for label in evidence.labels]
        at = [(state, words) for state, words in phases if reads[:, state, holds].any(axis=1).all()]
        yield Constraint("never", p), DEADLY_ODDS
        yield from (
            (Constraint("needed", p, state=state, phase=words), NEEDED_ODDS / (1 + len(at))) for state, words in at
        )
        yield Constraint("needed", p), NEEDED_ODDS / (1 + len(at))
    others, obliging = max(len(read) - 1, 1), OBLIGATION_ODDS / len(evidence.log_uniform)
    for state, words in phases:
        yield from ((Constraint("never", p, state=state, phase=words), STATE_ODDS / len(phases)) for p in read)
    changes = {(state, int(rows[state, label])) for state, label in np.argwhere(reads.any(axis=0)).tolist()}
    shown = tuple(sorted((state, target) for state, target in changes if target not in (state, DEAD)))
    yield Constraint("fatal", changes=shown), SHOWN_ODDS / 2
    yield Constraint("idle", changes=shown), SHOWN_ODDS / 2
    if len(sequences := _shown_sequences(evidence, rows)) > 1:
        yield Constraint("sequence", changes=sequences), SEQUENCE_ODDS
    for one in constraints_on(read, evidence.labels):
        of_kind = NEEDED_ODDS if one.kind.startswith("needed") else PHASE_ODDS
        odds = AGAIN_ODDS if one.after == one.proposition else of_kind
        if one.for_good and one.after != one.proposition:
            continue  # the same after every such event is in doubt
        yield one, obliging if one.is_obligation else odds / others ** max(1, len({*one.propositions}) - 1)
    for after in (None, *read):
        for p, *instead in evidence.choices(after):
            share = others ** len(instead)
            if after is not None:
                yield Constraint("needed", p, after, instead=tuple(instead)), obliging / share
                continue
            yield Constraint("needed", p, instead=tuple(instead)), NEEDED_ODDS / share
            for state, words in phases:
                one = Constraint("needed", p, state=state, phase=words, instead=tuple(instead))
                yield one, NEEDED_ODDS / share / len(phases)


def _shown_sequences(evidence: Evidence, rows: Table) -> tuple[tuple[int, ...], ...]:
    """The states that demonstrations come to, one after the other, each sequence once."""
    sequences = set()
    for scene in evidence.observations.scenes:
        state, states = 0, list[int]()
        for label in scene.word.tolist():
            after = int(rows[state, label])
            if after != state:
                states.append(after)
            if after < 0:
                break
            state = after
        if states and states[-1] != DEAD:
            sequences.add(tuple(states))
    return tuple(sorted(sequences))


def measure_support(evidence: Evidence, automaton: GuardedAutomaton) -> Support:
    """The support of an automaton, whose last state is its only accepting one, by the equation above."""
    table = np.ascontiguousarray(to_table(automaton, evidence.labels)[:-1])
    known = canonical_table(table)
    views = [(view, view.log_probability(known) - LEAST_MARGIN) for view in evidence.at_prices(*PRICES)]
    is_untested = np.asarray(~evidence.reads(table).any(axis=0))
    for state, label in np.argwhere(is_untested).tolist():
        others = {*range(len(table)), ACCEPTED, DEAD} - {int(table[state, label])}
        is_untested[state, label] = any(
            view.log_probability(_retargeted(table, state, label, one), least) > least
            for view, least in views
            for one in sorted(others)
        )
    return Support(evidence.labels, is_untested)


def _retargeted(table: Table, state: int, label: int, target: int) -> Table:
    changed = table.copy()
    changed[state, label] = target
    return canonical_table(changed)
