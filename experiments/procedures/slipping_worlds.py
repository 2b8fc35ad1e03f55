"""Rules and costs learned where worlds slip, beside the best that is possible there.

    kept            probability that the policy of the learned rule keeps the true rule; a refused scene counts as 0
    optimal         that of the policy that knows the rule
    replanning      that of a planner that knows the rule, takes the world for one that does not slip, and plans again
    regret          by how much the expected true cost of the policy of a learned cost exceeds the least

All are exact: the distribution over nodes of the product with the true rule is followed step by step, to its end.
Demonstrators act at temperature 0.5, and there are no failures. `patrol` and `blocks` are the worlds of `lrm_fd`
(Shehab et al., Learning Reward Machines from Partially Observed Policies); its blocks do not slip.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.envs.toy_text import CliffWalkingEnv, FrozenLakeEnv
from numpy.typing import NDArray

from experiments.harness import Cell, Experiment, Options, Outcome, Results
from experiments.harness.results import Sections
from experiments.harness.tables import having, mean_table
from experiments.procedures.learned_costs import demonstrate, learn
from experiments.procedures.unseen_scenes import scenes
from wfairl.core.automata.automaton import ACCEPTED, Automaton
from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.demonstrations.learners import RATIONAL, find_learner
from wfairl.core.planning.cost import Cost, true_cost, unit_cost
from wfairl.core.planning.plan import UnsatisfiableTaskError
from wfairl.core.planning.product import Product, build_product
from wfairl.core.planning.shortest_path import cost_to_go
from wfairl.core.rational import CautiousPolicy
from wfairl.core.worlds import GraphWorld, ModelTask
from wfairl.core.worlds.chances import slip_chances
from wfairl.core.worlds.task import Task, rule_of
from wfairl.recordings import GymnasiumWorld
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task

SLIP, TEMPERATURE, NUMBERS = "0.1", 0.5, (8, 32)
OURS = (*(f"random-office-{name}" for name in ("coffee", "mail", "coffee-mail", "patrol")), "ordered-pickup")
GYMNASIUM = ("frozen-lake", "cliff-walking")
OTHERS = (*GYMNASIUM, "patrol", "blocks")
FEWER_SCENES = {"ordered-pickup": 16, **dict.fromkeys(GYMNASIUM, 1), "patrol": 16, "blocks": 16}
REST = 1e-9  # an episode that goes on with a smaller probability is not followed further


def cells(options: Options) -> list[Cell]:
    """Rules by task, number of demonstrations and seed, and the costs of terrain."""
    listed = []
    for seed in range(options.seeds or (1 if options.quick else 3)):
        for number in NUMBERS[: 1 if options.quick else None]:
            for task in options.tasks or (OTHERS if options.quick else (*OURS, *OTHERS, "terrain")):
                how = {"task": task, "number": number, "seed": seed, "quick": options.quick}
                measure = learn_cost if task == "terrain" else learn_rule
                listed.append(Cell(f"{task} {number} {seed}", measure, how))
    return listed


def learn_rule(task: str, number: int, seed: int, quick: bool) -> Outcome:
    """The rule of one collection, and what its cautious policy keeps in new scenes."""
    of = task_of(task)
    dataset = collect(of, number, 0, TEMPERATURE, seed, n_jobs=1)
    begun = time.process_time()
    model = find_learner(RATIONAL).learn(dataset, of, n_jobs=1)
    learned = {"rule": model.sentence, "seconds": time.process_time() - begun}
    policy = CautiousPolicy("learned", model, unit_cost, 0.0, horizon=of.horizon)
    rule, rows = rule_of(of), []
    for scene in scenes(quick, FEWER_SCENES.get(task, 64)):
        world = of.make_world(scene)
        product = build_product(world, rule)
        least = product.cost_to_go(unit_cost(product)).best_control
        row = {"optimal": follow(product, least, rule)[0], "kept": 0.0, "refused": 0.0}
        if task not in GYMNASIUM:  # elsewhere the effects are the controls where nothing slips
            sure = cost_to_go(product.graph, unit_cost(product)).best_control
            row["replanning"], _ = follow(product, sure, rule)
        try:
            ours = build_product(world, policy.choose(world).automaton)
            row["kept"], _ = follow(ours, ours.cost_to_go(unit_cost(ours)).best_control, rule)
        except UnsatisfiableTaskError:
            row["refused"] = 1.0
        rows.append(row)
    means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    return Outcome([{**means, "short of optimal": 1 - means["kept"] / means["optimal"], **learned}])


def learn_cost(task: str, number: int, seed: int, quick: bool) -> Outcome:
    """The cost of one collection, the rule known, and what its policy pays in new scenes."""
    of = find_task(f"{task}-slip-{SLIP}")
    model, seconds = learn(demonstrate(of, number, seed))
    paid = dict.fromkeys(("learned", "unit", "least"), 0.0)
    costs: dict[str, Cost] = {"learned": model, "unit": unit_cost, "least": true_cost(of)}
    for scene in scenes(quick):
        product = build_product(of.make_world(scene), rule_of(of))
        for name, cost in costs.items():
            best = product.cost_to_go(cost(product)).best_control
            paid[name] += follow(product, best, rule_of(of), true_cost(of)(product))[1]
    regrets = {name: paid[name] / paid["least"] - 1 for name in ("learned", "unit")}
    return Outcome([{"regret": regrets["learned"], "regret of unit cost": regrets["unit"], "seconds": seconds}])


def follow(
    product: Product, best: NDArray[np.int32], rule: Automaton, costs: NDArray[np.float64] | None = None
) -> tuple[float, float]:
    """The probability that the best controls of a product keep a rule, and their expected cost."""
    nodes, effects = product.successors.shape
    chances = product.chances or slip_chances(product.available, 0.0)
    P = chances.dense(effects)[chances.kind, np.maximum(best, 0)] * (best >= 0)[:, None]
    after = np.array([rule.column_with_acceptance(label) for label in product.labels])[product.label_index]
    goes_on = (product.successors >= 0)[:, :, None] & (after >= 0)
    target = np.where(goes_on, product.successors[:, :, None] * rule.states + after, 0)  # [nodes, effects, rule states]
    at = np.zeros((nodes, rule.states))
    at[0, 0] = 1.0
    kept, cost = 0.0, 0.0
    while at.sum() > REST:
        mass = P[:, :, None] * at[:, None, :]
        kept += float(mass[after == ACCEPTED].sum())
        cost += 0.0 if costs is None else float((mass.sum(axis=2) * costs).sum())
        at.ravel()[:] = np.bincount(target[goes_on], mass[goes_on], at.size)
    return kept, cost


def task_of(name: str) -> Task:
    """A task of ours that slips, or one of others."""
    makers: dict[str, Callable[[], Task]] = dict(zip(OTHERS, (lake, cliff, patrol, blocks), strict=True))
    return makers[name]() if name in makers else find_task(f"{name}-slip-{SLIP}")


def lake() -> ModelTask:
    """Gymnasium's frozen lake of 8 x 8 cells: reach the goal, and never fall into a hole."""
    lake: Any = FrozenLakeEnv(map_name="8x8")
    cells = "".join(cell.decode() for row in lake.desc for cell in row)
    found = {"goal": lambda cell: cells[cell] == "G", "hole": lambda cell: cells[cell] == "H"}
    rule = all_of(visit_in_order("goal"), avoid("hole"))
    return ModelTask("lake", "over the ice", ("goal", "hole"), rule, 1000, lambda _: GymnasiumWorld(lake, found))


def cliff() -> ModelTask:
    """Gymnasium's slippery cliff; who falls begins again."""
    cliff = CliffWalkingEnv(is_slippery=True)
    world = GymnasiumWorld(cliff, {"goal": lambda cell: cell == 47})
    return ModelTask("cliff", "along the cliff", ("goal",), visit_in_order("goal"), 2000, lambda _: world)


def patrol() -> ModelTask:
    """A grid of 4 x 4 cells, a quarter each of a, b, c and d, in which the wind chooses one of ten moves."""
    quarters = {(0, 0): "a", (1, 0): "b", (1, 1): "c", (0, 1): "d"}
    cells = [(x, y) for x in range(4) for y in range(4)]
    edges: list[tuple[Any, Any]] = [
        ((x, y), (min(max(x + dx, 0), 3), min(max(y + dy, 0), 3)))
        for x, y in cells
        for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1))
    ]
    marks: dict[Any, str] = {(x, y): quarters[x // 2, y // 2] for x, y in cells}
    grid = GraphWorld.from_edges(edges, start=(0, 0), marks=marks).slipping(0.1 * 3 / 4)

    def scene(seed: int) -> GraphWorld:
        return grid.scene(start=cells[np.random.default_rng(seed).integers(16)])

    return ModelTask("patrol", "a, b, c, d", tuple("abcd"), visit_in_order(*"abcd"), 100, scene)


def blocks() -> ModelTask:
    """Three blocks on three piles; three stacks are to be built one after the other."""
    stacks = {((0, 1, 2), (), ()): "a", ((), (1, 2, 0), ()): "b", ((), (), (2, 1, 0)): "c"}
    found: list[tuple[tuple[int, ...], ...]] = [((0,), (1,), (2,))]
    edges: list[tuple[Any, Any]] = []
    for state in found:  # which grows meanwhile
        for source in range(3):
            for target in range(3):
                piles = [list(pile) for pile in state]
                piles[target] += [piles[source].pop()] if piles[source] else []
                after = tuple(map(tuple, piles))
                edges.append((state, after))
                if after not in found:
                    found.append(after)
    world = GraphWorld.from_edges(edges, start=found[0], marks=stacks)

    def scene(seed: int) -> GraphWorld:
        return world.scene(start=found[np.random.default_rng(seed).integers(len(found))])

    return ModelTask("blocks", "three stacks", tuple("abc"), visit_in_order(*"abc"), 100, scene)


def sections(results: Results) -> Sections:
    """What is kept by task and number of demonstrations, and the regret of learned costs."""
    rules, by = having(results.table, "kept"), ["task", "number"]
    measures = ["kept", "optimal", "replanning", "refused", "short of optimal", "seconds"]
    kept = mean_table(rules, by, measures, f"Probability of keeping the rule at slip {SLIP}.")
    costs, regrets = having(results.table, "regret"), ["regret", "regret of unit cost", "seconds"]
    return {"Results": [kept, mean_table(costs, by, regrets, f"Learned costs at slip {SLIP}, rule known.")]}


SLIP_EXPERIMENT = Experiment(
    name="slip",
    title="Rules and costs where worlds slip",
    summary="What policies learned in worlds that slip keep, beside the best that is possible",
    cells=cells,
    sections=sections,
    quick="the small worlds of others, 8 demonstrations, one seed, 8 scenes",
    options=("tasks", "seeds"),
)
