"""Worlds with features, demonstrations on random products, and small MiniGrid scenes for the learning room."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray
from strategies_planning import TableWorld, problems

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.costs.scene import ExactSolver, TrainingScene
from wfairl.core.demonstrations.demonstration import Demonstration, replay
from wfairl.core.planning.cost import Cost, unit_cost
from wfairl.core.planning.policy import sample_control
from wfairl.core.planning.product import Product, build_product
from wfairl.core.planning.shortest_path import cost_to_go
from wfairl.core.worlds.world import World
from wfairl.minigrid.environment import make_environment, reset
from wfairl.minigrid.propositions import AgentOn, Carrying, DoorOpen
from wfairl.minigrid.world import MiniGridWorld


@dataclass(frozen=True)
class FeatureWorld(TableWorld):
    """A world given by tables, with features at random."""

    table: NDArray[np.float64] | None = None  # [states, controls, features]

    def features(self, state: str, control: int, next_state: str) -> NDArray[np.float64]:
        assert self.table is not None
        return self.table[int(state[1:]), control]


@st.composite
def scenes(draw: st.DrawFn) -> TrainingScene:
    """A demonstration of a Boltzmann policy on the product of a random world and a random automaton."""
    problem = draw(problems())
    features = np.abs(problem.rng.normal(size=(*problem.world.masks.shape, 3)))
    world = FeatureWorld(problem.world.next_states, problem.world.masks, table=features)
    product = build_product(world, problem.automaton)
    assume(np.isfinite(cost_to_go(product.graph, unit_cost(product)).cost_to_go[0]))
    return walk(product, 1.0, problem.rng)


def walk(product: Product, temperature: float, rng: np.random.Generator, cost: Cost = unit_cost) -> TrainingScene:
    """One walk of the Boltzmann policy from the start to acceptance."""
    Q = cost_to_go(product.graph, cost(product)).control_cost_to_go
    nodes, controls = [0], []
    while nodes[-1] >= 0:
        controls.append(sample_control(Q[nodes[-1]], temperature, rng))
        nodes.append(int(product.successors[nodes[-1], controls[-1]]))
    return TrainingScene(ExactSolver(product), np.array(nodes[:-1]), np.array(controls))


@cache
def doorkey_world(size: int, seed: int) -> MiniGridWorld:
    environment = make_environment(f"MiniGrid-DoorKey-{size}x{size}-v0")
    reset(environment, seed)
    return MiniGridWorld.from_environment(
        environment, {"key": Carrying("key"), "door": DoorOpen(), "goal": AgentOn("goal")}
    )


def goal_rule() -> Automaton:
    return visit_in_order("goal")


def doorkey_scene(seed: int, rng: np.random.Generator, size: int = 5, cost: Cost = unit_cost) -> TrainingScene:
    return walk(build_product(doorkey_world(size, seed), goal_rule()), 0.5, rng, cost)


def demonstrate(world: World, automaton: Automaton, rng: np.random.Generator, seed: int = 0) -> Demonstration:
    scene = walk(build_product(world, automaton), 0.5, rng)
    return replay(world, scene.controls.tolist(), 1.0, seed)


@dataclass(frozen=True)
class TwoPaths:
    """One decision between a short way and a way of two steps; everything has a closed form.

        start --short--> done            cost a
        start --long---> middle --any--> done    cost b + c, both controls of `middle` cost the same

    With u0 = short and u1 = long, log pi(short) = -a/eta - log(exp(-a/eta) + exp(-(b + c)/eta)).
    """

    controls: tuple[str, ...] = ("short", "long")
    propositions: tuple[str, ...] = ("done",)
    initial_state: str = "start"

    def step(self, state: str, control: int) -> str:
        return "middle" if (state, control) == ("start", 1) else "end"

    def label(self, state: str, control: int, next_state: str) -> Label:
        return frozenset({"done"}) if next_state == "end" else frozenset()

    def features(self, state: str, control: int, next_state: str) -> NDArray[np.float64]:
        return np.array([float(state == name) for name in ("start", "middle", "end")])

    def product(self) -> Product:
        return build_product(self, visit_in_order("done"))
