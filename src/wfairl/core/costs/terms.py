"""The terms that a cost may consist of, and paths as sums of terms.

A term is a feature of a transition or a control, shifted so that it is 0 in a plain transition and scaled so that it is
1 where it differs most from that. A cost is linear in terms, with 1 for a plain transition:

    c(x, u) = 1 + sum_k w_k term_k(x, u)

So the cost of a path is linear too: its number of transitions and w times the sums of the terms along the path. Few
paths are ever the best ones, under any weights:

    Q(s, u) = min over paths from (s, u) of  n + w . (sums of terms)

Searches add paths, and Q is the least over the paths that are known, an upper bound. Paths of the same sums are one
path here. Most paths are the best nowhere near the posterior. Without them, most demonstrated steps are alike.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.costs.cost_model import FLOOR
from wfairl.core.costs.gradient import Paths
from wfairl.core.costs.scene import Comparison, TrainingScene, by_product, solve_scenes
from wfairl.core.planning.product import Product
from wfairl.core.support.errors import BadInputError

COMMON = 0.25
"""The share of transitions from which on those that lack a feature are common."""

LEAST_DIFFERENCE = 1e-6
"""Of a term from those that it may follow from, where its largest amount is 1."""


class Terms:
    """The terms of some scenes, and the kinds of transitions that they tell apart.

    Attributes:
        columns: which of the features, followed by the controls, each term is; shape [terms].
        is_alone: whether a term is a control, or a feature of states that no control changes; shape [terms].
        shifts, scales: term = (column - shift) / scale; shape [terms].
        design: the terms of each row, shape [rows, terms].
        kinds: the distinct rows that occur, shape [kinds, terms].
        row_of: of each product, the row of each transition node * effects + effect.
        width: number of features and controls.
    """

    def __init__(self, products: Sequence[Product]):
        rows: dict[bytes, int] = {}
        distinct: list[NDArray[np.float64]] = []
        self.row_of: dict[Product, NDArray[np.intp]] = {}
        for product in dict.fromkeys(products):
            numbers, features = product.features
            _check_finite(features)
            for one in features + 0.0:
                if rows.setdefault(one.tobytes(), len(rows)) == len(distinct):
                    distinct.append(one)
            number = np.array([rows[one.tobytes()] for one in features + 0.0])
            controls = len(product.world.controls)
            self.row_of[product] = (number[numbers] * controls + product.control_of_transition).astype(np.intp)
        kinds = np.repeat(np.array(distinct), controls, axis=0)
        table = np.concatenate([kinds, np.tile(np.eye(controls), (len(distinct), 1))], axis=1)
        occurring = [row_of[np.flatnonzero(product.available)] for product, row_of in self.row_of.items()]
        counts = np.bincount(np.concatenate(occurring), minlength=len(table))
        self.columns, self.shifts, self.scales = _informative(table, counts, controls)
        self.design = (table[:, self.columns] - self.shifts) / self.scales
        self.kinds = np.unique(self.design[counts > 0], axis=0)
        self.width = table.shape[1]
        self.is_alone = (self.columns >= len(distinct[0])) | self._of_states(controls)

    def __len__(self) -> int:
        return len(self.columns)

    def _of_states(self, controls: int) -> NDArray[np.bool_]:
        """Whether each term is the same for all that can be done in a state, in all states; shape [terms]."""
        differing = [np.zeros(0, np.int64)]
        for product, row_of in self.row_of.items():
            numbers = row_of.reshape(product.successors.shape) // controls
            first = np.take_along_axis(numbers, product.available.argmax(axis=1)[:, None], axis=1)
            differing.append((first * len(self.design) + numbers)[product.available & (numbers != first)])
        pairs = np.divmod(np.unique(np.concatenate(differing)), len(self.design))
        one, other = (self.design[numbers * controls] for numbers in pairs)
        return (one == other).all(axis=0)

    def spread(self, of_terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers of terms as numbers of columns, 0 for those that are no terms; shape [..., width]."""
        of_columns = np.zeros((*of_terms.shape[:-1], self.width))
        of_columns[..., self.columns] = of_terms
        return of_columns

    def to_features(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights of terms [samples, terms] as a constant [samples] and weights of columns [samples, width]."""
        return 1.0 - (weights / self.scales) @ self.shifts, self.spread(weights / self.scales)


def _check_finite(features: NDArray[np.float64]) -> None:
    bad = np.argwhere(~np.isfinite(features))
    if len(bad):
        raise BadInputError(
            f"feature {bad[0, 1]} of a transition is {features[tuple(bad[0])]}: a cost is learned over finite numbers"
        )


def _informative(
    table: NDArray[np.float64], counts: NDArray[np.int64], controls: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """The columns that say something of their own, with their shifts and scales.

    A feature that follows from others is left out: one that is constant, another one in other units, the rest of some
    that exclude each other. Of such features those stay that plain transitions lack, and the rarest ones. A control is
    left out only if it is the same as another column.

    Args:
        table: features and then controls of the rows, shape [rows, width].
        counts: how often each row occurs, shape [rows].
        controls: how many columns at the end are controls.
    """
    occurring, counts = table[counts > 0], counts[counts > 0]
    candidates = []
    for column, values in enumerate(occurring.T):
        plain = _plain_value(values, counts)
        scale = max(values.max() - plain, values.min() - plain, key=abs)
        if abs(scale) > 1e-9 * abs(values).max():
            is_control, share = column >= table.shape[1] - controls, float(counts @ (values != plain))
            candidates.append((is_control, plain != 0, share, column, plain, scale))
    kept: dict[int, tuple[float, float]] = {}
    terms: list[NDArray[np.float64]] = []
    for is_control, *_, column, plain, scale in sorted(candidates):
        term = (occurring[:, column] - plain) / scale
        if not any(_follows(term, others) for others in ([[one] for one in terms] if is_control else [terms])):
            terms.append(term)
            kept[column] = plain, scale
    shifts, scales = np.array([kept[column] for column in sorted(kept)]).reshape(-1, 2).T
    return np.array(sorted(kept), np.int64), shifts, scales


def _follows(term: NDArray[np.float64], others: Sequence[NDArray[np.float64]]) -> bool:
    """Whether a term is a linear function of others."""
    known = np.stack([np.ones(len(term)), *others], axis=1)
    return bool(np.abs(term - known @ np.linalg.lstsq(known, term)[0]).max() < LEAST_DIFFERENCE)


def _plain_value(values: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    """What a column is in plain transitions: 0 if that is common, the most common number, or that nearest to zero."""
    distinct, number = np.unique(values, return_inverse=True)
    shares = np.bincount(number, counts) / counts.sum()
    if shares[distinct == 0].sum() >= COMMON:
        return 0.0
    if shares.max() >= 0.5:
        return float(distinct[shares.argmax()])
    return float(np.clip(0.0, distinct[0], distinct[-1]))


class Decisions(NamedTuple):
    """Demonstrated steps, with those as one whose paths differ from each other by the same sums; then comparisons.

    A comparison is a choice between two paths, as if they were those of the controls 0 and 1.

    Attributes:
        counts: how often each control was chosen, shape [decisions, controls].
        pairs: decision * controls + control of those that lead somewhere, shape [pairs].
        first: path of each pair, and one past the last; shape [pairs + 1].
        sums: of each path, steps first and then terms; shape [1 + terms, paths].
    """

    counts: NDArray[np.float64]
    pairs: NDArray[np.int64]
    first: NDArray[np.int64]
    sums: NDArray[np.float64]


class KnownPaths:
    """The paths of searches, as sums of terms.

    Attributes:
        controls: demonstrated, shape [steps].
        width: number of controls.
        pairs: step * width + control of each path, in order; shape [paths].
        sums: of each path, steps first and then terms; shape [paths, 1 + terms].
        is_useful: whether a path is not forgotten, shape [paths].
        place: where each useful path is among the paths that `decisions` gave last.
    """

    def __init__(
        self, scenes: Sequence[TrainingScene], terms: Terms, n_jobs: int, comparisons: Sequence[Comparison] = ()
    ):
        self.scenes, self.terms, self.n_jobs = scenes, terms, n_jobs
        self.width = len(scenes[0].product.world.controls)
        self.controls = np.concatenate([scene.controls for scene in scenes])
        self.values = np.concatenate([np.ones((len(terms.design), 1)), terms.design], axis=1)
        # Numbers that tell sums apart: sums of the same terms in another order differ by rounding alone.
        self.print = np.random.default_rng(0).uniform(1, 2, self.values.shape[1])
        self.compared = np.array(
            [
                self.values[terms.row_of[one.product][path]].sum(axis=0)
                for one in comparisons
                for path in (one.preferred, one.other)
            ]
        ).reshape(-1, self.values.shape[1])
        # Of the transitions whose mean cost is the unit of the price of a failure, where worlds slip.
        self.mean_values = {
            product: self.values[terms.row_of[product][product.graph.transition]].mean(axis=0)
            for product in by_product(scenes)
            if product.chances is not None
        }
        self.pairs = np.zeros(0, np.int64)
        self.sums = np.zeros((0, self.values.shape[1]))
        self.is_useful = np.zeros(0, np.bool_)
        self.place = self.pairs

    def search(self, weights: Sequence[NDArray[np.float64]]) -> None:
        """Add the best paths of all scenes under some weights of terms; shape [terms] each."""
        pairs, sums, seen = [self.pairs], [self.sums], list[NDArray[np.float64]]()
        for one in weights:
            costs = np.maximum(1.0 + self.terms.design @ one, FLOOR)
            solved = solve_scenes(self.scenes, partial(self._costs_of, costs), self.n_jobs)
            found = np.concatenate(list(map(self._sums_along, self.scenes, solved)))
            prints = found @ self.print
            is_new = np.isfinite(prints)
            for others in seen:  # most paths are found by several searches; to sort them would take long
                is_new &= ~_are_equal(prints, others)
            seen.append(prints)
            pairs.append(np.flatnonzero(is_new))
            sums.append(found[is_new])
        self._keep(np.concatenate(pairs), np.concatenate(sums))

    def _sums_along(self, scene: TrainingScene, paths: Paths) -> NDArray[np.float64]:
        """Of the paths of a scene, shape [steps * controls, 1 + terms]; NaN for controls that lead nowhere."""
        along = paths.sums(self.values[self.terms.row_of[scene.product][paths.transitions]])
        if scene.product.chances is not None:
            along += paths.failures[:, :, None] * self.mean_values[scene.product]
        along[np.isinf(paths.control_cost_to_go)] = np.nan
        return along.reshape(-1, along.shape[-1])

    def decisions(self, everything: bool = False) -> Decisions:
        """The demonstrated steps with the paths that are useful, or with all that are known."""
        known = np.arange(len(self.pairs)) if everything else np.flatnonzero(self.is_useful)
        all_pairs, sums = self.pairs[known], self.sums[known]
        edges = np.searchsorted(all_pairs, np.arange(len(self.controls) + 1) * self.width)
        controls = all_pairs % self.width
        relative = np.round(sums - sums[edges[:-1]].repeat(np.diff(edges), axis=0), 9) + 0.0
        rows = np.column_stack([controls, relative])
        data, row_size = rows.tobytes(), rows.strides[0]
        numbers: dict[bytes, int] = {}
        number = np.empty(len(self.controls), np.int64)
        shown: list[int] = []
        for step, (low, high) in enumerate(pairwise(edges.tolist())):
            number[step] = numbers.setdefault(data[low * row_size : high * row_size], len(numbers))
            if number[step] == len(shown):
                shown.append(step)
        counts = np.zeros((len(shown) + len(self.compared) // 2, max(self.width, 2)))
        np.add.at(counts, (number, self.controls), 1.0)
        counts[len(shown) :, 0] = 1.0
        paths = np.concatenate([np.arange(edges[step], edges[step + 1]) for step in shown])
        begins = np.cumsum([0, *(edges[step + 1] - edges[step] for step in shown)])
        self.place = np.arange(len(known)) + (begins[number] - edges[:-1]).repeat(np.diff(edges))
        pairs = number[all_pairs[paths] // self.width] * counts.shape[1] + controls[paths]
        compared = (len(shown) + np.arange(len(self.compared)) // 2) * counts.shape[1] + np.arange(
            len(self.compared)
        ) % 2
        pairs, sums = np.append(pairs, compared), np.concatenate([relative[paths], self.compared])
        first = np.flatnonzero(np.diff(pairs, prepend=-1))
        return Decisions(counts, pairs[first], np.append(first, len(pairs)), np.ascontiguousarray(sums.T))

    def forget(self, is_used: NDArray[np.bool_]) -> None:
        """Leave the paths out of further decisions that were not used in the last ones."""
        self.is_useful[self.is_useful] = is_used[self.place]

    def _keep(self, pairs: NDArray[np.int64], sums: NDArray[np.float64]) -> None:
        """Keep one path of each pair and sums, in the order of pairs."""
        prints = sums @ self.print
        order = np.lexsort((prints, pairs))
        pairs, prints = pairs[order], prints[order]
        is_new = np.ones(len(pairs), bool)
        is_new[1:] = (np.diff(pairs) > 0) | ~_are_equal(prints[1:], prints[:-1])
        found = np.append(self.is_useful, np.ones(len(order) - len(self.is_useful), np.bool_))
        self.is_useful = np.logical_or.reduceat(found[order], np.flatnonzero(is_new))
        self.pairs, self.sums = pairs[is_new], sums[order[is_new]]

    def _costs_of(self, costs: NDArray[np.float64], product: Product) -> NDArray[np.float64]:
        """Of a product, by the costs of rows."""
        return costs.take(self.terms.row_of[product]).reshape(product.successors.shape)


def _are_equal(prints: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which are equal but for rounding."""
    return np.abs(prints - others) <= 1e-9 * (1.0 + np.abs(prints))
