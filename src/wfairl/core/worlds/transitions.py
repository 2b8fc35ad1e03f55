"""The transitions of a world as arrays, which all of its scenes share."""

from collections.abc import Collection, Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfairl.core.automata.automaton import UNAVAILABLE, Label
from wfairl.core.support.errors import BadInputError


class BrokenGraphError(BadInputError):
    """Arrays or edges that do not define a world."""


@dataclass(frozen=True, eq=False)
class TransitionTable:
    """The transitions of a world, shared by all of its scenes.

    Attributes:
        controls: the names of the controls.
        successors: state after each control, or `UNAVAILABLE`; shape [states, controls] of int32.
        label_index: index into `labels` of each transition, shape [states, controls] of uint16.
        labels: the distinct labels.
        feature_index: row of `features` of each transition, shape [states, controls] of int32.
        features: the distinct features of transitions, shape [distinct, features] of float64.
        feature_names: what the features are called, for people.
        states: the name of each state, such as a cell or the node of a graph; the numbers themselves if empty.
        positions: where each state is on a map, y upwards, shape [states, 2]; None if unknown.
    """

    controls: tuple[str, ...]
    successors: NDArray[np.int32]
    label_index: NDArray[np.uint16]
    labels: tuple[Label, ...]
    feature_index: NDArray[np.int32]
    features: NDArray[np.float64]
    feature_names: tuple[str, ...] = ()
    states: tuple[Hashable, ...] = ()
    positions: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        shape = self.successors.shape
        if len(shape) != 2 or shape[1] != len(self.controls) or not shape[0] or not shape[1]:
            raise BrokenGraphError(
                f"successors have the shape {shape}, where [states, {len(self.controls)} controls] is needed"
            )
        for name in ("label_index", "feature_index"):
            if getattr(self, name).shape != shape:
                raise BrokenGraphError(f"{name} has the shape {getattr(self, name).shape}, and successors {shape}")
        bad = np.argwhere((self.successors != UNAVAILABLE) & ~((self.successors >= 0) & (self.successors < shape[0])))
        if len(bad):
            state, control = bad[0]
            raise BrokenGraphError(
                f"dangling: from state {state} {self.controls[control]!r} leads to {self.successors[state, control]},"
                f" which is none of the {shape[0]} states"
            )
        if self.label_index.max(initial=0) >= len(self.labels):
            raise BrokenGraphError(
                f"label_index goes up to {self.label_index.max()}, and there are {len(self.labels)} labels"
            )
        if self.features.ndim != 2 or not np.isfinite(self.features).all():
            raise BrokenGraphError("features must be finite numbers of the shape [distinct, features]")
        used = self.feature_index[self.successors != UNAVAILABLE]
        if used.size and not (used.min() >= 0 and used.max() < len(self.features)):
            raise BrokenGraphError(f"feature_index goes beyond the {len(self.features)} rows of features")
        if self.states and len(self.states) != shape[0]:
            raise BrokenGraphError(f"{len(self.states)} names for {shape[0]} states")
        if self.feature_names and len(self.feature_names) != self.features.shape[1]:
            raise BrokenGraphError(f"{len(self.feature_names)} names for {self.features.shape[1]} features")
        places = self.positions
        if places is not None and (places.shape != (shape[0], 2) or not np.isfinite(places).all()):
            raise BrokenGraphError(f"positions must be finite numbers of the shape [{shape[0]}, 2]")


class FeatureNumbers:
    """Distinct feature vectors, numbered in the order in which they are met."""

    def __init__(self) -> None:
        self.rows: list[NDArray[np.float64]] = []
        self._numbers: dict[bytes, int] = {}

    def number(self, features: ArrayLike) -> int:
        """The index of a feature vector, which is added if it is new."""
        row = np.asarray(features, np.float64)
        number = self._numbers.setdefault(row.tobytes(), len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        return number


def edge_ranks(sources: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which of the outgoing edges of its source each edge is, in the order of the edges; shape [edges]."""
    order = np.argsort(sources, kind="stable")
    degrees = np.bincount(sources)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(sources)) - (np.cumsum(degrees) - degrees)[sources[order]]
    return ranks


def as_label(propositions: str | Collection[str]) -> Label:
    """A label as people write it: a bare string is one proposition."""
    return frozenset({propositions}) if isinstance(propositions, str) else frozenset(propositions)
