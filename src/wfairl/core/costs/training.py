"""Learning the cost: maximum likelihood of the demonstrated controls, through the planner.

Equation (4) of the paper, per step:

    L(theta) = - mean over demonstrated steps of log pi_theta(u_t | s_t)

For each scene the planner computes the cost-to-go under the current cost, and Proposition 1 (`gradient`) gives the
transitions that the loss depends on. How a model lowers the loss is its own affair (`CostModel.learn`): costs over
features have few weights, which are estimated from all demonstrations; networks are trained in epochs.

A run writes its losses to `metrics.jsonl`, and to a checkpoint the fingerprint of model, data and settings. A run that
was killed learns again, to the same bits, and with the checkpoint it refuses to resume as anything else.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.costs.cost_model import CostModel
from wfairl.core.costs.gradient import step_losses
from wfairl.core.costs.scene import Comparison, TrainingScene, solve_scenes
from wfairl.core.costs.settings import CostSettings, training_temperature
from wfairl.core.planning.cost import Cost
from wfairl.core.planning.product import Product
from wfairl.core.support.bounds import Count
from wfairl.core.support.documents import write_lines
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.safetensors_files import read_arrays, write_arrays

FORMAT, VERSION = "wfairl-checkpoint", 1
METRICS = "metrics.jsonl"
CHECKPOINT = Path("checkpoint", "last.safetensors")


class BrokenCheckpointError(BadInputError):
    """A file is not a checkpoint, or a truncated or changed one."""


class OtherConfigurationError(BadInputError):
    """The checkpoint is of other settings, another model or other data."""


STILL_FALLING = 2e-3
"""A held-out loss that fell by this fraction over the last quarter of the epochs was still falling."""


@dataclass(frozen=True)
class EpochMetrics:
    """How an epoch went; an estimation from all demonstrations has two, before and after.

    Attributes:
        epoch: from 0, before any training.
        learning_rate: of Adam; 0 without it.
        train_loss: mean negative log-likelihood per step.
        held_out_loss: the same on held-out demonstrations at the end of the epoch; None if there are none.
    """

    epoch: Count
    learning_rate: float
    train_loss: float
    held_out_loss: float | None

    @property
    def criterion(self) -> tuple[float, ...] | None:
        """What the best epoch minimises, the first of equals; None if nothing is held out."""
        return None if self.held_out_loss is None else (self.held_out_loss,)


def is_falling(losses: Sequence[float | None]) -> bool:
    """Whether the last of the epochs' held-out losses is the least, and clearly below that of a quarter before."""
    last = len(losses) - 1
    measured = [loss for loss in losses if loss is not None]
    if last < 2 or len(measured) < len(losses) or measured[-1] > min(measured):
        return False
    return measured[-1] < (1 - STILL_FALLING) * measured[last - max(1, last // 4)]


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """The result of a training.

    Attributes:
        model: the cost of the chosen epoch.
        epoch: the chosen epoch; 0 is the cost before any training.
        history: one entry per epoch, from 0.
        lines, warnings: for people, what was learned as names and texts, and why not to trust it.
    """

    model: CostModel
    epoch: int
    history: tuple[EpochMetrics, ...]
    lines: Sequence[tuple[str, str]]
    warnings: Sequence[str] = ()


def train_cost(
    model: CostModel,
    scenes: Sequence[TrainingScene],
    settings: CostSettings,
    directory: Path | None = None,
    resume: bool = False,
    n_jobs: int = 2,
    comparisons: Sequence[Comparison] = (),
) -> TrainingResult:
    """Fit a cost model to demonstrations; the arguments are explained at `CostTraining`.

    Raises:
        BadInputError: there are no demonstrations, or the model does not apply to their worlds.
        OtherConfigurationError: the checkpoint to resume is of other settings, another model or other data.
        DivergedError: numbers of a network are no longer finite.
    """
    return model.learn(CostTraining(model, scenes, settings, directory, resume, n_jobs, comparisons))


@dataclass(frozen=True, eq=False)
class CostTraining:
    """A training that can begin or resume: what can be refused is refused here, before anything is written.

    Attributes:
        model: the initial model; it is not changed.
        scenes: the demonstrations on their products.
        settings: how to train; `CostSettings.for_demonstrations` sets the temperature, which is unknown otherwise.
        directory: where `metrics.jsonl` and the checkpoint go; nothing is written if None.
        resume: learn again in a `directory` that has the checkpoint of the same training.
        n_jobs: scenes to plan in at once; it changes nothing in the result.
        comparisons: answers of the demonstrators, for the model `auto`; others make no use of them.
    """

    model: CostModel
    scenes: Sequence[TrainingScene]
    settings: CostSettings
    directory: Path | None = None
    resume: bool = False
    n_jobs: int = 2
    comparisons: Sequence[Comparison] = ()

    def __post_init__(self) -> None:
        if not self.scenes:
            raise BadInputError("there are no demonstrations to train on")
        _ = self.inputs  # a model that does not apply to the scenes refuses them
        if self.directory is not None and self.resume:
            check_checkpoint(self.directory / CHECKPOINT, self.fingerprint)

    @property
    def temperature(self) -> float:
        """The temperature to train at."""
        return training_temperature(self.settings.temperature)

    @cached_property
    def inputs(self) -> dict[Product, Sequence[NDArray[Any]]]:
        """What the model sees of each product."""
        return {product: self.model.inputs(product) for product in dict.fromkeys(one.product for one in self.scenes)}

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the initial weights, the data and the settings."""
        model, digest = self.model, hashlib.sha256()
        feed(digest, [model.kind, model.settings, asdict(self.settings)], *model.arrays.values())
        for automaton in {id(one.automaton): one.automaton for one in self.inputs}.values():
            arrows = [[arrow.source, arrow.target, arrow.text] for arrow in automaton.arrows()]
            feed(digest, arrows, automaton.accepting)
        for product, inputs in self.inputs.items():
            feed(digest, product.successors, product.automaton_states, *inputs)
        numbers = {product: number for number, product in enumerate(self.inputs)}
        for scene in self.scenes:
            feed(digest, numbers[scene.product], scene.nodes, scene.controls)
        for comparison in self.comparisons:
            feed(digest, comparison.preferred, comparison.other)
        return digest.hexdigest()

    def loss(self, cost: Cost) -> float:
        """The loss per step of all demonstrations under a cost."""
        solved = solve_scenes(self.scenes, cost, self.n_jobs)
        losses = [
            step_losses(paths.control_cost_to_go, scene.controls, self.temperature)[0]
            for scene, paths in zip(self.scenes, solved, strict=True)
        ]
        return float(np.concatenate(losses).mean())


def feed(digest: "hashlib._Hash", *parts: Any) -> None:
    """Add arrays and JSON documents, each after its shape and type, so that no two sequences have the same bytes."""
    for part in parts:
        if hasattr(part, "__array__"):
            array = np.ascontiguousarray(part)
            digest.update(f"{array.dtype.str}{array.shape}:".encode())
            digest.update(array.data)
        else:
            text = json.dumps(part, sort_keys=True).encode()
            digest.update(f"json({len(text)}):".encode() + text)


def write_checkpoint(path: Path, fingerprint: str) -> None:
    """Replace a checkpoint, atomically."""
    write_arrays(path, FORMAT, VERSION, {"fingerprint": fingerprint}, {})


def check_checkpoint(path: Path, fingerprint: str) -> None:
    """Refuse a checkpoint of another training; there may be none yet.

    Raises:
        OtherConfigurationError: it is of other settings, another model or other data.
        BrokenCheckpointError: it cannot be read.
    """
    if path.exists() and read_arrays(path, FORMAT, VERSION, BrokenCheckpointError)[0].get("fingerprint") != fingerprint:
        raise OtherConfigurationError(
            f"{path}: the checkpoint is of another configuration (other settings, another network, another automaton"
            " or other demonstrations). Resume with the same, or start a new run in another directory"
        )


def write_metrics(history: Sequence[EpochMetrics], directory: Path) -> None:
    """Write the history as JSONL, one epoch per line."""
    write_lines(directory / METRICS, [asdict(metrics) for metrics in history])
