"""The contract of a learner of tasks, and the learners by name.

    model = find_learner("rational").learn(dataset, task)                      demonstrations, in their worlds
    model = find_learner("spectral", rank=5).fit(words, scores).model          scored words alone

To learn from worlds, write a `TaskLearner`; to learn from words alone, subclass `WordLearner`. `register_learner` gives
it a name. The settings of a learner are its fields, if it is a dataclass. `wfairl learn-task` offers them as options.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pkgutil import resolve_name
from typing import Any, Protocol

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import Word
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.planning.cost import Cost
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.registry import Registry
from wfairl.core.worlds.task import Task

RATIONAL, SPECTRAL, SHORTEST = "rational", "spectral", "shortest"

MEMORISED = "this automaton only knows what it was shown"
"""The note on a model that gives 0 to every word that it was not learned from."""


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


@dataclass(frozen=True)
class Reading:
    """How a learner reads scored words."""

    threshold: float = 0.5  # words of this score or more are successes
    keep_repeats: bool = False  # whether repeated labels mean something
    # whether an empty label at the beginning means nothing, as in demonstrations. A learner that memorises words needs
    # to know it; one that generalises finds it out
    optional_start: bool = False


PLAIN_READING = Reading()


@dataclass(frozen=True, eq=False)
class LearnedTask:
    """A task learned from scored words."""

    model: TaskModel  # the task
    # bits of its description and of the flags that it leaves unexplained; None where it has no description
    bits: float | None = None
    memorised: bool = False  # whether it rejects every word that it was not learned from
    trivial: bool = False  # whether it accepts every word
    notes: tuple[str, ...] = ()  # what was not tried, or found and not used, in sentences


class WordLearner(ABC):
    """Learns from scored words alone, without any world."""

    @abstractmethod
    def fit(self, words: Sequence[Word], scores: Sequence[float], reading: Reading = PLAIN_READING) -> LearnedTask:
        """The task of the words; words without successes, or scores that do not fit, are a `BadWordsError`."""

    def learn(self, dataset: Dataset, task: Task, cost: Cost | None = None, n_jobs: int = 2) -> TaskModel:  # noqa: ARG002
        """The task of the words of demonstrations; see `TaskLearner`."""
        return self.fit(dataset.words, dataset.scores, Reading(optional_start=True)).model


LEARNERS: Registry[TaskLearner] = Registry(
    "learner",
    {
        RATIONAL: "wfairl.core.rational.rational_learner:RationalLearner",
        SPECTRAL: "wfairl.core.spectral.task_learner:SpectralTaskLearner",
    },
    "Others are registered by a file or a module, named by `wfairl --tasks FILE COMMAND`",
    load=lambda _, text: resolve_name(text)(),
)
"""An offer names the class of a learner."""


def find_learner(name: str, **settings: Any) -> TaskLearner:
    """The learner of a name, with some settings changed; what is unknown or out of range is a `BadInputError`."""
    learner: Any = LEARNERS.find(name)
    known = [one.name for one in fields(learner)] if is_dataclass(learner) else []
    unknown = [one for one in settings if one not in known]
    if unknown:
        raise BadInputError(
            f"the learner {name} has no setting {', '.join(unknown)}; it has {', '.join(known) or 'none'}"
        )
    changed: TaskLearner = replace(learner, **settings) if settings else learner
    return changed


def register_learner(name: str, learner: TaskLearner) -> TaskLearner:
    """Register a learner under a name; one that is taken is a `BadInputError`."""
    return LEARNERS.register(name, learner)
