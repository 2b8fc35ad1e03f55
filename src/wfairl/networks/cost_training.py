"""The training of a cost network by epochs of Adam, through the planner.

For each scene of a batch the planner computes the cost-to-go under the current cost, and Proposition 1 gives dL/dc of
the few transitions that the loss depends on (`core.costs.gradient`). The network is differentiated on those alone. The
result is the cost of the epoch, counting from 0 before any training, at which held-out demonstrations were most likely.

The order of the scenes follows from the seed and the epoch. So a run that was killed trains again, and ends as if it
had never stopped, bit for bit.
"""

import copy
import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wfairl.core.costs.gradient import Paths, step_losses
from wfairl.core.costs.scene import ExactSolver, TrainingScene, by_product, solve_scenes
from wfairl.core.costs.settings import CostSettings
from wfairl.core.costs.training import (
    CHECKPOINT,
    CostTraining,
    EpochMetrics,
    TrainingResult,
    is_falling,
    write_checkpoint,
    write_metrics,
)
from wfairl.core.planning.product import Product
from wfairl.core.support.progress import progress_bar
from wfairl.networks.adam import Adam
from wfairl.networks.cost_network import CostNetwork, NodeInputs
from wfairl.networks.epochs import DivergedError, Progress, half_cosine, one_torch_thread, run_epochs


@one_torch_thread()
def train_network(initial: CostNetwork, training: CostTraining) -> TrainingResult:
    """See `CostModel.learn`.

    Raises:
        DivergedError: numbers are no longer finite; the metrics of the epochs before stay where they are.
    """
    settings, directory, model = training.settings, training.directory, copy.deepcopy(initial)
    adam, loss = Adam(model, settings.weight_decay), NetworkLoss(model, training)
    trained, held_out = _split(training.scenes, settings)

    def run_epoch(epoch: int) -> EpochMetrics:
        rate = half_cosine(settings.learning_rate, epoch, settings.epochs)
        train_loss = _descend(loss, adam, _batches(trained, settings, epoch), rate) if epoch else loss.mean(trained)
        return EpochMetrics(epoch, rate, train_loss, loss.mean(held_out) if held_out else None)

    if directory is not None:
        write_checkpoint(directory / CHECKPOINT, training.fingerprint)
    with progress_bar() as bar:
        meter = bar.add_task("cost", total=settings.epochs)
        for progress in run_epochs(model, run_epoch, settings.epochs):
            if directory is not None:
                write_metrics(progress.history, directory)
            bar.update(meter, completed=progress.epoch, description=_describe(progress.history[-1]))
    model.load_state_dict(progress.best)
    lines, warnings = _lines(model.kind, progress), _warnings(progress, settings)
    return TrainingResult(model, progress.best_epoch, progress.history, lines, warnings)


class NetworkLoss:
    """The loss of scenes under the current cost of a network, and its gradient."""

    def __init__(self, model: CostNetwork, training: CostTraining):
        self.model, self.temperature, self.n_jobs = model, training.temperature, training.n_jobs
        self.inputs: dict[Product, NodeInputs] = {}
        self.needed = {product: _needed(scenes) for product, scenes in by_product(training.scenes).items()}
        for product, (numbers, *parts) in training.inputs.items():
            tensors = tuple(map(torch.from_numpy, parts))
            self.inputs[product] = NodeInputs(numbers, product.successors.shape[1], tensors)

    def mean(self, scenes: Sequence[TrainingScene]) -> float:
        """The loss per step."""
        losses = [losses for _, losses, _ in self._solve(scenes)]
        return _finite(float(np.concatenate(losses).mean()), "loss")

    def differentiable(self, scenes: Sequence[TrainingScene]) -> tuple[float, Tensor]:
        """The loss per step, and a sum of costs c, each times dL/dc: its gradient is that of the loss."""
        solved = self._solve(scenes)
        steps = sum(len(scene.controls) for scene in scenes)
        loss = _finite(sum(losses.sum() for _, losses, _ in solved) / steps, "loss")
        total = torch.zeros(())
        for scene, (paths, _, by_Q) in zip(scenes, solved, strict=True):
            costs = self.model.costs(self.inputs[scene.product], paths.transitions)
            total = total + costs @ torch.from_numpy(paths.weights(by_Q / steps)).to(costs.dtype)
            if (failures := float((by_Q / steps * paths.failures).sum())) != 0:
                transitions = scene.product.graph.transition.astype(np.int64)
                total = total + failures * self.model.costs(self.inputs[scene.product], transitions).mean()
        return loss, total

    def _solve(self, scenes: Sequence[TrainingScene]) -> list[tuple[Paths, NDArray[np.float64], NDArray[np.float64]]]:
        """The optimal paths from the nodes of each demonstration, and its `step_losses`."""
        solved = solve_scenes(scenes, self._table, self.n_jobs)
        return [
            (paths, *step_losses(paths.control_cost_to_go, scene.controls, self.temperature))
            for scene, paths in zip(scenes, solved, strict=True)
        ]

    def _table(self, product: Product) -> NDArray[np.float64]:
        table = self.model.table(self.inputs[product], np.flatnonzero(self.needed[product]))
        _finite(float(table.sum()), "cost of a transition")
        return table


def _needed(scenes: Sequence[TrainingScene]) -> NDArray[np.bool_]:
    """The transitions of the product of some scenes whose costs are asked for, shape [nodes, controls].

    Where a whole product is searched and nothing slips, these lead to acceptance, or are those of demonstrated nodes.
    """
    product = scenes[0].product
    if product.chances is not None or not isinstance(scenes[0].solver, ExactSolver):
        return product.available
    needed = np.zeros(product.successors.shape, bool)
    needed.reshape(-1)[product.graph.transition] = True
    for scene in scenes:
        needed[scene.nodes] = product.available[scene.nodes]
    return needed


def _split(scenes: Sequence[TrainingScene], settings: CostSettings) -> tuple[list[TrainingScene], list[TrainingScene]]:
    """The scenes to train on, at least one, and those that choose the epoch."""
    count = min(len(scenes) - 1, math.ceil(settings.held_out * len(scenes)))
    held_out = set(np.random.default_rng(settings.seed).permutation(len(scenes))[:count].tolist())
    return [one for i, one in enumerate(scenes) if i not in held_out], [scenes[i] for i in sorted(held_out)]


def _batches(scenes: Sequence[TrainingScene], settings: CostSettings, epoch: int) -> list[list[TrainingScene]]:
    """The scenes of an epoch, in the order of the epoch."""
    order = np.random.default_rng([settings.seed, epoch]).permutation(len(scenes))
    firsts = range(0, len(order), settings.batch_size)
    return [[scenes[i] for i in order[first : first + settings.batch_size]] for first in firsts]


def _descend(loss: NetworkLoss, adam: Adam, batches: Sequence[Sequence[TrainingScene]], learning_rate: float) -> float:
    """An Adam step for each batch; the loss per step of a demonstration, each batch before its Adam step."""
    total, steps = 0.0, 0
    for batch in batches:
        value, differentiable = loss.differentiable(batch)
        gradients = adam.gradients(differentiable)
        for name, gradient in gradients.items():
            _finite(gradient.sum().item(), f"gradient of {name}")
        adam.step(gradients, learning_rate)
        of_batch = sum(len(scene.controls) for scene in batch)
        total += value * of_batch
        steps += of_batch
    return total / steps


def _lines(kind: str, progress: Progress) -> list[tuple[str, str]]:
    """What was learned, for people."""
    history, chosen = progress.history, progress.best_epoch
    before, after = history[0].held_out_loss, history[chosen].held_out_loss
    if progress.epoch == 0:
        lines = [("cost", f"{kind}, 1 everywhere: not trained")]
    elif chosen == 0:
        lines = [
            ("cost", f"{kind}, 1 everywhere: no other made held-out demonstrations more likely"),
            ("", "(right for an expert to whom all controls cost the same; docs/learning-the-cost.md)"),
        ]
    else:
        lines = [("cost", f"{kind}, of epoch {chosen} of {progress.epoch}")]
    if before is not None and after is not None:
        lines.append(("held-out loss per step", f"{after:.4f} (before training {before:.4f})"))
    elif progress.epoch > 0:
        lines.append(("held-out loss per step", "none: no demonstrations were held out, and the last epoch was kept"))
    return lines


def _warnings(progress: Progress, settings: CostSettings) -> list[str]:
    last = progress.epoch
    if progress.best_epoch < last or not is_falling([one.held_out_loss for one in progress.history]):
        return []
    return [
        f"the last of {last} epochs was the best and the held-out loss was still falling: train longer (--epochs)"
        f" or faster (--learning-rate, now {settings.learning_rate:g})"
    ]


def _describe(metrics: EpochMetrics) -> str:
    held_out = "" if metrics.held_out_loss is None else f", held out {metrics.held_out_loss:.4f}"
    return f"cost: loss {metrics.train_loss:.4f}{held_out}"


def _finite(number: float, noun: str) -> float:
    if not math.isfinite(number):
        raise DivergedError(
            f"training diverged: the {noun} is not a finite number; lower the learning rate, or raise the training"
            " temperature"
        )
    return number
