"""The settings of GAIL."""

import math
from dataclasses import dataclass

from wfairl.baselines.gail.discriminator import REWARDS
from wfairl.errors import BadInputError
from wfairl.learning.trainer import LARGEST_SEED

DEMONSTRATED, FRESH, BOTH = "demonstrated", "fresh", "both"
"""Where the generator acts: in the scenes of the demonstrations, in new ones, or as often in either. In the last
case only what it did in the scenes of the demonstrations is shown to the discriminator, which could otherwise tell
generator and expert apart by the scene; in new scenes it is only asked."""

COUNTS = (
    "fresh_scenes", "radius", "iterations", "environments", "rollout", "epochs", "batch_size",
    "discriminator_steps", "validation_scenes", "validate_every", "checkpoint_every",
)  # fmt: skip
"""Settings that are whole numbers from 1 on."""


@dataclass(frozen=True)
class GailConfig:
    """How to train; the defaults were chosen on validation scenes (docs/baselines.md).

    Attributes:
        rewards: rewards of the generator to try, names of `REWARDS`; the better one is kept.
        scenes: where the generator acts: `demonstrated`, `fresh` or `both`.
        fresh_scenes: number of new scenes.
        midway: whether half of the generator's episodes in scenes of demonstrations begin somewhere on the way.
        view: how the networks see a grid: `agent` (see `grid_encoder`), or `map`, as in the paper. Other worlds are
            seen by their features.
        radius: how far the agent sees, in cells, or in steps where the world is no grid.
        iterations: rollouts, each followed by an update of generator and discriminator.
        environments: episodes at a time.
        rollout: steps per episode and iteration.
        epochs: PPO's passes over a rollout.
        batch_size: steps per minibatch of PPO.
        learning_rate: initial learning rate of PPO; it falls linearly to a tenth.
        discount: gamma of PPO.
        trace: lambda of PPO's generalised advantage estimation.
        clip: clipping range of PPO.
        entropy: weight of the policy's entropy.
        pretraining: epochs of behavioural cloning before the adversarial training.
        idle: also clone steps that changed nothing.
        warmup: iterations over which the learning rate rises, while the discriminator and the value settle.
        discriminator_steps: Adam steps per iteration, each on all of the expert's transitions and a part of the
            rollout.
        discriminator_rate: learning rate of the discriminator.
        weight_decay: decoupled weight decay of the discriminator.
        smoothing: label smoothing of the discriminator.
        validation_scenes: number of scenes to choose the reward, the iteration and the temperature on.
        validate_every: iterations between two validations.
        checkpoint_every: iterations between two checkpoints.
        seed: random seed.
    """

    rewards: tuple[str, ...] = tuple(REWARDS)
    scenes: str = BOTH
    fresh_scenes: int = 1024
    midway: bool = False
    view: str = "agent"
    radius: int = 5
    iterations: int = 100
    environments: int = 128
    rollout: int = 32
    epochs: int = 2
    batch_size: int = 1024
    learning_rate: float = 5e-4
    discount: float = 0.97
    trace: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    pretraining: int = 100
    idle: bool = False
    warmup: int = 10
    discriminator_steps: int = 3
    discriminator_rate: float = 1e-3
    weight_decay: float = 1e-2
    smoothing: float = 0.1
    validation_scenes: int = 64
    validate_every: int = 5
    checkpoint_every: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        unknown = sorted(set(self.rewards) - set(REWARDS))
        if unknown or not self.rewards:
            raise BadInputError(f"the rewards of GAIL are {', '.join(REWARDS)}, not {', '.join(unknown) or 'none'}")
        if self.scenes not in (DEMONSTRATED, FRESH, BOTH):
            raise BadInputError(f"the generator's scenes are {DEMONSTRATED}, {FRESH} or {BOTH}, not {self.scenes!r}")
        for name in COUNTS:
            if getattr(self, name) < 1:
                raise BadInputError(f"{name} of GAIL must be 1 or more, not {getattr(self, name)}")
        if min(self.pretraining, self.warmup) < 0:
            raise BadInputError("pretraining and warmup of GAIL must be 0 or more")
        for name in ("learning_rate", "discriminator_rate", "clip"):
            if not 0 < getattr(self, name) < math.inf:
                raise BadInputError(f"{name} of GAIL must be above zero and finite, not {getattr(self, name)}")
        for name in ("weight_decay", "entropy"):
            if not 0 <= getattr(self, name) < math.inf:
                raise BadInputError(f"{name} of GAIL must be zero or above, and finite, not {getattr(self, name)}")
        if not (0 < self.discount < 1 and 0 <= self.trace <= 1 and 0 <= self.smoothing < 0.5):
            raise BadInputError("discount must lie between 0 and 1, trace too, and smoothing between 0 and 1/2")
        if not 0 <= self.seed <= LARGEST_SEED:
            raise BadInputError(f"the seed of a training must lie between 0 and {LARGEST_SEED:,}, not {self.seed}")

    @property
    def steps(self) -> int:
        """Steps of the environment in a training with one reward."""
        return self.iterations * self.environments * self.rollout
