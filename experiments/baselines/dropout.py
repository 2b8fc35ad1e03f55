"""Dropout that draws from a generator of its own."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Dropout:
    """Sets units of a hidden layer to 0 at random, and scales up the others.

    Torch's own draws from the global generator, this one from its own.

    Attributes:
        rate: the probability of a unit to be set to 0.
        generator: of the draws.
    """

    rate: float
    generator: torch.Generator

    def __call__(self, hidden: Tensor) -> Tensor:
        """The layer with units left out."""
        is_active = torch.rand(hidden.shape, generator=self.generator, dtype=hidden.dtype) >= self.rate
        return hidden * is_active / (1 - self.rate)
