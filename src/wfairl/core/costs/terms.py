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

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.costs.cost_model import FLOOR
from wfairl.core.costs.gradient import Paths
from wfairl.core.costs.scene import WORTH_THREADS, Comparison, ExactSolver, TrainingScene, by_product
from wfairl.core.planning.product import Product
from wfairl.core.planning.shortest_path import SAMPLE, WIDTH, Floats, Nodes, Ranks, search_ranks
from wfairl.core.support.compiling import njit
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.parallel import map_in_threads

Ints = NDArray[np.int64]

COMMON = 0.25
"""The share of transitions from which on those that lack a feature are common."""

NO_PATH = -1

ROOM = 20_000_000
"""Numbers that searches find at once, at most."""

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
        distinct: list[Floats] = []
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

    def spread(self, of_terms: Floats) -> Floats:
        """Numbers of terms as numbers of columns, 0 for those that are no terms; shape [..., width]."""
        of_columns = np.zeros((*of_terms.shape[:-1], self.width))
        of_columns[..., self.columns] = of_terms
        return of_columns

    def to_features(self, weights: Floats) -> tuple[Floats, Floats]:
        """Weights of terms [samples, terms] as a constant [samples] and weights of columns [samples, width]."""
        return 1.0 - (weights / self.scales) @ self.shifts, self.spread(weights / self.scales)


def _check_finite(features: Floats) -> None:
    bad = np.argwhere(~np.isfinite(features))
    if len(bad):
        raise BadInputError(
            f"feature {bad[0, 1]} of a transition is {features[tuple(bad[0])]}: a cost is learned over finite numbers"
        )


def _informative(table: Floats, counts: Ints, controls: int) -> tuple[Ints, Floats, Floats]:
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
    terms: list[Floats] = []
    for is_control, *_, column, plain, scale in sorted(candidates):
        term = (occurring[:, column] - plain) / scale
        if not any(_follows(term, others) for others in ([[one] for one in terms] if is_control else [terms])):
            terms.append(term)
            kept[column] = plain, scale
    shifts, scales = np.array([kept[column] for column in sorted(kept)]).reshape(-1, 2).T
    return np.array(sorted(kept), np.int64), shifts, scales


def _follows(term: Floats, others: Sequence[Floats]) -> bool:
    """Whether a term is a linear function of others."""
    known = np.stack([np.ones(len(term)), *others], axis=1)
    return bool(np.abs(term - known @ np.linalg.lstsq(known, term)[0]).max() < LEAST_DIFFERENCE)


def _plain_value(values: Floats, counts: Ints) -> float:
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
        counts: how often each control was chosen, shape [controls, decisions].
        pairs: control * decisions + decision of those that lead somewhere, shape [pairs].
        first: path of each pair, and one past the last; shape [pairs + 1].
        sums: of each path, steps first and then terms; shape [1 + terms, paths].
    """

    counts: Floats
    pairs: Ints
    first: Ints
    sums: Floats


class KnownPaths:
    """The paths of searches, as sums of terms, in the order in which they were found.

    Attributes:
        scenes: of each product.
        controls: demonstrated, shape [steps].
        width: number of controls.
        pairs: step * width + control of each path, shape [paths].
        sums: of each path, steps first and then terms; shape [paths, 1 + terms].
        prints: numbers that tell the sums of paths apart, shape [paths].
        is_useful: whether a path is not forgotten, shape [paths].
        least, greater: of each pair the path of the least print, and after each path that of the next print of its
            pair, or `NO_PATH`.
        place: where each useful path is among the paths that `decisions` gave last.
    """

    def __init__(
        self, scenes: Sequence[TrainingScene], terms: Terms, n_jobs: int, comparisons: Sequence[Comparison] = ()
    ):
        self.scenes, self.terms, self.width = by_product(scenes), terms, len(scenes[0].product.world.controls)
        worth_threads = sum(product.successors.size for product in self.scenes) >= WORTH_THREADS
        self.n_jobs = n_jobs if worth_threads else 1
        self.controls = np.concatenate([scene.controls for group in self.scenes.values() for scene in group])
        self.values = np.concatenate([np.ones((len(terms.design), 1)), terms.design], axis=1)
        # Sums of the same terms in another order differ by rounding alone.
        self.print = np.random.default_rng(0).uniform(1, 2, self.values.shape[1])
        self.compared = np.array(
            [
                self.values[terms.row_of[one.product][path]].sum(axis=0)
                for one in comparisons
                for path in (one.preferred, one.other)
            ]
        ).reshape(-1, self.values.shape[1])
        self.least = np.full(len(self.controls) * self.width, NO_PATH)
        self.pairs = self.greater = self.place = np.zeros(0, np.int64)
        self.prints, self.is_useful = np.zeros(0), np.zeros(0, np.bool_)
        self.sums = np.zeros((0, self.values.shape[1]))

    def search(self, weights: Sequence[Floats]) -> None:
        """Add the best paths of all scenes under some weights of terms; shape [terms] each."""
        costs = np.maximum(1.0 + np.reshape(weights, (len(weights), len(self.terms))) @ self.terms.design.T, FLOOR)
        at_once = max(ROOM // (len(self.least) * self.values.shape[1]), 1)
        for some in range(0, len(costs), at_once):
            self._search(costs[some : some + at_once])

    def _search(self, costs: Floats) -> None:
        """Add the best paths of all scenes under some costs of rows; shape [searches, rows]."""
        found = np.empty((len(self.least), len(costs), self.values.shape[1]))
        steps = np.cumsum([sum(scene.controls.size for scene in group) for group in self.scenes.values()])
        parts = list(zip(self.scenes, np.split(found, steps[:-1] * self.width), strict=True))
        list(map_in_threads(lambda part: self._search_product(costs, *part), parts, self.n_jobs))
        prints, known, new = found @ self.print, len(self.pairs), np.empty(found[:, :, 0].size, np.int64)
        before = self.prints, self.pairs, self.greater, self.is_useful
        kept = [np.append(one, np.empty(prints.size, one.dtype)) for one in before]
        number = _keep_new(prints, self.least, *kept, new, known)
        self.prints, self.pairs, self.greater, self.is_useful = (one[: known + number] for one in kept)
        self.sums = np.concatenate([self.sums, found.reshape(-1, found.shape[2])[new[:number]]])

    def _search_product(self, costs: Floats, product: Product, found: Floats) -> None:
        """Fill in the sums of the best paths in the scenes of a product, NaN for controls that lead nowhere.

        Args:
            costs: of rows, shape [searches, rows].
            found: shape [steps * controls, searches, 1 + terms].
        """
        scenes, row_of, successors = self.scenes[product], self.terms.row_of[product], product.successors
        if product.chances is not None or not isinstance(scenes[0].solver, ExactSolver):
            for one, costs_of_rows in enumerate(costs):
                solved = scenes[0].solver.solve(costs_of_rows.take(row_of).reshape(successors.shape), scenes)
                found[:, one] = np.concatenate(list(map(self._sums_along, scenes, solved)))
            return
        starts, graph, nodes = np.concatenate([scene.nodes for scene in scenes]), product.graph, len(successors)
        edges = graph.order, graph.first, graph.source, row_of.take(graph.transition), row_of
        of_nodes = np.full(nodes + 1, np.inf), np.zeros((nodes + 1, found.shape[2])), np.full(nodes, -1)
        room = np.empty(len(graph.order)), *of_nodes, np.empty(nodes, np.int64)
        _add_up_best(successors, *edges, costs, self.values, starts, *room, found)

    def _sums_along(self, scene: TrainingScene, paths: Paths) -> Floats:
        """Of the paths of a scene, shape [steps * controls, 1 + terms]; NaN for controls that lead nowhere."""
        row_of = self.terms.row_of[scene.product]
        along = paths.sums(self.values[row_of[paths.transitions]])
        if scene.product.chances is not None:  # the unit of the price of a failure is the mean cost
            along += paths.failures[:, :, None] * self.values[row_of[scene.product.graph.transition]].mean(axis=0)
        along[np.isinf(paths.control_cost_to_go)] = np.nan
        return along.reshape(-1, along.shape[-1])

    def decisions(self, everything: bool = False) -> Decisions:
        """The demonstrated steps with the paths that are useful, or with all that are known."""
        is_known = self.is_useful | everything
        known = np.empty(is_known.sum(), np.int64)
        _put_in_order(self.least, self.greater, is_known, known)
        step, control = np.divmod(self.pairs[known], self.width)
        begin = np.searchsorted(step, np.arange(len(self.controls)))
        size, position = np.diff(begin, append=len(known)), np.arange(len(known)) - begin[step]
        # Steps are alike if their paths are, one by one. The powers of exp(i) are independent over the rationals.
        relative = self.prints[known] - self.prints[known[begin]][step] + math.pi * (1 + control)
        marks = np.add.reduceat(relative * np.exp(1j * np.arange(size.max()))[position], begin)
        _, shown, number = np.unique(np.round(marks, 6), return_index=True, return_inverse=True)
        size = size[shown]
        first = np.cumsum(size) - size
        paths = (begin[shown] - first).repeat(size) + np.arange(size.sum())
        self.place = np.empty(len(self.pairs), np.int64)
        self.place[known] = first[number][step] + position
        counts = np.zeros((max(self.width, 2), len(shown) + len(self.compared) // 2))
        np.add.at(counts, (self.controls, number), 1.0)
        counts[0, len(shown) :] = 1.0
        answer, other = np.divmod(np.arange(len(self.compared)), 2)
        decision = np.append(number[step[paths]], len(shown) + answer)
        pairs = np.append(control[paths], other) * counts.shape[1] + decision
        sums = self.sums[known[paths]]
        sums = np.concatenate([sums - sums[first].repeat(size, axis=0), self.compared])
        first = np.flatnonzero(np.diff(pairs, prepend=-1))
        return Decisions(counts, pairs[first], np.append(first, len(pairs)), np.ascontiguousarray(sums.T))

    def forget(self, is_used: NDArray[np.bool_]) -> None:
        """Leave the paths out of further decisions that were not used in the last ones."""
        self.is_useful[self.is_useful] = is_used[self.place[self.is_useful]]


@njit(cache=True, nogil=True, exact=True)
def _add_up_best(
    successors: Nodes, order: Ranks, first: Ranks, source: Ranks, rows: Ints, row_of: Ints, costs: Floats,
    values: Floats, starts: Ints, ranked_V: Floats, V: Floats, sums: Floats, searched: Ints, stretch: Ints,
    found: Floats,
) -> None:  # fmt: skip
    """Fill in what values add up to along the best paths from some nodes under every control, search by search.

    Args:
        successors, order, first, source: see `ReversedGraph`.
        rows, row_of: of the transitions of that graph, and of all.
        costs, values: of rows, shapes [searches, rows] and [rows, columns].
        starts: nodes.
        ranked_V, V, sums: room for the cost-to-go by rank and by node, which is inf before, and for the sums from each
            node, 0 before. Acceptance is the last node.
        searched, stretch: the search that `sums` of a node are of, -1 before; room for transitions.
        found: shape [starts * controls, searches, columns].
    """
    (nodes, controls), columns = successors.shape, values.shape[1]
    for one in range(len(costs)):
        width, sampled = 0.0, range(0, len(rows), len(rows) // SAMPLE + 1)
        for i in sampled:
            width += WIDTH * costs[one, rows[i]] / len(sampled)
        search_ranks(first, source, rows, costs[one], width, ranked_V)
        for rank in range(len(order)):
            V[order[rank]] = ranked_V[rank]
        for i in range(len(starts) * controls):
            transition = starts[i // controls] * controls + i % controls
            start = successors[transition // controls, transition % controls]
            if start == ACCEPTED:
                start = nodes
            row = row_of[transition]
            if start < 0 or V[start] == np.inf:
                for column in range(columns):
                    found[i, one, column] = np.nan
                continue
            node, length = start, 0
            while node != nodes and searched[node] != one:
                least, best, after = np.inf, -1, -1
                for control in range(controls):
                    target = successors[node, control]
                    if target == ACCEPTED:
                        target = nodes
                    if target >= 0:
                        q = costs[one, row_of[node * controls + control]] + V[target]
                        if q < least:
                            least, best, after = q, control, target
                stretch[length] = node * controls + best
                length += 1
                node = after
            for back in range(length - 1, -1, -1):
                before = stretch[back] // controls
                for column in range(columns):
                    sums[before, column] = values[row_of[stretch[back]], column] + sums[node, column]
                searched[before], node = one, before
            for column in range(columns):
                found[i, one, column] = values[row, column] + sums[start, column]


@njit(cache=True, nogil=True, exact=True)
def _keep_new(
    prints: Floats, least: Ints, known: Floats, pairs: Ints, greater: Ints, is_useful: NDArray[np.bool_], new: Ints,
    number: int,
) -> int:  # fmt: skip
    """Keep one path of each pair and sums, and mark what was found as useful; how many paths are new.

    Args:
        prints: of what was found, NaN if nothing; shape [pairs, searches].
        least, known, pairs, greater, is_useful: see `KnownPaths`, with room for all that was found.
        new: room for pair * searches + search of new paths.
        number: of paths that were known before.
    """
    before = number
    for one in range(prints.shape[1]):
        for pair in range(len(prints)):
            found = prints[pair, one]
            if np.isnan(found):
                continue
            tolerance = 1e-9 * (1.0 + abs(found))
            less, path = NO_PATH, least[pair]
            while path != NO_PATH and known[path] < found - tolerance:
                less, path = path, greater[path]
            if path == NO_PATH or known[path] > found + tolerance:
                known[number], pairs[number], greater[number], is_useful[number] = found, pair, path, True
                if less == NO_PATH:
                    least[pair] = number
                else:
                    greater[less] = number
                new[number - before] = pair * prints.shape[1] + one
                number += 1
            else:
                is_useful[path] = True
    return number - before


@njit(cache=True, nogil=True, exact=True)
def _put_in_order(least: Ints, greater: Ints, is_known: NDArray[np.bool_], known: Ints) -> None:
    """Fill in the paths that are known, by pairs and then by prints."""
    number = 0
    for pair in range(len(least)):
        path = least[pair]
        while path != NO_PATH:
            if is_known[path]:
                known[number] = path
                number += 1
            path = greater[path]
