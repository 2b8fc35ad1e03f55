"""Progression: the automaton of a formula of LTLf.

A state is the formula still to be fulfilled: in disjunctive normal form over temporal formulas, with negation before
propositions only. No clause follows from another, so that equal states look the same and there are finitely many.
After a label is read,

    f U g    leaves   g after it, or f after it and f U g again
    f R g    leaves   g after it, and f after it or f R g again
    X[!] f   leaves   f, and that the word goes on;      WX f   leaves   f, or that the word ends here
"""

from collections.abc import Iterable
from functools import cache, reduce

from wfairl.core.support.errors import FailedRunError
from wfairl.specifications.diagrams import Diagrams
from wfairl.specifications.ltlf_formula import FALSE, TRUE, Formula, conjunction, disjunction, negation
from wfairl.specifications.symbolic import SymbolicAutomaton

MOST_OBLIGATIONS, MOST_CLAUSES, MOST_JOINS = 2_000, 300, 200_000
"""Of the automaton of a formula: its states, the clauses of a state, and the clauses that are joined to find all."""


Clause = frozenset[Formula]
Obligation = frozenset[Clause]
"""A disjunction of clauses, each a conjunction, none of which follows from another."""

NOTHING_LEFT: Obligation = frozenset({frozenset()})
UNFULFILLABLE: Obligation = frozenset()


def formula_automaton(formula: Formula, diagrams: Diagrams | None = None) -> SymbolicAutomaton:
    """The automaton of the words that fulfil a formula, over given diagrams or over those of its propositions."""
    diagrams = Diagrams(sorted(formula.propositions)) if diagrams is None else diagrams
    progression = _Progression(diagrams)
    states = [_state(normal_form(formula))]
    numbers = {states[0]: 0}

    def number(state: Obligation) -> int:
        if numbers.setdefault(state, len(states)) == len(states):
            states.append(state)
        return numbers[state]

    rows = []
    for state in states:  # which grows meanwhile
        rows.append(diagrams.map(number, progression.row(state)))
        if len(states) > MOST_OBLIGATIONS:
            raise FailedRunError(f"the automaton of the formula has more than {MOST_OBLIGATIONS} states")
    accepting = tuple(any(all(map(_holds_at_end, clause)) for clause in state) for state in states)
    return SymbolicAutomaton(diagrams, tuple(rows), accepting)


def normal_form(formula: Formula, negated: bool = False) -> Formula:
    """The formula with X[!], WX, U and R alone as operators of time, and negation before propositions alone."""
    operator, operands = formula.operator, formula.operands
    dual = {"&": "|", "|": "&", "U": "R", "R": "U", "X[!]": "WX", "WX": "X[!]"}
    match operator:
        case "true" | "false" | "proposition":
            return negation(formula) if negated else formula
        case "!":
            return normal_form(operands[0], not negated)
        case "F":
            return normal_form(Formula("U", (TRUE, *operands)), negated)
        case "G":
            return normal_form(Formula("R", (FALSE, *operands)), negated)
        case "W":
            return normal_form(Formula("R", (operands[1], disjunction(*operands))), negated)
        case "M":
            return normal_form(Formula("U", (operands[1], conjunction(*operands))), negated)
    parts = tuple(normal_form(one, negated) for one in operands)
    operator = dual[operator] if negated else operator
    if operator in "&|":
        return conjunction(*parts) if operator == "&" else disjunction(*parts)
    return Formula(operator, parts)


def _holds_at_end(formula: Formula) -> bool:
    """Whether a part of a clause holds in the empty word."""
    return formula.operator in ("true", "!", "WX", "R")


def _state(formula: Formula) -> Obligation:
    match formula.operator:
        case "true":
            return NOTHING_LEFT
        case "false":
            return UNFULFILLABLE
        case "&":
            return reduce(_both, map(_state, formula.operands), NOTHING_LEFT)
        case "|":
            return _least(clause for one in formula.operands for clause in _state(one))
    return frozenset({frozenset({formula})})


def _both(one: Obligation, other: Obligation) -> Obligation:
    return _least(a | b for a in one for b in other)


def _least(clauses: Iterable[Clause]) -> Obligation:
    """The clauses that follow from no shorter one."""
    least: list[Clause] = []
    for clause in sorted(set(clauses), key=len):
        if not any(one <= clause for one in least):
            least.append(clause)
            if len(least) > MOST_CLAUSES:
                raise FailedRunError(f"the formula leaves more than {MOST_CLAUSES} alternatives open at a time")
    return frozenset(least)


NOT_AT_END = Formula("U", (TRUE, TRUE))
AT_END = Formula("R", (FALSE, FALSE))


class _Progression:
    """What is still to be fulfilled after a label: diagrams from labels to obligations."""

    def __init__(self, diagrams: Diagrams) -> None:
        self.diagrams, self.joins = diagrams, 0
        self.after = cache(self._after)

    def row(self, state: Obligation) -> int:
        """What is left of a state."""
        clauses = sorted(state, key=lambda one: sorted(map(str, one)))
        left = (reduce(self.both, map(self.after, one), self.diagrams.leaf(NOTHING_LEFT)) for one in clauses)
        return reduce(self.either, left, self.diagrams.leaf(UNFULFILLABLE))

    def _after(self, formula: Formula) -> int:
        """What is left of a formula in normal form."""
        leaf, operands = self.diagrams.leaf, formula.operands
        match formula.operator:
            case "true" | "false":
                return leaf(_state(formula))
            case "proposition":
                return self.holds(formula.name, NOTHING_LEFT, UNFULFILLABLE)
            case "!":
                return self.holds(operands[0].name, UNFULFILLABLE, NOTHING_LEFT)
            case "&":
                return reduce(self.both, map(self.after, operands))
            case "|":
                return reduce(self.either, map(self.after, operands))
            case "X[!]":
                return leaf(_both(_state(operands[0]), _state(NOT_AT_END)))
            case "WX":
                return leaf(_least(_state(operands[0]) | _state(AT_END)))
            case "U":
                again = self.both(self.after(operands[0]), leaf(_state(formula)))
                return self.either(self.after(operands[1]), again)
        again = self.either(self.after(operands[0]), leaf(_state(formula)))  # R
        return self.both(self.after(operands[1]), again)

    def holds(self, name: str, then: Obligation, otherwise: Obligation) -> int:
        return self.diagrams.map(lambda held: then if held else otherwise, self.diagrams.literal(name))

    def both(self, one: int, other: int) -> int:
        return self.diagrams.combine(self.join, one, other)

    def either(self, one: int, other: int) -> int:
        return self.diagrams.combine(lambda a, b: _least(a | b), one, other)

    def join(self, one: Obligation, other: Obligation) -> Obligation:
        self.joins += len(one) * len(other)
        if self.joins > MOST_JOINS:
            raise FailedRunError(f"the automaton of the formula takes more than {MOST_JOINS:,} joins to find")
        return _both(one, other)
