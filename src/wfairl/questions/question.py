"""The most informative question: the path whose answer to "would this have been right?" is expected to say most.

If the probable automata h (`hypotheses`) accept a path with probability p, and answers are wrong with probability e,
the expected information of an answer about which of them is the task is, in nats,

    information = H(a) - H(e),    a = p (1 - e) + (1 - p) e,    H(x) = - x log x - (1 - x) log(1 - x)

The information is largest where half of the weight accepts the path. The paths are cheapest plans in new scenes: plans
for the probable automata, and plans for the chosen automaton that break one of the constraints which the task may have.
Where the world slips, they are what happened to these plans in an episode that was drawn.

    question = find_question(model, dataset, task, seeds, rng)
    dataset = add_answer(dataset, question, is_right=True)
    model = find_learner("rational").learn(dataset, task)
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.minimisation import to_table
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import compress
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.rational.constraints import conjoin
from wfairl.core.rational.settings import RationalSettings
from wfairl.core.rational.table_plans import plan_table
from wfairl.core.rational.task_posterior import TaskPosterior
from wfairl.core.support.errors import FailedRunError
from wfairl.core.worlds.task import Task
from wfairl.questions.hypotheses import ExploredScenes, difference, explore_scenes, hypotheses_of, required_posterior

LEAST_INFORMATION = 0.002
"""Nats below which a question is not asked."""

TIE_NATS = 0.02
"""Nats within which a shorter path, which is easier to judge, is preferred."""

MAX_PLANNED, MAX_BROKEN = 24, 24
"""The most probable automata whose plans are asked about, and the most probable constraints that plans break."""


class NothingToAskError(FailedRunError):
    """The probable automata agree on all plans."""


@dataclass(frozen=True)
class Opinion:
    """Whether a probable automaton, given by its text and its probability, accepts the path of a question."""

    text: str
    weight: float
    accepts: bool


@dataclass(frozen=True)
class Question:
    """Would this have been right?"""

    seed: int  # the scene
    controls: tuple[int, ...]  # of the path, indices into the world's controls
    labels: tuple[Label, ...]  # what holds after each of them
    opinions: tuple[Opinion, ...]  # those of the probable automata, the most probable first
    information: float  # the expected information of an answer, in nats
    effects: tuple[int, ...] = ()  # what happened in each step where the world slips

    @property
    def probability(self) -> float:
        """Probability that the path fulfils the task."""
        return sum(one.weight for one in self.opinions if one.accepts)

    def answer(self, is_right: bool) -> Answer:
        """That the path is right, or that it is not."""
        return Answer(self.seed, self.controls, self.labels, is_right)

    def to_document(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "controls": self.controls,
            "labels": [sorted(label) for label in self.labels],
            "probability": self.probability,
            "information": self.information,
            "opinions": [{"rule": one.text, "weight": one.weight, "accepts": one.accepts} for one in self.opinions],
        }


@dataclass(frozen=True)
class CostQuestion:
    """Which of some ways would you rather take?"""

    seed: int  # the scene
    ways: tuple[tuple[int, ...], ...]  # controls of each, at least two
    labels: tuple[tuple[Label, ...], ...]  # what holds after each control, of each way
    probabilities: tuple[float, ...]  # that each is preferred to all others
    information: float  # the expected information of an answer, in nats
    worth: float  # how much less a plan is expected to cost with the answer, in plain steps a scene

    def to_document(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "labels"}

    def answers(self, chosen: int) -> tuple[Answer, ...]:
        """That one way is better than each other one; for the task, together they are one answer."""
        others = [way for number, way in enumerate(self.ways) if number != chosen]
        way, labels, weight = self.ways[chosen], self.labels[chosen], 1 / len(others)
        return tuple(Answer(self.seed, way, labels, True, weight, than=other) for other in others)


def find_question(
    model: TaskModel,
    dataset: Dataset,
    task: Task,
    seeds: Sequence[int],
    rng: np.random.Generator,
    n_jobs: int = 2,
    asked: Collection[Sequence[Label]] = (),
) -> Question:
    """The most informative question; among those that are about as informative, the one with the shortest path.

    Args:
        model: a task model of a rational learner.
        dataset: what it was learned from; what was asked before is not asked again.
        task: whose worlds to plan in, with the scenes of `seeds`; its rule is not used.
        seeds: the scenes to choose from.
        rng: chooses among equally good plans.
        n_jobs: worlds to explore at once.
        asked: labels of paths that were asked about without an answer.

    Raises:
        NothingToAskError: no answer would be informative.
        BadInputError: the model's learner keeps no alternatives, or there are no scenes.
    """
    scenes = explore_scenes(seeds, dataset, task, n_jobs)
    posterior = required_posterior(model)
    answered = {compress(labels) for labels in (*(one.labels for one in dataset.answers), *asked)}
    informative = (
        question
        for question in _all_questions(posterior, scenes, rng)
        if question.information >= LEAST_INFORMATION and compress(question.labels) not in answered
    )
    best = min(informative, key=lambda one: (-round(one.information / TIE_NATS), len(one.controls)), default=None)
    if best is None:
        raise NothingToAskError(
            f"the probable automata agree on every plan in the {len(seeds)} scenes that were tried: there is nothing "
            "to ask. Ask about other scenes, or trust the task model"
        )
    return best


def _all_questions(posterior: TaskPosterior, scenes: ExploredScenes, rng: np.random.Generator) -> Iterator[Question]:
    """A question for each plan in each scene: for a probable automaton, or breaking a doubtful constraint."""
    hypotheses = hypotheses_of(posterior, scenes.labels)
    texts, weights = [one.text for one in hypotheses], np.array([one.weight for one in hypotheses])
    table = to_table(posterior.chosen.automaton, scenes.labels)
    constraints = [one.constraint for one in posterior.open_doubts[:MAX_BROKEN]]
    broken = [difference(table, conjoin(table, one, scenes.labels, table)) for one in constraints]
    for seed, world in zip(scenes.seeds, scenes.worlds, strict=True):
        for planned in (*(one.table for one in hypotheses[:MAX_PLANNED]), *broken):
            path = plan_table(world, planned).act(0.0, scenes.horizon, rng)
            if path is not None:
                accepts = np.array([one.accepts(path.word) for one in hypotheses])
                information = expected_information(float(weights @ accepts), RationalSettings.answer_error)
                opinions = tuple(map(Opinion, texts, weights.tolist(), accepts.tolist()))
                effects = () if world.chances is None else tuple(path.effects.tolist())
                labels = scenes.labels_along(path)
                yield Question(seed, tuple(path.controls.tolist()), labels, opinions, information, effects)


def add_answer(dataset: Dataset, question: Question, is_right: bool) -> Dataset:
    """The data set with an answer as evidence: whether the path is right."""
    return replace(dataset, answers=(*dataset.answers, question.answer(is_right)))


def expected_information(probability: float, answer_error: float) -> float:
    """Expected information of an answer in nats, at least 0, from p and e."""
    answered = probability * (1 - answer_error) + (1 - probability) * answer_error
    after, before = entropy(np.array([(answered, answer_error), (1 - answered, 1 - answer_error)]))
    return max(0.0, float(after - before))


def entropy(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entropy of chances in nats, of each column if there are several; 0 log 0 is 0."""
    return -(chances * np.log(np.maximum(chances, 1e-300))).sum(axis=0)
