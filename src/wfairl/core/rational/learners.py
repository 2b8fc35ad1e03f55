"""The contract of a task learner, and the learners by name: from demonstrations to a task model.

    model = find_learner("rational").learn(dataset, task)

A learner may use the words of the demonstrations alone, or also the worlds in which they happened.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.task_model_file import SPECTRAL
from wfairl.core.automata.words import Word
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.planning.cost import Cost, nominal_cost
from wfairl.core.rational.rational import NothingExplainedError, RationalLearner, RationalSettings
from wfairl.core.rational.scenes import judged_words, scenes_of
from wfairl.core.rational.search import Candidate
from wfairl.core.spectral.task_learner import fit_task_model
from wfairl.core.support.registry import Registry
from wfairl.core.worlds.task import Task
from wfairl.events.word_learners import DECLARE, MEMORISED, MERGING, Reading, find_word_learner

RATIONAL = "rational"


class TaskLearner(Protocol):
    """Learns the logic of a task."""

    def learn(self, dataset: Dataset, task: Task, cost: Cost | None = None, n_jobs: int = 2) -> TaskModel:
        """The task of demonstrations.

        Args:
            dataset: the demonstrations.
            task: what they are of; a learner uses its worlds, never its rule.
            cost: of transitions to the demonstrator; the task's nominal cost if None.
            n_jobs: number of threads; it changes nothing in the result.
        """
        ...


class RationalTaskLearner:
    """The automaton under which the demonstrators look most rational; see `rational`.

    Where none explains the demonstrations better than chance, the model accepts their words alone, which a sentence of
    it states.

    Args:
        settings: see `RationalSettings`.
        progress: called with each candidate that the search expands.
    """

    def __init__(
        self, settings: RationalSettings | None = None, progress: Callable[[Candidate], None] | None = None
    ) -> None:
        self.settings = settings or RationalSettings()
        self.progress = progress

    def learn(self, dataset: Dataset, task: Task, cost: Cost | None = None, n_jobs: int = 2) -> TaskModel:
        price = nominal_cost(task) if cost is None else cost
        labels, scenes = scenes_of(dataset.demonstrations, task.make_world, price, n_jobs)
        labels, answers = judged_words(dataset.answers, labels)
        try:
            posterior = RationalLearner(self.settings).fit(labels, scenes, self.progress, answers, n_jobs)
        except NothingExplainedError:  # too few demonstrations, or too noisy ones
            memorised = _SPECTRAL_LEARNER.learn(dataset, task, cost, n_jobs)
            return replace(memorised, sentences=(MEMORISED,))
        words = [one.word for i, one in enumerate(dataset) if one.is_success and i not in posterior.outliers]
        return TaskModel.of_automaton(
            posterior.chosen.automaton,
            RATIONAL,
            dataset.words,
            dataset.scores,
            sentences=(posterior.chosen.text,),
            record=replace(posterior, demonstrated_words=tuple(dict.fromkeys(words)), answers=len(dataset.answers)),
        )


class WordTaskLearner:
    """Learns from the words and scores of the demonstrations alone.

    Args:
        fit: from words and scores to a task model.
    """

    def __init__(self, fit: Callable[[Sequence[Word], Sequence[float]], TaskModel]) -> None:
        self.fit = fit

    def learn(self, dataset: Dataset, task: Task, cost: Cost | None = None, n_jobs: int = 2) -> TaskModel:  # noqa: ARG002
        return self.fit(dataset.words, dataset.scores)


def _fit_words(name: str, words: Sequence[Word], scores: Sequence[float]) -> TaskModel:
    return find_word_learner(name, Reading()).fit(words, scores).model


_SPECTRAL_LEARNER = WordTaskLearner(partial(fit_task_model, optional_start=True))

LEARNERS: Registry[TaskLearner] = Registry(
    "learner",
    {
        RATIONAL: RationalTaskLearner(),
        SPECTRAL: _SPECTRAL_LEARNER,
        **{name: WordTaskLearner(partial(_fit_words, name)) for name in (DECLARE, MERGING)},
    },
    "Others are registered by a file or a module, such as gru by `wfairl --tasks experiments.baselines COMMAND` or"
    " `import experiments.baselines`",
)


def find_learner(name: str) -> TaskLearner:
    """The learner with a name; an unknown name is a `BadInputError`."""
    return LEARNERS.find(name)


def register_learner(name: str, learner: TaskLearner) -> TaskLearner:
    """Register a learner under a name; one that is taken is a `BadInputError`."""
    return LEARNERS.register(name, learner)
