"""A rule in sentences for other tools: Declare, as process mining writes it, and LTLf.

The formula of a rule joins those of its constraints. No formula says that two events happen equally
often: such a constraint is left out.
"""

from collections.abc import Callable

from wfairl.core.support.errors import BadInputError
from wfairl.events.learned_rule import LearnedRule, SupportedConstraint
from wfairl.specifications.ltlf_formula import FALSE, TRUE, Formula, conjunction, disjunction, negation, proposition

OTHER_NAMES = {"order": "Not Succession", "at most once": "Absence2", "exactly once": "Exactly1"}
"""The names that Declare has for templates of ours; "no a once b has happened" is its Not Succession from b to a."""


def to_declare(rule: LearnedRule) -> str:
    """The activities and constraints of a conjunction, one per line; a constraint that Declare lacks is a comment."""
    if not rule.is_conjunction or not all(one.kept for one in rule.constraints):
        raise BadInputError(f"Declare has no 'or' and no 'not': {'; '.join(rule.sentences)}; export it as ltlf")
    names = sorted({name for one in rule.constraints for name in one.constraint.propositions})
    lines = [f"activity {name}" for name in names]
    for one in rule.constraints:
        kind, arguments = one.constraint.template.name, list(one.constraint.propositions)
        if kind == "order":
            arguments.reverse()
        told = f"{OTHER_NAMES.get(kind, kind.title())}[{', '.join(arguments)}]{' |' * (len(arguments) + 1)}"
        lines.append(told if one.constraint.is_finite else f"# {one.sentence}")
    return "\n".join(lines) + "\n"


def rule_to_ltlf(rule: LearnedRule) -> str:
    """The formula of a rule, on one line."""
    terms = [
        [_formula(one) for one in term if one.constraint.is_finite]  # the others say what none can
        for term in rule.terms
    ]
    whole = disjunction(*(conjunction(*term) if term else TRUE for term in terms))
    return f"{negation(whole) if rule.of_failures else whole}\n"


def _formula(one: SupportedConstraint) -> Formula:
    formula = template_formula(one.constraint.template.name, *one.constraint.propositions)
    return formula if one.kept else negation(formula)


def template_formula(template: str, *propositions: str) -> Formula:
    """The formula of a template with its propositions."""
    return FORMULAS[template](*map(proposition, propositions))


def _always(inner: Formula) -> Formula:
    return Formula("G", (inner,))


def _finally(inner: Formula) -> Formula:
    return Formula("F", (inner,))


def _then_not(a: Formula, later: Formula) -> Formula:
    """Whenever a holds, nothing of `later` holds at the next place, if there is one."""
    return _always(disjunction(negation(a), Formula("WX", (later,))))


FORMULAS: dict[str, Callable[..., Formula]] = {
    "existence": _finally,
    "absence": lambda a: _always(negation(a)),
    "precedence": lambda a, b: Formula("W", (negation(b), a)),
    "response": lambda a, b: _always(disjunction(negation(a), _finally(b))),
    "responded existence": lambda a, b: disjunction(_always(negation(a)), _finally(b)),
    "order": lambda a, b: _always(disjunction(negation(b), _always(negation(a)))),
    "not co-existence": lambda a, b: disjunction(_always(negation(a)), _always(negation(b))),
    "choice": lambda a, b: disjunction(_finally(a), _finally(b)),
    "init": lambda a: a,
    "end": lambda a: _finally(conjunction(a, Formula("WX", (FALSE,)))),
    "at most once": lambda a: _then_not(a, _always(negation(a))),
    "exactly once": lambda a: conjunction(_finally(a), _then_not(a, _always(negation(a)))),
    "not chain succession": lambda a, b: _then_not(a, negation(b)),
}
