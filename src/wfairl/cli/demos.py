"""`wfairl demos` and `demos-import`."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer
from rich.table import Table

from wfairl.cli.console import out, print_json
from wfairl.cli.options import AsJson, Jobs, TaskName
from wfairl.cli.surprises import print_surprises, surprises_document
from wfairl.core.automata.words import Word, format_word
from wfairl.core.demonstrations.collection import collect, is_part_of_collection
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.demonstrations.log import PathMatch, disagreements, read_recordings
from wfairl.core.demonstrations.recorded_states import Recording
from wfairl.core.demonstrations.slip_estimate import SlipEstimate, estimate_slip
from wfairl.core.demonstrations.storage import load, save
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.executors import open_workers
from wfairl.core.support.files import check_file, kind_of
from wfairl.core.worlds.task_registry import find_task
from wfairl.core.worlds.workers import worker_setup

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
    executor: Annotated[
        str | None,
        typer.Option(
            help="Where to compute instead of in this process: local (--jobs processes) or dask://HOST:PORT; see"
            " docs/paper.md.",
            show_default=False,
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Collect demonstrations of a task: successes of an expert, failures of a random walk.

    Example: wfairl demos doorkey --temperature 0.5 -o d2.safetensors
    """
    _check_suffix(output)
    if successes + failures == 0:
        raise BadInputError("nothing to collect: give a number above 0 for --successes or --failures")
    task = find_task(task_name)
    settings = successes, failures, temperature, seed
    if not overwrite:
        _check_nothing_is_lost(output, lambda there: is_part_of_collection(there, task, *settings))
    with nullcontext() if executor is None else open_workers(executor, jobs, worker_setup()) as workers:
        dataset = collect(task, *settings, n_jobs=jobs, workers=workers)
    _Collected(dataset).save(output, as_json)


def demos_import(
    task_name: TaskName,
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A log (*.jsonl, *.csv), or the id of a local Minari data set.")
    ],
    output: Output,
    minari_root: Annotated[Path | None, typer.Option(help="Minari's folder, if not the default.")] = None,
    slip: Annotated[
        bool,
        typer.Option(
            "--estimate-slip",
            help="Estimate how often controls slip, from states and controls, and write demonstrations of the task that"
            " slips so often.",
        ),
    ] = False,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Convert your own log, or a Minari data set, to demonstrations.

    Each line of a log is an episode: {"seed": 7, "controls": ["left", "forward", 5], "score": 1.0}. The seed is the
    scene of the task, 0 by default. Instead of the controls, a line may give the visited states, as the world
    represents them: {"states": [[2, false], [3, false]]}. With both, a log tells what really happened: the command
    reports where the model is wrong, and keeps such steps as no evidence about the task. Without a score, the task's
    rule decides whether an episode is a success; if the task has none, every episode is one. Where a score contradicts
    the rule, the command reports the demonstration and keeps the score.

    In a world without cells, an episode is the path of the robot: {"seed": 7, "path": [[1.5, 2.0], [1.6, 2.2]]}, or a
    table (*.csv) with the columns x and y, and optionally seed, episode and score. The command snaps the path to the
    roadmap, and reports the distance between them.

    Example: wfairl demos-import doorkey my-log.jsonl -o mine.safetensors
    """
    _check_suffix(output)
    task = find_task(task_name)
    if source.endswith((".jsonl", ".csv")):
        log, estimate = read_recordings(Path(source), task), None
        if slip:
            estimate = estimate_slip(log.recordings.values())
            task = find_task(f"{task_name}-slip-{max(estimate.probability, 0.001):.2g}")
            log = read_recordings(Path(source), task)
        contradictions = disagreements(log.dataset, task)
        collected = _Collected(log.dataset, {}, contradictions, log.matches, log.recordings, log.ignored, estimate)
    elif Path(source).exists():
        raise BadInputError(f"{source}: a log is a *.jsonl or *.csv file; other names are ids of Minari data sets")
    else:
        from wfairl.minari.exchange import import_minari

        imported = import_minari(source, task, minari_root)
        collected = _Collected(imported.dataset, imported.rejected, disagreements(imported.dataset, task))
    if not overwrite:
        _check_nothing_is_lost(output, collected.dataset.contains)
    collected.save(output, as_json)


MAX_LISTED = 8
"""Words, and demonstrations whose score contradicts the rule, that are listed; the others are counted."""


def _check_suffix(output: Path) -> None:
    if output.suffix != ".safetensors":
        raise BadInputError(f"{output}: demonstrations are written as *.safetensors")


def _check_nothing_is_lost(output: Path, is_kept: Callable[[Dataset], bool]) -> None:
    """Refuse to replace a file, unless it is a data set that is part of the new one.

    Raises:
        BadInputError: says what is in the file.
    """
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


@dataclass(frozen=True, eq=False)
class _Collected:
    """Demonstrations with remarks on episodes, by their numbers.

    Attributes:
        dataset: the demonstrations.
        rejected: why an episode was rejected.
        contradictions: why the score of a demonstration contradicts the task's rule.
        matches: how the path of a robot was snapped to the roadmap.
        recordings: of states, and where they left the model.
        ignored: fields of a log that were not read.
        slip: how often controls slip, if that was asked for.
    """

    dataset: Dataset
    rejected: Mapping[int, str] = field(default_factory=dict)
    contradictions: Mapping[int, str] = field(default_factory=dict)
    matches: Mapping[int, PathMatch] = field(default_factory=dict)
    recordings: Mapping[int, Recording] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    slip: SlipEstimate | None = None

    def save(self, output: Path, as_json: bool) -> None:
        """Write the demonstrations, and report them."""
        save(self.dataset, output)
        if as_json:
            print_json({"path": str(output), **self._document()})
        else:
            self._print(output)

    def _document(self) -> dict[str, Any]:
        dataset = self.dataset
        return {
            "task": dataset.task,
            "demonstrations": len(dataset),
            "successes": sum(one.is_success for one in dataset),
            "temperature": None if dataset.temperature == float("inf") else dataset.temperature,
            "rejected": {str(number): why for number, why in self.rejected.items()},
            "disagreements": {str(number): why for number, why in self.contradictions.items()},
            "snapping": [
                {"episode": number, "mean_error": match.mean_error, "largest_error": match.largest_error}
                for number, match in self.matches.items()
            ],
            "ignored": list(self.ignored),
            **surprises_document(self.recordings),
            "slip": None if self.slip is None else asdict(self.slip),
        }

    def _print(self, output: Path) -> None:
        for number, why in self.rejected.items():
            out.print(f"episode {number} rejected: {why}", style="yellow")
        for number, why in islice(self.contradictions.items(), MAX_LISTED):
            out.print(f"demonstration {number}: {why}", style="yellow")
        more = len(self.contradictions) - MAX_LISTED
        if more > 0:
            out.print(f"and {more} more like these; --json lists them all", style="yellow")
        words = [one.word for one in self.dataset if one.is_success]
        counts = f"{len(words)} successful and {len(self.dataset) - len(words)} failed"
        out.print(f"{output}: {counts} demonstrations of {self.dataset.task}")
        if self.matches:
            mean = fmean(match.mean_error for match in self.matches.values())
            number, worst = max(self.matches.items(), key=lambda item: item[1].largest_error)
            out.print(
                f"snapped to the roadmap: {100 * mean:.1f} cm off on average, at most"
                f" {100 * worst.largest_error:.1f} cm (episode {number})"
            )
        if self.ignored:
            out.print(f"not read: the fields {', '.join(self.ignored)}")
        print_surprises(self.recordings, self.slip, self.dataset.task)
        if words:
            out.print(_word_table(Counter(words)))


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
