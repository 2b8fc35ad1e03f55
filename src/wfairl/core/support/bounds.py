"""Bounds of settings and of documents, stated in the annotations of a dataclass and checked when it is created.

@dataclass(frozen=True)
class Settings:
    epochs: Annotated[int, Ge(0)] = 50

    def __post_init__(self) -> None:
        check_bounds(self)
"""

import math
import operator
from typing import Annotated, Any, get_args, get_type_hints

from annotated_types import Ge, Gt, Le, Lt, MinLen

from wfairl.core.support.errors import BadInputError

LARGEST_SEED = 2**63 - 1
"""The largest seed that torch, NumPy and JSON all accept."""

Seed = Annotated[int, Ge(0), Le(LARGEST_SEED)]
AtLeastZero = Annotated[int, Ge(0)]
AtLeastOne = Annotated[int, Ge(1)]
Positive = Annotated[float, Gt(0), Lt(math.inf)]
NotNegative = Annotated[float, Ge(0), Lt(math.inf)]
Fraction = Annotated[float, Ge(0), Lt(1)]
Part = Annotated[float, Ge(0), Le(1)]
Name = Annotated[str, MinLen(1)]

Count = Annotated[int, Ge(0), Le(2**53)]
Whole = Annotated[int, Ge(-(2**53)), Le(2**53)]
"""Within the exact integers of JSON."""

_WORDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def check_bounds(settings: Any) -> None:
    """Refuse a dataclass with a number, or an item of a sequence, outside its annotated bounds; None is allowed.

    Raises:
        BadInputError: names the field and its bounds.
    """
    for name, hint in get_type_hints(type(settings), include_extras=True).items():
        metadata = [bound for part in (hint, *get_args(hint)) for bound in getattr(part, "__metadata__", ())]
        bounds = [(kind, getattr(bound, kind)) for bound in metadata for kind in _WORDS if hasattr(bound, kind)]
        value = getattr(settings, name)
        for number in value if isinstance(value, tuple | list) else (value,):
            if number is not None and not all(getattr(operator, kind)(number, limit) for kind, limit in bounds):
                texts = ("finite" if limit == math.inf else f"{_WORDS[kind]} {limit:,}" for kind, limit in bounds)
                raise BadInputError(f"{name} must be {' and '.join(texts)}, not {number}")
