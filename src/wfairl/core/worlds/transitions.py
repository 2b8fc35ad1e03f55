"""The transitions of a world as arrays, which all of its scenes share."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import UNAVAILABLE, Label
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.chances import Chances


@dataclass(frozen=True, eq=False)
class TransitionTable:
    """The transitions of a world, shared by all of its scenes.

    Its columns are effects: the controls, unless the world slips; see `chances`.
    """

    controls: tuple[str, ...]
    successors: NDArray[np.int32]  # state after each effect, or `UNAVAILABLE`; [states, effects]
    label_index: NDArray[np.uint16]  # of each transition, into `labels`; [states, effects]
    labels: tuple[Label, ...]  # the distinct labels
    feature_index: NDArray[np.int32]  # of each transition, row of `features`; [states, effects]
    features: NDArray[np.float64]  # the distinct features of transitions, [distinct, features]
    feature_names: tuple[str, ...] = ()
    states: tuple[Hashable, ...] = ()  # their names, such as a cell or a node; the numbers themselves if empty
    positions: NDArray[np.float64] | None = None  # of each state on a map, y upwards, [states, 2]; None if unknown
    chances: Chances | None = None  # of the effects under each control; None where the effects are the controls

    def __post_init__(self) -> None:
        shape = self.successors.shape
        is_wrong = self.chances is None and shape[1:] != (len(self.controls),)
        if len(shape) != 2 or is_wrong or not shape[0] or not shape[1]:
            raise BadInputError(
                f"successors have the shape {shape}, where [states, {len(self.controls)} controls] is needed"
            )
        if self.chances is not None:
            self._check_chances(self.chances)
        for name in ("label_index", "feature_index"):
            if getattr(self, name).shape != shape:
                raise BadInputError(f"{name} has the shape {getattr(self, name).shape}, and successors {shape}")
        bad = np.argwhere((self.successors != UNAVAILABLE) & ~((self.successors >= 0) & (self.successors < shape[0])))
        if len(bad):
            state, effect = bad[0]
            name = self.controls[effect] if shape[1] == len(self.controls) else f"effect {effect}"
            raise BadInputError(
                f"dangling: from state {state} {name!r} leads to {self.successors[state, effect]},"
                f" which is none of the {shape[0]} states"
            )
        if self.label_index.max(initial=0) >= len(self.labels):
            raise BadInputError(
                f"label_index goes up to {self.label_index.max()}, and there are {len(self.labels)} labels"
            )
        if self.features.ndim != 2 or not np.isfinite(self.features).all():
            raise BadInputError("features must be finite numbers of the shape [distinct, features]")
        used = self.feature_index[self.successors != UNAVAILABLE]
        if used.size and not (used.min() >= 0 and used.max() < len(self.features)):
            raise BadInputError(f"feature_index goes beyond the {len(self.features)} rows of features")
        if self.states and len(self.states) != shape[0]:
            raise BadInputError(f"{len(self.states)} names for {shape[0]} states")
        if self.feature_names and len(self.feature_names) != self.features.shape[1]:
            raise BadInputError(f"{len(self.feature_names)} names for {self.features.shape[1]} features")
        places = self.positions
        if places is not None and (places.shape != (shape[0], 2) or not np.isfinite(places).all()):
            raise BadInputError(f"positions must be finite numbers of the shape [{shape[0]}, 2]")

    def _check_chances(self, chances: Chances) -> None:
        states, effects = self.successors.shape
        if chances.controls != len(self.controls) or chances.kind.shape != (states,):
            raise BadInputError("the chances are not those of these states and controls")
        p, sizes = chances.probability, np.diff(chances.first)
        sums = np.bincount(np.repeat(np.arange(len(sizes)), sizes), p, len(sizes))
        if not ((p >= 0).all() and np.allclose(sums[sizes > 0], 1.0, rtol=0, atol=1e-9)):
            raise BadInputError("the probabilities of the effects of a control must not be negative, and sum to 1")
        dense = chances.dense(max(effects, int(chances.effect.max(initial=0)) + 1))
        is_possible: NDArray[np.bool_] = np.any(dense > 0, axis=1)
        if is_possible.shape[1] > effects or (is_possible[chances.kind] & (self.successors == UNAVAILABLE)).any():
            raise BadInputError("dangling: a control has an effect that leads nowhere")


def edge_ranks(sources: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which of the outgoing edges of its source each edge is, in the order of the edges; shape [edges]."""
    order = np.argsort(sources, kind="stable")
    degrees = np.bincount(sources)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(sources)) - (np.cumsum(degrees) - degrees)[sources[order]]
    return ranks
