"""The settings of GAIL."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Lt

from experiments.baselines.gail.discriminator import REWARDS
from wfairl.core.support.bounds import AtLeastOne, AtLeastZero, NotNegative, Positive, Seed, check_bounds
from wfairl.core.support.errors import BadInputError


@dataclass(frozen=True)
class GailConfig:
    """How to train; the defaults were chosen on validation scenes (experiments/RESULTS.md).

    Attributes:
        rewards: rewards of the generator to try; the better one is kept.
        fresh_scenes: number of scenes, beside the demonstrated ones, in which the generator acts.
        radius: how far the agent sees, in cells, or in steps if the world is no grid.
        iterations: rollouts, each followed by an update of generator and discriminator.
        environments: number of parallel episodes.
        rollout: steps per episode and iteration.
        epochs: PPO's passes over a rollout.
        batch_size: steps per minibatch of PPO.
        learning_rate: initial learning rate of PPO; it falls linearly to a tenth.
        discount: gamma of PPO.
        entropy: weight of the policy's entropy.
        pretraining: epochs of behavioural cloning before the adversarial training.
        warmup: iterations over which the learning rate rises, while the discriminator and the value settle.
        discriminator_steps: Adam steps per iteration, each on all of the expert's transitions and a part of the
            rollout.
        discriminator_rate: learning rate of the discriminator.
        smoothing: label smoothing of the discriminator.
        validation_scenes: number of scenes to choose the reward, the iteration and the temperature on.
        validate_every: iterations between two validations.
        seed: random seed.
    """

    rewards: tuple[str, ...] = tuple(REWARDS)
    fresh_scenes: AtLeastOne = 1024
    radius: Annotated[int, Ge(2)] = 5
    iterations: AtLeastOne = 100
    environments: AtLeastOne = 128
    rollout: AtLeastOne = 32
    epochs: AtLeastOne = 2
    batch_size: AtLeastOne = 1024
    learning_rate: Positive = 5e-4
    discount: Annotated[float, Gt(0), Lt(1)] = 0.97
    entropy: NotNegative = 0.01
    pretraining: AtLeastZero = 100
    warmup: AtLeastZero = 10
    discriminator_steps: AtLeastOne = 3
    discriminator_rate: Positive = 1e-3
    smoothing: Annotated[float, Ge(0), Lt(0.5)] = 0.1
    validation_scenes: AtLeastOne = 64
    validate_every: AtLeastOne = 5
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_bounds(self)
        unknown = sorted(set(self.rewards) - set(REWARDS))
        if unknown or not self.rewards:
            raise BadInputError(f"rewards must be {' or '.join(REWARDS)}, not {', '.join(unknown) or 'none'}")
