"""One demonstration, and a data set of them: frozen records that are checked when they are made.

A demonstration holds controls and labels; where the world slips or did what its model does not foresee, it also holds
what happened, the effects. Its states follow from the world of its scene, and are replayed where they are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.words import Word, compress
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.planning.path import (
    AnyProduct,
    BadControlError,
    Path,
    SurpriseError,
    effects_along,
    follow,
    nodes_along,
)
from wfairl.core.support.bounds import LARGEST_SEED
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.world import World

SUCCESS_SCORE = 1.0
FAILURE_SCORE = 0.0


class BadDemonstrationError(BadInputError):
    """A demonstration that cannot have happened."""


@dataclass(frozen=True)
class Demonstration:
    """One execution of a task in one scene.

    Attributes:
        controls: u_0, ..., u_{T-1}, indices into the world's controls.
        labels: sigma_0, ..., sigma_{T-1}, what held after each transition.
        score: 1 for success and 0 for failure of collected ones, any finite number in data of others.
        seed: the scene of the task.
        effects: what happened in each step, by the number of the effect, or a `surprise` (`worlds.chances`); empty
            where every control did what it always does, since the effects are then the controls.
    """

    controls: tuple[int, ...]
    labels: tuple[Label, ...]
    score: float
    seed: int
    effects: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for what, given in (("effects", self.effects or self.controls), ("labels", self.labels)):
            if len(given) != len(self.controls):
                raise BadDemonstrationError(
                    f"seed {self.seed}: {len(self.controls)} controls need as many {what}, not {len(given)}"
                )
        if not 0 <= self.seed <= LARGEST_SEED:
            raise BadDemonstrationError(f"the seed must lie between 0 and 2 ** 63 - 1, not {self.seed}")
        if not math.isfinite(self.score):
            raise BadDemonstrationError(f"seed {self.seed}: the score must be a finite number, not {self.score}")

    def __len__(self) -> int:
        """The number of controls."""
        return len(self.controls)

    @property
    def is_success(self) -> bool:
        """Whether its score is nearer to that of a success than to that of a failure."""
        return self.score >= (SUCCESS_SCORE + FAILURE_SCORE) / 2

    @property
    def word(self) -> Word:
        """The labels, consecutive equal ones once."""
        return compress(self.labels)

    def follow(self, world: World[Any]) -> Path:
        """The path in the world of its scene; a world that gives other labels is a `BadDemonstrationError`."""
        try:
            path = follow(world, self.controls, effects=self.effects)
        except BadControlError as error:
            raise BadDemonstrationError(f"seed {self.seed}: {error}") from None
        self._check_labels(path.labels)
        return path

    @classmethod
    def of(cls, path: Path, score: float, seed: int) -> Demonstration:
        """The demonstration of a path; see `effects_along` on paths that cannot be told."""
        return cls(path.controls, path.labels, float(score), seed, effects_along(path))

    @property
    def happened(self) -> tuple[int, ...]:
        """The effect of each step: the control where nothing else happened."""
        return self.effects or self.controls

    def nodes(self, product: AnyProduct) -> tuple[int, ...]:
        """The nodes in the product of the world of its scene and an automaton, up to the first `ACCEPTED` or `DEAD`.

        Raises:
            BadDemonstrationError: the world gives other labels, or cannot follow it.
            SurpriseError: a surprise leads to a pair of states that is no node.
        """
        try:
            nodes = nodes_along(product, self.controls, self.effects)
        except (BadControlError, SurpriseError) as error:
            kind = BadDemonstrationError if isinstance(error, BadControlError) else SurpriseError
            raise kind(f"seed {self.seed}: {error}") from None
        steps = zip(nodes[:-1], self.happened, self.labels, strict=False)
        # The label of a surprise is in no table: `follow` checks it.
        self._check_labels([one if e < 0 else product.labels[product.label_index[node, e]] for node, e, one in steps])
        return nodes

    def _check_labels(self, labels: Sequence[Label]) -> None:
        for step, (label, recorded) in enumerate(zip(labels, self.labels, strict=False)):
            if label != recorded:
                raise BadDemonstrationError(
                    f"seed {self.seed}: step {step}: the world gives another label than the demonstration; is it"
                    " another scene, or another version of the task?"
                )


@dataclass(frozen=True)
class Dataset:
    """Demonstrations of one task.

    Attributes:
        task: the name of the task.
        demonstrations: in the order in which they were collected.
        temperature: of the expert that made the successes; None if unknown.
        answers: to questions about paths; the rational learner uses them.
    """

    task: str
    demonstrations: tuple[Demonstration, ...]
    temperature: float | None = None
    answers: tuple[Answer, ...] = ()

    def __post_init__(self) -> None:
        if self.temperature is not None and not self.temperature >= 0:
            raise BadDemonstrationError(f"the temperature must lie between 0 and inf, not {self.temperature}")

    def __len__(self) -> int:
        """The number of demonstrations."""
        return len(self.demonstrations)

    def __iter__(self) -> Iterator[Demonstration]:
        """Over the demonstrations."""
        return iter(self.demonstrations)

    def contains(self, other: Dataset) -> bool:
        """Whether all demonstrations and answers of another data set are in this one, too."""
        demonstrations, answers = set(other.demonstrations), set(other.answers)
        return self.task == other.task and demonstrations <= set(self) and answers <= set(self.answers)

    @property
    def words(self) -> tuple[Word, ...]:
        """The compressed word of each demonstration."""
        return tuple(demonstration.word for demonstration in self.demonstrations)

    @property
    def scores(self) -> tuple[float, ...]:
        """The score of each demonstration."""
        return tuple(demonstration.score for demonstration in self.demonstrations)

    @property
    def seeds(self) -> frozenset[int]:
        """The scenes of the demonstrations."""
        return frozenset(demonstration.seed for demonstration in self.demonstrations)


def merge(datasets: Sequence[Dataset]) -> Dataset:
    """All demonstrations of several data sets of one task; the temperature stays if they agree on it."""
    tasks = sorted({dataset.task for dataset in datasets})
    if not tasks:
        raise BadInputError("there are no demonstrations to merge")
    if len(tasks) != 1:
        raise BadInputError(f"demonstrations of different tasks cannot be mixed: {', '.join(tasks)}")
    temperatures = {dataset.temperature for dataset in datasets}
    return Dataset(
        tasks[0],
        tuple(demonstration for dataset in datasets for demonstration in dataset),
        temperatures.pop() if len(temperatures) == 1 else None,
        tuple(answer for dataset in datasets for answer in dataset.answers),
    )


def replay(
    world: World[Any], controls: Sequence[int | str], score: float, seed: int, effects: Sequence[int] = ()
) -> Demonstration:
    """The demonstration of controls, by index or by name, in a world; a wrong control is a `BadDemonstrationError`."""
    try:
        path = follow(world, controls, effects=effects)
    except BadControlError as error:
        raise BadDemonstrationError(f"seed {seed}: {error}") from None
    return Demonstration.of(path, score, seed)
