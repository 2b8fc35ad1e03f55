"""Human demonstrations of known rules (Sobti, Shome, Kavraki, ICRA 2023): the distance to the rule, and wrong ones.

A participant gives ten demonstrations of a task in one environment (base), in random ones, and in informed ones, chosen
by the authors' design. The distance is one minus the Jaccard index of two sets of conjuncts: never x; eventually x; b
not until a. For the published distances, the truth of every task has "never o1" and "never o2". The rule of task 4 in
`truth.json` allows o2. `distance` is to the former, as the published figures are, `to the rule given` to the latter.

Wrong demonstrations are named by the rule learned from all 30 of a participant and task, and from each ten.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.harness import Cell, Experiment, Options, Outcome, Results, table_of
from experiments.harness.results import Sections
from experiments.harness.tables import mean_table
from wfairl.core.automata.words import Word
from wfairl.events.order_learner import LearnedOrder, OrderLearner

DEMONSTRATIONS, TRUTH = "demonstrations.jsonl", "truth.json"
PROPOSITIONS = ("r", "g", "b", "y", "o1", "o2")
OBSTACLES = ("o1", "o2")
DESIGNS = ("base", "random", "informed")
AFTER = (1, 2, 3, 5, 8, 10)
NOTHING = LearnedOrder((), (), ())

Record = Mapping[str, Any]


def cells(options: Options) -> list[Cell]:
    """The participants of each task."""
    folder = options.folder(DEMONSTRATIONS, TRUTH)
    pairs = sorted({(record["task"], record["participant"]) for record in read_records(folder.path)})
    return [
        Cell(f"{task} {participant}", measure_participant, {"task": task, "participant": participant}, data=folder)
        for task, participant in pairs[: 2 if options.quick else None]
    ]


def read_records(data: Path) -> list[Record]:
    """The demonstrations."""
    return [json.loads(line) for line in (data / DEMONSTRATIONS).read_text("utf-8").splitlines()]


def measure_participant(data: Path, task: int, participant: str) -> Outcome:
    """The distances after each number of demonstrations, and how many wrong ones are named."""
    rule = read_rule(json.loads((data / TRUTH).read_text("utf-8"))[str(task)])
    published_rule = LearnedOrder(rule.always, OBSTACLES, rule.edges)
    own = [one for one in read_records(data) if (one["task"], one["participant"]) == (task, participant)]
    rows: list[dict[str, Any]] = []
    for design in DESIGNS:
        given = [one for one in own if one["design"] == design]
        for after in AFTER:
            learned = learn(words_of(given[:after]))
            rows.append({
                "design": design, "after": after, "published": given[after - 1]["published_distance"],
                "distance": distance(learned, published_rule), "to the rule given": distance(learned, rule),
            })  # fmt: skip
        rows.append({"design": design, **named_wrong(words_of(given), rule)})
    rows.append({"design": "all", **named_wrong(words_of(own), rule)})
    return Outcome(rows)


def words_of(records: Sequence[Record]) -> list[Word]:
    """Their words."""
    return [tuple(frozenset(label) for label in record["word"]) for record in records]


def read_rule(truth: Mapping[str, Any]) -> LearnedOrder:
    """A rule of `truth.json`."""
    untils = [part.split(" UNTIL ") for part in truth["order"].split(" & ") if " UNTIL " in part]
    edges = tuple((before, after.removeprefix("NOT ")) for after, before in untils)
    return LearnedOrder(tuple(truth["eventual"]), tuple(part.removeprefix("NOT ") for part in truth["global"]), edges)


def learn(words: Sequence[Word]) -> LearnedOrder:
    """The rule of words; none if nothing happens in them."""
    return OrderLearner(draws=20_000).find_order(words, PROPOSITIONS) if any(any(word) for word in words) else NOTHING


def distance(one: LearnedOrder, other: LearnedOrder) -> float:
    """One minus the Jaccard index of the conjuncts."""
    mine, theirs = set(one.constraints), set(other.constraints)
    return 1 - len(mine & theirs) / len(mine | theirs)


def named_wrong(words: Sequence[Word], rule: LearnedOrder) -> dict[str, int]:
    """How many words break the rule, how many of them break the learned one, and how many others do."""
    truly = [bool(some) for some in rule.broken(words)]
    named = [bool(some) for some in learn(words).broken(words)]
    right = sum(one and other for one, other in zip(truly, named, strict=True))
    return {"wrong": sum(truly), "named": right, "named in vain": sum(named) - right}


def sections(results: Results) -> Sections:
    """Distances by design and number, and wrong demonstrations."""
    table, columns = results.table, ["published", "distance", "to the rule given"]
    after = table.dropna(subset="after").astype({"after": int})
    counts = table.dropna(subset="wrong").groupby("design", sort=False)[["wrong", "named", "named in vain"]].sum()
    return {
        "Results": [
            mean_table(after, ["design", "after"], columns, "Mean Jaccard distance after so many demonstrations."),
            table_of(counts.astype(int), "Wrong demonstrations, named by the rule learned from them.", "learned from"),
        ]
    }


SOBTI_EXPERIMENT = Experiment(
    name="sobti",
    title="Human demonstrations of known rules",
    summary="The distance of learned rules to the true ones, and which demonstrations are wrong",
    cells=cells,
    sections=sections,
    quick="two participants",
    options=("data",),
)
