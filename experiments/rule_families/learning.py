"""What the rational learner makes of random rules, by family: rules kept, refused and broken, risks, search failures.

A cell collects demonstrations of the package's expert, successes only, and learns as `wfairl run` does: the automaton
together with the cost, or the automaton alone where nothing is expensive. Its agent plans in new scenes, and the judge
tells what became of each plan.

    search failure      the true rule has a log posterior that is more than a nat above that of the chosen automaton
    evidence failure    plans break the rule, though it has none
    caution failure     plans that break the rule state a low risk
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from experiments.harness import Cell, Experiment, Options, Outcome, Results, Table, table_of
from experiments.harness.results import Sections
from experiments.rule_families.automata import automaton_of
from experiments.rule_families.families import FAMILIES, RULES, Problem, make_problem
from experiments.rule_families.judge import cheapest, judge
from experiments.rule_families.scenes import breaks_blindly
from wfairl.core.costs.epochs import one_torch_thread
from wfairl.core.demonstrations import Dataset, collect
from wfairl.core.demonstrations.collection import FIRST_TEST_SEED
from wfairl.core.planning import ExactPlanner
from wfairl.core.planning.cost import Cost, unit_cost
from wfairl.core.planning.plan import UnsatisfiableTaskError, best_controls
from wfairl.core.rational import CautiousPolicy, RationalLearner, RationalSettings, posterior_of
from wfairl.core.rational.evidence import Evidence
from wfairl.core.rational.exploration import observe
from wfairl.core.rational.prior import log_prior
from wfairl.core.rational.rational_learner import GRID_TEMPERATURES, HIGHEST_TEMPERATURE, LOWEST_TEMPERATURE
from wfairl.core.rational.tables import canonical_table, live_table
from wfairl.core.runs.logic_with_cost import Explanation, learn_logic_and_cost
from wfairl.core.support.errors import BadInputError

DEMONSTRATIONS, TEMPERATURE, SCENES = (2, 4, 8, 32), 0.5, 64
SEARCH_FAILURE_NATS = 1.0
RISKS = (0.0, 0.02, 0.05, 0.1, 0.2, 1.0)
"""Ends of the bins of stated risks."""

GROUPS = {
    "tuning": [name for name, family in FAMILIES.items() if not family.held_out],
    "held-out": [name for name, family in FAMILIES.items() if family.held_out],
    "all": list(FAMILIES),
}


def cells(options: Options) -> list[Cell]:
    """Families (--tasks: names or groups) x rules (--seeds: how many) x demonstrations (--data-sets)."""
    families = [family for name in options.tasks or ("tuning",) for family in GROUPS.get(name, [name])]
    unknown = [name for name in families if name not in FAMILIES]
    if unknown:
        raise BadInputError(f"there is no family {unknown[0]}; there are {', '.join((*FAMILIES, *GROUPS))}")
    scenes = 16 if options.quick else SCENES
    return [
        Cell(f"{family} {rule} {count}", learn, dict(family=family, rule=rule, demonstrations=count, scenes=scenes))
        for rule in range(options.seeds or (2 if options.quick else RULES))
        for family in families
        for count in map(int, options.data_sets or DEMONSTRATIONS)
    ]


@one_torch_thread()
def learn(family: str, rule: int, demonstrations: int, scenes: int, collection: int = 0) -> Outcome:
    """What is learned from some demonstrations of one rule, and what becomes of plans in new scenes."""
    problem = make_problem(family, rule)
    dataset = collect(problem.task, demonstrations, 0, TEMPERATURE, collection, n_jobs=1)
    begun = time.process_time()
    explained = explain(problem, dataset)
    seconds = time.process_time() - begun
    cost = unit_cost if explained.cost is None else explained.cost.as_cost()
    plans = list(plans_in_new_scenes(problem, explained, cost, range(FIRST_TEST_SEED, FIRST_TEST_SEED + scenes)))
    frame = pd.DataFrame(plans)
    row = {
        **{name: float((frame.outcome == name).mean()) for name in ("kept", "refused", "broken")},
        "regret": _mean(frame.regret[frame.outcome == "kept"]),
        "risk of broken": _mean(frame.risk[frame.outcome == "broken"]),
        "blind breaks": float(frame["blind breaks"].mean()),
        **compare_with_truth(problem, dataset, explained, cost),
        "learning s": seconds,
        "expensive": problem.kind.price > 0,
    }
    return Outcome([row], {"plans": plans})


def explain(problem: Problem, dataset: Dataset) -> Explanation:
    """The task and the cost; the latter is learned where there is one to learn."""
    if problem.kind.price:
        return learn_logic_and_cost(Dataset(problem.name, dataset.demonstrations), problem.task, n_jobs=1)
    model = RationalLearner().learn(dataset, problem.task, n_jobs=1)
    posterior = posterior_of(model)
    return Explanation(model, None, -np.inf if posterior is None else posterior.log_posterior)


def plans_in_new_scenes(
    problem: Problem, explained: Explanation, cost: Cost, seeds: range
) -> Iterator[dict[str, Any]]:
    """The outcome of the plan in each scene, and its stated risk, also where the agent refuses to act on it."""
    policy = CautiousPolicy("learned", explained.model, cost, 0.0, horizon=problem.task.horizon)
    bold = CautiousPolicy("bold", explained.model, cost, 0.0, horizon=problem.task.horizon, largest_doubt=1.0)
    for seed in seeds:
        scene, world = problem.scene(seed), problem.task.make_world(seed)
        plan: dict[str, Any] = {"blind breaks": breaks_blindly(scene, problem.rule), "outcome": "refused"}
        plan |= {"risk": None, "is right": None, "regret": None}
        try:
            choice = bold.choose(world)
            solved = choice.solution or ExactPlanner().solve(world, choice.automaton, choice.cost)
            controls = best_controls(solved.product, solved.solution)
        except UnsatisfiableTaskError:
            yield plan
            continue
        cost_of_plan = judge(scene, problem.rule, controls[: problem.task.horizon])
        is_right = cost_of_plan < np.inf
        plan |= {"risk": choice.doubt, "is right": is_right}
        if choice.doubt <= policy.largest_doubt:
            plan["outcome"] = "kept" if is_right else "broken"
        if is_right:
            plan["regret"] = cost_of_plan / judge(scene, problem.rule, cheapest(scene, problem.rule)) - 1
        yield plan


def compare_with_truth(problem: Problem, dataset: Dataset, explained: Explanation, cost: Cost) -> dict[str, Any]:
    """How much likelier the true rule is than the chosen automaton, and whether they are the same, in these scenes."""
    posterior, settings = posterior_of(explained.model), RationalSettings()
    observations = observe(dataset.demonstrations, problem.task.make_world, cost, 1).with_possible_labels()
    step = np.concatenate([scene.costs for scene in observations.scenes]).mean()
    temperatures = step * np.geomspace(LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE, GRID_TEMPERATURES)
    evidence = Evidence(observations, temperatures, settings)
    truth = automaton_of(problem.rule, evidence.labels)
    table = canonical_table(truth.to_table(evidence.labels))
    propositions = len(frozenset().union(*evidence.labels))
    log_posterior = log_prior(truth, propositions) + evidence.log_probability(table)
    facts = {"truth": str(truth), "chosen": explained.model.sentences[0], "gap": None, "search failure": None}
    if posterior is None:
        return {**facts, "is exact": False}
    chosen = canonical_table(live_table(posterior.chosen.automaton, evidence.labels))
    gap = log_posterior - explained.log_posterior
    return {**facts, "gap": gap, "search failure": gap > SEARCH_FAILURE_NATS, "is exact": np.array_equal(table, chosen)}


def sections(results: Results) -> Sections:
    """Shares by family and number of demonstrations, calibration, and where the failures come from."""
    frame = results.table
    plans = pd.DataFrame([plan for one in results.outcomes.values() for plan in one.facts["plans"]])
    return {
        "Rules kept": [_shares(frame)],
        "Calibration": [calibration(plans)],
        "Failures": [_failures(frame)],
    }


def _shares(frame: pd.DataFrame) -> Table:
    def text(cell: pd.DataFrame) -> str:
        return "/".join(f"{100 * cell[name].mean():.0f}" for name in ("kept", "refused", "broken"))

    by_family = frame.groupby("family", sort=False)
    lines = {name: {str(count): text(one) for count, one in of.groupby("demonstrations")} for name, of in by_family}
    wide = pd.DataFrame(lines).T
    wide["blind breaks"] = by_family["blind breaks"].mean()
    wide["held out"] = ["yes" if FAMILIES[name].held_out else "" for name in wide.index]
    return table_of(wide, "Scenes in which the rule was kept / refused / broken, in %, by number of demonstrations.")


def calibration(plans: pd.DataFrame) -> Table:
    """The share of plans that break the rule by their stated risk, with those that the agent refuses to act on."""
    stated = plans.dropna(subset="risk")
    bins = pd.cut(stated.risk.astype(float), RISKS, include_lowest=True)
    lines = {
        f"{bin_.left.clip(0) if hasattr(bin_.left, 'clip') else max(bin_.left, 0):.0%} to {bin_.right:.0%}": {
            "mean risk": _mean(some.risk),
            "broken": 1 - _mean(some["is right"]) if len(some) else None,
            "plans": len(some),
        }
        for bin_, some in stated.groupby(bins, observed=False)
    }
    return table_of(pd.DataFrame(lines).T, "Plans by their stated risk.")


def _failures(frame: pd.DataFrame) -> Table:
    by = frame.groupby(["family", "demonstrations"], sort=False)
    means = by[["regret", "risk of broken", "search failure", "is exact", "gap", "learning s"]].mean()
    means.index = [f"{family}, {count}" for family, count in means.index]
    return table_of(means.astype(float), "Means by family and number of demonstrations.")


def _mean(values: pd.Series) -> float | None:
    known = values.dropna().astype(float)
    return float(known.mean()) if len(known) else None


RULE_FAMILIES_EXPERIMENT = Experiment(
    name="rule-families",
    title="Random rules in random worlds",
    summary="Rules kept, refused and broken by family, with an independent judge",
    cells=cells,
    sections=sections,
    quick="two rules of each family, 16 scenes",
    options=("tasks", "data_sets", "seeds"),
)
