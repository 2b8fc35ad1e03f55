"""Choice of rank, rows and cols on held-out words.

Every basis is factorised once per fold: with P = U and S = Lambda V^T the automaton of rank m is the
leading part of that of any higher rank, so one factorisation serves all ranks.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.automata.words import BadWordsError, Word
from wfairl.core.spectral.spectral_learner import LostRankError, SpectralLearner, mean_squared_error
from wfairl.core.support.errors import BadInputError

HIGHEST_RANK = 64
LONGEST_BASIS = 8
"""Bases cut at lengths 1 .. this are tried, beside the full one."""


@dataclass(frozen=True, order=True)
class SpectralSetting:
    """Rank and basis of a `SpectralLearner`; None takes all prefixes or suffixes."""

    rank: int
    rows: int | None = None
    cols: int | None = None


PAPER_PRESETS = {
    "doorkey-d1": SpectralSetting(5, 4, 4),
    "doorkey-d2": SpectralSetting(9, 5, 5),
    "multiroom-d1": SpectralSetting(6, 5, 5),
    "multiroom-d2": SpectralSetting(9, 5, 6),
    "blocked-unlock-pickup-d1": SpectralSetting(7, 6, 6),
    "blocked-unlock-pickup-d2": SpectralSetting(11, 6, 7),
}
"""The settings of the paper's Table II for tasks T1, T2, T3 and demonstrations D1, D2."""


@dataclass(frozen=True)
class JudgedSetting:
    """A setting and its loss of eq. (2) on words that it was not learned from."""

    setting: SpectralSetting
    held_out_loss: float


@dataclass(frozen=True)
class Selection:
    """The chosen setting, and all candidates.

    Attributes:
        chosen: the smallest rank, then the smallest basis, whose loss is within the tolerance of the best.
        best: the lowest held-out loss of all.
        tolerance: the difference of losses that counts as none.
        candidates: all settings that were tried.
    """

    chosen: SpectralSetting
    best: float
    tolerance: float
    candidates: tuple[JudgedSetting, ...]


def preset(name: str) -> SpectralSetting:
    """The paper's setting of that name.

    Raises:
        BadInputError: there is none; the message lists them.
    """
    if name not in PAPER_PRESETS:
        raise BadInputError(f"no preset {name!r}; there are {', '.join(PAPER_PRESETS)}")
    return PAPER_PRESETS[name]


def select_setting(
    words: Sequence[Word],
    scores: Sequence[float],
    rng: np.random.Generator,
    bases: Sequence[tuple[int | None, int | None]] | None = None,
    max_rank: int = HIGHEST_RANK,
    folds: int = 5,
    tolerance: float = 1e-3,
    track: Callable[[Iterable[Any], str, int], Iterable[Any]] | None = None,
    mapping: Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]] = map,
) -> Selection:
    """Choose rank, rows and cols by cross-validation, among the ranks that all words together have.

    Args:
        words: as the automaton reads them (compressed, if repeats mean nothing).
        scores: of each word.
        rng: splits the words into folds.
        bases: pairs (rows, cols) to try; lengths 1 to `LONGEST_BASIS` and the full basis unless given.
        max_rank: the highest rank to try.
        folds: each is held out once; fewer if there are fewer words with a score other than zero.
        tolerance: settings within it of the best loss count as equally good.
        track: wraps the iteration in a progress bar, such as `wfairl.core.support.progress.track`.
        mapping: judges the folds, in their order, such as `map_on` some workers; it changes nothing in the result.

    Raises:
        BadWordsError: fewer than two words have a score other than zero, or all are too long for the bases.
    """
    values = np.asarray(scores, np.float64)
    fold_of = _split(values, folds, rng)
    longest = max(map(len, words), default=0)
    if bases is None:
        bases = [(k, k) for k in range(1, min(longest, LONGEST_BASIS + 1))] + [(None, None)]
    jobs = [(basis, fold) for basis in bases for fold in range(int(fold_of.max()) + 1)]
    losses = {basis: np.zeros(max_rank) for basis in bases}
    results = mapping(partial(_losses_of_fold, words, values, fold_of, max_rank), jobs)
    tracked = track(results, "choosing rank and basis", len(jobs)) if track else results
    for (basis, fold), fold_losses in zip(jobs, tracked, strict=True):
        losses[basis] += fold_losses * (fold_of == fold).mean()
    candidates = tuple(
        JudgedSetting(SpectralSetting(rank + 1, rows, cols), float(losses[rows, cols][rank]))
        for rows, cols in bases
        if (automaton := _learn(words, values, (rows, cols), max_rank)) is not None
        for rank in range(min(max_rank, automaton.rank))
    )
    if not candidates:
        raise BadWordsError("no word is short enough for any of these bases; give longer ones, or the full basis")
    best = min(candidate.held_out_loss for candidate in candidates)
    good = [c.setting for c in candidates if c.held_out_loss <= best + tolerance]
    return Selection(min(good, key=_size), best, tolerance, candidates)


def _split(scores: NDArray[np.float64], folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Fold of each word, shape [words]; words with and without a score are spread evenly."""
    counted = int(np.count_nonzero(scores))
    if counted < 2:
        raise BadWordsError(
            f"{counted} word(s) with a score other than 0 cannot be split into learned and held out; "
            "give rank, rows and cols, or learn with the full basis"
        )
    order = rng.permutation(len(scores))
    order = order[np.argsort(scores[order] == 0, kind="stable")]
    fold_of = np.zeros(len(scores), np.int64)
    fold_of[order] = np.arange(len(scores)) % max(2, min(folds, counted))
    return fold_of


def _losses_of_fold(
    words: Sequence[Word],
    scores: NDArray[np.float64],
    fold_of: NDArray[np.int64],
    max_rank: int,
    job: tuple[tuple[int | None, int | None], int],
) -> NDArray[np.float64]:
    """The held-out loss of ranks 1 .. max_rank, shape [max_rank]; constant beyond the rank of the block.

    The `job` is the basis and the fold to hold out; `fold_of` has the fold of each word.
    """
    basis, fold = job
    held_out = fold_of == fold
    learned = [words[i] for i in np.flatnonzero(~held_out).tolist()]
    judged = [words[i] for i in np.flatnonzero(held_out).tolist()]
    automaton = _learn(learned, scores[~held_out], basis, max_rank)
    if automaton is None:
        return np.full(max_rank, np.inf)
    losses = [
        mean_squared_error(leading_part(automaton, rank), judged, scores[held_out])
        for rank in range(1, min(max_rank, automaton.rank) + 1)
    ]
    return np.pad(np.array(losses), (0, max_rank - len(losses)), mode="edge")


def _learn(
    words: Sequence[Word], scores: NDArray[np.float64], basis: tuple[int | None, int | None], max_rank: int
) -> WeightedAutomaton | None:
    """The automaton of the block's own rank, or of `max_rank`; None if no word is short enough for the basis."""
    rows, cols = basis
    for rank in (None, max_rank):  # a block may be too large for all its singular values
        try:
            return SpectralLearner(rank, rows, cols).fit(words, scores).automaton_
        except LostRankError:
            continue
    return None


def leading_part(automaton: WeightedAutomaton, rank: int) -> WeightedAutomaton:
    """The automaton of the same factorisation, cut at a lower rank."""
    initial, final = automaton.initial[:rank], automaton.final[:rank]
    return WeightedAutomaton(automaton.alphabet, initial, final, automaton.transitions[:, :rank, :rank])


def _size(setting: SpectralSetting) -> tuple[int, float, float]:
    rows, cols = (np.inf if length is None else length for length in (setting.rows, setting.cols))
    return setting.rank, rows, cols
