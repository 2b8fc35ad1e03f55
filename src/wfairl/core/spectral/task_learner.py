"""The task of scored words, by the paper's spectral method."""

from collections.abc import Sequence

from wfairl.core.automata.finite import DEFAULT_MAX_STATES, DEFAULT_TOLERANCE
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.task_model_file import SPECTRAL
from wfairl.core.automata.words import Word, as_read, with_optional_start
from wfairl.core.spectral.spectral import SpectralLearner


def fit_task_model(
    words: Sequence[Word],
    scores: Sequence[float],
    *,
    rank: int | None = None,
    rows: int | None = None,
    cols: int | None = None,
    threshold: float = 0.5,
    keep_repeats: bool = False,
    tolerance: float = DEFAULT_TOLERANCE,
    max_states: int = DEFAULT_MAX_STATES,
    optional_start: bool = False,
) -> TaskModel:
    """Learn the task of scored words; see `SpectralLearner` and `quotient` for the settings.

    With `optional_start`, right for demonstrations, an empty label at the beginning of a word has no meaning for the
    task; see `with_optional_start`. The summary is of the given words. If the finite automaton does not close,
    `TaskModel.finite` raises.
    """
    read = as_read(words, keep_repeats)
    sample = with_optional_start(read, scores) if optional_start else (read, scores)
    learner = SpectralLearner(rank=rank, rows=rows, cols=cols).fit(*sample)
    return TaskModel.of_weighted(
        learner.automaton_,
        SPECTRAL,
        read,
        scores,
        rows=learner.rows_,
        cols=learner.cols_,
        condition=learner.condition_,
        threshold=threshold,
        keep_repeats=keep_repeats,
        tolerance=tolerance,
        max_states=max_states,
    )
