"""Task learners by the number of demonstrations: rules kept, rules broken, scenes without a plan, regret.

    python benchmarks/learners.py [--tasks random-office-coffee ...] [--numbers 1 2 4 8 16 32] [--seeds 3]
                                  [--results FILE.jsonl] [--figure FILE.png] [--json]

Demonstrators act at temperature 0.5. `rational` learns from successes alone, and plans cautiously or plainly; the other
learners also get 128 failures. All know the true costs, and plan greedily in unseen test scenes. Regret is of episodes
that keep the rule: their cost over the least possible, minus 1. `broken` are episodes in which there was a plan and the
rule was not kept in time; `beside memorised` counts them only in scenes in which the memorised automaton (`spectral`),
learned from the same demonstrations, has a plan too.

With --results, every finished cell is appended to a file, and cells in the file are not measured again, so that an
interrupted run continues. All tasks are measured on one collection before the next.
"""

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from regret import mean_regret
from reporting import make_parser, report
from rich.table import Table

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations import Dataset, collect
from wfairl.core.demonstrations.learners import find_learner
from wfairl.core.planning import PlannedPolicy, Policy, expert_policy
from wfairl.core.planning.product import check_initial_state
from wfairl.core.rational.caution import DEFAULT_PRICE, CautiousPolicy
from wfairl.core.runs import Evaluation, evaluate
from wfairl.core.support.errors import WfairlError
from wfairl.core.worlds import Task, find_task

OFFICES = tuple(
    f"{kind}-{name}" for kind in ("office", "random-office") for name in ("coffee", "mail", "coffee-mail", "patrol")
)
OTHERS = ("ordered-pickup", "errand", "terrain", "doorkey", "multiroom", "blocked-unlock-pickup")
NUMBERS = (1, 2, 4, 8, 16, 32)
FAILURES = 128
SCENES, FEWER_SCENES = 64, {"ordered-pickup": 16, "blocked-unlock-pickup": 16}
"""Test scenes of a task; fewer where a scene is large."""

FIRST_TEST, FIRST_VALIDATION, VALIDATION_COLLECTION = 5000, 9000, 50
WITH_FAILURES = ("spectral", "merging", "gru")
PLAIN, CAUTIOUS, MEMORISED = "rational, plain", "rational", "spectral"
KEPT, NO_PLAN, BROKEN = "k", "n", "b"
"""What became of a scene, a letter each in the rows of the results."""


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--tasks", nargs="+", default=[*OFFICES, *OTHERS])
    parser.add_argument("--numbers", nargs="+", type=int, default=list(NUMBERS))
    parser.add_argument(
        "--learners", nargs="*", default=["rational", *WITH_FAILURES], help="none to show what --results has"
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--scenes", type=int, default=SCENES, help="test scenes of each task, at most")
    parser.add_argument("--results", type=Path, help="append rows to this file, and go on with what it has")
    parser.add_argument("--figure", type=Path, help="draw FILE.png, FILE-broken.png and FILE-return.png")
    parser.add_argument("--prices", nargs="+", type=float, default=[DEFAULT_PRICE], help="of a failure, for caution")
    parser.add_argument("--validation", action="store_true", help="other collections and scenes, to choose settings on")
    arguments = parser.parse_args()
    rows = known_rows(arguments.results)
    for row in measure_all(arguments, {(row["task"], row["seed"], row["number"], row["asked"]) for row in rows}):
        rows.append(row)
        if arguments.results is not None:
            with arguments.results.open("a") as file:
                file.write(json.dumps(row) + "\n")
    rows = [row for row in rows if row["task"] in arguments.tasks]
    if arguments.figure is not None:
        for what, axis in DRAWN.items():
            stem = arguments.figure.stem + ("" if what == "kept" else f"-{what}")
            draw(rows, what, axis, arguments.figure.with_stem(stem))
    report({"rows": rows}, arguments.json, summary_table(rows), width=150)


def known_rows(path: Path | None) -> list[dict[str, Any]]:
    """The rows of a file of results; none if there is no such file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path is not None and path.exists() else []


def measure_all(arguments: argparse.Namespace, known: set[tuple[str, int, int, str]]) -> Iterator[dict[str, Any]]:
    """The rows of all cells that are not known yet."""
    first = VALIDATION_COLLECTION if arguments.validation else 0
    for seed in range(first, first + arguments.seeds):
        for name in arguments.tasks:
            cells = [(number, learner) for number in arguments.numbers for learner in arguments.learners]
            cells = [cell for cell in cells if (name, seed, *cell) not in known]
            if not cells:
                continue
            task = find_task(name)
            begin = FIRST_VALIDATION if arguments.validation else FIRST_TEST
            scenes = range(begin, begin + min(arguments.scenes, FEWER_SCENES.get(name, arguments.scenes)))
            optimal = evaluate(task, expert_policy(task, 0.0), scenes, n_jobs=1)
            everything = collect(task, max(arguments.numbers), FAILURES, 0.5, seed, n_jobs=1)
            for number, learner in cells:
                cell = {"task": name, "seed": seed, "number": number, "asked": learner}
                for found in measure(task, optimal, some(everything, number, learner), learner, arguments.prices):
                    yield {**cell, **found}


def measure(
    task: Task, optimal: Evaluation, dataset: Dataset, learner: str, prices: Sequence[float]
) -> Iterable[dict[str, Any]]:
    """One training, tested in all ways in which it plans."""
    scenes, cost = [one.seed for one in optimal.episodes], expert_policy(task, 0.0).cost
    begun = time.process_time()
    try:
        model = find_learner(learner).learn(dataset, task, cost, n_jobs=1)
        automaton = model.finite
        check_initial_state(automaton)
    except WfairlError as error:
        names = [PLAIN, *named(prices)] if learner == "rational" else [learner]
        nothing = {"scenes": NO_PLAN * len(scenes), "kept": 0.0, "no_plan": 1.0, "broken": 0.0, "return": 0.0}
        yield from ({"learner": name, "error": str(error), **nothing} for name in names)
        return
    seconds = time.process_time() - begun
    policies: list[Policy] = [PlannedPolicy(PLAIN if learner == "rational" else learner, automaton, cost, 0.0)]
    if model.record is not None:
        policies += [
            CautiousPolicy(name, model, cost, 0.0, price, task.horizon) for name, price in named(prices).items()
        ]
    elif learner == "rational":
        policies += [PlannedPolicy(name, automaton, cost, 0.0) for name in named(prices)]
    for policy in policies:
        tested = evaluate(task, policy, scenes, n_jobs=1)
        became = "".join(
            KEPT if one.success else NO_PLAN if one.outcome == "unsatisfiable" else BROKEN for one in tested.episodes
        )
        yield {
            "learner": policy.name,
            "scenes": became,
            **{name: became.count(letter) / len(became) for name, letter in LETTERS.items()},
            "regret": mean_regret(tested, optimal),
            "return": tested.mean_return,
            "optimal_return": optimal.mean_return,
            "states": automaton.states,
            "rule_states": task.rule.states,
            "seconds": seconds,
            "rule": said(model),
        }


LETTERS = {"kept": KEPT, "no_plan": NO_PLAN, "broken": BROKEN}


def named(prices: Sequence[float]) -> dict[str, float]:
    """The prices by what the rows call the cautious agent."""
    return {CAUTIOUS if len(prices) == 1 else f"{CAUTIOUS} at {price:g}": price for price in prices}


def some(everything: Dataset, number: int, learner: str) -> Dataset:
    """The first successes, and all failures for learners that need them."""
    successes = [one for one in everything if one.is_success][:number]
    failures = [one for one in everything if not one.is_success] if learner in WITH_FAILURES else []
    return Dataset(everything.task, (*successes, *failures), everything.temperature)


def said(model: TaskModel) -> str:
    return model.sentences[0] if model.sentences else ""


def grouped(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["task"], row["learner"], row["number"]), []).append(row)
    return groups


def summary_table(rows: list[dict[str, Any]]) -> Table:
    table = Table("task", "demonstrations", "learner", *SHOWN, "beside memorised", "states", "s of processor")
    for (task, learner, number), group in grouped(rows).items():
        means = [f"{mean(group, name):.3f}" for name in SHOWN]
        states = "/".join(str(row.get("states", "-")) for row in group)
        beside = f"{beside_memorised(group, rows):.3f}"
        table.add_row(task, str(number), learner, *means, beside, states, f"{mean(group, 'seconds'):.1f}")
    for learner, number in dict.fromkeys((row["learner"], row["number"]) for row in rows):
        group = [row for row in rows if (row["learner"], row["number"]) == (learner, number)]
        means = [f"{mean(group, name):.4f}" for name in SHOWN]
        table.add_row("all", str(number), learner, *means, f"{beside_memorised(group, rows):.4f}", "", "")
    return table


SHOWN = ("kept", "no_plan", "broken", "regret", "return")


def beside_memorised(group: list[dict[str, Any]], rows: list[dict[str, Any]]) -> float:
    """The part of the scenes in which the memorised automaton has a plan, and the rule was broken."""
    cells = {(r["task"], r["seed"], r["number"]): r["scenes"] for r in rows if r["learner"] == MEMORISED}
    pairs = [
        (ours, theirs)
        for row in group
        for ours, theirs in zip(row["scenes"], cells.get((row["task"], row["seed"], row["number"]), ""), strict=False)
    ]
    compared = [ours == BROKEN for ours, theirs in pairs if theirs != NO_PLAN]
    return float(np.mean(compared)) if compared else float("nan")


def mean(group: list[dict[str, Any]], name: str) -> float:
    values = [row[name] for row in group if row.get(name) is not None]
    return float(np.mean(values)) if values else float("nan")


DRAWN = {"kept": "rules kept", "broken": "rules broken", "return": "return"}


def draw(rows: list[dict[str, Any]], what: str, axis: str, path: Path) -> None:
    """A figure of the rows against the number of demonstrations: one panel per task.

    Beside the return, that of the optimal policy is dotted.
    """
    from matplotlib.figure import Figure

    tasks = list(dict.fromkeys(row["task"] for row in rows))
    learners = list(dict.fromkeys(row["learner"] for row in rows))
    numbers = sorted({row["number"] for row in rows})
    columns = min(4, len(tasks))
    height = -(-len(tasks) // columns)
    figure = Figure(figsize=(3.1 * columns, 2.2 * height + 0.5), layout="constrained")
    groups, lines = grouped(rows), {}
    for i, task in enumerate(tasks):
        axes = figure.add_subplot(height, columns, i + 1)
        for learner in learners:
            found = {number: mean(group, what) for (*key, number), group in groups.items() if key == [task, learner]}
            if not found:
                continue
            points = sorted(found.items())
            bold = 2.2 if learner == CAUTIOUS else 1.1
            colour = f"C{learners.index(learner)}"
            lines[learner] = axes.plot(*zip(*points, strict=True), "o-", markersize=3, linewidth=bold, color=colour)[0]
        if what == "return":
            best = mean([row for row in rows if row["task"] == task], "optimal_return")
            lines["optimal"] = axes.axhline(best, linestyle=":", color="grey", linewidth=1.1)
        axes.set(
            title=task, xscale="log", xticks=numbers, xlim=(0.9 * numbers[0], 1.1 * numbers[-1]), ylim=(-0.03, 1.03)
        )
        axes.set_xticklabels([str(number) for number in numbers])
        axes.minorticks_off()
        axes.title.set_fontsize(9)
        axes.tick_params(labelsize=7)
        axes.grid(alpha=0.3)
        if i % columns == 0:
            axes.set_ylabel(axis, fontsize=8)
        if i >= len(tasks) - columns:
            axes.set_xlabel("demonstrations", fontsize=8)
    figure.legend(lines.values(), lines, loc="outside upper center", ncols=len(lines), fontsize=8, frameon=False)
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main()
