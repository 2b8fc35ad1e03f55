"""What the rational learner makes of random rules, by family: rules kept, refused and broken, risks, search failures.

A cell collects demonstrations of the package's expert, successes only, and learns as `wfairl run` does: the automaton
together with the cost, or the automaton alone where nothing is expensive. It may ask some questions, as `wfairl ask`
does, which the judge answers. Its agent plans in new scenes, and the judge tells what became of each plan.

    search failure      the true rule has a log posterior that is more than a nat above that of the chosen automaton
    caution failure     plans that break the rule state a low risk
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from experiments.harness import Cell, Experiment, Options, Outcome, Results, table_of
from experiments.harness.results import Sections
from experiments.harness.tables import mean_table
from experiments.rule_families.automata import automaton_of
from experiments.rule_families.families import FAMILIES, RULES, Problem, make_problem
from experiments.rule_families.rules import cheapest, judge
from wfairl.core.automata.minimisation import canonical_table, to_table
from wfairl.core.demonstrations import Dataset
from wfairl.core.planning import ExactPlanner
from wfairl.core.planning.cost import Cost, unit_cost
from wfairl.core.planning.plan import UnsatisfiableTaskError
from wfairl.core.rational import CautiousPolicy, RationalLearner, RationalSettings, posterior_of
from wfairl.core.rational.caution import LARGEST_DOUBT
from wfairl.core.rational.logic_with_cost import Explanation, learn_logic_and_cost
from wfairl.core.rational.observations import observe
from wfairl.core.rational.prior import log_prior
from wfairl.core.rational.rational_learner import evidence_of
from wfairl.core.support.errors import BadInputError
from wfairl.pages.blocks import PageTable
from wfairl.questions.question import NothingToAskError, add_answer, find_question
from wfairl.runs.collection import FIRST_TEST_SEED, collect

DEMONSTRATIONS, TEMPERATURE, SCENES, ASKED_SCENES = ("2", "4", "8", "32"), 0.5, 64, 24
SEARCH_FAILURE_NATS = 1.0
RISKS = {"0 to 2 %": 0.02, "2 to 5 %": 0.05, "5 to 10 %": 0.1, "10 to 20 %": 0.2, "above": 1.0}
"""Bins of stated risks, and where each ends."""

OUTCOMES = ("kept", "refused", "broken")
GROUPS = {
    "tuning": [name for name, family in FAMILIES.items() if not family.held_out],
    "held-out": [name for name, family in FAMILIES.items() if family.held_out],
    "all": list(FAMILIES),
}


def cells(options: Options) -> list[Cell]:
    """Rules (--tasks) x demonstrations (--data-sets).

    A task is a family or a group, with as many rules of each family as --seeds says; `all:12` is rule 12 alone. A data
    set is a number of demonstrations: `4+3` is three answers after four demonstrations, `4@9` four of collection 9.
    """
    scenes = {"scenes": 16 if options.quick else SCENES}
    return [
        Cell(f"{family} {rule} {data}", learn, {**scenes, "family": family, "rule": rule, "demonstrations": data})
        for family, rule in _problems(options)
        for data in options.data_sets or DEMONSTRATIONS
    ]


def _problems(options: Options) -> list[tuple[str, int]]:
    drawn = range(options.seeds or (2 if options.quick else RULES))
    listed = []
    for task in options.tasks or ("tuning",):
        group, _, number = task.partition(":")
        families = GROUPS.get(group, [group])
        if families[0] not in FAMILIES or not (number.isdecimal() or not number):
            raise BadInputError(
                f"{task}: neither a family nor a group, nor one of its rules such as {families[0]}:12; "
                f"there are {', '.join((*FAMILIES, *GROUPS))}"
            )
        listed += [(family, rule) for rule in ([int(number)] if number else drawn) for family in families]
    return listed


def learn(family: str, rule: int, demonstrations: str, scenes: int) -> Outcome:
    """What is learned from some demonstrations of one rule, and what becomes of plans in new scenes."""
    problem = make_problem(family, rule)
    numbers, _, collection_number = demonstrations.partition("@")
    shown, answers = map(int, f"{numbers}+0".split("+")[:2])
    collection = int(collection_number or 0)
    collected = collect(problem.task, shown, 0, TEMPERATURE, collection, n_jobs=1).demonstrations
    dataset = Dataset(problem.name, collected)  # without the temperature, which is not known
    begun = time.process_time()
    explained = explain(problem, dataset)
    seconds = time.process_time() - begun
    for number in range(answers):
        dataset = ask(problem, dataset, explained, np.random.default_rng([collection, number]))
        explained = explain(problem, dataset)
    cost = unit_cost if explained.cost is None else explained.cost
    plans = list(plans_in_new_scenes(problem, explained, cost, scenes))
    frame = pd.DataFrame(plans)
    row = {
        **{outcome: float((frame.outcome == outcome).mean()) for outcome in OUTCOMES},
        "regret": _mean(frame.regret[frame.outcome == "kept"]),
        "risk of broken": _mean(frame.risk[frame.outcome == "broken"]),
        **compare_with_truth(problem, dataset, explained, cost),
        "learning s": seconds,
    }
    return Outcome([row], {"plans": plans})


def explain(problem: Problem, dataset: Dataset) -> Explanation:
    """The task, and the cost where there is one to learn."""
    if problem.kind.price:
        return learn_logic_and_cost(dataset, problem.task, n_jobs=1)
    model = RationalLearner().learn(dataset, problem.task, n_jobs=1)
    posterior = posterior_of(model)
    return Explanation(model, None, -np.inf if posterior is None else posterior.log_posterior)


def ask(problem: Problem, dataset: Dataset, explained: Explanation, rng: np.random.Generator) -> Dataset:
    """The data set with the judge's answer to the best question; the same if there is nothing to ask."""
    after = max(one.seed for one in dataset.demonstrations) + 1
    try:
        question = find_question(explained.model, dataset, problem.task, range(after, after + ASKED_SCENES), rng, 1)
    except NothingToAskError:
        return dataset
    is_right = judge(problem.scene(question.seed), problem.rule, question.controls) < np.inf
    return add_answer(dataset, question, is_right)


def plans_in_new_scenes(
    problem: Problem, explained: Explanation, cost: Cost, scenes: int
) -> Iterator[dict[str, float | bool | str | None]]:
    """The outcome of the plan in each scene and its stated risk, also where the agent would refuse to act on it."""
    task, rule = problem.task, problem.rule
    policy = CautiousPolicy("learned", explained.model, cost, 0.0, horizon=task.horizon, largest_doubt=1.0)
    for seed in range(FIRST_TEST_SEED, FIRST_TEST_SEED + scenes):
        scene, world = problem.scene(seed), task.make_world(seed)
        risk, spent = None, np.inf
        try:
            choice = policy.choose(world)
            solved = ExactPlanner().solve(world, choice.automaton, policy.cost)
            risk, spent = choice.doubt, judge(scene, rule, solved.plan().path.controls[: task.horizon])
        except UnsatisfiableTaskError:
            pass
        is_kept = spent < np.inf
        yield {
            "outcome": "refused" if risk is None or risk > LARGEST_DOUBT else "kept" if is_kept else "broken",
            "risk": risk,
            "is kept": is_kept,
            "regret": spent / judge(scene, rule, cheapest(scene, rule)) - 1 if is_kept else None,
        }


def compare_with_truth(problem: Problem, dataset: Dataset, explained: Explanation, cost: Cost) -> dict[str, Any]:
    """How much likelier the true rule is than the chosen automaton, and whether they are the same, in these scenes."""
    observations = observe(dataset.demonstrations, problem.task.make_world, cost, 1)
    evidence = evidence_of(observations, RationalSettings())
    truth, labels = automaton_of(problem.rule, evidence.labels), evidence.labels
    table = canonical_table(truth.to_table(labels))
    posterior, facts = posterior_of(explained.model), {"truth": str(truth), "chosen": explained.model.sentence}
    if posterior is None:
        return facts
    prior = log_prior(truth, len(frozenset().union(*labels)))
    gap = prior + evidence.log_probability(table) - explained.log_posterior
    return {
        **facts,
        "gap": gap,
        "search failure": gap > SEARCH_FAILURE_NATS,
        "is exact": np.array_equal(table, canonical_table(to_table(posterior.chosen.automaton, labels))),
    }


def sections(results: Results) -> Sections:
    """Shares by family and number of demonstrations, calibration, and where the failures come from."""
    plans = pd.DataFrame([plan for one in results.outcomes.values() for plan in one.facts["plans"]])
    return {
        "Rules kept": [_shares(results.table)],
        "Calibration": [_calibration(plans.dropna(subset="risk"))],
        "Failures": [_failures(results.table)],
    }


def _shares(frame: pd.DataFrame) -> PageTable:
    means = frame.groupby(["family", "demonstrations"], sort=False)[list(OUTCOMES)].mean() * 100
    wide = means.apply(lambda line: "/".join(f"{share:.0f}" for share in line), axis=1).unstack(sort=False)
    wide["held out"] = ["yes" if FAMILIES[name].held_out else "" for name in wide.index]
    return table_of(wide, "Scenes in which the rule was kept / refused / broken, in %, by number of demonstrations.")


def _calibration(plans: pd.DataFrame) -> PageTable:
    bins = pd.cut(plans.risk.astype(float), [-1.0, *RISKS.values()], labels=list(RISKS))
    grouped = plans.astype({"risk": float, "is kept": float}).groupby(bins, observed=True)
    shown = pd.DataFrame({"mean risk": grouped.risk.mean(), "broken": 1 - grouped["is kept"].mean()})
    return table_of(shown.assign(plans=grouped.size()), "All plans by their stated risk, also refused ones.")


def _failures(frame: pd.DataFrame) -> PageTable:
    columns = ["broken", "risk of broken", "regret", "search failure", "gap", "is exact", "learning s"]
    frame = frame.astype(dict.fromkeys(columns, float))
    return mean_table(frame, ["family", "demonstrations"], columns, "Means by family and number of demonstrations.")


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
