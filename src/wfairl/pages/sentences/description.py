"""The clauses of an automaton, guessed and proven.

`goals` says what each clause means. `find_clauses` guesses clauses and compares them with the automaton on all labels:
what it returns has the same words. If no guess is right, the stages of the automaton are listed instead, one clause
each, which is always possible.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, islice, permutations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Automaton, Guard, Label
from wfairl.core.automata.bans import AGAIN, AGAIN_BEFORE, FIRST, TIMES, WITH, WITHOUT, Ban, automaton_of_ban
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.automata.minimisation import canonical_table, to_table
from wfairl.core.automata.sentences import Clauses, join_clauses
from wfairl.pages.sentences.goals import Goal, Joint, Stage, ban_clause
from wfairl.pages.sentences.listed_stages import list_stages, with_short_guards

MOST_PROPOSITIONS = 6
"""With more, labels of at most two propositions are compared where no labels are given."""

MOST_STATES, MOST_RARE, MOST_LABELS = 40, 12, 128
"""A larger automaton is not compared with guesses, or not with rare ones."""

MOST_GOALS, MOST_ORDERED = 40, 4
"""Goals for which conditions are searched; needed propositions of which all orders are tried."""

Row = tuple[int, ...]


def find_clauses(automaton: Automaton, labels: Iterable[Label] | None = None) -> Clauses:
    """See `core.automata.sentences.describe`."""
    return _describe(automaton, frozenset(label & automaton.propositions for label in labels or ()) or None)


@lru_cache(maxsize=512)
def _describe(automaton: Automaton, labels: frozenset[Label] | None) -> Clauses:
    if automaton.accepting[0]:
        return ("nothing has to be done",)
    names = sorted(automaton.propositions)
    if isinstance(automaton, FiniteAutomaton):
        return list_stages(automaton)
    listed_as_it_is = labels is None and len(names) > MOST_PROPOSITIONS  # not all labels are compared
    if labels is None:
        most = 2 if listed_as_it_is else len(names)
        labels = frozenset(frozenset(some) for size in range(most + 1) for some in combinations(names, size))
    ordered = tuple(sorted(labels, key=lambda label: (len(label), sorted(label))))
    table = _Table(ordered, _minimal(to_table(automaton, ordered)))
    if not table.rows:
        return ("nothing fulfils it",)
    if len(table.rows) > MOST_STATES or len(labels) > MOST_LABELS:
        return list_stages(automaton)
    edges = [edge for row in automaton.edges for edge in row] if isinstance(automaton, GuardedAutomaton) else []
    guards = {edge.guard for edge in edges if edge.target != DEAD and edge.guard.true}
    joined = (_with_joints(table, some) for some in ({Guard(guard.true) for guard in guards}, guards))
    for one, is_rare in ((table, False), (next(joined), False), (table, True), (next(joined), False)):
        found = [clauses for clauses in _guesses(one, is_rare) if clauses is not None]
        if found:
            return min(found, key=lambda clauses: len(join_clauses(clauses)))
    return list_stages(automaton if listed_as_it_is else with_short_guards(*table))


class _Table(NamedTuple):
    """The minimal table of an automaton until it accepts, over labels: the rows of states, with `DEAD`, `ACCEPTED`."""

    labels: tuple[Label, ...]
    rows: tuple[Row, ...]

    @property
    def names(self) -> list[str]:
        """The propositions of the labels."""
        return sorted(name for name in frozenset().union(*self.labels) if not isinstance(name, Joint))

    @property
    def joints(self) -> list[Joint]:
        """Names for guards; they are no more than stages of a goal."""
        return sorted(name for name in frozenset().union(*self.labels) if isinstance(name, Joint))

    def step(self, state: int, label: Label) -> int:
        """The state after a label."""
        return self.rows[state][self.labels.index(label)]


def _with_joints(table: _Table, guards: Iterable[Guard]) -> _Table:
    """The table with names for guards of several literals; without rows if there is none, or more than four."""
    joints = {Joint.of(guard) for guard in guards if len(guard.literals) > 1}
    if not joints or len(joints) > 4:
        return _Table((), ())
    labels = tuple(label | {one for one in joints if one.guard.holds(label)} for label in table.labels)
    return table._replace(labels=labels)


def _minimal(rows: ArrayLike) -> tuple[Row, ...]:
    """The rows of the minimal table of the same language, none if that is empty; see `canonical_table`."""
    table = canonical_table(np.array(rows, np.int32))
    return tuple(map(tuple, table.tolist())) if (table == ACCEPTED).any() else ()


def _guesses(table: _Table, is_rare: bool) -> Iterator[Clauses | None]:
    """Clauses that say what the table does, for each of the goals that may be meant; the rare ones with "if"."""
    if not table.rows or (is_rare and len(table.rows) > MOST_RARE):
        return
    bans = _kept_bans(table, _first_names(table) if is_rare else ())
    relaxing = (goal for goal in dict.fromkeys(_goals(table, is_rare)) if _relaxes(goal, table))
    for goal in islice(relaxing, MOST_GOALS):
        yield _with_bans(goal, bans, table)
        if _relaxes(in_turn := goal._replace(in_turn=True), table):
            yield _with_bans(in_turn, bans, table)


def _first_names(table: _Table) -> tuple[str, ...]:
    """The names that change something at the beginning."""
    return tuple(name for name in table.names if any(after > 0 for after in _by_name(table, table.rows[0], name)))


def _goals(table: _Table, is_rare: bool) -> Iterator[Goal]:
    """Goals that may be meant, the likely ones first."""
    rows = _merged(table.rows) if is_rare else table.rows
    relaxed = _Table(table.labels, _minimal([[q if a == DEAD else a for a in row] for q, row in enumerate(rows)]))
    names, joints = table.names, tuple(table.joints)
    for count in range(3):
        for left_out in combinations(names, count):
            stages = _stages(relaxed, frozenset(left_out))
            if stages is not None:
                if any(one.between or one.own for one in stages):
                    deadly = tuple(one._replace(deadly=bool(one.between or one.own)) for one in stages)
                    yield from _variants(deadly, left_out, names, is_rare)
                yield from _variants(stages, left_out, names, is_rare)
    parts = frozenset().union(*(joint.guard.true for joint in joints))
    candidates = (*joints, *sorted(names, key=parts.__contains__))
    needed = [name for name in candidates if _is_needed(name, table)][:MOST_ORDERED]
    for size in range(1, len(needed) + 1):
        for some in combinations(needed, size):
            for order in _ordered_partitions(some):
                stages = tuple(Stage.of(part, len(part)) for part in order)
                yield from _variants(stages, (), names, is_rare)
                if len(joints) > 1:
                    yield from _variants((*stages, Stage.of(joints, 1)), (), names, is_rare)


def _merged(rows: Sequence[Row]) -> list[Row]:
    """The rows with states in one that lead to the same states wherever neither loses, until there are no such two."""
    merged, left = list(rows), list(range(len(rows)))
    while pair := next((pair for pair in combinations(left, 2) if _agree(merged, pair)), None):
        one, other = pair
        left.remove(other)
        merged[one] = tuple(q if p == DEAD else p for p, q in zip(merged[one], merged[other], strict=True))
        merged = [tuple(one if q == other else q for q in row) for row in merged]
    return merged


def _agree(rows: Sequence[Row], pair: tuple[int, int]) -> bool:
    after = (set(both) for both in zip(*(rows[q] for q in pair), strict=True))
    return all(len(both) == 1 or DEAD in both or both == set(pair) for both in after)


def _variants(stages: tuple[Stage, ...], specials: Sequence[str], names: Sequence[str], early: bool) -> Iterator[Goal]:
    """The goal with each way to join its stages, and each way in which names that are no stage may matter."""
    early = early and len(stages) > 1
    debts = [name for name in names if name not in stages[-1].names]
    roles = [[None, *((a, b, early) for b in debts if b != a)] for a in specials]
    for joins in product((False, True), repeat=len(stages) - 1):
        joined = (stages[0], *(one._replace(later=later) for one, later in zip(stages[1:], joins, strict=True)))
        for chosen in product(*roles):
            owed = tuple(pair for pair in chosen if pair is not None)
            resets = tuple(a for a, pair in zip(specials, chosen, strict=True) if pair is None)
            if not (resets and owed and early):
                yield Goal(joined, resets, owed)
            if resets and not owed:
                yield Goal(joined)


def _stages(table: _Table, left_out: frozenset[str]) -> tuple[Stage, ...] | None:
    """The stages of a table as labels of one name show them; None if it has no such stages."""
    single = {name: label for label in table.labels if (name := _only_name(label)) and name not in left_out}
    stages: list[Stage] = []
    state, visited = 0, {0}
    while True:
        again, released = None, table.step(state, frozenset()) if frozenset() in table.labels else state
        if stages and released not in (state, ACCEPTED):
            stays = [name for name in stages[-1].names if name in single and table.step(state, single[name]) == state]
            if len(stays) != 1:
                return None
            again, state = stays[0], released
        moving = tuple(name for name, label in single.items() if table.step(state, label) != state)
        found = next((one for kind in KINDS_OF_STAGES if (one := kind(table, state, single, moving))), None)
        if found is None or (again is not None and found[0].names != (again,)):
            return None
        stage, state = found
        stages.append(stage._replace(again=again is not None))
        if state == ACCEPTED:
            return tuple(stages)
        if state in visited:
            return None
        visited.add(state)


def _only_name(label: Label) -> str | None:
    """The one name that a label shows, also if that stands for several; None if it shows none or more."""
    joints = [name for name in label if isinstance(name, Joint)]
    (name,) = joints if len(joints) == 1 else (label if len(label) == 1 else (None,))
    return None if isinstance(name, Joint) and label != name.guard.true | {name} else name


def _stage(table: _Table, state: int, single: dict[str, Label], names: tuple[str, ...]) -> tuple[Stage, int] | None:
    """The stage that begins in a state, in which some names lead on, and the state after it.

    It ends in the first state that no way to acceptance avoids; each smallest set of names that leads there will do.
    """
    ends = {frozenset[str](): state}
    for seen in (queue := [frozenset[str]()]):  # which grows meanwhile
        for name in names if ends[seen] >= 0 and len(seen) < MOST_ORDERED else ():
            if name not in seen and seen | {name} not in ends:
                ends[seen | {name}] = table.step(ends[seen], single[name])
                queue.append(seen | {name})
    kept = [i for i, label in enumerate(table.labels) if not label or label in single.values()]
    for end in dict.fromkeys(ends.values()):
        avoiding = [[DEAD if row[i] == end else row[i] for i in kept] for row in table.rows]
        if end != state and not _minimal(avoiding):
            ways = [seen for seen in queue if ends[seen] == end]
            ways = [way for way in ways if not any(other < way for other in ways)]
            ways.sort(key=lambda way: (len(way), sorted(way)))
            return (Stage(names, tuple(ways)), end) if frozenset().union(*ways) == set(names) else None
    return None


def _stage_with_another(
    table: _Table, state: int, single: dict[str, Label], names: tuple[str, ...]
) -> tuple[Stage, int] | None:
    """As `_stage`, for all of some names with another one after each before the next."""
    for between in single if 1 < len(names) <= MOST_ORDERED else ():
        ends = set()
        for order in permutations(names):
            at = state
            for name in order:
                at = table.step(at, single[between]) if at >= 0 else at
                at = table.step(at, single[name]) if at >= 0 else at
            ends.add(at)
        if between not in names and len(ends) == 1 and (end := ends.pop()) not in (state, DEAD):
            return Stage.of(names, len(names))._replace(between=between), end
    return None


def _stage_of_ways(
    table: _Table, state: int, single: dict[str, Label], names: tuple[str, ...]
) -> tuple[Stage, int] | None:
    """As `_stage`, for one of some names, each with a name of its own that has to follow."""
    own, ends = list[str](), set[int]()
    begun = [table.step(state, single[name]) for name in names]
    for at in begun if min(begun, default=DEAD) >= 0 and 1 < len(names) == len(set(begun)) else ():
        leading = [name for name, label in single.items() if table.step(at, label) != at]
        ends |= {table.step(at, single[name]) for name in leading}
        own += leading
    if len(ends) != 1 or len(own) != len(names) or len(set(own)) != len(own):
        return None
    return Stage.of(names, 1)._replace(own=tuple(own)), ends.pop()


KINDS_OF_STAGES = (_stage, _stage_with_another, _stage_of_ways)


def _ordered_partitions(names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], ...]]:
    if not names:
        yield ()
    for size in range(1, len(names) + 1):
        for first in combinations(names, size):
            for rest in _ordered_partitions(tuple(name for name in names if name not in first)):
                yield first, *rest


def _is_needed(name: str, table: _Table) -> bool:
    """Whether no word without a name is accepted."""
    kept = [i for i, label in enumerate(table.labels) if name not in label]
    return not _minimal([tuple(row[i] for i in kept) for row in table.rows])


def _relaxes(goal: Goal, table: _Table) -> bool:
    """Whether the goal is reached just when the table accepts, on all words that the table does not lose."""
    return all(
        after == DEAD or (then != DEAD and (after == ACCEPTED) == (then == ACCEPTED))
        for *_, (after, then) in _pairs(table, goal.start, goal.step)
    )


def _kept_bans(table: _Table, first: Collection[str] = ()) -> list[Ban]:
    """The bans that every accepted word keeps, the shortest first; not those that a shorter one implies.

    With names that come first, also those after a name that comes before the others of them.
    """
    losing = [name for name in table.names if any(DEAD in _by_name(table, row, name) for row in table.rows)]
    kept: list[Ban] = []
    others: list[str | None] = [None, *table.names]
    candidates = [
        Ban(name, after, until, which)
        for name, after, until in product(losing, others, others)
        for which in (("", FIRST) if after is not None and until is not None else ("",))
        if name not in (after, until) or (name == after and until is not None)
        if after is None or after != until
    ]
    candidates += [Ban(name, name, until, AGAIN) for name, until in product(losing, others) if name != until]
    candidates += [
        Ban(name, name, until, AGAIN_BEFORE) for name, until in product(losing, table.names) if name != until
    ]
    candidates += [Ban(name, name, None, AGAIN, times=times) for name, times in product(losing, TIMES)]
    candidates += [
        Ban(name, beside=(how, other))
        for name, other in permutations(table.names, 2)
        for how in ((WITH, WITHOUT) if name < other else (WITHOUT,))
        if name in losing and any({name, other} <= label for label in table.labels)
    ]
    candidates += [
        Ban(name, after, until, before=tuple(one for one in first if one != after))
        for name, after, until in product(losing, first, others)
        if len(first) > 1 and name != after and until not in (name, after)
    ]
    for ban in sorted(candidates, key=_length):
        if not any(_implies(one, ban) for one in kept) and all(
            after == DEAD or then != DEAD for *_, (after, then) in _pairs(table, 0, automaton_of_ban(ban).read)
        ):
            kept.append(ban)
    return kept


def _implies(one: Ban, other: Ban) -> bool:
    """Whether a ban is plainly a part of another one; some parts are not found."""
    if one.name != other.name or one.which not in ("", other.which) or one.beside is not None or one.before:
        return False
    is_longer = one.until is None and one.after in (None, other.after)
    return is_longer or (one.after, one.until) == (other.after, other.until)


def _by_name(table: _Table, row: Row, name: str) -> list[int]:
    return [after for after, label in zip(row, table.labels, strict=True) if name in label]


def _with_bans(goal: Goal, bans: Sequence[Ban], table: _Table) -> Clauses | None:
    """The clauses of a goal with the bans that are missing; None if these do not suffice."""
    chosen: list[Ban] = []
    while lost := _unlike(goal, chosen, table):
        left = [one for one in bans if one not in chosen]
        useful = [(one, sum(not automaton_of_ban(one).accepts(word) for word in lost)) for one in left]
        length = min((_length(one) for one, count in useful if count), default=None)
        if length is None:
            return None
        chosen.append(max((pair for pair in useful if _length(pair[0]) == length), key=lambda pair: pair[1])[0])
    for one in sorted(chosen, key=_length, reverse=True):
        fewer = [other for other in chosen if other is not one]
        if not _unlike(goal, fewer, table):
            chosen = fewer
    alike: dict[Ban, list[str]] = {}
    for one in sorted(chosen, key=_length):
        after = None if one.which in (AGAIN, AGAIN_BEFORE) else one.after
        alike.setdefault(one._replace(name="", after=after), []).append(one.name)
    return (*goal.clauses, *(ban_clause(one, sorted(names)) for one, names in alike.items()))


def _length(ban: Ban) -> float:
    which = {"": 0, AGAIN: 0.2, AGAIN_BEFORE: 0.25, FIRST: 0.3}[ban.which] + 0.5 * bool(ban.before)
    return (ban.after is not None) + (ban.until is not None) + (ban.beside is not None) + which


def _unlike(goal: Goal, bans: Sequence[Ban], table: _Table) -> list[tuple[Label, ...]]:
    """Words that the table loses and that a goal with bans does not, a shortest one for each way to do so."""
    machines = [automaton_of_ban(ban) for ban in bans]

    def step(state: Any, label: Label) -> Any:
        banned = tuple(one.read(at, label) for one, at in zip(machines, state[1], strict=True))
        if DEAD in banned:
            return DEAD
        after = goal.step(state[0], label)
        return after if after in (ACCEPTED, DEAD) else (after, banned)

    start = (goal.start, (0,) * len(bans))
    hopeful = _hopeful(start, step, table.labels)
    return [
        (*word, label)
        for word, label, (after, then) in _pairs(table, start, step)
        if after == DEAD and (then == ACCEPTED or then in hopeful)
    ]


def _hopeful(start: Hashable, step: Callable[[Any, Label], Any], labels: Sequence[Label]) -> set[Any]:
    """The states of a machine from which it can accept."""
    after = {start: [step(start, label) for label in labels]}
    queue = [start]
    for state in queue:  # which grows meanwhile
        for one in after[state]:
            if one not in (DEAD, ACCEPTED) and one not in after:
                after[one] = [step(one, label) for label in labels]
                queue.append(one)
    hopeful: set[Any] = {ACCEPTED}
    while grown := {state for state, ones in after.items() if state not in hopeful and not hopeful.isdisjoint(ones)}:
        hopeful |= grown
    return hopeful


def _pairs(
    table: _Table, start: Hashable, step: Callable[[Any, Label], Any]
) -> Iterator[tuple[tuple[Label, ...], Label, tuple[int, Any]]]:
    """Every step of the table beside a machine: the word before it, its label, both states after it; breadth first."""
    words: dict[tuple[int, Any], tuple[Label, ...]] = {(0, start): ()}
    queue = [(0, start)]
    for pair in queue:  # which grows meanwhile
        for label, after in zip(table.labels, table.rows[pair[0]], strict=True):
            following = (after, step(pair[1], label))
            yield words[pair], label, following
            if after >= 0 and following[1] not in (DEAD, ACCEPTED) and following not in words:
                words[following] = (*words[pair], label)
                queue.append(following)
