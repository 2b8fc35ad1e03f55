"""Outcomes of cases: what a rule learned from cases with outcomes predicts on other cases.

Half of the cases of a generated log are shown, and `right` is the share of the others whose outcome is predicted,
beside that of the constant answer and of a decision tree on "a comes before b" and "a happens", whose leaves have the
size that is best on held-out cases.

    conjunction   two to four facts must hold, random events, 3 % of the outcomes wrong
    failure       the case fails if a fact and another hold
    either        two facts, or two others
    exclusive     exactly one of two facts
    count         an event happens at least two or three times
    sequence      a, then b, then c: no sentence of ours says it
    rare          few cases succeed
    weak          a fact moves the chance of success from 0.35 to 0.8
    many          eight facts add up, as in a logistic regression
    deviance      cases of a random process; those that failed have a mistake
    attribute     the outcome depends on an amount and on an order
    noise         nothing tells the outcome

With `--data`, public logs instead: the folder `tests` of an sdist of pm4py (2.7.11.8 on PyPI).
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from experiments.harness import Cell, Experiment, Options, Outcome, Results, pivot, table_of
from experiments.harness.results import Sections
from experiments.harness.tables import mean_table
from wfairl.core.automata.words import Word
from wfairl.core.demonstrations.learners import Reading, WordLearner, find_learner
from wfairl.core.support.errors import BadInputError, did_you_mean
from wfairl.events.event_logs import LogColumns, read_event_log
from wfairl.events.flagged_corpus import random_part
from wfairl.pages.blocks import prose

Case = list[str]
Fact = Callable[[Case], bool]
Flags = NDArray[np.bool_]

EVENTS = tuple(f"event{i:02d}" for i in range(14))
TREE, CONSTANT = "tree", "constant"
LEARNERS = ("shortest", TREE, CONSTANT)
CASES, FEWER_CASES = 2_000, 300
LEAVES = (1, 5, 20, 80)


def draw_cases(rng: np.random.Generator, count: int) -> list[Case]:
    """Cases of random events, some of them frequent."""
    often = rng.dirichlet(np.full(len(EVENTS), 2.0))
    return [[str(one) for one in rng.choice(EVENTS, size=n, p=often)] for n in 1 + rng.poisson(8, size=count)]


def draw_process_cases(rng: np.random.Generator, count: int) -> list[Case]:
    """Cases of a random process: sequences, choices, parallel parts and loops over the events."""
    process = _draw_process(rng, list(EVENTS))
    return [process(rng) for _ in range(count)]


def _draw_process(rng: np.random.Generator, events: list[str]) -> Callable[[np.random.Generator], Case]:
    if len(events) == 1:
        return lambda _: list(events)
    cut = int(rng.integers(1, len(events)))
    left, right = _draw_process(rng, events[:cut]), _draw_process(rng, events[cut:])
    kind, chance = rng.choice(4, p=[0.45, 0.2, 0.25, 0.1]), rng.uniform(0.2, 0.8)

    def run(rng: np.random.Generator) -> Case:
        if kind == 1:
            return left(rng) if rng.random() < chance else right(rng)
        one, other = left(rng), right(rng)
        if kind == 2:
            first = rng.permutation(len(one) + len(other)) < len(one)
            ones, others = iter(one), iter(other)
            return [next(ones) if here else next(others) for here in first]
        if kind == 3:
            while rng.random() < 0.3:
                one = one + other + left(rng)
            return one
        return one + other

    return run


def draw_fact(rng: np.random.Generator, cases: Sequence[Case], least: float = 0.2, most: float = 0.8) -> Fact:
    """A fact that holds of a share of the cases between two bounds."""
    while True:
        a, b = (str(one) for one in rng.choice(EVENTS, size=2, replace=False))
        fact = partial(FACTS[rng.choice(len(FACTS), p=OFTEN)], a, b)
        if least <= np.mean([fact(case) for case in cases[:400]]) <= most:
            return fact


FACTS: tuple[Callable[[str, str, Case], bool], ...] = (
    lambda a, _, case: a in case,
    lambda a, b, case: b in case and a in case[: case.index(b)],
    lambda a, b, case: b not in case or a in case[: case.index(b)],
    lambda a, b, case: a not in case or b in case[len(case) - case[::-1].index(a) :],
    lambda a, b, case: not (a in case and b in case),
    lambda a, b, case: (a, b) in pairwise(case),
    lambda a, _, case: case.count(a) >= 2,
    lambda a, _, case: case[-1] == a,
)
OFTEN = (0.2, 0.2, 0.2, 0.1, 0.1, 0.08, 0.08, 0.04)
"""How often each fact is drawn."""


def draw_held(rng: np.random.Generator, cases: Sequence[Case], least: float = 0.2, most: float = 0.8) -> Flags:
    """Of which cases a drawn fact holds."""
    return hold(cases, draw_fact(rng, cases, least, most))


def flip(rng: np.random.Generator, flags: Flags, share: float = 0.03) -> Flags:
    """Flags of which a share is wrong."""
    return np.asarray(flags ^ (rng.random(len(flags)) < share))


def hold(cases: Sequence[Case], fact: Fact) -> Flags:
    """Whether the fact holds of each case."""
    return np.array([fact(case) for case in cases])


def _conjunction(rng: np.random.Generator, cases: list[Case]) -> Flags:
    facts = [draw_fact(rng, cases, 0.5, 0.95) for _ in range(rng.integers(2, 5))]
    return flip(rng, np.logical_and.reduce([hold(cases, fact) for fact in facts]))


def _either(rng: np.random.Generator, cases: list[Case]) -> Flags:
    held = [draw_held(rng, cases, 0.3) for _ in range(4)]
    return flip(rng, (held[0] & held[1]) | (held[2] & held[3]))


def _count(rng: np.random.Generator, cases: list[Case]) -> Flags:
    least = int(rng.integers(2, 4))
    event = max(EVENTS, key=lambda one: sum(case.count(one) >= least for case in cases))
    return flip(rng, hold(cases, lambda case: case.count(event) >= least))


def _sequence(rng: np.random.Generator, cases: list[Case]) -> Flags:
    while True:
        a, b, c = (str(one) for one in rng.choice(EVENTS, size=3, replace=False))

        def fact(case: Case, a: str = a, b: str = b, c: str = c) -> bool:
            rest = case[case.index(a) :] if a in case else []
            return b in rest and c in rest[rest.index(b) :]

        if 0.08 <= hold(cases, fact).mean() <= 0.92:
            return flip(rng, hold(cases, fact))


def _rare(rng: np.random.Generator, cases: list[Case]) -> Flags:
    held = draw_held(rng, cases, 0.02, 0.1)
    return np.asarray(held & (rng.random(len(cases)) < 0.9) | (rng.random(len(cases)) < 0.01))


def _many(rng: np.random.Generator, cases: list[Case]) -> Flags:
    total = sum(rng.normal() * (draw_held(rng, cases) - 0.5) for _ in range(8))
    return np.asarray(rng.random(len(cases)) < 1 / (1 + np.exp(-2 * total)))


def _deviance(rng: np.random.Generator, cases: list[Case]) -> Flags:
    """The cases are changed in place: a mistake in two of five."""
    wrong = rng.random(len(cases)) < 0.4
    kind = int(rng.integers(3))
    for case in (case for case, is_wrong in zip(cases, wrong, strict=True) if is_wrong and len(case) > 2):
        i, j = sorted(int(one) for one in rng.choice(len(case), size=2, replace=False))
        if kind == 0:
            del case[i]
        elif kind == 1:
            case.insert(j, case[i])
        else:
            case[i], case[j] = case[j], case[i]
    return np.asarray(~wrong)


OUTCOMES: dict[str, Callable[[np.random.Generator, list[Case]], Flags]] = {
    "conjunction": _conjunction,
    "failure": lambda rng, cases: flip(rng, ~(draw_held(rng, cases, 0.4) & draw_held(rng, cases, 0.4))),
    "either": _either,
    "exclusive": lambda rng, cases: flip(rng, draw_held(rng, cases, 0.3) ^ draw_held(rng, cases, 0.3)),
    "count": _count,
    "sequence": _sequence,
    "rare": _rare,
    "weak": lambda rng, cases: rng.random(len(cases)) < np.where(draw_held(rng, cases), 0.8, 0.35),
    "many": _many,
    "noise": lambda rng, cases: rng.random(len(cases)) < rng.choice([0.1, 0.3, 0.5, 0.7, 0.9]),
    "deviance": _deviance,
}


def draw_log(family: str, seed: int, cases: int) -> tuple[list[Word], Flags]:
    """The words and outcomes of a log of a family."""
    rng = np.random.default_rng([seed, sorted((*OUTCOMES, "attribute")).index(family)])
    drawn = (draw_process_cases if family == "deviance" or seed % 2 else draw_cases)(rng, cases)
    if family == "attribute":
        amounts = rng.lognormal(6, 1, size=cases)
        limit, fact = float(np.quantile(amounts, 0.5)), draw_fact(rng, drawn)
        flags = flip(rng, (amounts > limit) & hold(drawn, fact))
        high = [frozenset(f"amount > {q}" for q in (250, 403, 800) if amount > q) for amount in amounts]
        return [tuple(frozenset({e}) | more for e in case) for case, more in zip(drawn, high, strict=True)], flags
    flags = OUTCOMES[family](rng, drawn)
    return [tuple(frozenset({event}) for event in case) for case in drawn], flags


def predict(learner: str, shown: Sequence[Word], flags: Flags, others: Sequence[Word]) -> tuple[Flags, str]:
    """The outcomes of other words that a learner predicts, and its rule."""
    if learner == CONSTANT or flags.all() or not flags.any():
        return np.full(len(others), 2 * flags.sum() >= len(flags)), ""
    if learner == TREE:
        table, other = features(shown, shown), features(others, shown)
        trees = [DecisionTreeClassifier(min_samples_leaf=size, random_state=0) for size in LEAVES]
        best = max(trees, key=lambda tree: cross_val_score(tree, table, flags, cv=3).mean())
        return np.asarray(best.fit(table, flags).predict(other), bool), ""
    by = find_learner(learner)
    assert isinstance(by, WordLearner)
    model = by.fit(shown, flags.astype(float).tolist(), Reading(keep_repeats=True)).model
    return np.array(model.predict(others)), "; ".join(model.sentences)


def features(words: Sequence[Word], shown: Sequence[Word]) -> NDArray[np.bool_]:
    """Whether a comes before b, for all pairs of the propositions shown, and whether a happens."""
    names = sorted({name for word in shown for label in word for name in label})
    first, last = np.full((2, len(names), len(words)), 10**6), np.full((len(names), len(words)), -1)
    number = {name: i for i, name in enumerate(names)}
    for w, word in enumerate(words):
        for place, label in enumerate(word):
            for i in (number[name] for name in label if name in number):
                first[:, i, w], last[i, w] = min(first[0, i, w], place), place
    before = first[0][:, None] < last[None]
    return np.vstack([before.reshape(-1, len(words)), last >= 0]).T


FAIR, PACKED = "input_data/fairness", "compressed_input_data"
LENDING, TRAVEL = f"{FAIR}/lending_log_high.xes.gz", f"{PACKED}/15_bpic2020_permit_log_1t_per_variant.xes.gz"
PUBLIC: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "receipt-stop": ("input_data/receipt.xes", "event: T10 Determine necessity to stop indication", ()),
    "receipt-a-day": ("input_data/receipt.xes", "days: 1", ()),
    "receipt-a-day-attributes": ("input_data/receipt.xes", "days: 1", ("channel", "group")),
    "hospital": (f"{FAIR}/hospital_log_high.xes.gz", "event: Treatment unsuccessful", ()),
    "lending": (LENDING, "event: Sign Loan Agreement", ()),
    "lending-attributes": (LENDING, "event: Sign Loan Agreement", ("CreditScore", "protected")),
    "hiring": (f"{FAIR}/hiring_log_high.xes.gz", "event: Make Job Offer", ()),
    "renting": (f"{FAIR}/renting_log_high.xes.gz", "event: Sign Contract", ()),
    "helpdesk-wait": ("input_data/helpdesk.xes.gz", "event: Wait", ()),
    "helpdesk-40-days": ("input_data/helpdesk.xes.gz", "days: 40", ()),
    "reviewing": ("input_data/reviewing.xes", "event: accept", ()),
    "reviewing-attributes": ("input_data/reviewing.xes", "event: accept", ("accepts", "rejects")),
    "claims": (f"{PACKED}/02_teleclaims.xes.gz", "event: initiate payment", ()),
    "claims-half-an-hour": (f"{PACKED}/02_teleclaims.xes.gz", "days: 0.02", ()),
    "repair": (f"{PACKED}/03_repairExample.xes.gz", "event: Restart Repair", ()),
    "repair-attributes": (f"{PACKED}/03_repairExample.xes.gz", "event: Restart Repair", ("defectFixed", "phoneType")),
    "repair-an-hour": (f"{PACKED}/03_repairExample.xes.gz", "days: 0.05", ()),
    "problems-100-days": (f"{PACKED}/06_bpic2013_closed.xes.gz", "days: 100", ()),
    "incidents-10-days": (f"{PACKED}/07_bpic2013_incidents.xes.gz", "days: 10", ()),
    "traffic": (f"{PACKED}/12_roadtraffic_1t_per_variant.xes.gz", "event: Send for Credit Collection", ()),
    "traffic-100-cases": ("input_data/roadtraffic100traces.xes", "event: Payment", ()),
    "sepsis-return": (f"{PACKED}/13_SEPSIS_1t_per_variant.xes.gz", "event: Return ER", ()),
    "sepsis-intensive-care": (f"{PACKED}/13_SEPSIS_1t_per_variant.xes.gz", "event: Admission IC", ()),
    "billing": (f"{PACKED}/14_Billing_1t_per_variant.xes.gz", "event: BILLED", ()),
    "billing-cancelled": (f"{PACKED}/14_Billing_1t_per_variant.xes.gz", "event: STORNO", ()),
    "travel-reminder": (TRAVEL, "event: Send Reminder", ()),
    "travel-rejected": (TRAVEL, "event: Declaration REJECTED by EMPLOYEE", ()),
    "purchases": (f"{PACKED}/16_bpic2019_1t_per_variant.xes.gz", "event: Clear Invoice", ()),
    "loans-approved": ("input_data/bpic2012.xes.gz", "event: A_APPROVED", ()),
    "loans-cancelled": ("input_data/bpic2012.xes.gz", "event: A_CANCELLED", ()),
}
"""Of each public log its file, its outcome, and the attributes that become propositions."""


def cells(options: Options) -> list[Cell]:
    """Every log by every learner; a quick look has one small log of each family."""
    cases, seeds = (FEWER_CASES, 1) if options.quick else (CASES, options.seeds or 4)
    logs = (*OUTCOMES, "attribute") if options.data is None else tuple(PUBLIC)
    for log in options.tasks or ():
        if log not in logs:
            raise BadInputError(f"there is no log {log!r}{did_you_mean(log, logs)}; there are {', '.join(logs)}")
    return [
        Cell(
            f"{log} {seed} {by}",
            measure,
            {"log": log, "learner": by, "seed": seed, "cases": cases},
            data=None if options.data is None else options.folder(PUBLIC[log][0]),
        )
        for log in options.tasks or logs
        for seed in range(seeds)
        for by in options.methods or LEARNERS
    ]


def read_public_log(data: Path, log: str, cases: int) -> tuple[list[Word], Flags]:
    """The words and outcomes of some cases of a public log."""
    file, outcome, attributes = PUBLIC[log]
    read = read_event_log(data / file, LogColumns(outcome=outcome, attributes=attributes))
    part = random_part(len(read), cases, np.random.default_rng(7))
    assert read.scores is not None
    return [read.words[i] for i in part], np.array(read.scores)[part] >= 0.5


def measure(log: str, learner: str, seed: int, cases: int, data: Path | None = None) -> Outcome:
    """One learner on one log, a public one if there are data."""
    words, flags = draw_log(log, seed, cases) if data is None else read_public_log(data, log, cases)
    order = np.random.default_rng(seed).permutation(len(words))
    half = len(words) // 2
    shown, others = ([words[i] for i in part] for part in (order[:half], order[half:]))
    begun = time.process_time()
    predicted, rule = predict(learner, shown, flags[order[:half]], others)
    seconds = time.process_time() - begun
    right = predicted == flags[order[half:]]
    return Outcome([{"right": float(right.mean()), "cases": len(right), "seconds": seconds, "rule": rule}])


def sections(results: Results) -> Sections:
    """The share of right answers by log, their means, and the logs on which a learner is below the constant answer."""
    table = results.table
    constant = table[table["learner"] == CONSTANT].set_index(["log", "seed"])["right"]
    base = np.array([constant.get((log, seed), np.nan) for log, seed in zip(table["log"], table["seed"], strict=True)])
    below = table[table["right"] < base - np.sqrt(base * (1 - base) / table["cases"]) - 1e-9]
    means = table.groupby(["log", "learner"], as_index=False)[["right", "seconds"]].mean()
    told = [f"{row['learner']} on {row['log']} {row['seed']}: {row['right']:.3f}" for _, row in below.iterrows()]
    return {
        "Results": [
            table_of(pivot(means, "log", "learner", "right"), "Share of right answers.", "log"),
            mean_table(means, ["learner"], ["right", "seconds"], "Means over logs."),
            prose("More than one standard error below the constant answer: " + ("; ".join(told) or "none") + "."),
        ]
    }


OUTCOMES_EXPERIMENT = Experiment(
    name="outcomes",
    title="Outcomes of cases",
    summary="Which outcomes a learned rule predicts, beside a tree and a constant answer",
    cells=cells,
    sections=sections,
    quick="one log of 300 cases of each family",
    options=("data", "tasks", "methods", "seeds"),
)
