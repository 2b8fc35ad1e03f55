"""`wfairl train`."""

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from wfairl.cli.console import facts_table, out, print_json, warn
from wfairl.cli.options import AsJson, Jobs, Resume
from wfairl.cli.settings import settings_of, with_settings
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations import load, merge
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task_registry import find_task
from wfairl.core.worlds.world import World
from wfairl.questions.answer_files import answers_beside
from wfairl.runs.methods import METHODS, Method, Trained, check_task_model, find_method
from wfairl.runs.methods import train as train_method

if TYPE_CHECKING:
    from wfairl.pages.cost_table import NamedTable

MOST_ROWS = 15
"""Of a table of the learned cost; --json has all of them."""


@with_settings({method.name: settings_of(method.settings_type()) for method in METHODS.values()})
def train_command(
    demos: Annotated[list[Path], typer.Argument(metavar="DEMOS...", help="Demonstrations (.safetensors).")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="RUN", help="The directory of the run.")],
    method: Annotated[str, typer.Option(help=f"The method: {', '.join(METHODS)}.")] = "wfa-irl",
    task_model: Annotated[
        Path | None, typer.Option(help="A task model, from `wfairl learn-task`; only for wfa-irl.")
    ] = None,
    resume: Resume = False,
    jobs: Jobs = 2,
    as_json: AsJson = False,
    *,
    settings: dict[str, Any],
) -> None:
    """Learn a policy from demonstrations, by one of several methods.

    DEMOS are files from `wfairl demos`; several files of one task are merged. The methods:

        METHODS

    The result is the directory of a run, which `wfairl evaluate` takes as a policy and, for the methods that plan,
    `wfairl plan` as a cost. Each method has its own settings, with defaults in parentheses. --resume continues an
    interrupted run; the result is the same as without the interruption. Examples:

        wfairl train demos.safetensors --task-model task.json -o runs/doorkey
        wfairl train demos.safetensors --method no-automaton -o runs/doorkey-goal
    """
    chosen = find_method(method)
    check_run_directory(output, resume)
    _check_options(chosen, settings)
    check_task_model(chosen, task_model is not None)
    given = [(load(path), answers_beside(path)) for path in demos]
    dataset = merge([replace(one, answers=(*one.answers, *answers)) for one, answers in given])
    trained = train_method(
        method,
        dataset,
        output,
        settings,
        task_model=None if task_model is None else TaskModel.load(task_model),
        origin={"demonstrations": [path.name for path in demos]},
        resume=resume,
        n_jobs=jobs,
    )
    for warning in trained.warnings:
        warn(warning)
    cost = learned_cost(chosen, find_task(dataset.task).make_world(dataset.demonstrations[0].seed), output)
    if as_json:
        print_json({"task": dataset.task, "method": method, "run": str(output), **trained_document(trained, cost)})
    else:
        print_trained(trained, cost, output)


_METHOD_LINES = (f"        {method.name:<14}{method.summary}" for method in METHODS.values())
train_command.__doc__ = (train_command.__doc__ or "").replace("        METHODS", "\n".join(_METHOD_LINES))


def check_run_directory(directory: Path, resume: bool) -> None:
    """Warn if there is no run to resume."""
    if resume and not directory.exists():
        warn(f"{directory}: there is no run to resume; starting a new one")


def _check_options(method: Method, settings: dict[str, Any]) -> None:
    """Refuse options of other methods."""
    foreign = [f"--{name.replace('_', '-')}" for name in settings if name not in method.default_settings()]
    if foreign:
        raise BadInputError(
            f"the method {method.name} has no {', '.join(foreign)}; `wfairl train --help` lists its options"
        )


def learned_cost(method: Method, world: World[Any], directory: Path) -> "NamedTable | None":
    """The learned cost of a run as a table, for a world of its task; None for a network, or if no cost was learned."""
    if not method.learns_cost:
        return None
    from wfairl.core.costs.cost_model import load_cost
    from wfairl.pages.cost_table import cost_table
    from wfairl.runs.run_directory import COST  # here, because it is slow to import

    return cost_table(load_cost(directory / COST), world)


def trained_document(trained: Trained, cost: "NamedTable | None") -> dict[str, Any]:
    """The result of a training as JSON."""
    named = {} if cost is None else {cost.name.replace(" ", "_"): cost.to_document()}
    return {**trained.facts, **named, "warnings": list(trained.warnings)}


def print_trained(trained: Trained, cost: "NamedTable | None", directory: Path) -> None:
    """Print a summary of a training, and the learned cost, unless it is 1 everywhere."""
    out.print(facts_table([*trained.lines, ("written to", str(directory))]))
    if cost is None or not trained.facts.get("epoch"):
        return
    more = len(cost.rows) - MOST_ROWS
    table = Table("feature", caption=f"{more} more: --json" if more > 0 else None)
    for name in cost.columns:
        table.add_column(name, justify="right")
    for name, values in list(zip(cost.rows, cost.values.tolist(), strict=True))[:MOST_ROWS]:
        table.add_row(name, *("" if math.isnan(value) else f"{value:.3f}" for value in values))
    out.print(table)
