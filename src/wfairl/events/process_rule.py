"""What the cases of a process have in common, learned from cases that went well.

A constraint is a rule if the cases keep it and chance would not. Chance puts the events of a case in any order, and
decides for each event alone whether, and how often, a case has it. Of the N cases that a constraint speaks of, n break
it, where chance would break it in E. The evidence for it is the likelihood ratio of two Poisson rates, in nats:

    evidence = E - n + n log(n / E)

Nothing says beforehand how many of the cases went wrong. A mistake loses, doubles or moves an event: of the cases that
keep a constraint, V_k would break it if each of them had one mistake of kind k. Of cases that do not belong in the log,
chance breaks it in V_0 = E. If a share s_k of the cases is of each kind, a rule is broken in about

    sum_k s_k V_k

cases, and a constraint that more cases break is no rule. The shares are those that explain the constraints with much
evidence, most of which are rules: none if more than half of them are never broken.

Mistakes are the same in cases that were not seen. If these break the rule more often, what looked like mistakes are
cases that differ by right, and a constraint that any case breaks is no rule.

A rule must also hold of cases that were not seen. Five folds tell how many cases break a constraint that the others
keep. The least evidence is raised until no more than `FALSE_ALARMS` of the cases do so.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.word_corpus import Corpus
from wfairl.events.candidates import Candidates
from wfairl.events.constraints import EventConstraint, Held, Indices, Occurrences, all_held
from wfairl.events.implications import without_implied
from wfairl.events.learned_rule import LearnedRule, SupportedConstraint
from wfairl.events.relations import Relations

Floats: TypeAlias = NDArray[np.float64]

LOST, DOUBLED, MOVED = KINDS = range(3)

FALSE_ALARMS = 0.01
"""Largest share of unseen cases, beside those that go wrong, which may break the rule."""

NEW_ALARMS = 0.07
"""Largest share of the cases within a rule with mistakes that may break it when they are not seen."""

FOLDS = 5

LEAST_EVIDENCE = 5.0
"""Nats beyond those that the best of all candidates reaches by chance."""

FIRM = 0.1
"""A constraint that a larger share of cases breaks says nothing about noise."""

MISTAKES_EXPLAIN = 0.9
"""A rule is broken by more cases than mistakes explain with at most the rest of this probability."""

DRAWS = 4
"""How often mistakes are drawn for every case."""


def find_rule(
    corpus: Corpus, alphabet: Sequence[Label], candidates: Candidates, outliers: float | None, rng: np.random.Generator
) -> LearnedRule:
    """The rule of cases that went well, whose symbols are the labels of `alphabet`.

    `outliers` is the share of cases that may break the rule, estimated if None; `rng` draws the folds.
    """
    relations = Relations.of(corpus, alphabet)
    occurrences = Occurrences.of(corpus, alphabet, candidates.propositions)
    counts = _Counts.of(candidates, occurrences, relations)
    firm = np.flatnonzero(counts.evidence >= math.log(max(len(candidates), 1)) + LEAST_EVIDENCE)
    firm = firm[np.argsort(-counts.evidence[firm], kind="stable")[:20_000]]  # whose cases are looked at one by one
    constraints = [candidates.constraint(int(i)) for i in firm]
    broken, counts = ~all_held(constraints, occurrences), counts.take(firm)
    mistaken = _broken_by_mistakes(constraints, broken, corpus, alphabet, candidates.propositions, rng)
    most = _most_broken(np.column_stack([mistaken, counts.expected]), counts)
    if most.any() and _new_alarms(broken, counts, most, rng.spawn(1)[0]) > NEW_ALARMS:
        most = np.zeros_like(most)
    is_rule = counts.broken <= most if outliers is None else _within(broken, counts, outliers * len(corpus))
    least, alarms = _least_evidence(broken, counts, is_rule, most, rng)
    chosen = np.flatnonzero(is_rule & (counts.evidence > least))
    needed = {*without_implied(constraints[i] for i in chosen)}
    supported = [
        SupportedConstraint.of(constraints[i], int(counts.support[i]), int(counts.broken[i]), float(counts.evidence[i]))
        for i in chosen
        if constraints[i] in needed
    ]
    supported.sort(key=lambda one: (-one.evidence, one.sentence))
    share = float(broken[chosen].any(axis=0).mean()) if len(chosen) else 0.0
    return LearnedRule((tuple(supported),), 0, share, alarms, relations)


@dataclass(frozen=True, eq=False)
class _Counts:
    """How many cases each candidate speaks of, how many break it, and how many would by chance; shape [candidates]."""

    support: Indices
    broken: Indices
    expected: Floats

    @classmethod
    def of(cls, candidates: Candidates, occurrences: Occurrences, relations: Relations) -> "_Counts":
        chance = _Chance(occurrences, relations)
        parts: list[tuple[NDArray[Any], ...]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        for template, a, b in candidates.batches(len(occurrences)):
            # what never happens does not happen among these cases
            support, probability = CHANCES[template.name](chance, a, b) if template.name in CHANCES else (0, 0.0)
            support = np.broadcast_to(support, len(a))
            parts.append((support, (~template.holds(occurrences, a, b)).sum(axis=1), support * probability))
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def take(self, which: Indices) -> "_Counts":
        return _Counts(self.support[which], self.broken[which], self.expected[which])

    @cached_property
    def evidence(self) -> Floats:
        """In nats; minus infinity where chance breaks it no more often than the cases do."""
        n, e = self.broken.astype(np.float64), np.maximum(self.expected, 1e-12)
        ratio = np.log(np.maximum(n, 1e-12) / e)
        return np.where(n < e, e - n + n * ratio, -np.inf)


class _Chance:
    """How many cases have each proposition, and how often each would come by chance."""

    def __init__(self, occurrences: Occurrences, relations: Relations) -> None:
        self.cases = len(occurrences)
        self.having = (occurrences.counts > 0).sum(axis=1)
        self.share = self.having / max(self.cases, 1)
        number = {name: i for i, name in enumerate(relations.propositions)}
        known = np.array([number.get(name, -1) for name in occurrences.propositions], np.int64)
        self.together = np.where((known[:, None] >= 0) & (known >= 0), relations.together[np.ix_(known, known)], 0)
        self.often = relations.often[known] / max(self.cases, 1)
        total = max(int(occurrences.counts.sum()), 1)
        self.frequency = occurrences.counts.sum(axis=1) / total
        rate = np.outer(self.frequency, np.arange(int(occurrences.ends.max(initial=0)) + 2))  # events by chance
        lengths = np.bincount(occurrences.ends + 1, minlength=rate.shape[1]) / max(self.cases, 1)
        self.none = np.exp(-rate) @ lengths
        self.once = (rate * np.exp(-rate)) @ lengths
        self.events = occurrences.counts.sum(axis=1)

    def either(self, a: Indices, b: Indices) -> Indices:
        """How many cases have one of two propositions."""
        return self.having[a] + self.having[b] - self.together[a, b]


CHANCES: dict[str, Callable[[_Chance, Indices, Indices], tuple[Any, Any]]] = {
    "existence": lambda c, a, _: (c.cases, c.none[a]),
    "init": lambda c, a, _: (c.cases, 1 - c.frequency[a]),
    "end": lambda c, a, _: (c.cases, 1 - c.frequency[a]),
    "at most once": lambda c, a, _: (c.having[a], (1 - c.none[a] - c.once[a]) / np.maximum(1 - c.none[a], 1e-12)),
    "exactly once": lambda c, a, _: (c.cases, 1 - c.once[a]),
    "precedence": lambda c, a, b: (c.having[b], 1 - c.share[a] / 2),
    "response": lambda c, a, b: (c.having[a], 1 - c.share[b] / 2),
    "responded existence": lambda c, a, b: (c.having[a], 1 - c.share[b]),
    "order": lambda c, a, b: (c.together[a, b], 0.5),
    "not co-existence": lambda c, a, b: (c.either(a, b), c.share[a] * c.share[b]),
    "choice": lambda c, a, b: (c.cases, (1 - c.share[a]) * (1 - c.share[b])),
    "not chain succession": lambda c, a, b: (
        c.having[a],
        1 - np.exp(-c.events[a] * c.frequency[b] / np.maximum(c.having[a], 1)),
    ),
    "equally often": lambda c, a, b: (c.either(a, b), 1 - (c.often[a] * c.often[b]).sum(axis=1)),
}
"""Of each template, how many cases it speaks of, and the probability that chance breaks it in one; [choices] each."""


def _broken_by_mistakes(
    constraints: Sequence[EventConstraint],
    broken: Held,
    corpus: Corpus,
    alphabet: Sequence[Label],
    propositions: Sequence[str],
    rng: np.random.Generator,
) -> Floats:
    """V: how many cases break a constraint only after a mistake of each kind, shape [constraints, kinds]."""
    columns = []
    for kind in KINDS:
        total = np.zeros(len(constraints))
        for _ in range(DRAWS):
            mistaken = with_mistakes(corpus, np.full(len(corpus), kind), rng)
            places = Occurrences.of(mistaken, alphabet, propositions)
            total += [(~(one.holds(places) | was)).sum() for one, was in zip(constraints, broken, strict=True)]
        columns.append(total / DRAWS)
    return np.array(columns).T


def with_mistakes(corpus: Corpus, kinds: Indices, rng: np.random.Generator) -> Corpus:
    """The corpus with one mistake in each word, of the kinds in `kinds`, shape [words]; empty words stay as they are.

    The event is drawn, and the place of its copy or where it goes.
    """
    lengths, count = corpus.lengths, len(corpus)
    chosen = corpus.offsets[:-1] + np.floor(rng.random(count) * lengths).astype(np.int64)  # the event of each word
    goal = np.floor(rng.random(count) * (lengths + 1)) - 0.5  # between two places
    word = np.repeat(np.arange(count), lengths)
    place = np.arange(len(word)) - np.repeat(corpus.offsets[:-1], lengths).astype(np.float64)
    stays = np.ones(len(word), bool)
    stays[chosen[(lengths > 0) & (kinds != DOUBLED)]] = False
    comes = np.flatnonzero((lengths > 0) & (kinds != LOST))
    words = np.concatenate([word[stays], comes])
    places = np.concatenate([place[stays], goal[comes]])
    symbols = np.concatenate([corpus.symbols[stays], corpus.symbols[chosen[comes]]])
    offsets = np.concatenate([[0], np.cumsum(np.bincount(words, minlength=count))])
    return Corpus(symbols[np.lexsort((places, words))], offsets.astype(np.int64), corpus.weights)


def _most_broken(mistaken: Floats, counts: _Counts) -> Floats:
    """How many cases may break a constraint by mistakes alone, shape [constraints]."""
    from scipy.optimize import nnls  # here, because scipy is slow to import
    from scipy.stats import poisson

    mean, broken = mistaken.mean(axis=1), counts.broken
    firm = np.flatnonzero((broken <= FIRM * counts.support) & (mean > 0))
    ratios = broken[firm] / mean[firm]
    order = np.argsort(ratios, kind="stable")
    halfway = np.searchsorted(np.cumsum(mean[firm][order]), mean[firm].sum() / 2)
    shares = np.full(mistaken.shape[1], ratios[order][halfway] / mistaken.shape[1] if len(firm) else 0.0)
    if not shares.any():
        return np.zeros(len(counts.broken))
    for _ in range(ROUNDS):
        explained = firm[broken[firm] <= poisson.ppf(EXPLAINED, mistaken[firm] @ shares)]
        weights = 1 / np.sqrt(np.maximum(mistaken[explained] @ shares, 1.0))
        shares, _ = nnls(mistaken[explained] * weights[:, None], broken[explained] * weights)
    most: Floats = poisson.ppf(MISTAKES_EXPLAIN, mistaken @ shares)
    return np.minimum(most, FIRM * counts.support)


ROUNDS, EXPLAINED = 10, 0.99
"""The shares of mistakes are found in so many rounds, each from the constraints that the last shares explain."""


def _new_alarms(broken: Held, counts: _Counts, most: Floats, rng: np.random.Generator) -> float:
    """By how much fewer cases keep the rule of the other folds than the rule of all cases, as a share of the latter."""
    seen = broken[counts.broken <= most].any(axis=0).sum()
    folds = _folds(broken, counts, most * (1 - 1 / FOLDS), rng)
    unseen = sum(there[rule].any(axis=0).sum() for _, there, rule in folds)
    return float(unseen - seen) / max(broken.shape[1] - int(seen), 1)


def _folds(broken: Held, counts: _Counts, limit: Floats, rng: np.random.Generator) -> Iterator[tuple[Held, Held, Held]]:
    """For each fold: which cases are in it, what they break, and what at most `limit` of the other cases break."""
    fold_of = rng.permutation(broken.shape[1]) % FOLDS
    for fold in range(FOLDS):
        there = broken[:, fold_of == fold]
        yield fold_of == fold, there, counts.broken - there.sum(axis=1) <= limit


def _within(broken: Held, counts: _Counts, most: float) -> Held:
    """The constraints that the fewest cases break, as long as at most so many cases break one of them."""
    is_rule, outliers = np.zeros(len(broken), bool), np.zeros(broken.shape[1], bool)
    for i in np.argsort(counts.broken / np.maximum(counts.support, 1), kind="stable"):
        more = outliers | broken[i]
        if more.sum() <= most:
            is_rule[i], outliers = True, more
    return is_rule


def _least_evidence(
    broken: Held, counts: _Counts, is_rule: Held, most: Floats, rng: np.random.Generator
) -> tuple[float, float]:
    """The least evidence of a rule that unseen cases keep, and the share of unseen cases that still break it.

    Each case is unseen by the rule of the other folds. It is a false alarm if it breaks a constraint of that rule, and
    none of the rule of all cases.
    """
    cases = broken.shape[1]
    if cases < 2 * FOLDS or not is_rule.any():
        return 0.0, 0.0
    strongest = np.zeros(cases)
    for unseen, there, rule in _folds(broken, counts, np.where(is_rule, counts.broken, most), rng):
        weight = np.where(rule & ~is_rule & (most == 0), counts.evidence, 0.0)
        strongest[unseen] = (there * weight[:, None]).max(axis=0, initial=0.0)
    order = np.sort(strongest)[::-1]
    allowed = int(FALSE_ALARMS * cases)
    least = float(order[allowed]) if allowed < cases else 0.0
    return least, float((strongest > least).mean())
