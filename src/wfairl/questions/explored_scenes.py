"""Scenes of a task to plan in, explored as those of its demonstrations are."""

from collections.abc import Sequence
from dataclasses import dataclass

from wfairl.core.automata.automaton import Label
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.planning.cost import nominal_cost
from wfairl.core.rational.exploration import end_of_words, explore, to_arrays
from wfairl.core.rational.observations import ArrayWorld, DemonstratedScene
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.support.progress import track
from wfairl.core.worlds.compiled import LabelNumbers
from wfairl.core.worlds.task import Task


@dataclass(frozen=True, eq=False)
class ExploredScenes:
    """Scenes of a task to plan in.

    Attributes:
        seeds: of the scenes.
        worlds: of each scene, with label indices into `labels`.
        labels: the distinct labels of all worlds.
        horizon: largest number of steps of a plan.
    """

    seeds: tuple[int, ...]
    worlds: tuple[ArrayWorld, ...]
    labels: tuple[Label, ...]
    horizon: int

    def labels_along(self, scene: DemonstratedScene) -> tuple[Label, ...]:
        """What holds after each step in one of the worlds."""
        return tuple(self.labels[i] for i in scene.word)


def explore_scenes(seeds: Sequence[int], dataset: Dataset, task: Task, n_jobs: int = 2) -> ExploredScenes:
    """Explore scenes of a task as those of the demonstrations are.

    Args:
        seeds: the scenes.
        dataset: demonstrations of the task, which decide how far large worlds are explored.
        task: its rule is not used; transitions have its nominal cost.
        n_jobs: worlds to explore at once.

    Raises:
        BadInputError: there are no scenes.
    """
    if not seeds:
        raise BadInputError("there are no scenes to choose from")
    end = end_of_words([one.labels for one in dataset if one.is_success])
    numbers = LabelNumbers()
    products = map_in_threads(lambda seed: explore(task.make_world(seed), end), seeds, n_jobs)
    worlds = tuple(to_arrays(product, nominal_cost(task), numbers) for product in track(products, "worlds", len(seeds)))
    return ExploredScenes(tuple(seeds), worlds, tuple(numbers.labels), task.horizon)
