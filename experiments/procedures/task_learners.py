"""Task learners by the number of demonstrations: rules kept, rules broken, scenes without a plan, regret.

Demonstrators act at temperature 0.5. `rational` learns from successes alone, and plans cautiously or plainly; the other
learners also get 128 failures. All know the true costs, and plan greedily in unseen scenes.
"""

import time
from dataclasses import replace
from pathlib import Path

import pandas as pd

from experiments.harness import Cell, Experiment, Options, Outcome, Results, pivot, table_of
from experiments.harness.results import Sections
from experiments.method_comparison.training import DEMONSTRATIONS, collect_demonstrations, first_successes
from experiments.procedures.unseen_scenes import measure_policy, scenes
from wfairl.core.demonstrations import Dataset, load
from wfairl.core.demonstrations.learners import RATIONAL, find_learner
from wfairl.core.planning import PlannedPolicy, Policy, expert_policy
from wfairl.core.planning.cost import true_cost
from wfairl.core.planning.product import check_initial_state
from wfairl.core.rational.caution import CautiousPolicy
from wfairl.core.support.errors import WfairlError
from wfairl.core.worlds.task_registry import find_task
from wfairl.runs.evaluation import evaluate

OFFICES = [
    f"{kind}-{name}" for kind in ("office", "random-office") for name in ("coffee", "mail", "coffee-mail", "patrol")
]
OTHERS = ["ordered-pickup", "errand", "terrain", "doorkey", "multiroom", "blocked-unlock-pickup"]
NUMBERS, FAILURES, TEMPERATURE = (1, 2, 4, 8, 16, 32), 128, 0.5
LEARNERS = (RATIONAL, "spectral", "merging")
FEWER_SCENES = {"ordered-pickup": 16, "blocked-unlock-pickup": 16}
"""Test scenes of tasks whose scenes are large."""


def cells(options: Options) -> list[Cell]:
    """Every learner on every task, from every number of demonstrations; a quick look has one small task."""
    tasks = options.tasks or (("random-office-coffee",) if options.quick else (*OFFICES, *OTHERS))
    numbers, listed = (2, 4) if options.quick else NUMBERS, []
    for seed in range(options.seeds or (1 if options.quick else 3)):
        for task in tasks:
            asked = {"task": task, "seed": seed}
            how = {**asked, "successes": max(numbers), "failures": FAILURES, "temperature": TEMPERATURE}
            shown = Cell(f"{task} {seed}", collect_demonstrations, how)
            for learner in options.methods or LEARNERS:
                for number in numbers:
                    settings = {**asked, "learner": learner, "number": number, "quick": options.quick}
                    needs = {"demonstrations": shown}
                    listed.append(Cell(f"{task} {seed} {learner} {number}", learn_and_test, settings, needs))
    return listed


def learn_and_test(demonstrations: Path, task: str, seed: int, learner: str, number: int, quick: bool) -> Outcome:  # noqa: ARG001
    """One learned automaton, tested in all ways in which it plans; one that fails has no plan anywhere."""
    of, everything = find_task(task), load(demonstrations / DEMONSTRATIONS)
    seeds, cost = scenes(quick, FEWER_SCENES.get(task, 64)), true_cost(of)
    optimal = evaluate(of, expert_policy(of, 0.0), seeds, n_jobs=1)
    names = [f"{RATIONAL}, plain", RATIONAL] if learner == RATIONAL else [learner]
    begun = time.process_time()
    try:
        model = find_learner(learner).learn(some(everything, number, learner), of, cost, n_jobs=1)
        check_initial_state(model.finite)
    except WfairlError as error:
        nothing = {"kept": 0.0, "no plan": 1.0, "broken": 0.0, "return": 0.0, "error": str(error)}
        return Outcome([{"policy": name, **nothing} for name in names])
    learned = {"states": model.finite.states, "seconds": time.process_time() - begun}
    policies: list[Policy] = [PlannedPolicy(name, model.finite, cost, 0.0) for name in names]
    if model.record is not None:
        policies[-1] = CautiousPolicy(names[-1], model, cost, 0.0, horizon=of.horizon)
    return Outcome([{"policy": one.name, **learned, **measure_policy(of, one, seeds, optimal)} for one in policies])


def some(everything: Dataset, number: int, learner: str) -> Dataset:
    """The first successes, and all failures for learners that need them."""
    chosen = first_successes(everything, number)
    kept = tuple(one for one in chosen if one.is_success or learner != RATIONAL)
    return replace(chosen, demonstrations=kept)


def sections(results: Results) -> Sections:
    """A table of each measure by the number of demonstrations, for each task and for all of them."""
    frame, tables = results.table, []
    for measure, title in MEASURES.items():
        if measure in frame:
            overall = frame.assign(task="all tasks")
            means = pd.concat([frame, overall]).groupby(["task", "policy", "number"], sort=False)[measure].mean()
            wide = means.reset_index().assign(line=lambda one: one.task + ", " + one.policy)
            tables.append(table_of(pivot(wide, "line", "number", measure), f"{title}, by the number of successes."))
    return {"Results": tables}


MEASURES = {
    "kept": "Fraction of unseen scenes in which the rule is kept",
    "broken": "Fraction of unseen scenes with a plan in which the rule is not kept in time",
    "regret": "True cost of episodes that keep the rule over the least one, minus 1",
    "return": "Mean return",
}

TASK_LEARNERS_EXPERIMENT = Experiment(
    name="task-learners",
    title="Task learners by the number of demonstrations",
    summary="How often the plans of learned automata keep the rule",
    cells=cells,
    sections=sections,
    quick="one task, two numbers of demonstrations, 8 scenes",
    options=("tasks", "methods", "seeds"),
)
