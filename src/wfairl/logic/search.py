"""Search for the automata of highest posterior: best first, over the moves, until nothing promising is left.

    log posterior(A) = log prior(A) + log mean over eta of exp(sum_i evidence_i(A, eta)) + what failures and answers say

The candidates met so far are ranked. The best one that has not been expanded is: all its neighbours are judged, and
the search ends when the `beam_width` best promising ones have all been expanded. A candidate that is longer than the
one it comes from without explaining more is not promising: it is kept as an alternative, but not expanded.

Most neighbours are refuted without planning, because they do not accept what was demonstrated; the others are given
up as soon as the scenes planned so far leave them behind the beam, whatever the rest may say: that bound is exact.
Automata that read the labels of the scenes alike are judged once. Nothing here is random.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import inf, log, log1p
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.logic.evidence import Evidence
from wfairl.logic.kernels import log_mean
from wfairl.logic.moves import neighbours, starts
from wfairl.logic.prior import log_prior
from wfairl.logic.sketch import Sketch, canonical, to_table
from wfairl.parallel import map_in_threads

LEAST_GAIN = 1.0
"""Log evidence that a longer candidate must gain over its parent to be expanded."""

AT_ONCE = 256
"""Candidates that are judged in threads before the next ones are looked at."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """An automaton with its posterior.

    Attributes:
        sketch: the automaton.
        table: its table over the labels of the scenes, in canonical form; [states, labels].
        log_prior: minus its description length, in nats.
        evidence: log evidence of every scene at every temperature, [scenes, temperatures].
        log_evidence: of all scenes, failures and answers, averaged over temperatures.
        promising: whether the search may go on from it.
    """

    sketch: Sketch
    table: NDArray[np.int32]
    log_prior: float
    evidence: NDArray[np.float64]
    log_evidence: float
    promising: bool = True

    @property
    def log_posterior(self) -> float:
        """Up to a constant that is the same for all automata."""
        return self.log_prior + self.log_evidence


@dataclass(frozen=True)
class SearchSettings:
    """How far the search goes.

    Attributes:
        beam_width: number of best candidates to expand before the search ends.
        window: candidates this many nats below the best are not expanded.
        max_states: of an automaton, acceptance not counted.
        max_literals: of a guard.
    """

    beam_width: int = 8
    window: float = 30.0
    max_states: int = 8
    max_literals: int = 3


def search(
    posterior: "Posterior", settings: SearchSettings, progress: Callable[[Candidate], None] | None = None
) -> list[Candidate]:
    """All automata that were judged to the end, the best first.

    Args:
        posterior: judges candidates.
        settings: how far to go.
        progress: is told each candidate that is expanded.
    """
    posterior.judge_all(starts(posterior.propositions))
    expanded: set[Sketch] = set()
    while True:
        beam = _beam(posterior.candidates, settings)
        waiting = [candidate for candidate in beam if candidate.sketch not in expanded]
        if not waiting:
            return sorted(posterior.candidates, key=lambda candidate: -candidate.log_posterior)
        if progress is not None:
            progress(waiting[0])
        expanded.add(waiting[0].sketch)
        needed = beam[-1].log_posterior if len(beam) == settings.beam_width else beam[0].log_posterior - settings.window
        moves = neighbours(
            waiting[0].sketch,
            posterior.propositions,
            posterior.evidence.labels,
            posterior.evidence.visits(to_table(waiting[0].sketch, posterior.evidence.labels)),
            settings.max_states,
            settings.max_literals,
        )
        posterior.judge_all(moves, needed, waiting[0])


def _beam(candidates: Iterable[Candidate], settings: SearchSettings) -> list[Candidate]:
    """The best promising candidates that are not too far behind the best."""
    ranked = sorted((c for c in candidates if c.promising), key=lambda candidate: -candidate.log_posterior)
    least = ranked[0].log_posterior - settings.window
    return [candidate for candidate in ranked[: settings.beam_width] if candidate.log_posterior >= least]


class _Waiting(NamedTuple):
    """A sketch that is to be judged."""

    sketch: Sketch
    log_prior: float
    table: NDArray[np.int32]
    key: bytes


_Evaluated = tuple[NDArray[np.float64] | None, float]
"""Log evidence of every scene at every temperature, None if it was given up; and what failures and answers say."""


class Posterior:
    """Judges automata, each once, several at a time.

    What is needed does not change meanwhile, so that the result does not depend on how many that are.

    Attributes:
        evidence: what the demonstrations say.
        propositions: those that guards may speak of.
        failure_error: probability that a demonstration that fulfils the task is nevertheless said to have failed.
        answer_error: probability that an answer to a question is wrong.
        sketches_met, tables_judged: how many candidates there were, and how many of them had to be looked at.
    """

    def __init__(
        self, evidence: Evidence, propositions: Sequence[str], failure_error: float, answer_error: float, n_jobs: int
    ) -> None:
        self.evidence = evidence
        self.propositions = tuple(propositions)
        self.failure_error = failure_error
        self.answer_error = answer_error
        self._n_jobs = n_jobs
        self.tables_judged = 0
        self._met: set[Sketch] = set()
        self._by_table: dict[bytes, Candidate] = {}
        self._given_up: dict[bytes, float] = {}

    @property
    def candidates(self) -> list[Candidate]:
        """Those judged to the end so far, one for each table."""
        return list(self._by_table.values())

    @property
    def sketches_met(self) -> int:
        """How many different sketches were asked about."""
        return len(self._met)

    def judge_all(self, sketches: Iterable[Sketch], needed: float = -inf, parent: Candidate | None = None) -> None:
        """Judge sketches that may reach a log posterior.

        Args:
            sketches: candidates, also repeated ones.
            needed: below this log posterior they are of no interest.
            parent: the candidate that they come from.
        """
        waiting = self._new(sketches, needed)
        while some := list(islice(waiting, AT_ONCE)):
            first: dict[bytes, _Waiting] = {}
            for one in some:
                if self._is_open(one, needed):
                    first.setdefault(one.key, one)
            evaluated = map_in_threads(lambda one: self._evaluate(one, needed), first.values(), self._n_jobs)
            known = dict(zip(first, evaluated, strict=True))
            for one in some:
                self._judge(one, needed, parent, known)

    def _new(self, sketches: Iterable[Sketch], needed: float) -> Iterator["_Waiting"]:
        """The sketches that were not met before and are not too long."""
        for sketch in sketches:
            if sketch not in self._met:
                self._met.add(sketch)
                prior = log_prior(sketch, len(self.propositions))
                if prior >= needed:
                    table = canonical(to_table(sketch, self.evidence.labels))
                    yield _Waiting(sketch, prior, table, table.tobytes())

    def _is_open(self, one: "_Waiting", needed: float) -> bool:
        """Whether a table was neither judged to the end, nor given up when it had as good a chance."""
        return one.key not in self._by_table and self._given_up.get(one.key, inf) > needed - one.log_prior

    def _evaluate(self, one: "_Waiting", needed: float) -> "_Evaluated":
        verdicts = self.verdict_evidence(one.table)
        return self.evidence.evaluate(one.table, needed - one.log_prior - verdicts), verdicts

    def _judge(
        self,
        one: "_Waiting",
        needed: float,
        parent: Candidate | None,
        evaluated: dict[bytes, "_Evaluated"],
    ) -> None:
        """Take a sketch in, with what was computed for the first one of its table, as if all came one by one."""
        known = self._by_table.get(one.key)
        if known is not None and one.log_prior > known.log_prior:  # the same automaton, described more briefly
            self._by_table[one.key] = replace(known, sketch=one.sketch, log_prior=one.log_prior, promising=True)
        if not self._is_open(one, needed):
            return
        self.tables_judged += 1
        evidence, verdicts = evaluated.pop(one.key) if one.key in evaluated else self._evaluate(one, needed)
        if evidence is None:
            self._given_up[one.key] = needed - one.log_prior
            return
        total = log_mean(evidence.sum(axis=0)) + verdicts
        promising = parent is None or one.log_prior > parent.log_prior or total > parent.log_evidence + LEAST_GAIN
        self._by_table[one.key] = Candidate(one.sketch, one.table, one.log_prior, evidence, total, promising)

    def verdict_evidence(self, table: NDArray[np.int32]) -> float:
        """Log probability of what was said of words: that demonstrations failed, and the answers to questions."""
        accepted = self.evidence.failures_accepted(table)
        contradicted = self.evidence.answers_contradicted(table)
        return _log_binary(accepted, len(self.evidence.failures), self.failure_error) + _log_binary(
            contradicted, sum(one.weight for one in self.evidence.answers), self.answer_error
        )


def _log_binary(wrong: float, count: float, error: float) -> float:
    """Log probability that this many of so many verdicts, and these, are wrong."""
    return wrong * log(error) + (count - wrong) * log1p(-error)
