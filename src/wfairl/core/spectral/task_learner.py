"""The paper's learner of tasks: the weighted automaton of scored words, which gives unseen words the value zero."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wfairl.core.automata.finite import DEFAULT_MAX_STATES, DEFAULT_TOLERANCE
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import Word, read_sample
from wfairl.core.demonstrations.learners import PLAIN_READING, SPECTRAL, LearnedTask, Reading, WordLearner
from wfairl.core.support.bounds import AtLeastOne, NotNegative, Seed, check_bounds
from wfairl.core.support.errors import BadInputError

if TYPE_CHECKING:  # scikit-learn takes a second to import
    from wfairl.core.spectral.model_selection import SpectralSetting


@dataclass(frozen=True)
class SpectralTaskLearner(WordLearner):
    """Reproduces every score, unless rank or basis are limited.

    Attributes:
        rank: rank of the weighted automaton, which is its number of states.
        rows: longest prefix of the basis.
        cols: longest suffix of the basis.
        preset: rank, rows and cols of the paper, such as doorkey-d1.
        select: choose rank, rows and cols on held-out words.
        tolerance: merge states whose values differ by at most this.
        max_states: largest finite automaton to build, in states.
        seed: of the words that are held out to choose rank, rows and cols.
    """

    rank: int | None = None
    rows: int | None = None
    cols: int | None = None
    preset: str | None = None
    select: bool = False
    tolerance: NotNegative = DEFAULT_TOLERANCE
    max_states: AtLeastOne = DEFAULT_MAX_STATES
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_bounds(self)
        limits = (self.rank, self.rows, self.cols) != (None, None, None)
        if limits + (self.preset is not None) + self.select > 1:
            raise BadInputError("rank, rows and cols, preset, and select exclude each other: give one of them")

    def fit(self, words: Sequence[Word], scores: Sequence[float], reading: Reading = PLAIN_READING) -> LearnedTask:
        from wfairl.core.spectral.spectral_learner import SpectralLearner

        sample = read_sample(words, scores, reading.keep_repeats, reading.optional_start)
        limits = self._limits(*sample)
        learner = SpectralLearner(*limits).fit(*sample)
        model = TaskModel.of_weighted(
            learner.automaton_,
            SPECTRAL,
            words,
            scores,
            rows=learner.rows_,
            cols=learner.cols_,
            condition=learner.condition_,
            threshold=reading.threshold,
            keep_repeats=reading.keep_repeats,
            tolerance=self.tolerance,
            max_states=self.max_states,
        )
        return LearnedTask(model, memorised=limits == (None, None, None))

    def _limits(self, words: Sequence[Word], scores: Sequence[float]) -> tuple[int | None, int | None, int | None]:
        """Rank, rows and cols."""
        from wfairl.core.spectral.model_selection import preset, select_setting

        setting: SpectralSetting | SpectralTaskLearner = self
        if self.preset is not None:
            setting = preset(self.preset)
        elif self.select:
            setting = select_setting(words, scores, np.random.default_rng(self.seed)).chosen
        return setting.rank, setting.rows, setting.cols


def fit_task_model(
    words: Sequence[Word],
    scores: Sequence[float],
    *,
    threshold: float = 0.5,
    keep_repeats: bool = False,
    optional_start: bool = False,
    rank: int | None = None,
    rows: int | None = None,
    cols: int | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    max_states: int = DEFAULT_MAX_STATES,
) -> TaskModel:
    """The task of scored words; see `Reading` and `SpectralTaskLearner` for the settings.

    The summary is of the given words. If the finite automaton does not close, `TaskModel.finite` raises.
    """
    learner = SpectralTaskLearner(rank, rows, cols, tolerance=tolerance, max_states=max_states)
    return learner.fit(words, scores, Reading(threshold, keep_repeats, optional_start)).model
