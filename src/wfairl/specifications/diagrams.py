"""Multi-terminal binary decision diagrams: functions from labels to values, without listing labels.

A function is a leaf, its value, or a test of one proposition with a function for either outcome. Propositions are
tested in one order, and a test whose outcomes lead to the same node is left out; so equal functions are one node, and
comparing them is comparing two numbers.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cache, partial, reduce
from typing import Any

from wfairl.core.automata.automaton import DEAD, Guard, Label
from wfairl.core.support.errors import BadInputError
from wfairl.specifications.ltlf_formula import Formula

MOST_DIAGRAM_LEVELS, MOST_DIAGRAM_NODES, MOST_DIAGRAM_CASES = 200, 300_000, 20_000
"""How deep tests are nested, how many nodes there are, and how many cases are listed."""


CONFLICT = DEAD - 1
"""Where conditions of two next states hold."""


class Diagrams:
    """All functions over some propositions; a function is the number of its node, its values are any hashable ones."""

    def __init__(self, propositions: Sequence[str]) -> None:
        if len(propositions) > MOST_DIAGRAM_LEVELS:
            raise BadInputError(
                f"{len(propositions)} propositions are too many to compare or translate automata over all of their"
                f" labels; {MOST_DIAGRAM_LEVELS} are possible"
            )
        self.propositions = tuple(propositions)
        self._level_of = {name: level for level, name in enumerate(propositions)}
        self._nodes: list[tuple[int, Any, Any]] = []  # level, node if it does not hold, node if it holds
        self._numbers: dict[tuple[int, Any, Any], int] = {}

    def leaf(self, value: Hashable) -> int:
        """The function with one value everywhere."""
        return self._number((len(self.propositions), value, value))

    def literal(self, name: str) -> int:
        """1 where a proposition holds, 0 where it does not."""
        return self._test(self._level_of[name], self.leaf(0), self.leaf(1))

    def value(self, node: int, label: Label) -> Any:
        """The value of a function on a label."""
        level, low, high = self._nodes[node]
        while level < len(self.propositions):
            level, low, high = self._nodes[high if self.propositions[level] in label else low]
        return low

    def map(self, values: Callable[[Any], Hashable], node: int) -> int:
        """The function whose values are those of another, mapped."""
        return self.combine(lambda one, _: values(one), node, self.leaf(0))

    def combine(self, values: Callable[[Any, Any], Hashable], one: int, other: int) -> int:
        """The function whose value on a label is computed from the values of two others there."""

        @cache
        def visit(a: int, b: int) -> int:
            (level_a, low_a, high_a), (level_b, low_b, high_b) = self._nodes[a], self._nodes[b]
            level = min(level_a, level_b)
            if level == len(self.propositions):
                return self.leaf(values(low_a, low_b))
            low = visit(low_a if level_a == level else a, low_b if level_b == level else b)
            high = visit(high_a if level_a == level else a, high_b if level_b == level else b)
            return self._test(level, low, high)

        return visit(one, other)

    def of_guards(self, choices: Sequence[tuple[Guard, Hashable]], otherwise: Hashable) -> int:
        """The function whose value on a label is that of the first guard that holds."""
        last = [max((self._level_of[name] for name in one.true | one.false), default=-1) for one, _ in choices]

        @cache
        def visit(level: int, left: tuple[int, ...]) -> int:
            """The function where the guards `left` agree with all outcomes so far."""
            certain = next((i for i, choice in enumerate(left) if last[choice] < level), None)
            if certain is not None:
                left = left[: certain + 1]  # what comes behind a guard that holds is never tried
            if not left or certain == 0:
                return self.leaf(choices[left[0]][1] if left else otherwise)
            name = self.propositions[level]
            low = visit(level + 1, tuple(i for i in left if name not in choices[i][0].true))
            high = visit(level + 1, tuple(i for i in left if name not in choices[i][0].false))
            return self._test(level, low, high)

        return visit(0, tuple(range(len(choices))))

    def of_condition(self, formula: Formula, literal: Callable[[str], int]) -> int:
        """1 where a formula without operators of time holds, 0 elsewhere; `literal` gives the function of a name."""
        match formula.operator:
            case "true" | "false":
                return self.leaf(int(formula.operator == "true"))
            case "proposition":
                return literal(formula.name)
            case "!":
                return self.map(lambda held: 1 - held, self.of_condition(formula.operands[0], literal))
            case "&" | "|":
                join = partial(self.combine, min if formula.operator == "&" else max)
                return reduce(join, (self.of_condition(one, literal) for one in formula.operands))
        raise BadInputError(f"it is no condition on its propositions: {formula}")

    def of_conditions(self, choices: Iterable[tuple[int, int]], state: int) -> int:
        """The function from labels to the state whose condition holds, `DEAD` where none does."""
        row = self.leaf(DEAD)
        for condition, to in choices:
            row = self.combine(
                lambda after, taken, to=to: after if not taken else to if after in (DEAD, to) else CONFLICT,  # type: ignore[misc]
                row,
                condition,
            )
        if CONFLICT in self.smallest_labels(row):
            raise BadInputError(f"state {state} has two edges for one label; only deterministic automata are read")
        return row

    def smallest_labels(self, node: int) -> dict[Any, Label]:
        """For each value of a function, a label of fewest propositions that has it."""

        @cache
        def visit(one: int) -> dict[Any, Label]:
            level, low, high = self._nodes[one]
            if level == len(self.propositions):
                return {low: frozenset()}
            smallest = dict(visit(low))
            for value, label in visit(high).items():
                if value not in smallest or len(label) + 1 < len(smallest[value]):
                    smallest[value] = label | {self.propositions[level]}
            return smallest

        return visit(node)

    def cases(self, node: int) -> Iterator[tuple[Guard, Any]]:
        """The function as guards that exclude each other and leave nothing out, each with its value."""
        stack: list[tuple[int, Guard]] = [(node, Guard())]
        listed = 0
        while stack:
            one, guard = stack.pop()
            level, low, high = self._nodes[one]
            if level == len(self.propositions):
                listed += 1
                if listed > MOST_DIAGRAM_CASES:
                    raise BadInputError(f"one state needs more than {MOST_DIAGRAM_CASES:,} guards")
                yield guard, low
                continue
            name = frozenset({self.propositions[level]})
            stack.append((low, Guard(guard.true, guard.false | name)))
            stack.append((high, Guard(guard.true | name, guard.false)))

    def _test(self, level: int, low: int, high: int) -> int:
        return low if low == high else self._number((level, low, high))

    def _number(self, node: tuple[int, Any, Any]) -> int:
        if node not in self._numbers:
            if len(self._nodes) == MOST_DIAGRAM_NODES:
                raise BadInputError(f"the conditions of the automaton have more than {MOST_DIAGRAM_NODES:,} cases")
            self._numbers[node] = len(self._nodes)
            self._nodes.append(node)
        return self._numbers[node]


MOST_CASES = 120
"""Guards of up to this many cases are shortened; the time grows with their cube."""

Case = tuple[int, int, int]
"""The propositions that hold and those that do not, as sets of bits, and the value there."""


def shortest_choices(cases: Sequence[tuple[Guard, int]], otherwise: int, last: int) -> list[tuple[Guard, int]]:
    """A short list of guards, tried in order, for a function that has the value `otherwise` where none holds.

    Args:
        cases: guards that exclude each other and leave nothing out, with their values.
        otherwise: the value that needs no guard.
        last: a value whose guards come after all others, where that makes the list shorter.
    """
    if len(cases) > MOST_CASES:
        return _with_default(cases, otherwise)
    names = sorted(set().union(*(guard.true | guard.false for guard, _ in cases)))
    bit = {name: 1 << i for i, name in enumerate(names)}
    coded = [
        (sum(bit[name] for name in guard.true), sum(bit[name] for name in guard.false), value) for guard, value in cases
    ]
    at_once = _shorten(coded, [one for one in coded if one[2] != otherwise])
    before = _shorten(coded, [one for one in coded if one[2] not in (otherwise, last)])
    in_turn = before + _shorten(coded, [one for one in coded if one[2] == last != otherwise], before)
    chosen = min(in_turn, at_once, key=lambda choices: sum(_literals(one) + 1 for one in choices))
    return [
        (Guard(*(frozenset(name for name in names if bit[name] & some) for some in (true, false))), value)
        for true, false, value in chosen
    ]


def _shorten(cases: Sequence[Case], wanted: Sequence[Case], before: Sequence[Case] = ()) -> list[Case]:
    """Cover the wanted cases by guards with few literals: widest first, each as wide as those before it allow."""
    chosen = list(before)
    left = [one for one in wanted if not _covered(one[0], one[1], chosen)]
    while left:
        widened = [_widen(one, cases, chosen) for one in left]
        chosen.append(min(widened, key=lambda one: (_literals(one), one[1].bit_count(), one)))
        left = [one for one in left if not _covered(one[0], one[1], chosen)]
    return chosen[len(before) :]


def _widen(case: Case, cases: Sequence[Case], before: Sequence[Case]) -> Case:
    """Leave out literals as long as the guard catches no label of another value that the guards before it leave."""
    true, false, value = case
    others = [one for one in cases if one[2] != value]
    for bit in (*_bits(false), *_bits(true)):
        t, f = true & ~bit, false & ~bit
        if all(t & b or f & a or _covered(t | a, f | b, before) for a, b, _ in others):
            true, false = t, f
    return true, false, value


def _covered(true: int, false: int, by: Sequence[Case]) -> bool:
    return any(t & true == t and f & false == f for t, f, _ in by)


def _literals(case: Case) -> int:
    return case[0].bit_count() + case[1].bit_count()


def _bits(some: int) -> list[int]:
    return [1 << i for i in range(some.bit_length()) if some >> i & 1]


def _with_default(cases: Sequence[tuple[Guard, int]], otherwise: int) -> list[tuple[Guard, int]]:
    """The cases as they are, but those of the most frequent value as one guard at the end."""
    most = Counter(value for _, value in cases).most_common(1)[0][0]
    rest = [(guard, value) for guard, value in cases if value != most]
    return rest if most == otherwise else [*rest, (Guard(), most)]
