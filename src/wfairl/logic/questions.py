"""One good question: the walk whose answer, "would this have been right?", says most about the task.

With probability p over the probable automata h (`hypotheses`) that a walk fulfils the task, and answers that are wrong
with probability e, an answer is expected to say

    information = H(a) - H(e),    a = p (1 - e) + (1 - p) e,    H(x) = - x log x - (1 - x) log(1 - x)

nats about which of them is the task: most where they are divided in halves. The walks are what somebody would do there:
the cheapest plans of the probable automata in new scenes, and those of the chosen automaton that pass through what no
demonstration tests.

    question = find_question(model, dataset, task, seeds, rng)
    dataset = take_answer(dataset, question, is_right=True)
    model = find_learner("rational").learn(dataset, task)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Label
from wfairl.automata.task_model import TaskModel
from wfairl.automata.words import compress
from wfairl.demonstrations.answers import Answer
from wfairl.demonstrations.demonstration import Dataset
from wfairl.errors import BadInputError, FailedRunError
from wfairl.logic.hypotheses import Hypothesis, chosen_table, deadly_odds, hypotheses_of, through
from wfairl.logic.rational import DEFAULT_ANSWER_ERROR
from wfairl.logic.scenes import worlds_of
from wfairl.logic.table_plans import ArrayWorld, NoPlanError, plan_table
from wfairl.planning.cost import Cost, nominal_cost
from wfairl.worlds.task import Task

LEAST_INFORMATION = 0.002
"""Nats below which a question is not worth an answer."""

TIE = 0.02
"""Nats within which a shorter walk, which is easier to judge, is preferred."""

MAX_PLANNED = 24
"""The most probable automata whose plans are asked about."""

MAX_PAIRS, LARGEST_GROUP = 16, 4
"""Pairs of state and label that are walked through on purpose, and how many of them in one walk at most."""

LARGE_WORLD = 20_000
"""States from which on no walk passes through several pairs on purpose."""


class NothingToAskError(FailedRunError):
    """The probable automata agree on what would be right."""


@dataclass(frozen=True)
class Opinion:
    """What one probable automaton says of a walk.

    Attributes:
        text: the automaton, for people.
        weight: its probability.
        accepts: whether the walk fulfils the task then.
    """

    text: str
    weight: float
    accepts: bool


@dataclass(frozen=True)
class Question:
    """Would this have been right?

    Attributes:
        seed: the scene.
        controls: of the walk, indices into the world's controls.
        labels: what holds after each of them.
        opinions: what the probable automata say, the most probable first.
        information: what an answer is expected to say, in nats.
    """

    seed: int
    controls: tuple[int, ...]
    labels: tuple[Label, ...]
    opinions: tuple[Opinion, ...]
    information: float

    @property
    def probability(self) -> float:
        """That the walk is right."""
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
    *,
    cost: Cost | None = None,
    answer_error: float = DEFAULT_ANSWER_ERROR,
    n_jobs: int = 2,
) -> Question:
    """The walk whose answer says most about the task; among those that say about as much, the shortest.

    Args:
        model: what is known of the task, from a rational learner.
        dataset: what it was learned from; what was asked before is not asked again.
        task: whose worlds to walk in; its rule is not looked at.
        seeds: the scenes to choose from.
        rng: chooses among equally good plans.
        cost: of transitions; the task's nominal cost if None.
        answer_error: e, that an answer is wrong.
        n_jobs: worlds to explore at once; it changes nothing in the result.

    Raises:
        NothingToAskError: no answer is expected to say anything.
        BadInputError: the model's learner keeps no alternatives, or there are no scenes.
    """
    if not seeds:
        raise BadInputError("there are no scenes to ask about")
    price = nominal_cost(task) if cost is None else cost
    worlds = worlds_of(seeds, dataset.demonstrations, task.make_world, price, n_jobs)
    hypotheses = hypotheses_of(model, worlds[0].labels)
    weights = np.array([one.weight for one in hypotheses])
    known = {compress(answer.labels) for answer in dataset.answers}
    best: tuple[int, int] | None = None
    found: Question | None = None
    for seed, world in zip(seeds, worlds, strict=True):
        for controls in _walks(world, hypotheses, _detours(model, world), task.horizon, rng):
            word = read_labels(world, controls)
            accepts = np.array([one.accepts(word) for one in hypotheses])
            information = expected_information(float(weights @ accepts), answer_error)
            rank = (-round(information / TIE), len(controls))
            labels = tuple(world.labels[i] for i in word)
            if information < LEAST_INFORMATION or compress(labels) in known or (best is not None and rank >= best):
                continue
            best = rank
            opinions = (Opinion(h.text, h.weight, bool(yes)) for h, yes in zip(hypotheses, accepts, strict=True))
            found = Question(seed, tuple(map(int, controls)), labels, tuple(opinions), information)
    if found is None:
        raise NothingToAskError(
            f"the probable automata agree on every plan in the {len(seeds)} scenes that were looked at: there is "
            "nothing to ask. Ask about other scenes, or trust the task model"
        )
    return found


def take_answer(dataset: Dataset, question: Question, is_right: bool) -> Dataset:
    """The data set with an answer as evidence."""
    answer = Answer(question.seed, question.controls, question.labels, is_right)
    return replace(dataset, answers=(*dataset.answers, answer))


def expected_information(probability: float, answer_error: float) -> float:
    """What an answer is expected to say about which hypothesis holds, in nats, at least 0.

    Args:
        probability: p, that the walk is right.
        answer_error: e, that an answer is wrong.
    """
    answered = probability * (1 - answer_error) + (1 - probability) * answer_error
    return max(0.0, _entropy(answered) - _entropy(answer_error))


def _entropy(chance: float) -> float:
    return float(-sum(x * np.log(x) for x in (chance, 1 - chance) if x > 0))


def _detours(model: TaskModel, world: ArrayWorld) -> list[NDArray[np.int32]]:
    """The chosen automaton, asked to pass through pairs of state and label whose risk is in question."""
    table, odds = chosen_table(model, world.labels), deadly_odds(model, world.labels)
    ranked = sorted(np.argwhere(odds > 0).tolist(), key=lambda pair: -odds[pair[0], pair[1]])
    pairs = [(int(state), int(label)) for state, label in ranked[:MAX_PAIRS]]
    groups = [[pair] for pair in pairs]
    if len(world.successors) < LARGE_WORLD:
        several = list({label: (state, label) for state, label in reversed(pairs)}.values())[::-1]
        groups += [several[:size] for size in range(2, min(LARGEST_GROUP, len(several)) + 1)]
    return [through(table, group) for group in groups]


def _walks(
    world: ArrayWorld,
    hypotheses: Sequence[Hypothesis],
    detours: Sequence[NDArray[np.int32]],
    horizon: int,
    rng: np.random.Generator,
) -> Iterator[NDArray[np.int32]]:
    """Cheapest plans in a world, where there are any within the horizon."""
    for table in (*(one.table for one in hypotheses[:MAX_PLANNED]), *detours):
        try:
            controls = plan_table(world, table).act(0.0, horizon, rng)
        except NoPlanError:
            continue
        if controls is not None:
            yield controls


def read_labels(world: ArrayWorld, controls: NDArray[np.int32]) -> NDArray[np.int32]:
    """Index of the label of every step, shape [steps]."""
    return world.scene(controls).word
