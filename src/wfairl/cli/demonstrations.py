"""`wfairl demos`, and the exchange of data sets with logs and Minari."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer
from rich.table import Table

from wfairl.automata.words import format_word
from wfairl.cli.app import AsJson, command_group, out, print_json
from wfairl.cli.workers import ExecutorOption, workers_at
from wfairl.demonstrations.collection import collect
from wfairl.demonstrations.demonstration import Dataset
from wfairl.demonstrations.log import disagreements, read_recordings
from wfairl.demonstrations.minari import export_minari, import_minari
from wfairl.demonstrations.storage import load, save
from wfairl.errors import BadInputError
from wfairl.worlds.continuous.matching import Match
from wfairl.worlds.registry import find_task

app = command_group()

TaskName = Annotated[str, typer.Argument(metavar="TASK", help="A task; `wfairl tasks` lists them.")]
Output = Annotated[Path, typer.Option("-o", "--output", metavar="DEMOS", help="The file to write, *.safetensors.")]


@app.command()
def demos(
    task_name: TaskName,
    output: Output,
    successes: Annotated[int, typer.Option(help="Number of successful runs of the expert, with score 1.", min=0)] = 32,
    failures: Annotated[int, typer.Option(help="Number of random walks that fail, with score 0.", min=0)] = 128,
    temperature: Annotated[
        float, typer.Option(help="Temperature of the expert: 0 is optimal (D1 of the paper), 0.5 is D2.", min=0)
    ] = 0.5,
    seed: Annotated[int, typer.Option(help="Random seed; another seed collects other scenes.", min=0)] = 0,
    jobs: Annotated[int, typer.Option(help="Number of scenes to work on in parallel.")] = 2,
    executor: ExecutorOption = None,
    as_json: AsJson = False,
) -> None:
    """Collect demonstrations of a task: successes of an expert, failures of a random walk.

    Example: wfairl demos doorkey --temperature 0.5 -o d2.safetensors
    """
    _check_suffix(output)
    if successes + failures == 0:
        raise BadInputError("there is nothing to collect: give --successes or --failures")
    task = find_task(task_name)
    with workers_at(executor, jobs) as workers:
        dataset = collect(task, successes, failures, temperature, seed, n_jobs=jobs, workers=workers)
    save(dataset, output)
    _describe(dataset, output, as_json)


@app.command()
def demos_import(
    task_name: TaskName,
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A log (*.jsonl, *.csv), or the id of a Minari data set on disk.")
    ],
    output: Output,
    minari_root: Annotated[Path | None, typer.Option(help="Minari's folder, if not its default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Turn a log of your own, or a Minari data set, into demonstrations.

    A line of a log is an episode: {"seed": 7, "controls": ["left", "forward", 5], "score": 1.0}. The seed says which
    scene of the task it was, 0 if it is left out. In the place of controls may stand the states that were passed, as
    the world has them: {"states": [[2, false], [3, false]]}. Without a score, the task's rule decides;
    where a score contradicts the rule, the command names the demonstration, and the score counts.

    On a floor without cells it is the path of the robot: {"seed": 7, "path": [[1.5, 2.0], [1.6, 2.2]]}, or a table
    (*.csv) with the columns x and y, and seed, episode and score if they matter. The path is snapped to the roadmap,
    and how far off that is, is told.

    Example: wfairl demos-import doorkey my-log.jsonl -o mine.safetensors
    """
    _check_suffix(output)
    task = find_task(task_name)
    rejected: dict[int, str] = {}
    matches: Mapping[int, Match] = {}
    if source.endswith((".jsonl", ".csv")):
        log = read_recordings(Path(source), task)
        dataset, matches = log.dataset, log.matches
    elif Path(source).exists():
        raise BadInputError(f"{source}: a log is a *.jsonl or *.csv file; anything else is the id of a Minari data set")
    else:
        imported = import_minari(source, task, minari_root)
        dataset, rejected = imported.dataset, imported.rejected
    save(dataset, output)
    _describe(dataset, output, as_json, rejected, disagreements(dataset, task), matches)


@app.command()
def demos_export(
    demonstrations: Annotated[Path, typer.Argument(metavar="DEMOS", help="A file that `wfairl demos` wrote.")],
    dataset_id: Annotated[str, typer.Argument(metavar="ID", help="Minari's id, such as doorkey/expert-v0.")],
    minari_root: Annotated[Path | None, typer.Option(help="Minari's folder, if not its default.")] = None,
) -> None:
    """Write demonstrations as a Minari data set (needs the extra `minari`).

    Example: wfairl demos-export d2.safetensors doorkey/expert-v0
    """
    dataset = load(demonstrations)
    export_minari(dataset, find_task(dataset.task), dataset_id, minari_root)
    out.print(f"{len(dataset)} episodes written as {dataset_id}")


MOST_DOUBTFUL = 8
"""Demonstrations whose score and rule disagree that are listed; the rest is counted."""


def _check_suffix(output: Path) -> None:
    if output.suffix != ".safetensors":
        raise BadInputError(f"{output}: demonstrations are written as *.safetensors")


def _describe(
    dataset: Dataset,
    output: Path,
    as_json: bool,
    rejected: dict[int, str] | None = None,
    doubtful: dict[int, str] | None = None,
    matches: Mapping[int, Match] | None = None,
) -> None:
    shown = [item for item in dataset if item.is_success]
    if as_json:
        print_json(
            {
                "task": dataset.task,
                "path": str(output),
                "demonstrations": len(dataset),
                "successes": len(shown),
                "temperature": None if dataset.temperature == float("inf") else dataset.temperature,
                "rejected": {str(number): why for number, why in (rejected or {}).items()},
                "disagreements": {str(number): why for number, why in (doubtful or {}).items()},
                "snapping": [
                    {"episode": number, "mean_error": match.mean_error, "largest_error": match.largest_error}
                    for number, match in (matches or {}).items()
                ],
            }
        )
        return
    for number, why in (rejected or {}).items():
        out.print(f"episode {number} rejected: {why}", style="yellow")
    listed = list((doubtful or {}).items())
    for number, why in listed[:MOST_DOUBTFUL]:
        out.print(f"demonstration {number}: {why}", style="yellow")
    if len(listed) > MOST_DOUBTFUL:
        out.print(f"and so in {len(listed) - MOST_DOUBTFUL} more; --json lists all of them", style="yellow")
    counts = f"{len(shown)} successful and {len(dataset) - len(shown)} failed"
    out.print(f"{output}: {counts} demonstrations of {dataset.task}")
    if matches:
        mean, (number, worst) = fmean(one.mean_error for one in matches.values()), _worst(matches)
        out.print(
            f"snapped to the roadmap: {100 * mean:.1f} cm off on average, at most {100 * worst:.1f} cm"
            f" (episode {number})"
        )
    if not shown:
        return
    table = Table("successes", "word", min_width=60)
    words = Counter(item.word for item in shown)
    for word, count in words.most_common(8):
        table.add_row(str(count), format_word(word))
    if len(words) > 8:
        table.add_row(
            str(len(shown) - sum(count for _, count in words.most_common(8))), f"{len(words) - 8} other words"
        )
    out.print(table)


def _worst(matches: Mapping[int, Match]) -> tuple[int, float]:
    """The episode that was snapped worst, and by how many metres."""
    number = max(matches, key=lambda one: matches[one].largest_error)
    return number, matches[number].largest_error
