"""What `wfairl demos-import` says about a log that leaves the model of its world."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich.table import Table

from wfairl.cli.console import out
from wfairl.core.demonstrations.recorded_states import Recording
from wfairl.core.demonstrations.slip_estimate import SlipEstimate

MOST_PLACES = 4
"""Places and unknown states that are listed."""


def print_surprises(recordings: Mapping[int, Recording], slip: SlipEstimate | None, task: str) -> None:
    """Say how often, where and how a log left the model, and how often controls slip if that was estimated."""
    if slip is not None:
        out.print(
            f"slip: a control is replaced by another one in {slip.probability:.1%} of the steps"
            f" ({slip.low:.1%} to {slip.high:.1%}, by {slip.steps} steps that tell);"
            f" these are demonstrations of {task}"
        )
    steps = sum(len(one.path) for one in recordings.values())
    surprises = [one for recording in recordings.values() for one in recording.surprises]
    if surprises:
        out.print(
            f"surprises: in {len(surprises)} of {steps} steps ({len(surprises) / steps:.1%}) the control led where it"
            " cannot lead in the model. They are kept as they happened, and say nothing about the task.",
            style="yellow",
        )
        table = Table("control", "did", "times")
        for (control, like), times in Counter((one.control, one.like) for one in surprises).most_common():
            table.add_row(control or "unknown", like, str(times))
        out.print(table)
        out.print(f"most often from {_most(Counter(repr(one.state) for one in surprises))}")
        if any(one.control is None for one in surprises):
            out.print("The log does not tell their controls; they were drawn. Log states and controls.", style="yellow")
        elif slip is None:
            out.print("--estimate-slip takes controls to be replaced by others, as often as this log says.")
    unknown = Counter(repr(value) for one in recordings.values() for value in one.unknown)
    if unknown:
        out.print(
            f"left out: the model cannot reach {len(unknown)} recorded states, {unknown.total()} times:"
            f" {_most(unknown)}",
            style="yellow",
        )


def _most(counts: Counter[str]) -> str:
    listed = ", ".join(f"{name} ({times})" for name, times in counts.most_common(MOST_PLACES))
    return f"{listed}, ..." if len(counts) > MOST_PLACES else listed


def surprises_document(recordings: Mapping[int, Recording]) -> dict[str, Any]:
    """The same for `--json`."""
    return {
        "surprises": [
            {
                "episode": episode,
                "step": one.step,
                "control": one.control,
                "did": one.like,
                "state": repr(one.state),
                "next_state": repr(one.next_state),
            }
            for episode, recording in recordings.items()
            for one in recording.surprises
        ],
        "unknown_states": [repr(value) for recording in recordings.values() for value in recording.unknown],
    }
