"""The contract of a task learner, and the learners by name: from demonstrations to a task model.

    model = find_learner("rational").learn(dataset, task)

A learner may look at the words of the demonstrations alone, or at the worlds in which they happened too.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from wfairl.automata.task_model import TaskModel, fit_task_model
from wfairl.automata.task_model_file import SPECTRAL
from wfairl.automata.word_learners import COMPLETION, DECLARE, MEMORISED, MERGING, Reading, find_word_learner
from wfairl.demonstrations.demonstration import Dataset
from wfairl.errors import BadInputError
from wfairl.logic.demonstrated import DEMONSTRATED
from wfairl.logic.rational import NothingExplainedError, RationalLearner, RationalResult, RationalSettings
from wfairl.logic.scenes import judged_words, scenes_of
from wfairl.logic.search import Candidate
from wfairl.planning.cost import Cost, nominal_cost
from wfairl.worlds.task import Task

RATIONAL, GRU = "rational", "gru"

ANSWERS = "answers"
"""The fact of a task model that says how many answers it was learned with."""

LOOKS_WRONG = 0.5
"""Demonstrations with at least this probability of following no task are named."""


class TaskLearner(Protocol):
    """Learns the logic of a task."""

    def learn(self, dataset: Dataset, task: Task, cost: Cost | None = None, n_jobs: int = 2) -> TaskModel:
        """The task of demonstrations.

        Args:
            dataset: the demonstrations.
            task: what they are of; a learner uses its worlds, never its rule.
            cost: what transitions cost the demonstrator, as far as it is known; the task's nominal cost if None.
            n_jobs: how much to do at once; it changes nothing in the result.
        """
        ...


class RationalTaskLearner:
    """The automaton under which the demonstrators look most rational; see `rational`.

    Where none explains the demonstrations better than chance, the model keeps their words and no others, and says so.

    Args:
        settings: see `RationalSettings`.
        progress: is told each candidate that the search goes on from.
    """

    def __init__(
        self, settings: RationalSettings | None = None, progress: Callable[[Candidate], None] | None = None
    ) -> None:
        self.settings = settings or RationalSettings()
        self.progress = progress

    def learn(self, dataset: Dataset, task: Task, cost: Cost | None = None, n_jobs: int = 2) -> TaskModel:
        """See `TaskLearner`."""
        price = nominal_cost(task) if cost is None else cost
        labels, scenes = scenes_of(dataset.demonstrations, task.make_world, price, n_jobs)
        labels, answers = judged_words(dataset.answers, labels)
        try:
            result = RationalLearner(self.settings).fit(labels, scenes, self.progress, answers, n_jobs)
        except NothingExplainedError:  # too few demonstrations, or too noisy ones: keep what they show
            memorised = SpectralTaskLearner().learn(dataset, task, cost, n_jobs)
            return replace(memorised, sentences=(MEMORISED,))
        return TaskModel.of_automaton(
            result.automaton,
            RATIONAL,
            dataset.words,
            dataset.scores,
            sentences=(result.text,),
            facts={**facts_of(result), DEMONSTRATED: _demonstrated(dataset, result), ANSWERS: len(dataset.answers)},
        )


def _demonstrated(dataset: Dataset, result: RationalResult) -> list[list[list[str]]]:
    """The different words of the successes that follow the task, as plain JSON."""
    words = [
        one.word
        for one, outlier in zip(dataset, result.outlier_probabilities, strict=True)
        if one.is_success and outlier < LOOKS_WRONG
    ]
    return [[sorted(label) for label in word] for word in dict.fromkeys(words)]


class SpectralTaskLearner:
    """The paper's weighted automaton of the demonstrations' words."""

    def learn(self, dataset: Dataset, task: Task, cost: Cost | None = None, n_jobs: int = 2) -> TaskModel:  # noqa: ARG002
        """See `TaskLearner`."""
        return fit_task_model(dataset.words, dataset.scores, optional_start=True)


class WordTaskLearner:
    """A learner of scored words, on the demonstrations' words; see `automata.word_learners`."""

    def __init__(self, name: str):
        self.name = name

    def learn(self, dataset: Dataset, task: Task, cost: Cost | None = None, n_jobs: int = 2) -> TaskModel:  # noqa: ARG002
        """See `TaskLearner`."""
        return find_word_learner(self.name, Reading()).fit(dataset.words, dataset.scores).model


class RecurrentTaskLearner:
    """A recurrent network of the demonstrations' words, and the automaton that is read off it."""

    def learn(self, dataset: Dataset, task: Task, cost: Cost | None = None, n_jobs: int = 2) -> TaskModel:  # noqa: ARG002
        """See `TaskLearner`."""
        from wfairl.baselines.recurrent_automaton import fit_recurrent_task  # torch is slow to import

        return fit_recurrent_task(dataset.words, dataset.scores, optional_start=True).model


LEARNERS: dict[str, TaskLearner] = {
    RATIONAL: RationalTaskLearner(),
    SPECTRAL: SpectralTaskLearner(),
    DECLARE: WordTaskLearner(DECLARE),
    MERGING: WordTaskLearner(MERGING),
    COMPLETION: WordTaskLearner(COMPLETION),
    GRU: RecurrentTaskLearner(),
}
"""The learners, by the names used in files and on the command line."""


def find_learner(name: str) -> TaskLearner:
    """The learner of a name.

    Raises:
        BadInputError: there is none.
    """
    if name not in LEARNERS:
        raise BadInputError(f"unknown learner {name!r}; known are {', '.join(LEARNERS)}")
    return LEARNERS[name]


def register_learner(name: str, learner: TaskLearner) -> TaskLearner:
    """Make a learner of your own known by a name.

    Raises:
        BadInputError: the name is taken.
    """
    if LEARNERS.setdefault(name, learner) is not learner:
        raise BadInputError(f"there is a learner {name!r} already")
    return learner


def facts_of(result: RationalResult) -> dict[str, Any]:
    """What a task model keeps of a result, as plain JSON."""
    return {
        "temperature": result.temperature,
        "log_posterior": result.log_posterior,
        "log_prior": result.log_prior,
        "candidates": {"met": result.candidates[0], "planned_with": result.candidates[1]},
        "alternatives": [
            {"automaton": one.automaton.to_document(), "text": one.text, "weight": one.weight}
            for one in result.alternatives
        ],
        "support": result.support.to_document(),
        "outlier_probabilities": [round(float(one), 6) for one in result.outlier_probabilities],
        "look_wrong": [i for i, one in enumerate(result.outlier_probabilities) if one >= LOOKS_WRONG],
    }
