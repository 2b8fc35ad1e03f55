"""The learner of tasks that uses the worlds of the demonstrations: `find_learner("rational").learn(dataset, task)`."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.demonstrations.learners import MEMORISED, RATIONAL
from wfairl.core.planning.cost import Cost, nominal_cost
from wfairl.core.rational.exploration import observe
from wfairl.core.rational.rational_learner import NothingExplainedError, RationalLearner
from wfairl.core.rational.search import Candidate
from wfairl.core.rational.settings import RationalSettings
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.worlds.task import Task


@dataclass(frozen=True)
class RationalTaskLearner:
    """The automaton under which the demonstrators look most rational; see `rational`.

    Where none explains the demonstrations better than chance, the model accepts their words alone, which a sentence of
    it states.

    Attributes:
        settings: see `RationalSettings`.
        progress: called with each candidate that the search expands.
    """

    settings: RationalSettings = field(default_factory=RationalSettings)
    progress: Callable[[Candidate], None] | None = None

    def learn(self, dataset: Dataset, task: Task, cost: Cost | None = None, n_jobs: int = 2) -> TaskModel:
        price = nominal_cost(task) if cost is None else cost
        observations = observe(dataset.demonstrations, task.make_world, price, n_jobs, dataset.answers)
        try:
            posterior = RationalLearner(self.settings).fit(observations, self.progress, n_jobs)
        except NothingExplainedError:  # too few demonstrations, or too noisy ones
            memorised = SpectralTaskLearner().learn(dataset, task, cost, n_jobs)
            return replace(memorised, sentences=(MEMORISED,))
        successes = [i for i, one in enumerate(dataset) if one.is_success]
        outliers = np.zeros(len(dataset))
        outliers[successes] = posterior.outlier_probabilities
        posterior = replace(posterior, outlier_probabilities=outliers, answers=len(dataset.answers))
        words = dict.fromkeys(dataset.words[i] for i in successes if i not in posterior.outliers)
        return TaskModel.of_automaton(
            posterior.chosen.automaton,
            RATIONAL,
            dataset.words,
            dataset.scores,
            sentences=(posterior.chosen.text,),
            record=replace(posterior, demonstrated_words=tuple(words)),
        )
