"""How well networks act in scenes for validation, all of which are stepped together in the model."""

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from wfairl.automata.automaton import Label
from wfairl.baselines.network import StateBatch, StateNetwork
from wfairl.baselines.network_policy import log_probabilities, softmax
from wfairl.baselines.sight import Sight
from wfairl.evaluation.evaluate import episode_return
from wfairl.worlds.minigrid.world import MiniGridWorld
from wfairl.worlds.task import Task


class Trials:
    """Networks to be tried in some scenes; what they have looked at once is remembered for all trials.

    Args:
        task: the task.
        worlds: its scenes.
        networks: the committee that acts.
        sight: what it is shown.
    """

    def __init__(
        self, task: Task, worlds: Sequence[MiniGridWorld], networks: Sequence[StateNetwork], sight: Sight
    ) -> None:
        self._task, self._worlds, self._networks, self._sight = task, worlds, networks, sight
        self._seen: dict[tuple[int, int], NDArray[np.float64]] = {}

    def mean_return(self, temperature: float, rng: np.random.Generator) -> float:
        """The mean of the paper's returns of one episode in each scene.

        Args:
            temperature: see `network_policy`.
            rng: of the draws.
        """
        task, worlds = self._task, self._worlds
        states: list[int] = [world.initial_state for world in worlds]
        labels: list[list[Label]] = [[] for _ in worlds]
        returns = np.zeros(len(worlds))
        running = list(range(len(worlds)))
        for step in range(1, task.horizon + 1):
            self._look([(i, states[i]) for i in running])
            for i in running.copy():
                chances = softmax(self._seen[i, states[i]], temperature)
                control = int(rng.choice(len(chances), p=chances))
                after = worlds[i].step(states[i], control)
                labels[i].append(worlds[i].label(states[i], control, after))
                states[i] = after
                succeeded = task.rule.succeeds(labels[i])
                if succeeded:
                    returns[i] = episode_return(step, True, task.horizon)
                if succeeded or worlds[i].is_final(after):
                    running.remove(i)
            if not running:
                break
        return float(returns.mean())

    @torch.no_grad()
    def _look(self, where: Sequence[tuple[int, int]]) -> None:
        """Take in the states, each with the number of its scene, that were not seen yet."""
        new = [pair for pair in where if pair not in self._seen]
        if new:
            batch = join(self._sight.look(self._worlds[i], self._worlds[i].pack(state)[None]) for i, state in new)
            self._seen |= zip(new, log_probabilities(self._networks, batch).numpy(), strict=True)


def join(batches: Iterable[StateBatch]) -> StateBatch:
    """Several batches as one, in their order."""
    grids, columns, count = [], [], 0
    for batch in batches:
        grids.append(batch.grids)
        columns.append(batch.columns + torch.tensor([count, 0, 0]))
        count += len(batch.grids)
    return StateBatch(torch.cat(grids), torch.cat(columns))
