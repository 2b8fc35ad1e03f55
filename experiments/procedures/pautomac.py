"""PAutomaC: the perplexity of learned distributions over words.

The folder of the competition holds N.pautomac.train, N.pautomac.test and N.pautomac_solution.txt. The score of a
model q is 2 ** (-sum_i p_i log2 q_i) over the test words, p and q each normalised; lower is better, and p itself has
the lowest. One setting for all problems; test words are used for the score only.

`splearn` is scikit-splearn 1.2.1 at its best over ranks 5-40, its rank picked with the test words. `refined` is
`DistributionLearner`.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.harness import Cell, Experiment, Options, Outcome, Results, pivot, table_of
from experiments.harness.cell import DataFolder
from experiments.harness.results import Sections
from wfairl.core.support.errors import BadInputError
from wfairl.events.distributions.distribution import DistributionLearner
from wfairl.events.distributions.pautomac import read_pautomac, read_pautomac_solution

SPLEARN = {1: 30.40, 3: 50.45, 7: 51.29, 12: 21.67, 24: 38.76, 42: 16.01}
QUICK: dict[str, Any] = {"sizes": (8,), "folds": 2, "iterations": 20}
TRAINED, TESTED, SOLUTION = "{}.pautomac.train", "{}.pautomac.test", "{}.pautomac_solution.txt"


def cells(options: Options) -> list[Cell]:
    """All problems; a quick look has a small automaton for the first."""
    if options.data is None:
        raise BadInputError("give the folder of PAutomaC's problems with --data")
    problems = list(SPLEARN)[: 1 if options.quick else None]
    return [
        Cell(
            str(problem),
            measure_perplexity,
            {"problem": problem, "quick": options.quick},
            data=DataFolder(options.data, tuple(name.format(problem) for name in (TRAINED, TESTED, SOLUTION))),
        )
        for problem in problems
    ]


def measure_perplexity(data: Path, problem: int, quick: bool) -> Outcome:
    """The perplexity on one problem, and the lowest one."""
    shown, judged = (read_pautomac(data / name.format(problem)).words for name in (TRAINED, TESTED))
    truth = read_pautomac_solution(data / SOLUTION.format(problem))
    truth = truth / truth.sum()
    learner = DistributionLearner(**(QUICK if quick else {})).fit(shown)
    figures = {"minimum": np.log(truth), "refined": learner.log_probability(judged)}
    rows = [{"by": name, "perplexity": perplexity(truth, one)} for name, one in figures.items()]
    return Outcome([*rows, {"by": "splearn", "perplexity": SPLEARN[problem]}])


def perplexity(truth: NDArray[np.float64], log_probabilities: NDArray[np.float64]) -> float:
    """PAutomaC's score."""
    shifted = np.exp(log_probabilities - log_probabilities.max())
    return float(2 ** -(truth @ np.log2(shifted / shifted.sum())))


def sections(results: Results) -> Sections:
    """The perplexities, by problem."""
    wide = pivot(results.table, "problem", "by", "perplexity").reindex(columns=["minimum", "splearn", "refined"])
    return {"Results": [table_of(wide, "Perplexity on the test words, lower is better.", "problem")]}


PAUTOMAC_EXPERIMENT = Experiment(
    name="pautomac",
    title="PAutomaC",
    summary="The perplexity of learned distributions over words",
    cells=cells,
    sections=sections,
    quick="eight states for the first problem",
    options=("data",),
)
