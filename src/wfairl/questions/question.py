"""The most informative question: the path whose answer to "would this have been right?" is expected to say most.

If the probable automata h (`hypotheses`) accept a path with probability p, and answers are wrong with probability e,
the expected information of an answer about which of them is the task is, in nats,

    information = H(a) - H(e),    a = p (1 - e) + (1 - p) e,    H(x) = - x log x - (1 - x) log(1 - x)

The information is largest where half of the weight accepts the path. The paths are cheapest plans in new scenes: plans
for the probable automata, and plans for the chosen automaton that pass through pairs of state and label that no
demonstration tests.

    question = find_question(model, dataset, task, seeds, rng)
    dataset = add_answer(dataset, question, is_right=True)
    model = find_learner("rational").learn(dataset, task)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Label
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import compress
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.rational.observations import ArrayWorld
from wfairl.core.rational.settings import RationalSettings
from wfairl.core.rational.tables import live_table
from wfairl.core.rational.task_posterior import TaskPosterior
from wfairl.core.support.errors import FailedRunError
from wfairl.core.worlds.task import Task
from wfairl.questions.explored_scenes import ExploredScenes, explore_scenes
from wfairl.questions.hypotheses import deadly_odds, hypotheses_of, required_posterior
from wfairl.questions.table_plans import plan_tables

LEAST_INFORMATION = 0.002
"""Nats below which a question is not asked."""

TIE_NATS = 0.02
"""Nats within which a shorter path, which is easier to judge, is preferred."""

MAX_PLANNED = 24
"""The most probable automata whose plans are asked about."""

MAX_PAIRS, LARGEST_GROUP = 16, 4
"""Untested pairs of state and label that plans pass through on purpose, and the most of them in one plan."""

LARGE_WORLD = 20_000
"""Number of states from which on no plan passes through several pairs on purpose."""


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
    """Would this have been right?

    Attributes:
        seed: the scene.
        controls: of the path, indices into the world's controls.
        labels: what holds after each of them.
        opinions: those of the probable automata, the most probable first.
        information: the expected information of an answer, in nats.
    """

    seed: int
    controls: tuple[int, ...]
    labels: tuple[Label, ...]
    opinions: tuple[Opinion, ...]
    information: float

    @property
    def probability(self) -> float:
        """Probability that the path fulfils the task."""
        return sum(one.weight for one in self.opinions if one.accepts)

    def to_document(self) -> dict[str, Any]:
        """The question as a JSON object."""
        return {
            "seed": self.seed,
            "controls": list(self.controls),
            "labels": [sorted(label) for label in self.labels],
            "probability": self.probability,
            "information": self.information,
            "opinions": [{"rule": one.text, "weight": one.weight, "accepts": one.accepts} for one in self.opinions],
        }


def find_question(
    model: TaskModel,
    dataset: Dataset,
    task: Task,
    seeds: Sequence[int],
    rng: np.random.Generator,
    n_jobs: int = 2,
) -> Question:
    """The most informative question; among those that are about as informative, the one with the shortest path.

    Args:
        model: a task model of a rational learner.
        dataset: what it was learned from; what was asked before is not asked again.
        task: whose worlds to plan in; its rule is not used.
        seeds: the scenes to choose from.
        rng: chooses among equally good plans.
        n_jobs: worlds to explore at once; it changes nothing in the result.

    Raises:
        NothingToAskError: no answer would be informative.
        BadInputError: the model's learner keeps no alternatives, or there are no scenes.
    """
    scenes = explore_scenes(seeds, dataset, task, n_jobs)
    posterior = required_posterior(model)
    answered = {compress(answer.labels) for answer in dataset.answers}
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
    """A question for each plan in each scene: for a probable automaton, or through pairs that nothing tests."""
    hypotheses = hypotheses_of(posterior, scenes.labels)
    weights = np.array([one.weight for one in hypotheses])
    for seed, world in zip(scenes.seeds, scenes.worlds, strict=True):
        tables = [*(one.table for one in hypotheses[:MAX_PLANNED]), *_detours(posterior, scenes.labels, world)]
        for path in (plan.act(0.0, scenes.horizon, rng) for plan in plan_tables(world, tables)):
            if path is not None:
                accepts = np.array([one.accepts(path.word) for one in hypotheses])
                information = expected_information(float(weights @ accepts), RationalSettings.answer_error)
                opinions = (Opinion(h.text, h.weight, bool(yes)) for h, yes in zip(hypotheses, accepts, strict=True))
                controls = tuple(map(int, path.controls))
                yield Question(seed, controls, scenes.labels_along(path), tuple(opinions), information)


def add_answer(dataset: Dataset, question: Question, is_right: bool) -> Dataset:
    """The data set with an answer as evidence."""
    answer = Answer(question.seed, question.controls, question.labels, is_right)
    return replace(dataset, answers=(*dataset.answers, answer))


def expected_information(probability: float, answer_error: float) -> float:
    """Expected information of an answer in nats, at least 0.

    Args:
        probability: p, that the path fulfils the task.
        answer_error: e, that an answer is wrong.
    """
    answered = probability * (1 - answer_error) + (1 - probability) * answer_error
    return max(0.0, _entropy(answered) - _entropy(answer_error))


def _entropy(probability: float) -> float:
    return float(-sum(x * np.log(x) for x in (probability, 1 - probability) if x > 0))


def _detours(posterior: TaskPosterior, labels: Sequence[Label], world: ArrayWorld) -> list[NDArray[np.int32]]:
    """Tables of the chosen automaton that also require pairs of state and label whose risk is in question."""
    table, odds = live_table(posterior.chosen.automaton, labels), deadly_odds(posterior, labels)
    ranked = sorted(np.argwhere(odds > 0).tolist(), key=lambda pair: -odds[pair[0], pair[1]])
    pairs = [(int(state), int(label)) for state, label in ranked[:MAX_PAIRS]]
    groups = [[pair] for pair in pairs]
    if len(world.successors) < LARGE_WORLD:
        several = list({label: (state, label) for state, label in reversed(pairs)}.values())[::-1]
        groups += [several[:size] for size in range(2, min(LARGEST_GROUP, len(several)) + 1)]
    return [requiring_pairs(table, group) for group in groups]


def requiring_pairs(table: NDArray[np.int32], pairs: Sequence[tuple[int, int]]) -> NDArray[np.int32]:
    """The automaton that also requires pairs of a state and a label to be read, in any order, before the end.

    Returns:
        A table of states q + states * (the set of pairs read so far, as bits), [states * 2 ** pairs, labels].
    """
    states, sets = len(table), 2 ** len(pairs)
    wide = np.empty((states * sets, table.shape[1]), np.int32)
    for read in range(sets):
        after = np.full(table.shape, read)
        for bit, (state, label) in enumerate(pairs):
            after[state, label] |= 1 << bit
        ends = np.where(after == sets - 1, ACCEPTED, DEAD)
        wide[states * read : states * (read + 1)] = np.where(
            table >= 0, table + states * after, np.where(table == ACCEPTED, ends, DEAD)
        )
    return wide
