"""Random graphs, costs, worlds and mode tables for the laws of the planning room."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from wfairl.worlds.world import ACCEPTED, DEAD


@dataclass(frozen=True)
class Graph:
    successors: NDArray[np.int32]
    costs: NDArray[np.float64]


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 30, max_controls: int = 4) -> Graph:
    """Transitions at random, with self-loops and parallel ones, and costs of one of several kinds."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    nodes, controls = draw(st.integers(1, max_nodes)), draw(st.integers(1, max_controls))
    successors = rng.integers(0, nodes, (nodes, controls)).astype(np.int32)
    successors[rng.random(successors.shape) < draw(st.sampled_from([0.0, 0.3, 0.8]))] = DEAD
    successors[rng.random(successors.shape) < draw(st.sampled_from([0.0, 0.05, 0.3, 1.0]))] = ACCEPTED
    costs = draw(st.sampled_from(["ones", "ties", "uniform", "heavy"]))
    return Graph(successors, draw_costs(costs, successors.shape, rng))


def draw_costs(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
    if kind == "ones":
        return np.ones(shape)
    if kind == "ties":
        return rng.integers(1, 4, shape) / 2  # sums of halves are exact, so that ties are
    if kind == "uniform":
        return rng.uniform(0.5, 1.5, shape)
    return np.exp(4 * rng.normal(size=shape))
