"""PAutomaC: the perplexity of learned distributions over words.

The folder of the competition holds N.pautomac.train, N.pautomac.test and N.pautomac_solution.txt. The score of a
model q is 2 ** (-sum_i p_i log2 q_i) over the test words, p and q each normalised; lower is better, and p itself has
the lowest. One setting for all problems; test words are used for the score only.

`splearn` is scikit-splearn 1.2.1 at its best over ranks 5-40, its rank picked with the test words. `spectral` is
`SpectralDistributionLearner` (trigram smoothing, rank and statistic by held-out words), `refined` is
`DistributionLearner`.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.harness import Cell, Experiment, Options, Outcome, Results, pivot, table_of
from experiments.harness.cell import DataFolder
from experiments.harness.results import Sections
from wfairl.core.automata.words import Word
from wfairl.core.spectral.spectral_learner import LostRankError
from wfairl.core.support.errors import BadInputError
from wfairl.events.distributions.distribution import DistributionLearner
from wfairl.events.distributions.pautomac import read_pautomac, read_pautomac_solution
from wfairl.events.distributions.spectral_distribution import SpectralDistributionLearner

SPLEARN = {1: 30.40, 3: 50.45, 7: 51.29, 12: 21.67, 24: 38.76, 42: 16.01}
RANKS = (5, 10, 15, 20, 30, 40)
STATISTICS = ("word", "prefix", "factor")
TRAINED, TESTED, SOLUTION = "{}.pautomac.train", "{}.pautomac.test", "{}.pautomac_solution.txt"


def cells(options: Options) -> list[Cell]:
    """Both learners on all problems; a quick look has the spectral one on the first."""
    if options.data is None:
        raise BadInputError("give the folder of PAutomaC's problems with --data")
    problems = list(SPLEARN)[: 1 if options.quick else None]
    return [
        Cell(
            f"{problem} {learner}",
            measure_perplexity,
            {"problem": problem, "learner": learner},
            data=DataFolder(options.data, tuple(name.format(problem) for name in (TRAINED, TESTED, SOLUTION))),
            seconds=seconds,
        )
        for problem in problems
        for learner, seconds in (("spectral", 30), ("refined", 300))[: 1 if options.quick else None]
    ]


def measure_perplexity(data: Path, problem: int, learner: str) -> Outcome:
    """The perplexity of one learner on one problem, and the lowest one."""
    shown, judged = (read_pautomac(data / name.format(problem)).words for name in (TRAINED, TESTED))
    truth = read_pautomac_solution(data / SOLUTION.format(problem))
    truth = truth / truth.sum()
    fitted = fit_spectral(shown) if learner == "spectral" else DistributionLearner().fit(shown)
    figures = {"minimum": np.log(truth), learner: fitted.log_probability(judged)}
    rows = [{"by": name, "perplexity": perplexity(truth, one)} for name, one in figures.items()]
    return Outcome([*rows, {"by": "splearn", "perplexity": SPLEARN[problem]}])


def fit_spectral(words: Sequence[Word]) -> SpectralDistributionLearner:
    """The smoothed spectral learner with its rank and statistic chosen on one word in ten."""
    held_out, shown = words[5::10], [word for i, word in enumerate(words) if i % 10 != 5]
    likelihood = {}
    for statistic in STATISTICS:
        for rank in RANKS:
            try:
                likelihood[rank, statistic] = spectral_learner(rank, statistic).fit(shown).score(held_out)
            except LostRankError:
                break
    return spectral_learner(*max(likelihood, key=lambda one: likelihood[one])).fit(words)


def spectral_learner(rank: int, statistic: str) -> SpectralDistributionLearner:
    """The spectral learner with the settings of all problems."""
    return SpectralDistributionLearner(rank=rank, rows=4, cols=4, statistic=statistic, smoothing=3)


def perplexity(truth: NDArray[np.float64], log_probabilities: NDArray[np.float64]) -> float:
    """PAutomaC's score."""
    shifted = np.exp(log_probabilities - log_probabilities.max())
    return float(2 ** -(truth @ np.log2(shifted / shifted.sum())))


def sections(results: Results) -> Sections:
    """The perplexities, by problem."""
    frame = results.table.drop_duplicates(["problem", "by"])
    wide = pivot(frame, "problem", "by", "perplexity").reindex(columns=["minimum", "splearn", "spectral", "refined"])
    return {"Results": [table_of(wide, "Perplexity on the test words, lower is better.", "problem")]}


PAUTOMAC_EXPERIMENT = Experiment(
    name="pautomac",
    title="PAutomaC",
    summary="The perplexity of learned distributions over words",
    cells=cells,
    sections=sections,
    quick="the spectral learner on the first problem",
    options=("data",),
)
