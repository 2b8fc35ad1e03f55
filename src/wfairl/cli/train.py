"""`wfairl train`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from wfairl.cli.console import facts_table, tell, warn
from wfairl.cli.options import AsJson, Jobs, Resume
from wfairl.cli.settings import settings_of, with_settings
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations import merge
from wfairl.core.support.errors import BadInputError
from wfairl.questions.answer_files import answers_beside
from wfairl.runs.data_sets import load
from wfairl.runs.methods import METHODS, Method, check_task_model, find_method
from wfairl.runs.methods import train as train_method


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
    document = {"task": dataset.task, "method": method, "run": str(output), **trained.facts}
    table = facts_table([*trained.lines, ("written to", str(output))])
    tell({**document, "warnings": list(trained.warnings)}, [table], as_json)


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
