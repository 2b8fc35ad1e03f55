"""What a cost learned with the defaults is worth, how often one is claimed where there is none, and whether its
intervals hold.

    regret       how much more the plans of the learned cost pay in new scenes than the optimal ones, by the true cost
    claimed      whether the demonstrations are said to show a preference
    holds        whether the interval of a known price holds it, or the bound where there is one bound only
    answered     regret from 4 demonstrations after so many answers to "which would you rather?", drawn by the true cost
    shown        regret from 12 demonstrations instead
    seconds      processor time of learning

The rule is known throughout: this measures the cost alone.
"""

import runpy
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.harness import Cell, Experiment, Options, Outcome, Results
from experiments.harness.results import Sections
from experiments.harness.tables import having, mean_table
from experiments.procedures.priced_worlds import FAMILIES, PricedProblem
from wfairl.core.costs import CostSettings, SampledCost, TrainingScene, prepare_scenes, train_cost
from wfairl.core.costs.scene import Comparison, compare
from wfairl.core.planning.cost import Cost, true_cost, unit_cost
from wfairl.core.planning.plan import find_plan
from wfairl.core.planning.product import Product, build_product
from wfairl.core.worlds.task import Task, rule_of
from wfairl.questions.cost_question import find_cost_question
from wfairl.runs.collection import FIRST_TEST_SEED, collect
from wfairl.runs.cost_words import CLAIMED, term_costs
from wfairl.runs.task_registry import find_task

TEMPERATURE = 0.5
WAREHOUSE = "warehouse"
TESTED_IN = {"terrain": ("terrain", "terrain-16"), "doorkey-terrain": ("doorkey-terrain", "doorkey-terrain-16")}
NUMBERS = {"terrain": (4, 8, 32), "doorkey-terrain": (4, 8, 32), WAREHOUSE: (8, 20)}
WITHOUT_PREFERENCE = ("doorkey", "multiroom", "office-coffee", "random-office-mail")
ASKED_IN = range(300, 324)
PRICES = {"terrain": {"to red floor": 10.0, "to yellow floor": 3.0}, WAREHOUSE: {"into a crowd": 4.0}}
PRICED = (*PRICES, *(family for family in FAMILIES if PricedProblem(family, 0).drawn().true_prices))
DEMONSTRATORS = {
    "0.5, stated": (TEMPERATURE, TEMPERATURE),
    "0.5, unknown": (TEMPERATURE, None),
    "0.5, misstated as 1.5": (TEMPERATURE, 1.5),
    "optimal, stated": (0.0, 0.0),
}
"""Temperature of the demonstrators, and as the learner is told."""


def cells(options: Options) -> list[Cell]:
    """Regret by task, number and seed; claims by collection; intervals by collection and temperature."""

    def first(most: int) -> range:
        return range(1 if options.quick else most)

    tests, listed = {"tests": 8 if options.quick else 64}, []
    for task, numbers in NUMBERS.items():
        for number, seed in product(numbers, range(options.seeds) if options.seeds else first(3)):
            settings = {"task": task, "number": number, "seed": seed, **tests}
            listed.append(Cell(f"{task} {number} {seed}", measure_regret, settings))
    for collection, task in product(first(25), WITHOUT_PREFERENCE):
        settings = {"task": task, "number": 2 ** (1 + collection % 5), "seed": 100 + collection, **tests}
        listed.append(Cell(f"none {task} {collection}", measure_regret, settings))
    for number, draw, family in product((4, 8, 32), first(12), FAMILIES):
        settings = {"family": family, "number": number, "draw": draw, **tests}
        listed.append(Cell(f"family {family} {number} {draw}", measure_family, settings))
    for collection, priced, demonstrators in product(first(12), PRICED, DEMONSTRATORS):
        settings = {"priced": priced, "collection": collection, "demonstrators": demonstrators}
        listed.append(Cell(f"interval {priced} {demonstrators} {collection}", measure_interval, settings))
    for collection, kind in product(first(20), ("terrain", "three grounds", "overlapping")):
        settings = {"kind": kind, "collection": collection, **tests}
        listed.append(Cell(f"answers {kind} {collection}", measure_answers, settings))
    return listed


def task_of(name: str) -> Task:
    """A task of ours, or the warehouse of the guide."""
    if name != WAREHOUSE:
        return find_task(name)
    task: Task = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "warehouse.py"))["TASK"]
    return task


def measure_regret(task: str, number: int, seed: int, tests: int) -> Outcome:
    """One collection: the regret in new scenes, and whether a preference is claimed."""
    demonstrated = task_of(task)
    scenes = demonstrate(demonstrated, number, seed)
    model, seconds = learn(scenes)
    rows = [
        {
            "tested": name,
            "regret": regret(task_of(name), true_cost(task_of(name)), model, tests),
            "claimed": float(float(model.unit[0]) < CLAIMED),
            "unit": float(model.unit[0]),
            "seconds": seconds,
        }
        for name in TESTED_IN.get(task, (task,))
    ]
    return Outcome(rows)


def regret(task: Task, truth: Cost, model: Cost, tests: int) -> float:
    """How much more the plans of a cost pay in new scenes than the optimal ones, as a share."""
    paid, least = 0.0, 0.0
    for scene in range(FIRST_TEST_SEED, FIRST_TEST_SEED + tests):
        explored = build_product(task.make_world(scene), rule_of(task))
        costs = truth(explored)
        paid += cost_along(explored, costs, find_plan(explored, model(explored)).path.controls)
        least += find_plan(explored, costs).cost
    return paid / least - 1


def cost_along(product: Product, costs: NDArray[np.float64], controls: Sequence[int]) -> float:
    """The cost of controls from the start of a product."""
    total, node = 0.0, 0
    for control in controls:
        total += costs[node, control]
        node = product.successors[node, control]
    return float(total)


def measure_answers(kind: str, collection: int, tests: int) -> Outcome:
    """Regret from 4 demonstrations after none to three answers, and from 12 demonstrations."""
    problem = PricedProblem(kind, collection) if kind in FAMILIES else None
    task = find_task(kind) if problem is None else problem.task()
    truth = true_cost(task) if problem is None else problem.cost
    shown = demonstrate(task, 12, 200 + collection, cost=truth)
    rng, answers = np.random.default_rng(collection), list[Comparison]()
    rows: list[dict[str, float]] = []
    for number in range(4):
        model, _ = learn(shown[:4], answers)
        rows.append({"answers": number, "answered": regret(task, truth, model, tests)})
        question = find_cost_question(model, rule_of(task), task, ASKED_IN, n_jobs=1)
        if question is not None:
            world = task.make_world(question.seed)
            explored = build_product(world, rule_of(task))
            costs = truth(explored)
            paid = np.array([cost_along(explored, costs, way) for way in question.ways])
            chances = np.exp((paid.min() - paid) / TEMPERATURE)
            chosen = int(rng.choice(len(paid), p=chances / chances.sum()))
            answers += [compare(world, one.controls, one.than) for one in question.answers(chosen)]
    rows[0]["shown"] = regret(task, truth, learn(shown)[0], tests)
    return Outcome(rows)


def measure_interval(priced: str, collection: int, demonstrators: str) -> Outcome:
    """One collection of 16: do the intervals of all that is named hold the truth?"""
    actual, stated = DEMONSTRATORS[demonstrators]
    problem = PricedProblem(priced, 100 + collection) if priced in FAMILIES else None
    task = task_of(priced) if problem is None else problem.task()
    prices = PRICES[priced] if problem is None else problem.drawn().true_prices
    scenes = demonstrate(task, 16, 500 + collection, actual, None if problem is None else problem.cost)
    model, _ = learn(scenes, temperature=stated)
    rows = [
        {
            "holds": float(one.holds(prices.get(one.name, 1.0))),
            "idle": float(one.name not in prices),
            "one-sided": float(one.low is None or one.high is None),
        }
        for one in term_costs(model, scenes[0].product.world)
    ]
    return Outcome(rows)


def measure_family(family: str, number: int, draw: int, tests: int) -> Outcome:
    """One problem of a family of priced worlds."""
    problem = PricedProblem(family, draw)
    task = problem.task()
    scenes = demonstrate(task, number, draw, cost=problem.cost)
    model, seconds = learn(scenes)
    row = {
        "regret": regret(task, problem.cost, model, tests),
        "regret of unit cost": regret(task, problem.cost, unit_cost, tests),
        "claimed": float(float(model.unit[0]) < CLAIMED),
        "seconds": seconds,
    }
    return Outcome([row])


def learn(
    scenes: Sequence[TrainingScene], answers: Sequence[Comparison] = (), temperature: float | None = TEMPERATURE
) -> tuple[SampledCost, float]:
    """The cost of demonstrations and answers, and the seconds of processor that it took."""
    settings = CostSettings(cost="auto", temperature=temperature)
    begun = time.process_time()
    untrained = settings.make_model([one.product for one in scenes])
    model = train_cost(untrained, scenes, settings, n_jobs=1, comparisons=answers).model
    assert isinstance(model, SampledCost)
    return model, time.process_time() - begun


def demonstrate(
    task: Task, number: int, seed: int, temperature: float = TEMPERATURE, cost: Cost | None = None
) -> tuple[TrainingScene, ...]:
    """Demonstrations on their products, under the true rule."""
    dataset = collect(task, number, 0, temperature, seed, cost, n_jobs=1)
    return prepare_scenes(dataset.demonstrations, task.make_world, task.rule, threshold=0.5, n_jobs=1).scenes


def sections(results: Results) -> Sections:
    """Regret by task and number of demonstrations, claims where there is nothing, intervals."""
    frame, families = results.table, ["regret", "regret of unit cost", "claimed", "seconds"]
    tested, costs = having(frame, "tested"), ["regret", "claimed", "unit", "seconds"]
    none = tested.get("task", tested.cell).isin(WITHOUT_PREFERENCE)
    named, bounds = having(frame, "one-sided"), ["holds", "idle"]
    claims = "No preference: claims and what planning with them costs."
    return {
        "Results": [
            mean_table(having(frame, "family"), ["family", "number"], families, "Families of priced worlds."),
            mean_table(tested[none], ["tested", "number"], costs, claims),
            mean_table(tested[~none], ["tested", "number"], costs, "True-cost regret."),
            mean_table(having(frame, "answers"), ["kind", "answers"], ["answered", "shown"], "Which would you rather?"),
            mean_table(named, ["demonstrators", "one-sided"], bounds, "Intervals and one-sided bounds that hold."),
        ]
    }


LEARNED_COST_EXPERIMENT = Experiment(
    name="learned-cost",
    title="Costs learned with the defaults",
    summary="Regret, false preferences and intervals of the learned cost",
    cells=cells,
    sections=sections,
    quick="one seed, 8 scenes, one collection of each kind",
    options=("seeds",),
)
