"""Numbers of a learned cost that a person can read: weights, prices, costs of transitions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class NamedTable:
    """Numbers with names.

    Attributes:
        name: what they are, such as "weights".
        meaning: how the cost of a transition follows from them, as sentences.
        of: what the rows are, such as "feature".
        rows, columns: the names.
        values: NaN where there is none; shape [rows, columns].
    """

    name: str
    meaning: str
    of: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.rows), len(self.columns)):
            raise ValueError(f"{self.values.shape} values for {len(self.rows)} rows and {len(self.columns)} columns")

    def to_document(self) -> dict[str, Any]:
        """The numbers by row, and by column if there are several, as plain JSON."""
        named = {
            row: {name: value for name, value in zip(self.columns, values, strict=True) if not np.isnan(value)}
            for row, values in zip(self.rows, self.values.tolist(), strict=True)
        }
        return named if len(self.columns) > 1 else {row: next(iter(one.values())) for row, one in named.items()}
