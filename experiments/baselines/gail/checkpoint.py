"""The checkpoint of GAIL with one reward, and the metrics of an iteration; see `learning.checkpoint` for the file."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import torch
from annotated_types import Ge, Lt

from wfairl.core.costs.checkpoint import Tensors, read_groups, write_groups
from wfairl.core.support.documents import Count, parse

CHECKPOINTS = "checkpoint"
"""The folder of a run with one checkpoint per reward."""

GROUPS = ("policy", "best", "policy_adam", "discriminator", "discriminator_adam", "environment")


@dataclass(frozen=True)
class IterationMetrics:
    """The metrics of an iteration.

    Attributes:
        iteration: from 0.
        steps: of the environment so far.
        episodes: that ended in this iteration.
        mean_return: their true return, by the task's protocol; None if none ended.
        mean_length: their mean length.
        mean_return_judged: the true return of those in scenes that train the discriminator.
        entropy: of the policy, in nats.
        value_loss: of the generator's value.
        discriminator_loss: of its last step; 2 log 2 if it cannot distinguish the two.
        expert_accuracy: fraction of the expert's steps that the discriminator attributes to the expert.
        generator_accuracy: fraction of the generator's steps that it attributes to the generator.
        absorbing: D of the absorbing state.
        held_out: returns in validation scenes, one per temperature; None in iterations without validation.
    """

    iteration: Count
    steps: Count
    episodes: Count
    mean_return: float | None
    mean_length: float | None
    mean_return_judged: float | None
    entropy: float
    value_loss: float
    discriminator_loss: float
    expert_accuracy: float
    generator_accuracy: float
    absorbing: float
    held_out: tuple[float, ...] | None


@dataclass(frozen=True, eq=False)
class GailCheckpoint:
    """The whole state of a training.

    Attributes:
        tensors: by group: the policy, that of the best iteration, the discriminator, Adam's moments of both, and
            the state of the episodes.
        best_iteration: the last one with the best return in validation scenes; -1 for the start.
        best_returns: its returns there, one per temperature.
        history: one entry per iteration.
    """

    tensors: dict[str, Tensors]
    best_iteration: int
    best_returns: tuple[float, ...]
    history: tuple[IterationMetrics, ...]

    def write(self, path: Path, fingerprint: str) -> None:
        """Replace the checkpoint of a training, atomically."""
        header = {
            "best_iteration": self.best_iteration,
            "best_returns": list(self.best_returns),
            "history": [asdict(metrics) for metrics in self.history],
        }
        write_groups(path, fingerprint, self.tensors, header)

    @classmethod
    def read(cls, path: Path, fingerprint: str) -> "GailCheckpoint | None":
        """The checkpoint of a training, None if there is none yet; errors as in `read_groups`."""
        return read_groups(path, fingerprint, GROUPS, cls._parse)

    @classmethod
    def _parse(cls, groups: dict[str, Tensors], header: dict[str, Any]) -> "GailCheckpoint":
        history = parse(tuple[IterationMetrics, ...], header["history"], finite=False)
        best_returns = parse(tuple[float, ...], header["best_returns"], finite=False)
        best_iteration = parse(Annotated[int, Ge(-1), Lt(max(len(history), 1))], header["best_iteration"])
        return cls(groups, best_iteration, best_returns, history)


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> Tensors:
    """The moments and steps of Adam, by the number of the parameter."""
    state = optimizer.state_dict()["state"]
    return {
        f"{number}.{name}": torch.as_tensor(one).clone()
        for number, entry in state.items()
        for name, one in entry.items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Tensors) -> None:
    """Restore Adam's moments and steps."""
    state: dict[int, dict[str, Any]] = {}
    for name, tensor in tensors.items():
        number, _, entry = name.partition(".")
        state.setdefault(int(number), {})[entry] = tensor.clone()
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
