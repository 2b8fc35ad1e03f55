"""HOA: the Hanoi omega-automata format, version 1, which Spot, Owl and other tools read and write.

HOA is a format for infinite words. A finite word, as in tools for LTLf, is accepted if it ends in a state of the one
acceptance set, `Inf(0)`. A label that loses the task has no edge.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from wfairl import __version__
from wfairl.core.automata.automaton import DEAD, Automaton, Guard
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.support.errors import BadInputError
from wfairl.specifications.diagrams import Diagrams
from wfairl.specifications.ltlf_formula import parse_formula
from wfairl.specifications.symbolic import SymbolicAutomaton, as_guarded

__all__ = ["from_hoa", "to_hoa"]

MOST_HOA_STATES, LONGEST_HOA_LABEL, MOST_IMPLICIT = 10_000, 100_000, 12
"""Of an automaton that is read: its states, the characters of a label, and propositions if labels are not written."""


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
    """Read an automaton: deterministic, one initial state, `Acceptance: 1 Inf(0)` on states; made minimal."""
    header, body = _sections(text)
    names, aliases, start = _read_header(header)
    edges: dict[int, list[tuple[str, int]]] = {}
    accepting = set()
    for item, content in body:
        if item != "State:":
            raise BadInputError(f"the body of the HOA has {item!r} where 'State:' is needed")
        state, accepts, unlabelled = _read_state(content)
        if state in edges:
            raise BadInputError(f"state {state} of the HOA is defined twice")
        edges[state] = _labelled(state, unlabelled, aliases, len(names))
        accepting |= {state} if accepts else set()
    order = sorted({start, *edges, *(to for row in edges.values() for _, to in row)}, key=lambda q: (q != start, q))
    if len(order) > MOST_HOA_STATES:
        raise BadInputError(f"more than {MOST_HOA_STATES:,} states in the HOA")
    number = {state: i for i, state in enumerate(order)}
    diagrams = Diagrams(names)
    rows = [
        diagrams.of_conditions([(_holds(diagrams, label), number[to]) for label, to in edges.get(state, [])], state)
        for state in order
    ]
    return SymbolicAutomaton(diagrams, tuple(rows), tuple(state in accepting for state in order)).to_guarded()


Item = tuple[str, list[str]]
"""The name of an item, such as `AP:`, and the tokens after it."""

HOA_TOKEN = re.compile(
    r"""\s+|/\*(?:[^*]|\*(?!/))*\*/|(?P<token>"(?:[^"\\]|\\.)*"|--(?:BODY|END|ABORT)--|[A-Za-z_][\w-]*:|@?[A-Za-z_][\w-]*"""
    r"""|\d+|[!&|()\[\]{}])|(?P<bad>.)""",
    re.DOTALL,
)
IGNORED_ITEMS = ("tool:", "name:", "acc-name:", "properties:", "States:")


def _sections(text: str) -> tuple[list[Item], list[Item]]:
    """The items of the header and those of the body."""
    tokens = []
    for match in HOA_TOKEN.finditer(text):
        if match["bad"]:
            raise BadInputError(f"{match[0]!r} in the HOA means nothing there")
        tokens += [match["token"]] if match["token"] else []
    if tokens[:2] != ["HOA:", "v1"][: len(tokens)]:
        raise BadInputError("no HOA: the text does not begin with 'HOA: v1'")
    if not {"--BODY--", "--END--"} <= {*tokens}:
        raise BadInputError("the HOA ends too early; --END-- is missing")
    middle, end = tokens.index("--BODY--"), tokens.index("--END--")
    if end < middle or "--ABORT--" in tokens[:end]:
        raise BadInputError("the HOA was aborted, or ends before its body")
    return _items(tokens[2:middle]), _items(tokens[middle + 1 : end])


def _items(tokens: Sequence[str]) -> list[Item]:
    items: list[Item] = []
    for token in tokens:
        if token.endswith(":"):
            items.append((token, []))
        elif items:
            items[-1][1].append(token)
        else:
            raise BadInputError(f"{token!r} in the HOA, where an item such as 'AP:' is needed")
    return items


def _read_header(items: Sequence[Item]) -> tuple[list[str], dict[str, str], int]:
    """The propositions, the text that each alias stands for, and the initial state."""
    names: list[str] = []
    aliases: dict[str, str] = {}
    starts, acceptance = [], ""
    for item, content in items:
        if item == "Start:":
            if len(content) != 1 or not re.fullmatch(r"\d{1,9}", content[0]):
                raise BadInputError("'Start:' of the HOA does not name one state")
            starts.append(int(content[0]))
        elif item == "AP:":
            names = [re.sub(r"\\(.)", r"\1", one[1:-1], flags=re.DOTALL) for one in content if one[0] == '"']
            if content[:1] != [str(len(names))] or len(set(names)) != len(names):
                raise BadInputError("'AP:' of the HOA is not a number and so many different names in quotes")
        elif item == "Alias:" and content:
            aliases[content[0]] = f"({_expanded(content[1:], aliases)})"
        elif item == "Acceptance:":
            acceptance = "".join(content)
        elif item not in IGNORED_ITEMS and item[0].isupper():
            raise BadInputError(f"{item!r} in the header of the HOA, which is not known here and may matter")
    if acceptance != "1Inf(0)":
        raise BadInputError("the HOA does not say 'Acceptance: 1 Inf(0)', as an automaton of finite words does")
    if len(starts) != 1:
        raise BadInputError(f"{len(starts)} initial states in the HOA where there must be one")
    return names, aliases, starts[0]


def _expanded(tokens: Sequence[str], aliases: Mapping[str, str]) -> str:
    """The text of some tokens, with aliases written out."""
    unknown = [token for token in tokens if token.startswith("@") and token not in aliases]
    if unknown:
        raise BadInputError(f"{unknown[0]!r} in the HOA is not defined")
    text = " ".join(aliases.get(token, token) for token in tokens)
    if len(text) > LONGEST_HOA_LABEL:
        raise BadInputError(f"a label of the HOA has more than {LONGEST_HOA_LABEL:,} characters")
    return text


HOA_EDGE = re.compile(
    r"""(?:\[ ([^\[\]{}]*)\] )?(\d{1,9}) (?:"(?:[^"\\]|\\.)*" )?(& )?(?:\{ ((?:\d{1,9} )*)\} )?""", re.DOTALL
)
"""A label, a state with its name, and acceptance sets: a state with its own label and sets looks like an edge to it."""


def _read_state(tokens: Sequence[str]) -> tuple[int, bool, list[tuple[str | None, int]]]:
    """A state, whether it accepts, and label (None if it has none) and target of each of its edges."""
    text = "".join(f"{token} " for token in tokens)
    found: list[re.Match[str]] = []
    while not found or found[-1].end() < len(text):
        begin = found[-1].end() if found else 0
        match = HOA_EDGE.match(text, begin)
        if match is None:
            raise BadInputError(f"the HOA has {text[begin : begin + 30]!r} where a number is needed")
        found.append(match)
    own, *edges = found
    if any(edge[3] for edge in found):
        raise BadInputError(f"state {own[2]} of the HOA has an edge to several states at once")
    if any(edge[4] for edge in edges):
        raise BadInputError("the HOA marks edges, not states, as accepting; ask its tool for state-acc")
    sets = {int(number) for number in (own[4] or "").split()}
    if not sets <= {0}:
        raise BadInputError("the HOA has acceptance sets beside 0")
    return int(own[2]), bool(sets), [(own[1] if edge[1] is None else edge[1], int(edge[2])) for edge in edges]


def _labelled(
    state: int, edges: Sequence[tuple[str | None, int]], aliases: Mapping[str, str], names: int
) -> list[tuple[str, int]]:
    """The edges with their labels; those without are, in their order, those of all sets of propositions."""
    if all(label is None for label, _ in edges) and names <= MOST_IMPLICIT and len(edges) == 2**names:
        terms = (" & ".join(("" if i >> bit & 1 else "!") + str(bit) for bit in range(names)) for i in range(2**names))
        return [(term or "t", to) for term, (_, to) in zip(terms, edges, strict=True)]
    if any(label is None for label, _ in edges):
        raise BadInputError(f"state {state} of the HOA has edges without a label, and not one for every label")
    return [(_expanded(str(label).split(), aliases), to) for label, to in edges]


def _holds(diagrams: Diagrams, label: str) -> int:
    """1 where a label's condition holds, 0 elsewhere."""

    def literal(name: str) -> int:
        if name in ("t", "f"):
            return diagrams.leaf(int(name == "t"))
        if name.isdecimal() and int(name) < len(diagrams.propositions):
            return diagrams.literal(diagrams.propositions[int(name)])
        raise BadInputError(f"it is no condition on its propositions: {name}")

    try:
        return diagrams.of_condition(parse_formula(label), literal)
    except BadInputError as error:
        raise BadInputError(f"the label [{label}] of the HOA cannot be read ({error})") from None
