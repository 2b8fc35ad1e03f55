"""The rational learner on tasks whose rule is known: is it found, are plans right, how long does the search take?

    python benchmarks/rational.py [--json] [--suites office outliers ...] [--demonstrations 8 32] [--tasks ...]

Demonstrators act at temperature 0.5, successes only; no failures are given. Suites:

    office    coffee, mail, coffee-mail and patrol on the published map and in offices drawn anew for each scene
    outliers  the same in random offices, with 4 of 32 demonstrations replaced by random walks that claim success
    minigrid  T1 doorkey, T2 multiroom and, if named by --tasks, T3 blocked-unlock-pickup
    diss      DISS's world and its two demonstrations
    cost      coffee in random offices where crowded cells cost 4, which the learner is not told

    exact     the learned automaton and the true one read all labels alike
    kept      share of new scenes in which the greedy plan keeps the true rule; `cautious` the same with `cautious_plan`
    no plan   scenes without a plan
    regret    mean excess of the true cost over the optimum, where the rule is kept
    named     outliers found (probability above a half), and sound demonstrations wrongly named
    s, cpu s  longest of the `fit`s, by the clock and by the processor, compiled code warm
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TypeVar

import numpy as np
from logic_worlds import (
    DISS_LABELS,
    OFFICE_LABELS,
    OFFICE_RULES,
    crowded,
    demonstrate,
    diss_rule,
    diss_scenes,
    last_propositions,
    minigrid_rule,
    minigrid_world,
    office_world,
    random_walk,
)
from rich.console import Console
from rich.table import Table

from wfairl.automata.automaton import DEAD, Label
from wfairl.logic import (
    ArrayWorld,
    GuardedAutomaton,
    NoPlanError,
    Plan,
    RationalLearner,
    RationalResult,
    RationalSettings,
    Scene,
    cautious_plan,
    learn_logic_and_cost,
    plan,
)
from wfairl.logic.sketch import canonical
from wfairl.logic.tables import to_table

Learned = TypeVar("Learned")

TEMPERATURE = 0.5
SUITES = ("office", "outliers", "minigrid", "diss", "cost")
FIRST_TRAINING_SCENE, FIRST_TEST_SCENE, SCENES_PER_SEED = 300_000, 80_000, 1_000
MINIGRID_TASKS = ("doorkey", "multiroom")
FIRST_MINIGRID_TEST_SCENE = 5000
OUTLIERS, OUTLIER_DEMONSTRATIONS = 4, 32
HORIZON = 2000


@dataclass(frozen=True)
class Seconds:
    """Time by the clock and by the processor."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Row:
    """One learned automaton and how it does; figures that a suite does not have are None."""

    suite: str
    task: str
    demonstrations: int
    seed: int
    exact: bool
    kept: float | None
    no_plan: int | None
    regret: float | None
    cautious: float | None
    cautious_regret: float | None
    named: str
    temperature: float
    weight: float
    seconds: Seconds
    automaton: str


@dataclass(frozen=True)
class Score:
    """How plans do in new scenes."""

    kept: float
    no_plan: int
    regret: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suites", nargs="+", default=["office", "diss"], choices=SUITES)
    parser.add_argument("--tasks", nargs="+", default=None, help="only these tasks of the suites")
    parser.add_argument("--demonstrations", nargs="+", type=int, default=[8, 32])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--scenes", type=int, default=64, help="new scenes to plan in")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    _warm_up()
    console = Console(stderr=True)
    rows = []
    for row in _rows(arguments):
        console.print(f"{row.suite} {row.task} {row.demonstrations} {row.seed}: {row.automaton}")
        rows.append(row)
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows]))
    else:
        Console().print(_table(rows))


def _warm_up() -> None:
    """Compile, or read what was compiled."""
    RationalLearner().fit(DISS_LABELS, diss_scenes())
    rule = OFFICE_RULES["coffee"]
    world, _ = crowded(office_world(rule, 0, shuffled=True), 0)
    RationalLearner().fit(OFFICE_LABELS, [demonstrate(world, rule, TEMPERATURE, 0).scene])


def _rows(arguments: argparse.Namespace) -> Iterator[Row]:
    office = [task for task in OFFICE_RULES if arguments.tasks is None or task in arguments.tasks]
    seeds, scenes = range(arguments.seeds), arguments.scenes
    if "diss" in arguments.suites:
        yield from (_diss(temperature) for temperature in (0.1, None))
    for demonstrations in arguments.demonstrations:
        if "office" in arguments.suites:
            for task in office:
                for shuffled in (False, True):
                    yield from (_office(task, shuffled, demonstrations, seed, scenes) for seed in seeds)
        if "minigrid" in arguments.suites:
            for task in arguments.tasks or MINIGRID_TASKS:
                yield from (_minigrid(task, demonstrations, seed, scenes) for seed in seeds)
        if "cost" in arguments.suites:
            yield from (_crowded("coffee", demonstrations, seed, scenes) for seed in seeds)
    if "outliers" in arguments.suites:
        for task in office:
            yield from (_office(task, True, OUTLIER_DEMONSTRATIONS, seed, scenes, OUTLIERS) for seed in seeds)


def _office(task: str, shuffled: bool, demonstrations: int, seed: int, scenes: int, outliers: int = 0) -> Row:
    rule = OFFICE_RULES[task]
    first = FIRST_TRAINING_SCENE + seed * SCENES_PER_SEED
    worlds = [office_world(rule, first + i, shuffled) for i in range(demonstrations)]
    evidence = [demonstrate(world, rule, TEMPERATURE, first + i).scene for i, world in enumerate(worlds)]
    for i in range(outliers):
        evidence[i] = random_walk(worlds[i], len(evidence[i].controls), first + i)
    result, seconds = _fit(OFFICE_LABELS, evidence)
    tests = [office_world(rule, FIRST_TEST_SCENE + i, shuffled) for i in range(scenes)]
    plain = _score(rule, tests, [plan(world, result.automaton) for world in tests])
    cautious = _score(rule, tests, [cautious_plan(world, result.automaton, result.support) for world in tests])
    name = f"{'random' if shuffled else 'published'} {task}"
    suite = "outliers" if outliers else "office"
    row = _row(suite, name, demonstrations, seed, OFFICE_LABELS, rule, result, seconds)
    found = result.outlier_probabilities > 0.5
    return replace(
        row,
        kept=plain.kept,
        no_plan=plain.no_plan,
        regret=plain.regret,
        cautious=cautious.kept,
        cautious_regret=cautious.regret,
        named=f"{found[:outliers].sum()}/{outliers}, {found[outliers:].sum()}" if outliers else "",
    )


def _minigrid(task: str, demonstrations: int, seed: int, scenes: int) -> Row:
    from wfairl.demonstrations import collect
    from wfairl.worlds import find_task

    rule = minigrid_rule(task)
    collected = collect(find_task(task), demonstrations, 0, TEMPERATURE, seed)
    last = last_propositions([demonstration.labels for demonstration in collected])
    evidence = []
    for demonstration in collected:
        world = minigrid_world(task, demonstration.seed, last)
        evidence.append(world.scene(np.array(demonstration.controls)))
    result, seconds = _fit(world.labels, evidence)
    row = _row("minigrid", task, demonstrations, seed, world.labels, rule, result, seconds)
    scores = []
    for i in range(scenes):
        world = minigrid_world(task, FIRST_MINIGRID_TEST_SCENE + i, last)
        scores.append(_score(rule, [world], [plan(world, result.automaton)]))
    return replace(
        row,
        kept=float(np.mean([score.kept for score in scores])),
        no_plan=sum(score.no_plan for score in scores),
        regret=float(np.nanmean([score.regret for score in scores])),
    )


def _diss(temperature: float | None) -> Row:
    result, seconds = _fit(DISS_LABELS, diss_scenes(), RationalSettings(temperature=temperature))
    name = "temperature unknown" if temperature is None else f"temperature {temperature:g}"
    row = _row("diss", name, 2, 0, DISS_LABELS, diss_rule(), result, seconds)
    return replace(row, exact=_agrees_where_tested(result, diss_rule()))


def _crowded(task: str, demonstrations: int, seed: int, scenes: int) -> Row:
    rule = OFFICE_RULES[task]
    first = FIRST_TRAINING_SCENE + seed * SCENES_PER_SEED
    worlds, features = zip(
        *(crowded(office_world(rule, first + i, True), first + i) for i in range(demonstrations)), strict=True
    )
    evidence = [demonstrate(world, rule, TEMPERATURE, first + i).scene for i, world in enumerate(worlds)]
    both, seconds = _timed(lambda: learn_logic_and_cost(OFFICE_LABELS, evidence, features, RationalLearner()))
    tests = [crowded(office_world(rule, FIRST_TEST_SCENE + i, True), FIRST_TEST_SCENE + i) for i in range(scenes)]
    plans = [plan(replace(world, costs=phi @ both.weights), both.logic.automaton) for world, phi in tests]
    score = _score(rule, [world for world, _ in tests], plans)
    row = _row("cost", f"crowded {task}", demonstrations, seed, OFFICE_LABELS, rule, both.logic, seconds)
    weights = ", ".join(f"{weight:.2f}" for weight in both.weights)
    return replace(
        row, kept=score.kept, no_plan=score.no_plan, regret=score.regret, automaton=f"{row.automaton}; cost {weights}"
    )


def _fit(
    labels: Sequence[Label], evidence: Sequence[Scene], settings: RationalSettings | None = None
) -> tuple[RationalResult, Seconds]:
    return _timed(lambda: RationalLearner(settings).fit(labels, evidence))


def _timed(learn: Callable[[], Learned]) -> tuple[Learned, Seconds]:
    wall, cpu = time.perf_counter(), time.process_time()
    learned = learn()
    return learned, Seconds(time.perf_counter() - wall, time.process_time() - cpu)


def _row(
    suite: str,
    task: str,
    demonstrations: int,
    seed: int,
    labels: Sequence[Label],
    rule: GuardedAutomaton,
    result: RationalResult,
    seconds: Seconds,
) -> Row:
    learned, true = (canonical(to_table(automaton, labels)[:-1].copy()) for automaton in (result.automaton, rule))
    return Row(
        suite=suite,
        task=task,
        demonstrations=demonstrations,
        seed=seed,
        exact=learned.tobytes() == true.tobytes(),
        kept=None,
        no_plan=None,
        regret=None,
        cautious=None,
        cautious_regret=None,
        named="",
        temperature=result.temperature,
        weight=result.alternatives[0].weight,
        seconds=seconds,
        automaton=result.text,
    )


def _agrees_where_tested(result: RationalResult, rule: GuardedAutomaton) -> bool:
    """Whether the automata have the same states, and agree on all pairs of state and label that are tested."""
    labels = result.support.labels
    learned, true = (to_table(automaton, labels)[:-1] for automaton in (result.automaton, rule))
    return learned.shape == true.shape and bool(((learned == true) | result.support.is_untested).all())


def _score(rule: GuardedAutomaton, worlds: Sequence[ArrayWorld], plans: Sequence[Plan]) -> Score:
    kept, no_plan, regrets = 0, 0, []
    for i, (world, planned) in enumerate(zip(worlds, plans, strict=True)):
        try:
            controls = planned.act(0.0, HORIZON, np.random.default_rng(i))
        except NoPlanError:
            no_plan += 1
            continue
        cost = _true_cost(rule, world, controls)
        if np.isfinite(cost):
            kept += 1
            regrets.append(cost / plan(world, rule).start_cost - 1)
    return Score(kept / len(worlds), no_plan, float(np.mean(regrets)) if regrets else float("nan"))


def _true_cost(rule: GuardedAutomaton, world: ArrayWorld, controls: Sequence[int]) -> float:
    """The true cost until the rule is fulfilled, inf if it is not."""
    state, automaton_state, cost = world.start, 0, 0.0
    for control in controls:
        cost += float(world.costs[state, control])
        automaton_state = rule.read(automaton_state, world.labels[world.label_index[state, control]])
        state = int(world.successors[state, control])
        if automaton_state == DEAD:
            return float("inf")
        if rule.accepting[automaton_state]:
            return cost
    return float("inf")


def _table(rows: Sequence[Row]) -> Table:
    """One line for each task and number of demonstrations: means over seeds, the longest time."""
    table = Table(
        "suite", "task", "demos", "exact", "kept", "no plan", "regret", "cautious", "c. regret", "named", "s", "cpu s"
    )
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.suite, row.task, row.demonstrations), []).append(row)
    for (suite, task, demonstrations), group in groups.items():
        table.add_row(
            suite,
            task,
            str(demonstrations),
            f"{sum(row.exact for row in group)}/{len(group)}",
            _mean([row.kept for row in group]),
            _mean([row.no_plan for row in group]),
            _mean([row.regret for row in group]),
            _mean([row.cautious for row in group]),
            _mean([row.cautious_regret for row in group]),
            "; ".join(row.named for row in group if row.named),
            f"{max(row.seconds.wall for row in group):.1f}",
            f"{max(row.seconds.cpu for row in group):.1f}",
        )
    return table


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{np.mean(known):.3f}" if known else ""


if __name__ == "__main__":
    main()
