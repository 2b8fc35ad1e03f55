"""Laws of the bounds of settings."""

import math
from dataclasses import dataclass
from typing import Annotated

import pytest
from annotated_types import Ge, Lt

from wfairl.core.support.bounds import LARGEST_SEED, AtLeastOne, Positive, Seed, check_bounds
from wfairl.core.support.errors import BadInputError


@dataclass(frozen=True)
class Settings:
    epochs: AtLeastOne = 1
    rate: Positive = 0.1
    rank: AtLeastOne | None = None
    dropouts: Annotated[tuple[float, ...], Ge(0), Lt(1)] = (0.0, 0.5)
    seed: Seed = LARGEST_SEED
    name: str = "any"

    def __post_init__(self):
        check_bounds(self)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": 0}, "epochs must be at least 1, not 0"),
        ({"rate": 0.0}, "rate must be above 0 and finite, not 0.0"),
        ({"rate": math.inf}, "rate must be above 0 and finite, not inf"),
        ({"rate": math.nan}, "rate must be above 0 and finite, not nan"),
        ({"rank": 0}, "rank must be at least 1, not 0"),
        ({"dropouts": (0.0, 1.0)}, "dropouts must be at least 0 and below 1, not 1.0"),
        ({"seed": LARGEST_SEED + 1}, "seed must be at least 0 and at most 9,223,372,036,854,775,807"),
    ],
)
def test_a_setting_outside_its_bounds_is_named_with_them(change, message):
    with pytest.raises(BadInputError) as refused:
        Settings(**change)
    assert str(refused.value).startswith(message)


def test_settings_at_their_bounds_are_accepted():
    assert Settings(epochs=1, rank=1, dropouts=(0.0,), seed=0).rank == 1
    assert Settings(rank=None, dropouts=()).dropouts == ()
