"""Formulas of LTLf, linear temporal logic over finite words, and their text.

A word w = l_0 .. l_{n-1} has a position for every label. At position i

    a             i < n and a is in l_i
    X[!] f        strong next: i + 1 < n and f holds at i + 1
    WX f          weak next: i + 1 >= n or f holds at i + 1
    f U g         g holds at some j < n, i <= j, and f at all positions from i to j - 1
    f R g         g holds at all positions up to one where f holds too, or up to the end
    F f, G f      true U f, false R f
    f W g, f M g  g R (f | g), g U (f & g)

and a word fulfils what holds at position 0. In the empty word no `a`, X[!], F, U or M holds, and every !a, WX, G, R
and W does. A plain X is refused: some tools read it as the strong next, others as the weak one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from wfairl.core.support.errors import BadInputError

UNARY = ("!", "X[!]", "WX", "F", "G")
BINDING = {"<->": 0, "->": 1, "|": 2, "&": 3, "U": 4, "R": 4, "W": 4, "M": 4}
"""The binary operators, and how strongly they bind."""

FROM_THE_RIGHT = ("->", "U", "R", "W", "M")

DEEPEST_FORMULA, LARGEST_FORMULA = 250, 20_000
"""How deep a formula may be nested, and how many operators and propositions it may have."""


@dataclass(frozen=True)
class Formula:
    """A formula: an operator with its operands; `true`, `false`, or a proposition with its name."""

    operator: str
    operands: tuple["Formula", ...] = ()
    name: str = ""
    size: int = field(init=False, compare=False, repr=False, default=1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(one.size for one in self.operands))

    def __str__(self) -> str:
        """The text that `parse_formula` reads, with brackets around operands, so that all tools read it alike."""
        if self.operator == "proposition":
            return quote_name(self.name)
        if not self.operands:
            return self.operator
        parts = [f"{one}" if not one.operands or one.operator == "!" else f"({one})" for one in self.operands]
        if self.operator == "!":
            return f"!{parts[0]}"
        return f"{self.operator} {parts[0]}" if len(parts) == 1 else f" {self.operator} ".join(parts)

    @property
    def propositions(self) -> frozenset[str]:
        """The propositions in it."""
        own = {self.name} if self.operator == "proposition" else set()
        return frozenset(own.union(*(one.propositions for one in self.operands)))


TRUE, FALSE = Formula("true"), Formula("false")
CONSTANTS = {"true": TRUE, "false": FALSE, "last": Formula("WX", (FALSE,))}


def proposition(name: str) -> Formula:
    """The formula that a proposition holds."""
    return Formula("proposition", (), name)


def negation(one: Formula) -> Formula:
    """Not the formula."""
    if one in (TRUE, FALSE):
        return TRUE if one == FALSE else FALSE
    return one.operands[0] if one.operator == "!" else Formula("!", (one,))


def conjunction(*parts: Formula) -> Formula:
    """All of the formulas."""
    return _several("&", parts, TRUE, FALSE)


def disjunction(*parts: Formula) -> Formula:
    """At least one of the formulas."""
    return _several("|", parts, FALSE, TRUE)


def _several(operator: str, parts: tuple[Formula, ...], neutral: Formula, decisive: Formula) -> Formula:
    flat: dict[Formula, None] = {}
    for one in parts:
        flat.update(dict.fromkeys(one.operands if one.operator == operator else (one,)))
    operands_left = tuple(one for one in flat if one != neutral)
    if decisive in operands_left:
        return decisive
    return Formula(operator, operands_left) if len(operands_left) > 1 else (*operands_left, neutral)[0]


PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
RESERVED_NAMES = {"true", "false", "tt", "ff", "last", "end"}


def quote_name(name: str) -> str:
    """A name as formulas write it: bare if every tool reads it so, in double quotes otherwise."""
    if PLAIN_NAME.fullmatch(name) and name not in RESERVED_NAMES:
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


FORMULA_TOKEN = re.compile(
    r"""\s*(?:(?P<name>"(?:[^"\\]|\\.)*")|(?P<operator>X\[!\]|<->|->|=>|<=>|&&|\|\||[!~&|()])|(?P<word>\w+)|(?P<bad>.))""",
    re.DOTALL,
)
SAME_TOKEN = {"&&": "&", "||": "|", "~": "!", "=>": "->", "<=>": "<->", "tt": "true", "ff": "false"}


def parse_formula(text: str) -> Formula:
    """Read a formula.

    Binary operators bind in the order U R W M, &, |, ->, <->, the first most strongly; those of time and -> group from
    the right. A `BadInputError` says what is wrong, and where.
    """
    return _Parser(text).whole()


class _Parser:
    """Reads a text from left to right, one token ahead."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.next = 0
        self.depth = 0

    def whole(self) -> Formula:
        formula = self.formula(0)
        if self.tokens[self.next][0] != "end":
            self.fail("an operator")
        return formula

    def formula(self, least: int) -> Formula:
        """A formula whose binary operators bind at least so strongly, up to one that does not."""
        self.depth += 1
        if self.depth > DEEPEST_FORMULA:
            raise BadInputError(f"the formula is nested more than {DEEPEST_FORMULA} deep")
        left = self.operand()
        while BINDING.get(self.peek(), -1) >= least:
            operator = self.take()
            tighter = BINDING[operator] + (operator not in FROM_THE_RIGHT)
            operands = [left, self.formula(tighter)]
            while operator in ("&", "|") and self.peek() == operator:  # joined at once: one by one takes their square
                self.take()
                operands.append(self.formula(tighter))
            left = _join(operator, *operands)
            if left.size > LARGEST_FORMULA:
                raise BadInputError(f"the formula has more than {LARGEST_FORMULA:,} parts, once <-> is written out")
        self.depth -= 1
        return left

    def operand(self) -> Formula:
        kind, token, _ = self.tokens[self.next]
        if self.peek() in UNARY:
            operator = self.take()
            inner = self.formula(5)  # more strongly than any binary operator
            return negation(inner) if operator == "!" else Formula(operator, (inner,))
        if self.peek() == "(":
            self.take()
            inner = self.formula(0)
            if self.peek() != ")":
                self.fail("')'")
            self.take()
            return inner
        if kind not in ("name", "word") or (kind == "word" and token in (*BINDING, "X")):
            self.fail("a proposition")
        self.take()
        return CONSTANTS[token] if kind == "word" and token in CONSTANTS else proposition(token)

    def peek(self) -> str:
        """The next token, nothing if it is a name in quotes."""
        kind, token, _ = self.tokens[self.next]
        return "" if kind == "name" else token

    def take(self) -> str:
        self.next += 1
        return self.tokens[self.next - 1][1]

    def fail(self, wanted: str) -> NoReturn:
        kind, token, at = self.tokens[self.next]
        actual = "its end" if kind == "end" else f"{token!r} (character {at + 1})"
        advice = "; write X[!] for the strong next or WX for the weak one" if token == "X" else ""
        raise BadInputError(f"the formula has {actual} where {wanted} is needed{advice}")


def _join(operator: str, *operands: Formula) -> Formula:
    if operator in ("&", "|"):
        return conjunction(*operands) if operator == "&" else disjunction(*operands)
    left, right = operands
    match operator:
        case "->":
            return disjunction(negation(left), right)
        case "<->":
            return disjunction(conjunction(left, right), conjunction(negation(left), negation(right)))
    return Formula(operator, (left, right))


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    end = len(text.rstrip())
    at = 0
    while at < end:
        matched = FORMULA_TOKEN.match(text, at)
        assert matched is not None  # the last choice takes any character
        kind = str(matched.lastgroup)
        token, at = matched[kind], matched.end()
        if kind == "bad":
            raise BadInputError(f"the formula has {token!r} (character {at}), which means nothing there")
        if kind == "name":
            token = re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)
        yield kind, token if kind == "name" else SAME_TOKEN.get(token, token), at - 1
    yield "end", "", end
