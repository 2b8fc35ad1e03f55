"""LTLf: an automaton as a formula of temporal logic over finite words, and back.

LTLf expresses less than automata: no formula counts, such as "an even number of times". This module writes

1. conjunctions of the rules that people state: `F (a & (F b))`, `G !a`, `!b W a`, `G (!a | (F b))`;
2. any automaton that never returns to a state that it has left. With s the condition that state q is kept and e_r that
   r follows,

       f(q) = s U (e_r & X[!] f(r) | ...)      with W for U where q accepts, and WX for X[!] where r does

Every formula is parsed again and compared with the automaton before it is returned.
"""

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from itertools import permutations

from wfairl.core.automata.automaton import DEAD, Automaton, Guard
from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.support.errors import BadInputError, FailedRunError
from wfairl.specifications.diagrams import shortest_choices
from wfairl.specifications.formats.rule_sentences import template_formula
from wfairl.specifications.ltlf_automaton import formula_automaton
from wfairl.specifications.ltlf_formula import (
    FALSE,
    TRUE,
    Formula,
    conjunction,
    disjunction,
    negation,
    parse_formula,
    proposition,
)
from wfairl.specifications.symbolic import SymbolicAutomaton, as_symbolic, implies

__all__ = ["from_ltlf", "to_ltlf"]

LONGEST_FORMULA = 20_000
"""Longer formulas are not readable."""

MOST_STATED, MOST_STATED_STATES = 12, 128
"""The rules that people state are searched up to this many propositions and states."""


def from_ltlf(text: str) -> GuardedAutomaton:
    """The automaton of the words that fulfil a formula; if there are none, a `NoAcceptedWordError`."""
    return formula_automaton(parse_formula(text)).to_guarded()


def to_ltlf(automaton: Automaton) -> str:
    """The formula of an automaton, on one line; a `BadInputError` if there is none that this module finds."""
    smallest = as_symbolic(automaton).minimal()
    if not any(smallest.accepting):
        return f"{FALSE}\n"
    text = str(_stated_rules(smallest) or _state_by_state(smallest))
    read = formula_automaton(parse_formula(text), smallest.diagrams)
    if not (implies(read, smallest) and implies(smallest, read)):  # a wrong formula is worse than none
        raise FailedRunError("the formula that was found is not that of the automaton; please report this")
    return f"{text}\n"


def _stated_rules(automaton: SymbolicAutomaton) -> Formula | None:
    """The conjunction of all rules of the usual kinds that every accepted word keeps; None if it accepts more words."""
    names = automaton.diagrams.propositions
    if not 0 < len(names) <= MOST_STATED or len(automaton.rows) > MOST_STATED_STATES:
        return None
    never = [name for name in names if _implied(automaton, template_formula("absence", name))]
    others = [name for name in names if name not in never]
    chains = [_visits(chain) for chain in sorted(_longest_chains(automaton, others))]
    pairs = [template_formula(kind, *pair) for kind in ("precedence", "response") for pair in permutations(others, 2)]
    absent = [template_formula("absence", name) for name in never]
    rules = [*absent, *chains, *(rule for rule in pairs if _implied(automaton, rule))]
    if not rules or not _suffice(automaton, rules):
        return None
    for rule in reversed(rules):
        rest = [one for one in rules if one != rule]
        if rest and _suffice(automaton, rest):
            rules = rest
    return conjunction(*rules)


def _visits(chain: Iterable[str]) -> Formula:
    """The propositions come true one after the other, or at once."""
    formula = TRUE
    for name in reversed(tuple(chain)):
        formula = Formula("F", (conjunction(proposition(name), formula),))
    return formula


def _longest_chains(automaton: SymbolicAutomaton, names: Iterable[str]) -> list[tuple[str, ...]]:
    """The orders of visits that every accepted word keeps and that are part of no longer one, longest first."""
    chains: list[tuple[str, ...]] = [(name,) for name in names if _implied(automaton, _visits((name,)))]
    for chain in chains:  # which grows meanwhile
        longer = [(*chain, name) for name in names if name not in chain]
        chains += [one for one in longer if _implied(automaton, _visits(one))]
    longest: list[tuple[str, ...]] = []
    for chain in reversed(chains):
        if not any(tuple(name for name in one if name in chain) == chain for one in longest):
            longest.append(chain)
    return longest


def _implied(automaton: SymbolicAutomaton, rule: Formula) -> bool:
    """Whether every accepted word keeps a rule."""
    return implies(automaton, formula_automaton(rule, automaton.diagrams))


def _suffice(automaton: SymbolicAutomaton, rules: list[Formula]) -> bool:
    """Whether every word that keeps the rules is accepted."""
    return implies(formula_automaton(conjunction(*rules), automaton.diagrams), automaton)


def _state_by_state(automaton: SymbolicAutomaton) -> Formula:
    """The formula of an automaton that never returns to a state that it has left, from the last state back."""
    formulas: dict[int, Formula] = {}
    for state in _successors_first(automaton):
        formulas[state] = _formula_from(automaton, state, formulas)
        if len(str(formulas[state])) > LONGEST_FORMULA:
            raise BadInputError(
                f"the formula of this automaton has more than {LONGEST_FORMULA:,} characters; export it as hoa"
            )
    return formulas[0]


def _formula_from(automaton: SymbolicAutomaton, state: int, formulas: dict[int, Formula]) -> Formula:
    """The formula of the words that are accepted from a state on."""
    targets = automaton.successors(state)
    stay = _condition(automaton, state, {state})
    leave = []
    for target in sorted(targets - {state, DEAD}):
        then = formulas[target]
        if automaton.accepting[target] and then != TRUE:
            then = negation(Formula("X[!]", (negation(then),)))  # the weak next, which tools write differently
        elif then != TRUE:
            then = Formula("X[!]", (then,))
        leave.append(conjunction(_condition(automaton, state, {target}), then))
    if automaton.accepting[state]:
        if not leave:
            return TRUE if stay == TRUE else Formula("G", (stay,))
        return Formula("W", (stay, disjunction(*leave)))
    if DEAD not in targets and all(formulas[one] == TRUE for one in targets - {state}):
        return Formula("F", (_condition(automaton, state, targets - {state}),))
    at_once = disjunction(*leave)
    if stay == FALSE and not formula_automaton(at_once, automaton.diagrams).accepting[0]:
        return at_once  # the empty word does not fulfil it, as it must not
    return Formula("U", (stay, at_once))


def _condition(automaton: SymbolicAutomaton, state: int, targets: set[int]) -> Formula:
    """The labels that lead from a state to the targets, in disjunctive normal form; or the opposite, negated."""
    diagrams = automaton.diagrams
    cases = [*diagrams.cases(diagrams.map(lambda after: int(after in targets), automaton.rows[state]))]
    direct, opposite = (
        disjunction(*(_conjunction_of(guard) for guard, _ in shortest_choices(cases, value, value))) for value in (0, 1)
    )
    return min(direct, negation(opposite), key=lambda one: len(str(one)))


def _conjunction_of(guard: Guard) -> Formula:
    true, false = (map(proposition, sorted(names)) for names in (guard.true, guard.false))
    return conjunction(*true, *map(negation, false))


def _successors_first(automaton: SymbolicAutomaton) -> Iterable[int]:
    """The states, each after all that it leads to; a cycle through several states is a `BadInputError`."""
    followers = {state: automaton.successors(state) - {DEAD, state} for state in range(len(automaton.rows))}
    try:
        return [*TopologicalSorter(followers).static_order()]
    except CycleError as error:
        cycle = ", ".join(map(str, sorted(set(error.args[1]))))
        raise BadInputError(
            f"no formula was found: the automaton returns to states that it has left ({cycle}); LTLf expresses only"
            " some automata that do, and this export none of them; export it as hoa"
        ) from None
