"""The paper's learner of tasks: the weighted automaton of scored words, which gives unseen words the value zero."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wfairl.core.automata.finite import DEFAULT_TOLERANCE, MOST_QUOTIENT_STATES, quotient
from wfairl.core.automata.sentences import listed, quote
from wfairl.core.automata.task_model import FitSummary, TaskModel, count_edges
from wfairl.core.automata.words import Word, as_read, with_optional_start
from wfairl.core.demonstrations.learners import PLAIN_READING, SPECTRAL, LearnedTask, Reading, WordLearner
from wfairl.core.support.bounds import AtLeastOne, NotNegative, check_bounds


@dataclass(frozen=True)
class SpectralTaskLearner(WordLearner):
    """Reproduces every score, unless rank or basis are limited.

    Attributes:
        rank: rank of the weighted automaton, which is its number of states.
        rows: longest prefix of the basis.
        cols: longest suffix of the basis.
        tolerance: merge states whose values differ by at most this.
        max_states: largest finite automaton to build, in states.
    """

    rank: int | None = None
    rows: int | None = None
    cols: int | None = None
    tolerance: NotNegative = DEFAULT_TOLERANCE
    max_states: AtLeastOne = MOST_QUOTIENT_STATES

    def __post_init__(self) -> None:
        check_bounds(self)

    def fit(self, words: Sequence[Word], scores: Sequence[float], reading: Reading = PLAIN_READING) -> LearnedTask:
        # Here, because scikit-learn takes a second to import.
        from wfairl.core.spectral.spectral_learner import SpectralLearner, mean_squared_error

        read = as_read(words, reading.keep_repeats)
        sample = with_optional_start(read, scores) if reading.optional_start else (read, scores)
        limits = self.rank, self.rows, self.cols
        learner = SpectralLearner(*limits).fit(*sample)
        weighted, how = learner.automaton_, (reading.threshold, self.tolerance, self.max_states, reading.keep_repeats)
        finite = quotient(weighted, *how, words=read, allow_open=True)
        successes = [word for word, score in zip(read, scores, strict=True) if score >= reading.threshold]
        summary = FitSummary(
            words=len(read),
            successes=len(successes),
            loss=mean_squared_error(weighted, read, scores),
            states=finite.states,
            closed=finite.closed,
            rank=weighted.rank,
            rows=learner.rows_,
            cols=learner.cols_,
            condition=learner.condition_,
            deviation=finite.deviation,
        )
        model = TaskModel(
            SPECTRAL,
            reading.threshold,
            reading.keep_repeats,
            summary,
            edge_counts=count_edges(finite, successes) if finite.closed else {},
            automaton=finite if finite.closed else None,
            weighted=weighted,
            tolerance=self.tolerance,
            max_states=self.max_states,
        )
        memorised = limits == (None, None, None)
        if memorised and finite.closed and not finite.accepting[0]:
            accepted = [word for word in successes if finite.accepts(word)]
            model = replace(model, stated=_shown(accepted, reading.optional_start))
        return LearnedTask(model, memorised=memorised)


def _shown(accepted: Sequence[Word], optional_start: bool) -> tuple[str, ...]:
    """What an automaton accepts that has memorised words, for people."""
    counts = Counter(accepted)
    word, times = counts.most_common(1)[0]
    start = ", with or without an empty label at its beginning" if optional_start else ""
    if len(counts) == 1:
        return (f"the word {_in_turn(word)}{start}, and no other (other learners generalise)",)
    return (
        f"one of the {len(counts)} words that succeeded{start}, and no other (other learners generalise)",
        f"{times} of {len(accepted)} successes are: {_in_turn(word)}",
    )


def _in_turn(word: Word) -> str:
    """A word for people: `key, then door and key`."""
    return ", then ".join(
        listed([quote(name) for name in sorted(label)], "and") if label else "nothing" for label in word
    )
