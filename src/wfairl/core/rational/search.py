"""Search: the automata of highest posterior, best first.

    log posterior(A) = log prior(A) + log P(observations | A)                       `prior`, `evidence`

The search begins with the automata of one edge, and with those of all that every demonstration does. It expands the
best automaton that is not yet expanded: it evaluates all automata that are one move away (`moves`). It ends when the
`BEAM_WIDTH` best ones are all expanded. An automaton that is longer than its parent without explaining more is not
promising: it is kept as an alternative and not expanded.

The best automaton may leave demonstrations out, as if they followed no task, because the automata that explain them too
fell out of the beam before they were whole. So the search goes on among those that explain them, and then among all.

Most automata are refuted without planning, because they do not accept the demonstrations. Others are given up as soon
as they cannot reach the beam any more, whatever the scenes that are not yet planned give: that bound is exact, but
where worlds slip (`Evidence.tighten`). Automata that read the labels of the scenes alike are evaluated once. Nothing
here is random.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.minimisation import Table, canonical_table
from wfairl.core.rational.compact_automaton import CompactAutomaton
from wfairl.core.rational.evidence import Evidence
from wfairl.core.rational.moves import constrained, neighbours, starts
from wfairl.core.rational.prior import log_prior
from wfairl.core.rational.tables import read_word
from wfairl.core.support.parallel import map_in_threads

BEAM_WIDTH, WINDOW = 8, 30.0
"""How many of the best automata are expanded before the search ends, and how many nats they lie below the best."""

LEAST_EVIDENCE_GAIN = 1.0
"""Log evidence that a longer candidate must gain over its parent to be expanded."""

BATCH_SIZE = 256
"""Candidates that are evaluated in threads before the next ones are generated."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """An automaton with its posterior."""

    automaton: CompactAutomaton
    table: Table  # its table over the labels of the scenes, in canonical form; [states, labels]
    log_prior: float  # minus its description length, in nats
    log_evidence: float  # of all scenes, failures and answers, averaged over temperatures
    promising: bool = True  # whether the search may go on from it

    @property
    def log_posterior(self) -> float:
        """Up to a constant that is the same for all automata."""
        return self.log_prior + self.log_evidence


def search(evaluator: "Evaluator") -> list[Candidate]:
    """All automata that were evaluated completely, the best first."""
    evaluator.evaluate_all(starts(evaluator.propositions, *evaluator.evidence.always_read))
    expanded: set[CompactAutomaton] = set()
    _expand(evaluator, expanded)
    best, scenes = evaluator.candidates[:1], evaluator.evidence.observations.scenes
    left_out = [scene.word for one in best for scene in scenes if not _ends(one.table, scene.word)]
    if left_out:
        _expand(evaluator, expanded, left_out)
        _expand(evaluator, expanded)
    return evaluator.candidates


def _expand(evaluator: "Evaluator", expanded: set[CompactAutomaton], words: Sequence[NDArray[np.int32]] = ()) -> None:
    """Expand the best automata, of those that explain some words, until all in the beam are expanded."""
    labels = evaluator.evidence.labels
    while True:
        beam = _beam(one for one in evaluator.candidates if all(_ends(one.table, word) for word in words))
        best = next((candidate for candidate in beam if candidate.automaton not in expanded), None)
        if best is None:
            return
        expanded.add(best.automaton)
        needed = beam[-1].log_posterior if len(beam) == BEAM_WIDTH else beam[0].log_posterior - WINDOW
        reads = evaluator.evidence.reads(best.automaton._replace(constraints=()).to_table(labels))
        moves = neighbours(best.automaton, evaluator.propositions, labels, reads)
        constraints = constrained(best.automaton, evaluator.evidence.possible_constraints)
        evaluator.evaluate_all(chain(moves, constraints), needed, best)


def _ends(table: Table, word: NDArray[np.int32]) -> bool:
    """Whether an automaton accepts a word exactly at its end."""
    return read_word(table, word) == len(word)


def _beam(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The best promising candidates that are not too far behind the best."""
    ranked = list(islice((candidate for candidate in candidates if candidate.promising), BEAM_WIDTH))
    return [one for one in ranked if one.log_posterior >= ranked[0].log_posterior - WINDOW]


class _Pending(NamedTuple):
    """An automaton that waits for its evaluation, with its canonical table and the bytes of that table."""

    automaton: CompactAutomaton
    log_prior: float
    table: Table
    key: bytes


class Evaluator:
    """Evaluates automata, each once, several at a time; the result does not depend on how many at a time."""

    def __init__(self, evidence: Evidence, propositions: Sequence[str], n_jobs: int) -> None:
        self.evidence, self._n_jobs = evidence, n_jobs
        self.propositions = tuple(propositions)  # those that guards may contain
        self._generated: set[CompactAutomaton] = set()
        self._by_table: dict[bytes, Candidate] = {}

    @property
    def candidates(self) -> list[Candidate]:
        """Those evaluated completely so far, one for each table, the best first."""
        return sorted(self._by_table.values(), key=lambda candidate: -candidate.log_posterior)

    @property
    def automata_generated(self) -> int:
        """How many different automata were given to `evaluate_all`."""
        return len(self._generated)

    def evaluate_all(
        self, automata: Iterable[CompactAutomaton], needed: float = -inf, parent: Candidate | None = None
    ) -> None:
        """Evaluate automata, the neighbours of `parent`; a log posterior below `needed` is of no interest."""
        pending = self._new(automata, needed)
        while batch := list(islice(pending, BATCH_SIZE)):
            self.evidence.tighten()
            first = {one.key: one for one in reversed(batch) if one.key not in self._by_table}
            list(map_in_threads(lambda one: self._log_evidence(one, needed), first.values(), self._n_jobs))
            for one in batch:
                self._record(one, needed, parent)

    def _new(self, automata: Iterable[CompactAutomaton], needed: float) -> Iterator[_Pending]:
        """The automata that are new and not too long."""
        for automaton in automata:
            if automaton not in self._generated:
                self._generated.add(automaton)
                prior = log_prior(automaton, len(self.propositions))
                if prior >= needed:
                    table = canonical_table(automaton.to_table(self.evidence.labels))
                    yield _Pending(automaton, prior, table, table.tobytes())

    def _log_evidence(self, one: _Pending, needed: float) -> float:
        return self.evidence.log_probability(one.table, needed - one.log_prior)

    def _record(self, one: _Pending, needed: float, parent: Candidate | None) -> None:
        """Record an automaton as if all came one by one; the evidence remembers those that were evaluated together."""
        earlier = self._by_table.get(one.key)
        if earlier is not None:
            if one.log_prior > earlier.log_prior:  # the same language, described more briefly
                briefer = replace(earlier, automaton=one.automaton, log_prior=one.log_prior, promising=True)
                self._by_table[one.key] = briefer
            return
        found = self._log_evidence(one, needed)
        if found > -inf:
            promising = (
                parent is None or one.log_prior > parent.log_prior or found > parent.log_evidence + LEAST_EVIDENCE_GAIN
            )
            self._by_table[one.key] = Candidate(one.automaton, one.table, one.log_prior, found, promising)
