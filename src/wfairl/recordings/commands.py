"""`wfairl demos-import`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from wfairl.cli.demos import MAX_LISTED, Output, Overwrite, check_nothing_is_lost, check_suffix, save_and_report
from wfairl.cli.options import AsJson, TaskName
from wfairl.core.support.errors import BadInputError
from wfairl.recordings.log import Log, disagreements, read_recordings
from wfairl.recordings.recorded_states import Recording, count_detours
from wfairl.recordings.slip_estimate import SlipEstimate, estimate_slip
from wfairl.runs.task_registry import SLIPPING_NAME, find_task

MOST_PLACES = 4
"""Places and unknown states that are listed."""

_warning = partial(Text, style="yellow")


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
    check_suffix(output)
    task, estimate = find_task(task_name), None
    if source.endswith((".jsonl", ".csv")):
        log = read_recordings(Path(source), task)
        if slip:
            estimate = estimate_slip(log.recordings.values())
            task = find_task(f"{task_name}-slip-{max(estimate.probability, 0.001):.2g}")
            log = read_recordings(Path(source), task)
    elif Path(source).exists():
        raise BadInputError(f"{source}: a log is a *.jsonl or *.csv file; other names are ids of Minari data sets")
    else:
        from wfairl.recordings.minari_exchange import import_minari

        log = import_minari(source, task, minari_root)
    if not overwrite:
        check_nothing_is_lost(output, log.dataset.contains)
    contradictions = disagreements(log.dataset, task)
    facts, remarks = _facts(log, contradictions, estimate), _remarks(log, contradictions, estimate)
    save_and_report(log.dataset, output, as_json, facts, remarks)


def _facts(log: Log, contradictions: Mapping[int, str], slip: SlipEstimate | None) -> dict[str, Any]:
    return {
        "rejected": {str(number): why for number, why in log.rejected.items()},
        "disagreements": {str(number): why for number, why in contradictions.items()},
        "snapping": [
            {"episode": number, "mean_error": match.mean_error, "largest_error": match.largest_error}
            for number, match in log.matches.items()
        ],
        "ignored": list(log.ignored),
        "surprises": [
            {"episode": number, "step": one.step, "control": one.control, "did": one.like}
            | {"state": repr(one.state), "next_state": repr(one.next_state)}
            for number, recording in log.recordings.items()
            for one in recording.surprises
        ],
        "unknown_states": [repr(value) for recording in log.recordings.values() for value in recording.unknown],
        "detours": count_detours(log.recordings.values())._asdict(),
        "slip": None if slip is None else asdict(slip),
    }


def _remarks(log: Log, contradictions: Mapping[int, str], slip: SlipEstimate | None) -> Iterator[RenderableType]:
    for number, why in log.rejected.items():
        yield _warning(f"episode {number} rejected: {why}")
    for number, why in islice(contradictions.items(), MAX_LISTED):
        yield _warning(f"demonstration {number}: {why}")
    if len(contradictions) > MAX_LISTED:
        yield _warning(f"and {len(contradictions) - MAX_LISTED} more like these; --json lists them all")
    if log.matches:
        mean = fmean(match.mean_error for match in log.matches.values())
        number, worst = max(log.matches.items(), key=lambda item: item[1].largest_error)
        yield (
            f"snapped to the roadmap: {100 * mean:.1f} cm off on average, at most"
            f" {100 * worst.largest_error:.1f} cm (episode {number})"
        )
    if log.ignored:
        yield f"not read: the {'field' if len(log.ignored) == 1 else 'fields'} {', '.join(log.ignored)}"
    if slip is not None:
        yield (
            f"slip: a control is replaced by another one in {slip.probability:.1%} of the steps"
            f" ({slip.low:.1%} to {slip.high:.1%}, by {slip.steps} steps that tell);"
            f" these are demonstrations of {log.dataset.task}"
        )
    yield from _surprises(log, slip)


def _surprises(log: Log, slip: SlipEstimate | None) -> Iterator[RenderableType]:
    """How often, where and how a log left the model."""
    recordings = log.recordings.values()
    steps = sum(len(one.path) for one in recordings)
    surprises = [one for recording in recordings for one in recording.surprises]
    if surprises:
        yield _warning(
            f"surprises: in {len(surprises)} of {steps} steps ({len(surprises) / steps:.1%}) the control led where it"
            " cannot lead in the model. They are kept as they happened, and say nothing about the task."
        )
        table = Table("control", "did", "times")
        for (control, like), times in Counter((one.control, one.like) for one in surprises).most_common():
            table.add_row(control or "unknown", like, str(times))
        yield table
        yield f"most often from {_most(Counter(repr(one.state) for one in surprises))}"
        if any(one.control is None for one in surprises):
            yield _warning("The log does not tell their controls; they were drawn. Log states and controls.")
        elif any(one.slips for one in recordings) and slip is None:
            yield _way_to_model(recordings)
    detours = count_detours(recordings)
    if detours.is_clear:
        yield _warning(
            f"in {detours.times / detours.steps:.1%} of the {detours.steps} steps that the model foresees, something"
            f" else happened than the most likely; the model says {detours.expected / detours.steps:.1%}."
            f" {_way_to_right_chances(log.dataset.task, slip)}"
        )
    unknown = Counter(repr(value) for one in recordings for value in one.unknown)
    if unknown:
        yield _warning(
            f"left out: states that the model cannot reach, {len(unknown)} of them in {unknown.total()} records:"
            f" {_most(unknown)}"
        )


def _way_to_model(recordings: Iterable[Recording]) -> str:
    try:
        estimate = estimate_slip(recordings)
    except BadInputError:
        return "To plan for them, say in the world how likely they are: `outcomes` instead of `step`."
    often = f"a control is replaced by another one in {estimate.probability:.1%} of the steps"
    return f"To plan for them, use --estimate-slip: {often}."


def _way_to_right_chances(task: str, slip: SlipEstimate | None) -> str:
    """How to give a model that slips the chances of a log."""
    slipping = SLIPPING_NAME.fullmatch(task)
    if slipping and slip is None:
        return f"To plan with what happened, import the log for {slipping[1]}, with --estimate-slip."
    return "To plan with what happened, change the chances in the world's `outcomes`, or the `slip` of its task."


def _most(counts: Counter[str]) -> str:
    listed = ", ".join(f"{name} ({times})" for name, times in counts.most_common(MOST_PLACES))
    return f"{listed}, ..." if len(counts) > MOST_PLACES else listed
