"""The probable automata of a posterior, as tables with their weights, and scenes to plan in.

The alternatives of a rational learner differ in what demonstrations are evidence about. Further ones are the chosen
automaton under a constraint that the task may have (`doubts`), with the weight of the chosen one times the odds of the
constraint. So a constraint is asked about before an agent breaks it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Label
from wfairl.core.automata.minimisation import Table, canonical_table, to_table
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.planning.cost import nominal_cost
from wfairl.core.rational.constraints import conjoin
from wfairl.core.rational.observations import ArrayWorld, DemonstratedScene, end_of_words, explore, to_arrays
from wfairl.core.rational.tables import read_word
from wfairl.core.rational.task_posterior import TaskPosterior, posterior_of
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.support.progress import track
from wfairl.core.worlds.compiled import LabelNumbers
from wfairl.core.worlds.task import Task

MAX_HYPOTHESES = 60
"""Number of most probable automata that are compared."""


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """An automaton that may be the task."""

    text: str  # the automaton, for people
    table: Table  # state after each label, `DEAD` or `ACCEPTED`; [states, labels]
    weight: float  # its probability; those of all hypotheses add up to 1

    def accepts(self, word: NDArray[np.int32]) -> bool:
        """Whether the task is fulfilled by the end of a word of label indices, shape [steps]."""
        return read_word(self.table, word) > 0


def required_posterior(model: TaskModel) -> TaskPosterior:
    """The posterior of a model. Raises `BadInputError` if its learner keeps none."""
    posterior = posterior_of(model)
    if posterior is None:
        raise BadInputError(
            f"a task model by {model.learner} has no alternatives to ask about; "
            "learn it with `wfairl learn-task --learner rational`"
        )
    return posterior


def hypotheses_of(posterior: TaskPosterior, labels: Sequence[Label]) -> tuple[Hypothesis, ...]:
    """The probable automata over some labels, the most probable first; those that read alike are one."""
    by_table: dict[bytes, Hypothesis] = {}
    for one in _all(posterior, tuple(labels)):
        first = by_table.setdefault(one.table.tobytes(), one)
        if one.weight > first.weight:  # a variant that is an alternative already, and more probable by its odds
            by_table[one.table.tobytes()] = replace(first, weight=one.weight)
    hypotheses = sorted(by_table.values(), key=lambda one: -one.weight)[:MAX_HYPOTHESES]
    total = sum(one.weight for one in hypotheses)
    return tuple(replace(one, weight=one.weight / total) for one in hypotheses)


def _all(posterior: TaskPosterior, labels: tuple[Label, ...]) -> Iterator[Hypothesis]:
    for one in posterior.alternatives:
        yield Hypothesis(one.text, canonical_table(to_table(one.automaton, labels)), one.weight)
    best = posterior.chosen
    chosen = to_table(best.automaton, labels)
    for doubt in posterior.doubts:
        table = canonical_table(conjoin(chosen, doubt.constraint, labels, chosen))
        if table.tobytes() != canonical_table(chosen).tobytes():  # else the chosen one keeps it: there is no doubt
            yield Hypothesis(f"{best.text}, and {doubt.constraint}", table, best.weight * doubt.odds)


def in_words(posterior: TaskPosterior, text: str) -> str:
    """The text of a hypothesis in words: an alternative, perhaps with a constraint that is asked beside it."""
    alternatives = posterior.alternatives
    known = (one for one in alternatives if text == one.text or text.startswith(f"{one.text}, and "))
    found = next(known, None)
    return text if found is None else posterior.sentence(found) + text[len(found.text) :]


@dataclass(frozen=True, eq=False)
class ExploredScenes:
    """Scenes of a task to plan in."""

    seeds: tuple[int, ...]  # of the scenes
    worlds: tuple[ArrayWorld, ...]  # of each scene, with label indices into `labels`
    labels: tuple[Label, ...]  # the distinct labels of all worlds
    horizon: int  # largest number of steps of a plan

    def labels_along(self, scene: DemonstratedScene) -> tuple[Label, ...]:
        """What holds after each step in one of the worlds."""
        return tuple(self.labels[i] for i in scene.word)


def explore_scenes(seeds: Sequence[int], dataset: Dataset, task: Task, n_jobs: int = 2) -> ExploredScenes:
    """Explore scenes as far as those of the demonstrations are explored, under the nominal cost of the task.

    Raises `BadInputError` if there are no scenes.
    """
    if not seeds:
        raise BadInputError("there are no scenes to choose from")
    end = end_of_words([one.labels for one in dataset if one.is_success])
    numbers = LabelNumbers()
    products = map_in_threads(lambda seed: explore(task.make_world(seed), end), seeds, n_jobs)
    worlds = tuple(to_arrays(product, nominal_cost(task), numbers) for product in track(products, "worlds", len(seeds)))
    return ExploredScenes(tuple(seeds), worlds, tuple(numbers.labels), task.horizon)


def difference(one: Table, other: Table) -> Table:
    """The minimal table of an automaton that accepts what one accepts, unless the other has accepted by then."""
    dead, labels = len(other), one.shape[1]
    ahead = np.vstack([np.where(other == DEAD, dead, other), np.full(labels, dead)])[:, None]  # dead stays dead
    pairs = np.where(one >= 0, one + len(one) * np.maximum(ahead, 0), one)
    pairs = np.where(ahead == ACCEPTED, DEAD, pairs)  # the other has accepted: no word from here on differs
    return canonical_table(np.ascontiguousarray(pairs.reshape(-1, labels), np.int32))
