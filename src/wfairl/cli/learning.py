"""`wfairl train`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from wfairl.automata.task_model import TaskModel
from wfairl.cli.app import AsJson, command_group, out, print_json
from wfairl.cli.settings import with_settings
from wfairl.demonstrations import load, merge
from wfairl.errors import BadInputError
from wfairl.methods import METHODS, Method, Trained, check_task_model, find_method
from wfairl.methods import train as train_method
from wfairl.suites.directory import is_reproduction

app = command_group()


def _example() -> str:
    methods = "\n".join(f"    {method.name:<14}{method.summary}" for method in METHODS.values())
    return f"""
Learn a policy from demonstrations, by one of several methods.

DEMOS is what `wfairl demos` wrote (several files of one task count as one). The methods:

{methods}

The result is a directory, a policy for `wfairl evaluate`; for the methods that plan, it is also a cost for `wfairl
plan`. Each method has its own settings, with defaults in parentheses. --resume continues a run that was killed, with
the same result as if it had not been. Examples:

    wfairl train demos.safetensors --task-model task.json -o runs/doorkey
    wfairl train demos.safetensors --method bc -o runs/doorkey-bc
"""


Resume = Annotated[bool, typer.Option("--resume", help="Resume an existing run.")]
Jobs = Annotated[int, typer.Option(help="Number of scenes or networks to work on in parallel; -1 for one per core.")]


@app.command(help=_example())
@with_settings({method.name: method.settings_type() for method in METHODS.values()})
def train(
    demos: Annotated[list[Path], typer.Argument(metavar="DEMOS...", help="Demonstrations (.safetensors).")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="RUN", help="The directory of the run.")],
    method: Annotated[str, typer.Option(help=f"{', '.join(METHODS)}.")] = "wfa-irl",
    task_model: Annotated[Path | None, typer.Option(help="What `learn-task` wrote; for wfa-irl alone.")] = None,
    resume: Resume = False,
    jobs: Jobs = 2,
    as_json: AsJson = False,
    *,
    settings: dict[str, Any],
) -> None:
    """Learn a policy from demonstrations."""
    found = find_method(method)
    check_place(output, resume)
    _check_options(found, settings)
    check_task_model(found, task_model is not None)
    dataset = merge([load(path) for path in demos])
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
        sys.stderr.write(f"wfairl: {warning}\n")
    if as_json:
        print_json({"task": dataset.task, "method": method, "run": str(output), **trained_document(trained)})
    else:
        print_trained(trained, output)


def check_place(directory: Path, resume: bool) -> None:
    """Refuse the directory of a suite, and say so if there is nothing to go on with."""
    if is_reproduction(directory):
        raise BadInputError(f"{directory}: there is a reproduction; a run needs another directory")
    if resume and not directory.exists():
        sys.stderr.write(f"wfairl: {directory}: there is no run to go on with; a new one begins\n")


def _check_options(method: Method, settings: dict[str, Any]) -> None:
    """Refuse options that a method does not have, by the names that they have here."""
    foreign = [f"--{name.replace('_', '-')}" for name in settings if name not in method.default_settings()]
    if foreign:
        raise BadInputError(
            f"the method {method.name} has no {', '.join(foreign)}; `wfairl train --help` says which it has"
        )


def trained_document(trained: Trained) -> dict[str, Any]:
    """What there is to say of a training, as JSON."""
    return {**trained.facts, "warnings": list(trained.warnings)}


def print_trained(trained: Trained, directory: Path) -> None:
    """A summary of a training, for people."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, text in (*trained.lines, ("written to", str(directory))):
        table.add_row(name, text)
    out.print(table)
