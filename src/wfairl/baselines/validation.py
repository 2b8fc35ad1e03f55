"""How well networks act in scenes for validation, all of which are stepped together in the model."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from wfairl.baselines.network import StateBatch, StateNetwork
from wfairl.baselines.network_policy import log_probabilities, softmax
from wfairl.baselines.sight import Sight
from wfairl.evaluation.evaluate import episode_return
from wfairl.worlds.minigrid import MiniGridWorld
from wfairl.worlds.tasks import Task
from wfairl.worlds.world import Label


@torch.no_grad()
def mean_return(
    task: Task,
    worlds: Sequence[MiniGridWorld],
    networks: Sequence[StateNetwork],
    sight: Sight,
    temperature: float,
    rng: np.random.Generator,
) -> float:
    """The mean of the paper's returns of one episode in each scene.

    Args:
        task: the task.
        worlds: its scenes.
        networks: the committee that acts.
        sight: what it is shown.
        temperature: see `network_policy`.
        rng: of its draws.
    """
    states: list[Any] = [world.initial_state for world in worlds]
    labels: list[list[Label]] = [[] for _ in worlds]
    returns = np.zeros(len(worlds))
    running = list(range(len(worlds)))
    for step in range(1, task.horizon + 1):
        seen = join(sight.look(worlds[i], worlds[i].pack(states[i])[None]) for i in running)
        logits = log_probabilities(networks, seen).numpy()
        for i, row in zip(running.copy(), logits, strict=True):
            control = int(rng.choice(len(row), p=softmax(row, temperature)))
            after = worlds[i].step(states[i], control)
            labels[i].append(worlds[i].label(states[i], control, after))
            states[i] = after
            if task.rule.succeeds(labels[i]):
                returns[i] = episode_return(step, True, task.horizon)
            if returns[i] > 0 or worlds[i].is_final(after):
                running.remove(i)
        if not running:
            break
    return float(returns.mean())


def join(batches: Iterable[StateBatch]) -> StateBatch:
    """Several batches as one, in their order."""
    grids, columns, count = [], [], 0
    for batch in batches:
        grids.append(batch.grids)
        columns.append(batch.columns + torch.tensor([count, 0, 0]))
        count += len(batch.grids)
    return StateBatch(torch.cat(grids), torch.cat(columns))
