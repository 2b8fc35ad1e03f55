"""`wfairl demos`."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table

from wfairl.cli.console import tell
from wfairl.cli.options import AsJson, Jobs, TaskName, check_file
from wfairl.core.automata.words import Word, format_word
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import kind_of
from wfairl.core.worlds.task import Task
from wfairl.runs.collection import FIRST_TRAINING_SEED, SCENES_PER_COLLECTION, collect
from wfairl.runs.data_sets import load, save
from wfairl.runs.task_registry import find_task

Output = Annotated[Path, typer.Option("-o", "--output", metavar="DEMOS", help="The file to write, *.safetensors.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a file that holds other demonstrations.")]


def demos(
    task_name: TaskName,
    output: Output,
    successes: Annotated[int, typer.Option(help="Number of successful runs of the expert, with score 1.", min=0)] = 32,
    failures: Annotated[int, typer.Option(help="Number of failed random walks, with score 0.", min=0)] = 128,
    temperature: Annotated[
        float, typer.Option(help="Temperature of the expert: 0 is optimal (D1 of the paper), 0.5 is D2.", min=0)
    ] = 0.5,
    seed: Annotated[int, typer.Option(help="Random seed; another seed collects other scenes.", min=0)] = 0,
    jobs: Jobs = 2,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Collect demonstrations of a task: successes of an expert, failures of a random walk.

    Example: wfairl demos doorkey --temperature 0.5 -o d2.safetensors
    """
    check_suffix(output)
    if successes + failures == 0:
        raise BadInputError("nothing to collect: give a number above 0 for --successes or --failures")
    task = find_task(task_name)
    settings = successes, failures, temperature, seed
    if not overwrite:
        check_nothing_is_lost(output, lambda there: _is_part_of_collection(there, task, *settings))
    save_and_report(collect(task, *settings, n_jobs=jobs), output, as_json)


def _is_part_of_collection(
    dataset: Dataset, task: Task, successes: int, failures: int, temperature: float, seed: int
) -> bool:
    """Whether `collect` with these arguments gives all of a data set, as its settings and scenes tell."""
    first = FIRST_TRAINING_SEED + seed * SCENES_PER_COLLECTION
    succeeded = sum(one.is_success for one in dataset)
    return (
        (dataset.task, dataset.temperature, dataset.answers) == (task.name, temperature, ())
        and succeeded <= successes
        and len(dataset) - succeeded <= failures
        and all(first <= one < first + SCENES_PER_COLLECTION for one in dataset.seeds)
    )


MAX_LISTED = 8
"""Remarks of a kind that are listed; the others are counted."""


def check_suffix(output: Path) -> None:
    """Refuse a name that is not that of demonstrations."""
    if output.suffix != ".safetensors":
        raise BadInputError(
            f"{output}: demonstrations are written as *.safetensors; give -o {output.with_suffix('.safetensors')}"
        )


def check_nothing_is_lost(output: Path, is_kept: Callable[[Dataset], bool]) -> None:
    """Refuse to replace a file, unless it is a data set that is part of the new one. The error says what is in it."""
    check_file(output)
    if not output.exists():
        return
    try:
        there = load(output)
    except BadInputError:
        content = kind_of(output) or "not a data set"
    else:
        if is_kept(there):
            return
        content = f"{len(there)} other demonstrations of {there.task}"
    raise BadInputError(f"{output}: there is a file already ({content}); name another, or replace it with --overwrite")


def save_and_report(
    dataset: Dataset,
    output: Path,
    as_json: bool,
    facts: Mapping[str, Any] | None = None,
    remarks: Iterable[RenderableType] = (),
) -> None:
    """Write demonstrations and report them, with facts for `--json` and remarks for people on how they were read."""
    save(dataset, output)
    words = [one.word for one in dataset if one.is_success]
    temperature = None if dataset.temperature == float("inf") else dataset.temperature
    counts = {"demonstrations": len(dataset), "successes": len(words), "temperature": temperature}
    counted = f"{len(words)} successful and {len(dataset) - len(words)} failed demonstrations"
    lines = [f"{output}: {counted} of {dataset.task}", *remarks, *([_word_table(Counter(words))] if words else [])]
    tell({"path": str(output), "task": dataset.task, **counts, **(facts or {})}, lines, as_json)


def _word_table(words: Counter[Word]) -> Table:
    """How often each word succeeded; rare words are counted together."""
    table = Table("successes", "word", min_width=60)
    listed = words.most_common(MAX_LISTED)
    for word, count in listed:
        table.add_row(str(count), format_word(word))
    if len(words) > len(listed):
        others = words.total() - sum(count for _, count in listed)
        table.add_row(str(others), f"{len(words) - len(listed)} other words")
    return table
