"""People cooking (CaptainCook4D): the task graph of a recipe from a few sequences of steps.

`recipes.json` has for each recipe its `steps` (a sentence by id), `sequences` (ids in the order in which people did
them) and `edges` (the true graph, with START and END). F1 is that of the edges, START and END included. Sequences are
drawn ten times, and the mean over draws and recipes counts. Methods:

    plain        a before b in every sequence that has both, transitively reduced
    order        `OrderLearner(joined=True)`, without the sentences
    names        the same with the sentences as names of steps, and weights of the other recipes of the file
    names, set   the same with the weights of the package
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from experiments.harness import Cell, Experiment, Options, Outcome, Results, table_of
from experiments.harness.results import Sections
from wfairl.events.order_learner import OrderLearner
from wfairl.events.partial_orders import covers
from wfairl.events.step_names import FEATURES, WEIGHTS, name_features

FILE, ALL, DRAWS = "recipes.json", 0, 10
SHOWN = (ALL, 5, 3, 2, 1)
METHODS = ("plain", "order", "names", "names, set")

Recipe = Mapping[str, Any]
Edges = set[tuple[str, str]]


def cells(options: Options) -> list[Cell]:
    """Every recipe by every method; a quick look has two draws."""
    folder = options.folder(FILE)
    return [
        Cell(
            f"{recipe} {method}",
            measure_recipe,
            {"recipe": recipe, "method": method, "draws": 2 if options.quick else DRAWS},
            data=folder,
        )
        for recipe in options.tasks or read_recipes(folder.path)
        for method in options.methods or METHODS
    ]


def read_recipes(data: Path) -> dict[str, Recipe]:
    """The recipes by name."""
    recipes: dict[str, Recipe] = json.loads((data / FILE).read_text("utf-8"))
    return recipes


def measure_recipe(data: Path, recipe: str, method: str, draws: int) -> Outcome:
    """F1 from all sequences and from few of them."""
    recipes = read_recipes(data)
    one = recipes[recipe]
    others = [other for name, other in recipes.items() if name != recipe]
    weights = fit_weights(others) if method == "names" else WEIGHTS
    rng, rows = np.random.default_rng(0), []
    for shown in SHOWN:
        scores = []
        for _ in range(1 if shown == ALL else draws):
            count = len(one["sequences"])
            chosen = rng.permutation(count)[: shown or count]
            sequences = [[str(step) for step in one["sequences"][i]] for i in chosen]
            scores.append(f1(learn_edges(sequences, one["steps"], method, weights), true_edges(one)))
        rows.append({"sequences": "all" if shown == ALL else str(shown), "F1": 100 * float(np.mean(scores))})
    return Outcome(rows)


def learn_edges(
    sequences: Sequence[Sequence[str]], sentences: Mapping[str, str], method: str, weights: Sequence[float]
) -> Edges:
    """The edges of the learned graph, by the ids of steps."""
    steps = sorted({step for sequence in sequences for step in sequence})
    if method == "plain":
        first = np.array([[one.index(step) if step in one else np.nan for step in steps] for one in sequences])
        found = covers(~np.logical_or.reduce(first[:, :, None] >= first[:, None, :]))
        return with_ends({(steps[a], steps[b]) for a, b in np.argwhere(found)}, steps)
    names = {step: f"{sentences[step]} ({step})" for step in steps}
    ids = {name: step for step, name in names.items()}
    words = [tuple(frozenset({names[step]}) for step in sequence) for sequence in sequences]
    learner = OrderLearner(joined=True, names=method.startswith("names"))
    return with_ends({(ids[a], ids[b]) for a, b in learner.find_order(words, weights=weights).edges}, steps)


def with_ends(edges: Edges, steps: Sequence[str]) -> Edges:
    """The edges, and those of START and END."""
    first = {step for step in steps if all(step != after for _, after in edges)}
    last = {step for step in steps if all(step != before for before, _ in edges)}
    return edges | {("START", step) for step in first} | {(step, "END") for step in last}


def true_edges(recipe: Recipe) -> Edges:
    """The edges of the true graph."""
    return {(str(before), str(after)) for before, after in recipe["edges"]}


def f1(found: Edges, true: Edges) -> float:
    """The harmonic mean of precision and recall."""
    return 2 * len(found & true) / (len(found) + len(true))


def fit_weights(recipes: Sequence[Recipe]) -> list[float]:
    """A conditional logit: of all steps that are not before a step, which one follows on it directly?"""
    choices = []
    for recipe in recipes:
        steps, edges = list(recipe["steps"]), true_edges(recipe)
        features = name_features([recipe["steps"][step] for step in steps])
        before = np.array([[(a, b) in edges for b in steps] for a in steps])
        for _ in steps:
            before |= (before.astype(int) @ before.astype(int)) > 0
        for i, step in enumerate(steps):
            possible = [j for j in range(len(steps)) if j != i and not before[j, i]]
            choices += [(features[i, possible], k) for k, j in enumerate(possible) if (step, steps[j]) in edges]

    def loss(weights: np.ndarray) -> float:
        utilities = ((features @ weights, chosen) for features, chosen in choices)
        return float(weights @ weights / 2 + sum(logsumexp(one) - one[chosen] for one, chosen in utilities))

    found: list[float] = minimize(loss, np.zeros(len(FEATURES))).x.tolist()
    return found


def sections(results: Results) -> Sections:
    """Means over recipes."""
    means = results.table.pivot_table(index="sequences", columns="method", values="F1", sort=False)
    published = "Published over all 24 recipes, from all sequences: counts 61.2, MSG2 71.1, direct optimisation 87.8."
    return {"Results": [table_of(means, f"Mean F1 of edges. {published}", "sequences")]}


CAPTAINCOOK_EXPERIMENT = Experiment(
    name="captaincook",
    title="People cooking",
    summary="Task graphs of recipes from a few sequences of steps",
    cells=cells,
    sections=sections,
    quick="two draws of sequences",
    options=("data", "tasks", "methods"),
)
