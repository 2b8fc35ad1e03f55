"""An experiment: cells, and what its page shows of them. `python -m experiments NAME` runs one."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.harness.cell import Cell, DataFolder
from experiments.harness.workers import LOCAL, open_workers
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.registry import Registry
from wfairl.runs.held_directory import check_directory, hold

if TYPE_CHECKING:
    from experiments.harness.results import Results, Sections
    from experiments.public_data.source import PublicSource

EXPERIMENTS: "Registry[Experiment]" = Registry(
    "experiment",
    {
        "paper": "experiments.method_comparison.paper:PAPER_EXPERIMENT",
        "logic-and-cost": "experiments.method_comparison.logic_and_cost:LOGIC_AND_COST_EXPERIMENT",
        "labyrinth": "experiments.public_data.labyrinth:LABYRINTH_EXPERIMENT",
        "borlange": "experiments.public_data.borlange:BORLANGE_EXPERIMENT",
        "shanghai": "experiments.public_data.shanghai:SHANGHAI_EXPERIMENT",
        "sobti": "experiments.public_data.sobti:SOBTI_EXPERIMENT",
        "captaincook": "experiments.public_data.captaincook:CAPTAINCOOK_EXPERIMENT",
        "rational-inference": "experiments.procedures.rational_inference:RATIONAL_INFERENCE_EXPERIMENT",
        "hidden-cost": "experiments.procedures.hidden_costs:HIDDEN_COST_EXPERIMENT",
        "learned-cost": "experiments.procedures.learned_costs:LEARNED_COST_EXPERIMENT",
        "slip": "experiments.procedures.slipping_worlds:SLIP_EXPERIMENT",
        "pdc": "experiments.procedures.process_discovery:PROCESS_DISCOVERY_EXPERIMENT",
        "questions": "experiments.procedures.active_questions:ACTIVE_QUESTIONS_EXPERIMENT",
        "outcomes": "experiments.procedures.outcomes:OUTCOMES_EXPERIMENT",
        "babyai": "experiments.procedures.babyai_plans:BABYAI_EXPERIMENT",
        "rule-families": "experiments.rule_families.learning:RULE_FAMILIES_EXPERIMENT",
        "floors": "experiments.procedures.floor_plans:FLOORS_EXPERIMENT",
    },
)
"""By the name on the command line; a new one is one more line."""


@dataclass(frozen=True)
class Options:
    """What to compute of an experiment, as `python -m experiments --help` has it; all else is the full protocol's."""

    quick: bool = False
    data: Path | None = None
    tasks: tuple[str, ...] | None = None
    data_sets: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    seeds: int | None = None

    @property
    def given(self) -> dict[str, Any]:
        """Those that differ from the full protocol, by name."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) != one.default}

    def arguments(self) -> list[str]:
        """The same as arguments of the command line."""
        texts = {
            name: ",".join(value) if isinstance(value, tuple) else str(value) for name, value in self.given.items()
        }
        pairs = ((f"--{name.replace('_', '-')}", text) for name, text in texts.items() if name != "quick")
        return [*(["--quick"] if self.quick else []), *(part for pair in pairs for part in pair)]

    def folder(self, *files: str) -> DataFolder:
        """The files of `data` that an experiment reads."""
        if self.data is None:
            raise BadInputError(f"give the folder of {files[0]} with --data")
        return DataFolder(self.data, files)

    def check(self, experiment: "Experiment") -> None:
        """Refuse options that the experiment does not have."""
        for name in self.given:
            if name not in ("quick", *experiment.options):
                option = name.replace("_", "-")
                raise BadInputError(f"the experiment {experiment.name} has a fixed protocol: --{option} does not apply")

    def notice(self, experiment: "Experiment") -> str:
        """What is less than the full experiment, in words; empty if nothing is."""
        others = replace(self, quick=False, data=None).arguments()
        sentences = [f"A quick look: {experiment.quick}."] if self.quick else []
        sentences += [f"Not the full experiment: {shlex.join(others)}."] if others else []
        return " ".join(sentences)


@dataclass(frozen=True)
class Experiment:
    """Cells, and what the page shows of them.

    Attributes:
        name: on the command line.
        title: of its page.
        summary: one line about it.
        cells: from options to the cells to compute.
        sections: from results to the parts of its page: tables, figures, prose.
        quick: what a quick look leaves out.
        options: the fields of `Options` that it has beside `quick`.
        source: of the recorded data that it reads.
    """

    name: str
    title: str
    summary: str
    cells: Callable[[Options], Sequence[Cell]]
    sections: "Callable[[Results], Sections]"
    quick: str = "a part of the cells only"
    options: tuple[str, ...] = ()
    source: "PublicSource | None" = None


def register_experiment(experiment: Experiment) -> Experiment:
    """Register an experiment of your own; a name that is taken is a `BadInputError`."""
    return EXPERIMENTS.register(experiment.name, experiment)


def run_experiment(
    experiment: Experiment,
    options: Options,
    directory: Path,
    n_jobs: int = 2,
    executor: str = LOCAL,
) -> "Results":
    """Compute all cells that are not in the directory yet, and write tables, figures and page there.

    `n_jobs` cells are computed at once, in processes or by another executor (`open_workers`), with the same result.

    Raises:
        BadInputError: an option does not apply, or names what the experiment lacks; there are no data; or the directory
            is that of a run.
    """
    from experiments.harness.computing import compute_cells  # here, because torch and pandas are slow to import
    from experiments.harness.results import Results
    from wfairl.runs.run_directory import CONFIG

    check_directory(directory)
    if (directory / CONFIG).exists():
        raise BadInputError(f"{directory}: there is a run of `wfairl train`; an experiment needs another directory")
    options.check(experiment)
    cells = {cell.name: cell for cell in experiment.cells(options)}
    with hold(directory):
        with open_workers(executor, n_jobs) as workers:
            failures = compute_cells(list(cells.values()), directory, workers)
        stored = {name: cell.stored(directory) for name, cell in cells.items()}
        outcomes = {name: outcome for name, outcome in stored.items() if outcome is not None}
        results = Results(experiment, options, directory, cells, outcomes, failures)
        results.write(command_of(experiment, options, directory))
    return results


def command_of(experiment: Experiment, options: Options, directory: Path) -> str:
    """What to type to have the same results in the same directory."""
    return shlex.join(["python", "-m", "experiments", experiment.name, *options.arguments(), "-o", str(directory)])
