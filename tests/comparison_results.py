"""Results of a comparison of methods, made by hand."""

from dataclasses import replace
from pathlib import Path

from experiments.harness import Cell, Options, Outcome, Results
from experiments.method_comparison.paper import FULL, PAPER
from experiments.method_comparison.tables import ComparisonTables
from experiments.method_comparison.training import train_and_test
from wfairl.runs.methods import CHOSEN


def row(scene, value=0.5, success=True, cost=20.0, acting="greedy", chosen=True, tested="doorkey"):
    """The test of a policy in a scene."""
    return {
        "tested": tested,
        "acting": acting,
        "chosen": chosen,
        "scene": scene,
        "return": value,
        "success": success,
        "no_plan": False,
        "cost": cost,
    }


def rows(returns, successes=None, **others):
    """The tests of a policy in the scenes 0, 1, ..."""
    kept = [True] * len(returns) if successes is None else successes
    return [row(i, value, success, **others) for i, (value, success) in enumerate(zip(returns, kept, strict=True))]


def results_of(cells, facts=None, failures=None, comparison=PAPER):
    """Results with the rows of cells, by task, data set, entry and, if need be, seed and successes."""
    outcomes, named = {}, {}
    for key, found in cells.items():
        task, data, method, seed, successes = (*key, *(0, 32 if key[1] else 0)[len(key) - 3 :])
        settings = {"task": task, "data": data, "method": method, "seed": seed, "successes": successes}
        cell = Cell(" ".join(map(str, key)), train_and_test, settings)
        named[cell.name] = cell
        outcomes[cell.name] = Outcome(found, (facts or {}).get(key, {}))
    return Results(comparison.experiment, Options(), Path(), named, outcomes, failures or {})


def tables_of(results, comparison=PAPER, **protocol):
    """The tables of results, under the paper's protocol or a changed one."""
    full = replace(FULL, **protocol)
    return ComparisonTables(replace(comparison, full=full), results)


def line_of(results, method, acting=CHOSEN):
    """The line of a summary."""
    (line,) = [one for one in tables_of(results).summary.itertuples() if (one.method, one.acting) == (method, acting)]
    return line
