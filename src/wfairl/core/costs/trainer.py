"""Learning the cost: maximum likelihood of the demonstrated controls, through the planner.

Equation (4) of the paper, per step:

    L(theta) = - mean over demonstrated steps of log pi_theta(u_t | s_t)

For each scene of a batch the planner computes the cost-to-go under the current cost, and Proposition 1 (`gradient`)
gives the transitions that the loss depends on; the model is differentiated on those alone. The result is the cost of
the epoch, counting from 0 before any training, at which held-out demonstrations were most likely.

That is how networks are learned. Costs over features have few weights: L-BFGS on all demonstrations finds the most
likely ones under a normal prior, and `auto` samples the posterior (see `posterior`). Their history has two entries,
before and after.

No random state lasts beyond an epoch: the order of the scenes follows from the seed and the epoch. So a resumed run
ends as if it had never stopped, bit for bit.
"""

import copy
import hashlib
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from wfairl.core.costs.adam import Adam
from wfairl.core.costs.checkpoint import (
    CHECKPOINT,
    Checkpoint,
    EpochMetrics,
    feed,
    read_checkpoint,
    write_checkpoint,
    write_metrics,
)
from wfairl.core.costs.comparisons import Comparison
from wfairl.core.costs.cost_model import CostModel, Estimator, View
from wfairl.core.costs.epochs import DivergedError, half_cosine, one_torch_thread, run_epochs
from wfairl.core.costs.feature_costs import SampledCost
from wfairl.core.costs.gradient import Paths, control_cost_to_go, log_likelihood
from wfairl.core.costs.most_likely import most_likely
from wfairl.core.costs.posterior import sample_costs
from wfairl.core.costs.scene import TrainingScene, solve_scenes
from wfairl.core.costs.settings import CostSettings, training_temperature
from wfairl.core.planning.product import Product
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.progress import progress_bar

WEIGHT_SPREAD = 3.0
"""Standard deviation of the prior of a weight."""

PLANNED_WITH = 0.9
"""The probability of unit cost from which on nothing else is planned with. Below, the mean over the samples weighs a
preference by how likely it is, which costs next to nothing where there is none (`python -m experiments
learned-cost`)."""

STILL_FALLING = 2e-3
"""A held-out loss that fell by this fraction over the last quarter of the epochs was still falling."""


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """The result of a training.

    Attributes:
        model: the cost of the chosen epoch.
        epoch: the chosen epoch; 0 is the cost before any training.
        history: one entry per epoch, from 0.
    """

    model: CostModel
    epoch: int
    history: tuple[EpochMetrics, ...]

    @property
    def is_cut_short(self) -> bool:
        """Whether the last epoch was chosen and the held-out loss was still falling: more epochs would be better."""
        return self.epoch == len(self.history) - 1 and is_falling([epoch.held_out_loss for epoch in self.history])


def is_falling(losses: Sequence[float | None]) -> bool:
    """Whether the last of the epochs' held-out losses is the least, and clearly below that of a quarter before."""
    last = len(losses) - 1
    measured = [loss for loss in losses if loss is not None]
    if last < 2 or len(measured) < len(losses) or measured[-1] > min(measured):
        return False
    return measured[-1] < (1 - STILL_FALLING) * measured[last - max(1, last // 4)]


def train_cost(
    model: CostModel,
    scenes: Sequence[TrainingScene],
    settings: CostSettings,
    directory: Path | None = None,
    resume: bool = False,
    n_jobs: int = 2,
    comparisons: Sequence[Comparison] = (),
) -> TrainingResult:
    """Fit a cost model to demonstrations.

    Args:
        model: the initial model; it is not changed.
        scenes: the demonstrations on their products.
        settings: how to train; `CostSettings.for_demonstrations` sets the temperature, which is unknown otherwise.
        directory: where `metrics.jsonl` and the checkpoint of every epoch go; nothing is written if None.
        resume: resume from the checkpoint in `directory`, if there is one.
        n_jobs: scenes to plan in at once; it changes nothing in the result.
        comparisons: answers of the demonstrators, for the model `auto`; others make no use of them.

    Raises:
        OtherConfigurationError: the checkpoint to resume is of other settings, another model or other data.
        DivergedError: numbers are no longer finite; the last good checkpoint stays where it is.
    """
    return CostTraining(model, scenes, settings, directory, resume, comparisons).run(n_jobs)


class CostTraining:
    """A training that can begin or resume: what can be refused is refused here, before anything is written.

    Arguments and errors are those of `train_cost`.
    """

    def __init__(
        self,
        model: CostModel,
        scenes: Sequence[TrainingScene],
        settings: CostSettings,
        directory: Path | None = None,
        resume: bool = False,
        comparisons: Sequence[Comparison] = (),
    ):
        if not scenes:
            raise BadInputError("there are no demonstrations to train on")
        self.model, self.settings, self.directory = model, settings, directory
        self.examples, self.comparisons = _view_scenes(model, scenes), comparisons
        self.fingerprint = _fingerprint(model, self.examples, settings, comparisons)
        self.checkpoint: Checkpoint | None = None
        if directory is not None and resume:
            self.checkpoint = read_checkpoint(directory / CHECKPOINT, self.fingerprint)

    @one_torch_thread()
    def run(self, n_jobs: int = 2) -> TrainingResult:
        """Learn the cost."""
        settings, directory = self.settings, self.directory
        temperature = training_temperature(settings.temperature)
        if self.model.estimator is not Estimator.ADAM and settings.epochs:
            return self._estimate(temperature, n_jobs)
        model = copy.deepcopy(self.model)
        adam = Adam(model, settings.weight_decay)
        trained, held_out = _split(self.examples, settings)

        def run_epoch(epoch: int) -> EpochMetrics:
            measure = partial(_mean_loss, model, temperature=temperature, n_jobs=n_jobs)
            rate = half_cosine(settings.learning_rate, epoch, settings.epochs)
            batches = _batches(trained, settings, epoch)
            train_loss = _descend(model, adam, batches, rate, temperature, n_jobs) if epoch else measure(trained)
            return EpochMetrics(epoch, rate, train_loss, measure(held_out) if held_out else None)

        with progress_bar() as bar:
            meter = bar.add_task("cost", total=settings.epochs)
            for checkpoint in run_epochs(model, adam, run_epoch, settings.epochs, resumed=self.checkpoint):
                if directory is not None:
                    write_checkpoint(checkpoint, directory / CHECKPOINT, self.fingerprint)
                    write_metrics(checkpoint.history, directory)
                bar.update(meter, completed=checkpoint.epoch, description=_describe(checkpoint.history[-1]))
        model.load_state_dict(checkpoint.best)
        return TrainingResult(model, checkpoint.best_epoch, checkpoint.history)

    def _estimate(self, temperature: float, n_jobs: int) -> TrainingResult:
        """A cost over features, from all demonstrations."""
        before = EpochMetrics(0, 0.0, _mean_loss(self.model, self.examples, temperature, n_jobs), None)
        if isinstance(self.model, SampledCost):
            model: CostModel = self._sample(self.model, n_jobs)
        else:
            model = _most_likely(self.model, self.examples, temperature, n_jobs)
        examples = _view_scenes(model, [example.scene for example in self.examples])
        after = EpochMetrics(1, 0.0, _mean_loss(model, examples, temperature, n_jobs), None)
        if self.directory is not None:  # a resumed run estimates again: the checkpoint only tells what from
            write_checkpoint(
                Checkpoint({}, {}, 1, {}, {}, 0, (before, after)), self.directory / CHECKPOINT, self.fingerprint
            )
            write_metrics((before, after), self.directory)
        is_unit = isinstance(model, SampledCost) and not model.weights.any()
        return TrainingResult(model, 0 if is_unit else 1, (before, after))

    def _sample(self, model: SampledCost, n_jobs: int) -> CostModel:
        """Samples of the posterior, or unit cost if that is next to sure."""
        scenes, rng = [example.scene for example in self.examples], np.random.default_rng(self.settings.seed)
        return model.with_samples(
            sample_costs(scenes, self.settings.temperature, rng, n_jobs, self.comparisons), PLANNED_WITH
        )


@dataclass(frozen=True, eq=False)
class _Example:
    """A demonstration on its product, and the product as input of the model."""

    scene: TrainingScene
    view: View


def _view_scenes(model: CostModel, scenes: Sequence[TrainingScene]) -> list[_Example]:
    """One view per product, of the transitions that searches and demonstrations can reach."""
    on_product: dict[Product, list[TrainingScene]] = {}
    for scene in scenes:
        on_product.setdefault(scene.product, []).append(scene)
    views = {
        product: model.view(product, np.flatnonzero(shared[0].solver.needed(shared)))
        for product, shared in on_product.items()
    }
    return [_Example(scene, views[scene.product]) for scene in scenes]


def _fingerprint(
    model: CostModel, examples: Sequence[_Example], settings: CostSettings, comparisons: Sequence[Comparison]
) -> str:
    """A digest of the initial weights, the data and the settings."""
    inputs = {example.scene.product: example.view.inputs for example in examples}
    digest = hashlib.sha256()
    feed(digest, [model.kind, model.settings, asdict(settings)], *model.state_dict().values())
    for automaton in {id(product.automaton): product.automaton for product in inputs}.values():
        feed(digest, [[arrow.source, arrow.target, arrow.text] for arrow in automaton.arrows()], automaton.accepting)
    for product, of_model in inputs.items():
        feed(digest, product.successors, product.automaton_states, of_model.numbers, *of_model.parts)
    numbers = {product: number for number, product in enumerate(inputs)}
    for scene in (example.scene for example in examples):
        feed(digest, numbers[scene.product], scene.nodes, scene.controls)
    for comparison in comparisons:
        feed(digest, comparison.preferred, comparison.other)
    return digest.hexdigest()


def _split(examples: Sequence[_Example], settings: CostSettings) -> tuple[list[_Example], list[_Example]]:
    """The examples to train on, at least one, and those that choose the epoch."""
    count = min(len(examples) - 1, math.ceil(settings.held_out * len(examples)))
    order = np.random.default_rng(settings.seed).permutation(len(examples))
    held_out = set(order[:count].tolist())
    return (
        [example for i, example in enumerate(examples) if i not in held_out],
        [example for i, example in enumerate(examples) if i in held_out],
    )


def _most_likely(initial: CostModel, examples: Sequence[_Example], temperature: float, n_jobs: int) -> CostModel:
    """The weights of greatest posterior density, for a normal prior."""
    model = copy.deepcopy(initial).double()
    parameters = list(model.parameters())

    def objective(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        vector_to_parameters(torch.from_numpy(point), parameters)
        likelihoods = _log_likelihoods(model, examples, temperature, n_jobs)
        loss = _finite(-likelihoods.mean(), "loss")
        gradients = torch.autograd.grad(loss, parameters, materialize_grads=True)
        precision = 1 / (WEIGHT_SPREAD**2 * len(likelihoods))
        value = loss.item() + precision / 2 * float(point @ point)
        return value, parameters_to_vector(gradients).numpy() + precision * point

    best = most_likely(objective, parameters_to_vector(parameters).detach().numpy().copy())
    vector_to_parameters(torch.from_numpy(best), parameters)
    return model.to(next(initial.parameters()).dtype)


def _mean_loss(model: CostModel, examples: Sequence[_Example], temperature: float, n_jobs: int) -> float:
    """The loss per step without its gradient."""
    likelihoods = [
        log_likelihood(
            torch.from_numpy(paths.control_cost_to_go), torch.from_numpy(example.scene.controls), temperature
        )
        for example, paths in zip(examples, _plan_all(model, examples, n_jobs), strict=True)
    ]
    return _finite(-torch.cat(likelihoods).mean(), "loss").item()


def _batches(examples: Sequence[_Example], settings: CostSettings, epoch: int) -> list[list[_Example]]:
    """The examples of an epoch, in the order of the epoch."""
    order = np.random.default_rng([settings.seed, epoch]).permutation(len(examples))
    firsts = range(0, len(order), settings.batch_size)
    return [[examples[i] for i in order[first : first + settings.batch_size]] for first in firsts]


def _descend(
    model: CostModel,
    adam: Adam,
    batches: Sequence[Sequence[_Example]],
    learning_rate: float,
    temperature: float,
    n_jobs: int,
) -> float:
    """An Adam step for each batch; the loss per step of a demonstration, each batch before its Adam step."""
    total, steps = 0.0, 0
    for batch in batches:
        likelihoods = _log_likelihoods(model, batch, temperature, n_jobs)
        loss = _finite(-likelihoods.mean(), "loss")
        gradients = adam.gradients(loss)
        for name, gradient in gradients.items():
            _finite(gradient.sum(), f"gradient of {name}")
        adam.step(gradients, learning_rate)
        total += loss.item() * len(likelihoods)
        steps += len(likelihoods)
    return total / steps


def _log_likelihoods(model: CostModel, batch: Sequence[_Example], temperature: float, n_jobs: int) -> Tensor:
    """log pi(u_t | s_t) of every step of a batch, differentiably."""
    likelihoods = []
    for example, paths in zip(batch, _plan_all(model, batch, n_jobs), strict=True):
        costs = model(example.view, paths.transitions)
        Q = control_cost_to_go(costs, paths)
        likelihoods.append(log_likelihood(Q, torch.from_numpy(example.scene.controls), temperature))
    return torch.cat(likelihoods)


def _plan_all(model: CostModel, examples: Sequence[_Example], n_jobs: int) -> list[Paths]:
    """The optimal paths from the nodes of each demonstration, under the current cost."""
    views = {example.scene.product: example.view for example in examples}

    def costs_of(product: Product) -> NDArray[np.float64]:
        table = model.table(views[product])
        if not np.isfinite(table).all():
            raise DivergedError(_advice("cost of a transition"))
        return table

    return solve_scenes([example.scene for example in examples], costs_of, n_jobs)


def _describe(metrics: EpochMetrics) -> str:
    held_out = "" if metrics.held_out_loss is None else f", held out {metrics.held_out_loss:.4f}"
    return f"cost: loss {metrics.train_loss:.4f}{held_out}"


def _finite(number: Tensor, noun: str) -> Tensor:
    if not number.isfinite():
        raise DivergedError(_advice(noun))
    return number


def _advice(noun: str) -> str:
    return (
        f"training diverged: the {noun} is not a finite number. The checkpoint of the last good epoch remains;"
        " lower the learning rate, or raise the training temperature"
    )
