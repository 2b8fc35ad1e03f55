"""DeclareLearner: a rule made of small constraints, chosen by description length.

If some words failed, `outcome_rule` finds what tells successes from failures. If all words succeeded, `process_rule`
finds what they have in common.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.finite import FiniteAutomaton, TooManyStatesError
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import Word
from wfairl.core.demonstrations.learners import PLAIN_READING, LearnedTask, Reading, WordLearner
from wfairl.core.support.bounds import AtLeastOne, Fraction, Seed, check_bounds
from wfairl.events.candidates import Candidates, templates_for
from wfairl.events.dfa import Dfa, all_words, complement, intersect_dfas, minimal, product, to_finite
from wfairl.events.flagged_corpus import FlaggedCorpus, random_part
from wfairl.events.learned_rule import LearnedRule, SupportedConstraint
from wfairl.events.outcome_rule import find_outcome_rule
from wfairl.events.process_rule import find_rule
from wfairl.events.relations import MOST_PROPOSITIONS, most_frequent

MEMORY = 2**32
"""Most bits of all candidates' rows: half a gigabyte.

If the words need more, a random part of them is used. If too few words would be left, only the most frequent
propositions are paired.
"""


@dataclass(frozen=True)
class DeclareLearner(WordLearner):
    """The rule that describes the successes best.

    Attributes:
        max_states: most states of the automaton; constraints that need more are kept as sentences alone.
        outliers: share of the cases that may break a rule learned from successes alone; estimated if None.
        seed: draws folds, and a part of the words if there are too many.
    """

    max_states: AtLeastOne = 256
    outliers: Fraction | None = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_bounds(self)

    def fit(self, words: Sequence[Word], scores: Sequence[float], reading: Reading = PLAIN_READING) -> LearnedTask:
        data, rng = FlaggedCorpus.of(words, scores, reading), np.random.default_rng(self.seed)
        alphabet, only_successes = data.alphabet, bool(data.succeeded.all())
        propositions = tuple(sorted(frozenset().union(*alphabet)))
        # of more than 20,000 words, some may be left out to try more pairs of propositions
        most = _most_paired(min(len(words), 20_000), reading.keep_repeats)
        paired = most_frequent(data.corpus, alphabet, propositions, min(most, MOST_PROPOSITIONS))
        candidates = Candidates.over(propositions, reading.keep_repeats, paired, finite=not only_successes)
        part = random_part(len(words), max(MEMORY // max(len(candidates), 1), 1), rng)
        corpus = data.corpus.take(part)
        if only_successes:
            rule = find_rule(corpus, alphabet, candidates, self.outliers, rng)
            bits = -sum(one.evidence for one in rule.constraints) / math.log(2)
        else:
            rows = candidates.kept_by(corpus, alphabet)
            rule, bits = find_outcome_rule(candidates, rows, data.succeeded[part], rng)
            bits = bits * len(words) / len(corpus)
        fitting, finite = automaton_of_rule(rule, alphabet, self.max_states)
        rule = replace(rule, in_automaton=fitting)
        # Without counting constraints a repeated label changes nothing: the table is right for any word.
        stated = rule.sentences or ("anything may happen: no rule was found",)
        model = TaskModel.of_automaton(finite, "declare", data.words, data.flags, stated=stated, record=rule)
        unpaired = np.delete(propositions, paired).tolist()
        notes = tuple(_notes(rule, unpaired, len(corpus), len(words)))
        return LearnedTask(model, bits, trivial=not rule.sentences, notes=notes)


def _notes(rule: LearnedRule, unpaired: Sequence[str], used: int, words: int) -> Iterator[str]:
    if unpaired:
        yield (
            f"there are too many propositions to try all pairs: the {len(unpaired)} rarest, such as"
            f" '{unpaired[0]}', were left out, and a rule about one of them and another would not be found"
        )
    if used < words:
        yield f"of {words:,} words {used:,} were used, drawn at random"
    alone = len(rule.constraints) - rule.in_automaton
    if alone:
        counting = sum(not one.constraint.is_finite for one in rule.constraints)
        why = "which cannot count events" if alone == counting else "which would be too large"
        one_or_more = f"{alone} of the {len(rule.constraints)} sentences {'is' if alone == 1 else 'are'}"
        yield f"{one_or_more} not in the automaton, {why}; verdicts keep to all of them"


def _most_paired(words: int, keep_repeats: bool) -> int:
    """How many propositions may be paired so that the rows of that many words fit into memory."""
    ordered = sum(0.5 if one.symmetric else 1.0 for one in templates_for(keep_repeats) if one.arguments == 2)
    return math.isqrt(int(MEMORY / ordered / max(words, 1)))


def automaton_of_rule(rule: LearnedRule, alphabet: Sequence[Label], max_states: int) -> tuple[int, FiniteAutomaton]:
    """How many constraints of a rule an automaton of so many states holds, and the automaton.

    A conjunction is cut to what fits. Any other rule fits whole or not at all.
    """
    if rule.is_conjunction:
        return _fit_into(rule.terms[0], alphabet, max_states)
    labels = len(alphabet)
    try:
        terms = [intersect_dfas([_table(one, alphabet) for one in term], labels, max_states) for term in rule.terms]
        none = intersect_dfas([*map(complement, terms)], labels, max_states)
    except TooManyStatesError:
        return 0, to_finite(all_words(labels), tuple(alphabet))
    whole = none if rule.of_failures else complement(none)
    return len(rule.constraints), to_finite(whole, tuple(alphabet))


def _table(one: SupportedConstraint, alphabet: Sequence[Label]) -> Dfa:
    table = one.constraint.table(alphabet)
    return table if one.kept else complement(table)


def _fit_into(
    constraints: Sequence[SupportedConstraint], alphabet: Sequence[Label], max_states: int
) -> tuple[int, FiniteAutomaton]:
    """How many of the constraints an automaton of so many states holds, and the automaton.

    Constraints are added in their order. One that makes the automaton too large, or empty, is passed over; after 40 of
    them, no more are tried.
    """
    table, fitting, refused = all_words(len(alphabet)), 0, 0
    for one in constraints:
        if not one.constraint.is_finite or refused == 40:
            continue
        larger = minimal(product(table, _table(one, alphabet)))
        if larger.states > max_states or not larger.accepting.any():
            refused += 1
        else:
            table, fitting = larger, fitting + 1
    return fitting, to_finite(table, tuple(alphabet))
