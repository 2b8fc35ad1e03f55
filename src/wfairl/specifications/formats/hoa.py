"""HOA: the Hanoi omega-automata format, version 1, which Spot, Owl and other tools read and write.

HOA is a format for infinite words. A finite word, as in tools for LTLf, is accepted if it ends in a state of the one
acceptance set, `Inf(0)`. A label that loses the task has no edge.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce

from wfairl import __version__
from wfairl.core.automata.automaton import DEAD, Automaton, Guard
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.support.errors import BadInputError
from wfairl.specifications.diagrams import Diagrams
from wfairl.specifications.ltlf_formula import Formula, MalformedFormulaError, parse_formula
from wfairl.specifications.symbolic import SymbolicAutomaton, as_guarded

__all__ = ["from_hoa", "to_hoa"]

MOST_HOA_STATES, LONGEST_HOA_LABEL, MOST_IMPLICIT = 10_000, 100_000, 12
"""Of an automaton that is read: its states, the characters of a label, and propositions if labels are not written."""


class MalformedHoaError(BadInputError):
    """A text is not an automaton in HOA, or not one for finite words."""


def to_hoa(automaton: Automaton) -> str:
    """The automaton in HOA, with the states that it has."""
    propositions = sorted(automaton.propositions)
    lines = [
        "HOA: v1",
        f'tool: "wfairl" "{__version__}"',
        'name: "task automaton over finite words: a word is accepted if it ends in a state of set 0"',
        f"States: {automaton.states}",
        "Start: 0",
        " ".join([f"AP: {len(propositions)}", *map(_quote, propositions)]),
        "acc-name: Buchi",
        "Acceptance: 1 Inf(0)",
        "properties: trans-labels explicit-labels state-acc deterministic",
        "--BODY--",
    ]
    for state, row in enumerate(as_guarded(automaton).edges):
        lines.append(f"State: {state}" + (" {0}" if automaton.accepting[state] else ""))
        lines += [f"  [{condition}] {target}" for condition, target in _conditions(row, state, propositions)]
    return "\n".join([*lines, "--END--\n"])


def _conditions(row: Sequence[Edge], state: int, propositions: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Condition and target of each edge, without the guards tried before it where both can hold."""
    before: list[Guard] = []
    for edge in (*row, Edge(Guard(), state)):
        if edge.target != DEAD:
            excluded = [f"!({_condition(one, propositions)})" for one in before if one.both(edge.guard) is not None]
            own = _condition(edge.guard, propositions)
            yield " & ".join([*excluded, f"({own})"] if excluded else [own]), edge.target
        before.append(edge.guard)
        if not edge.guard.literals:
            return


def _condition(guard: Guard, propositions: Sequence[str]) -> str:
    terms = [
        ("" if name in guard.true else "!") + str(i)
        for i, name in enumerate(propositions)
        if name in guard.true | guard.false
    ]
    return "&".join(terms) or "t"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def from_hoa(text: str) -> GuardedAutomaton:
    """Read an automaton: deterministic, one initial state, `Acceptance: 1 Inf(0)` on states; made minimal.

    Raises:
        MalformedHoaError: it is not one; says why.
        NoAcceptedWordError: it accepts nothing.
    """
    return _Reader(text).automaton().to_guarded()


HOA_TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<mark>--(?:BODY|END|ABORT)--)|(?P<header>[A-Za-z_][\w-]*:)"""
    r"""|(?P<name>@?[A-Za-z_][\w-]*)|(?P<number>\d+)|(?P<sign>[!&|()\[\]{}])|(?P<bad>.)""",
    re.DOTALL,
)
HOA_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|/\*(?:[^*]|\*(?!/))*\*/', re.DOTALL)
IGNORED_ITEMS = ("tool:", "name:", "acc-name:", "properties:")


@dataclass
class _Reader:
    """Reads a text token by token; attributes are what has been read so far."""

    text: str
    tokens: deque[tuple[str, str]] = field(default_factory=deque)
    names: list[str] | None = None
    aliases: dict[str, str] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    edges: dict[int, list[tuple[str | None, int]]] = field(default_factory=dict)
    accepting: set[int] = field(default_factory=set)

    def automaton(self) -> SymbolicAutomaton:
        """The whole text."""
        self.tokens = deque([*_tokens(self.text), ("end", "")])
        self.header()
        if len(self.starts) != 1:
            raise MalformedHoaError(f"{len(self.starts)} initial states in the HOA where there must be one")
        while self.tokens[0] != ("mark", "--END--"):
            self.state()
        diagrams = Diagrams(self.names or [])
        order = sorted({*self.starts, *self.edges, *(to for row in self.edges.values() for _, to in row)})
        if len(order) > MOST_HOA_STATES:
            raise MalformedHoaError(f"more than {MOST_HOA_STATES:,} states in the HOA")
        order.sort(key=lambda state: state != self.starts[0])
        number = {state: i for i, state in enumerate(order)}
        rows = [_row(diagrams, state, self._labelled(state), number) for state in order]
        return SymbolicAutomaton(diagrams, tuple(rows), tuple(state in self.accepting for state in order))

    def header(self) -> None:
        """What stands before the body."""
        if self.take()[1] != "HOA:" or self.take()[1] != "v1":
            raise MalformedHoaError("no HOA: the text does not begin with 'HOA: v1'")
        acceptance = None
        while self.tokens[0] != ("mark", "--BODY--"):
            kind, item = self.take()
            if kind != "header":
                raise MalformedHoaError(f"{item!r} in the header of the HOA, where an item such as 'AP:' is needed")
            content = []
            while self.tokens[0][0] not in ("header", "mark", "end"):
                content.append(self.take())
            if item == "Start:":
                if [kind for kind, _ in content] != ["number"]:
                    raise MalformedHoaError("'Start:' of the HOA does not name one state")
                self.starts.append(int(content[0][1]))
            elif item == "AP:":
                self.propositions(content)
            elif item == "Alias:" and content:
                self.aliases[content[0][1]] = f"({self._expanded(content[1:])})"
            elif item == "Acceptance:":
                acceptance = "".join(token for _, token in content)
            elif item not in (*IGNORED_ITEMS, "States:") and item[0].isupper():
                raise MalformedHoaError(f"{item!r} in the header of the HOA, which is not known here and may matter")
        self.take()
        if acceptance != "1Inf(0)":
            raise MalformedHoaError("the HOA does not say 'Acceptance: 1 Inf(0)', as an automaton of finite words does")

    def propositions(self, content: Sequence[tuple[str, str]]) -> None:
        """The names that numbers in labels stand for."""
        names = [re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL) for kind, token in content if kind == "string"]
        if not content or content[0] != ("number", str(len(names))) or len(set(names)) != len(names):
            raise MalformedHoaError("'AP:' of the HOA is not a number and so many different names in quotes")
        self.names = names

    def state(self) -> None:
        """A state with its edges."""
        if self.take() != ("header", "State:"):
            raise MalformedHoaError("the body of the HOA has something else where 'State:' is needed")
        own = self.label()
        state = _number(self.take())
        if self.tokens[0][0] == "string":
            self.take()
        if self.acceptance():
            self.accepting.add(state)
        if state in self.edges:
            raise MalformedHoaError(f"state {state} of the HOA is defined twice")
        self.edges[state] = []
        while self.tokens[0][1] == "[" or self.tokens[0][0] == "number":
            label = self.label()
            self.edges[state].append((own if label is None else label, _number(self.take())))
            if self.tokens[0][1] == "&":
                raise MalformedHoaError(f"state {state} of the HOA has an edge to several states at once")
            if self.acceptance():
                raise MalformedHoaError("the HOA marks edges, not states, as accepting; ask its tool for state-acc")

    def label(self) -> str | None:
        """The text of a label, its aliases replaced; None if there is none."""
        return self._expanded(self.bracket("]")) if self.tokens[0][1] == "[" else None

    def _expanded(self, content: Sequence[tuple[str, str]]) -> str:
        """The text of some tokens, with aliases written out."""
        unknown = [token for _, token in content if token.startswith("@") and token not in self.aliases]
        if unknown:
            raise MalformedHoaError(f"{unknown[0]!r} in the HOA is not defined")
        text = " ".join(self.aliases.get(token, token) for _, token in content)
        if len(text) > LONGEST_HOA_LABEL:
            raise MalformedHoaError(f"a label of the HOA has more than {LONGEST_HOA_LABEL:,} characters")
        return text

    def acceptance(self) -> bool:
        """Whether `{0}` follows."""
        sets = {_number(token) for token in self.bracket("}")} if self.tokens[0][1] == "{" else set()
        if not sets <= {0}:
            raise MalformedHoaError("the HOA has acceptance sets beside 0")
        return bool(sets)

    def bracket(self, end: str) -> list[tuple[str, str]]:
        """The tokens from an opening bracket to its end, without both."""
        self.take()
        content = []
        while self.tokens[0][1] != end:
            content.append(self.take())
        self.take()
        return content

    def take(self) -> tuple[str, str]:
        if self.tokens[0][0] == "end":
            raise MalformedHoaError("the HOA ends too early; --END-- is missing")
        return self.tokens.popleft()

    def _labelled(self, state: int) -> list[tuple[str, int]]:
        """The edges of a state; those without labels are, in their order, those of all sets of propositions."""
        edges = self.edges.get(state, [])
        labelled = [(label, to) for label, to in edges if label is not None]
        if len(labelled) == len(edges):
            return labelled
        names = self.names or []
        if labelled or len(names) > MOST_IMPLICIT or len(edges) != 2 ** len(names):
            raise MalformedHoaError(f"state {state} of the HOA has edges without a label, and not one for every label")
        terms = [
            " & ".join(("" if number >> i & 1 else "!") + str(i) for i in range(len(names))) or "t"
            for number in range(len(edges))
        ]
        return [(term, to) for term, (_, to) in zip(terms, edges, strict=True)]


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    without = HOA_COMMENT.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)
    for match in HOA_TOKEN.finditer(without):
        kind = str(match.lastgroup)
        if kind == "bad":
            raise MalformedHoaError(f"{match[0]!r} in the HOA means nothing there")
        if kind != "space":
            yield kind, match[0]


def _number(token: tuple[str, str]) -> int:
    kind, text = token
    if kind != "number" or len(text) > 9:
        raise MalformedHoaError(f"the HOA has {text!r} where a number is needed")
    return int(text)


CONFLICT = DEAD - 1


def _row(diagrams: Diagrams, state: int, edges: Sequence[tuple[str, int]], number: dict[int, int]) -> int:
    """The function from labels to the next state."""
    row = diagrams.leaf(DEAD)
    for label, to in edges:
        target = number[to]
        row = diagrams.combine(
            lambda after, taken, target=target: (  # type: ignore[misc]
                after if not taken else target if after in (DEAD, target) else CONFLICT
            ),
            row,
            _holds(diagrams, label),
        )
    if CONFLICT in diagrams.values(row):
        raise MalformedHoaError(
            f"state {state} of the HOA has two edges for one label; only deterministic ones are read"
        )
    return row


def _holds(diagrams: Diagrams, label: str) -> int:
    """1 where a label's condition holds, 0 elsewhere."""

    def visit(formula: Formula) -> int:
        match formula.operator:
            case "true" | "false":
                return diagrams.leaf(int(formula.operator == "true"))
            case "proposition" if formula.name in ("t", "f"):
                return diagrams.leaf(int(formula.name == "t"))
            case "proposition" if formula.name.isdecimal() and int(formula.name) < len(diagrams.propositions):
                return diagrams.literal(int(formula.name))
            case "!":
                return diagrams.map(lambda held: 1 - held, visit(formula.operands[0]))
            case "&" | "|":
                join = partial(diagrams.combine, min if formula.operator == "&" else max)
                return reduce(join, map(visit, formula.operands))
        raise MalformedHoaError(f"the label [{label}] of the HOA is no condition on its propositions")

    try:
        return visit(parse_formula(label))
    except MalformedFormulaError as error:
        raise MalformedHoaError(f"the label [{label}] of the HOA cannot be read ({error})") from None
