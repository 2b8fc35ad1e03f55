"""Arguments and options that several commands share."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from wfairl.core.support.errors import BadInputError

TaskName = Annotated[str, typer.Argument(metavar="TASK", help="A task; `wfairl tasks` lists them.")]
TaskModelFile = Annotated[Path, typer.Argument(metavar="TASK_MODEL", help="A task model, from `wfairl learn-task`.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else.")]
ImageFile = Annotated[Path | None, typer.Option("-o", "--output", help="Write an image to this file, .png or .gif.")]
Resume = Annotated[bool, typer.Option("--resume", help="Resume an existing run.")]
Jobs = Annotated[int, typer.Option(help="Number of scenes or networks to process in parallel; -1 for one per core.")]


def check_file(path: Path) -> None:
    """Refuse an output file that cannot be written, before the time to compute it is spent."""
    if path.is_dir():
        raise BadInputError(f"{path}: cannot be written (it is a directory); name a file")
    below = next((parent for parent in path.parents if parent.exists()), None)
    if below is not None and not below.is_dir():
        raise BadInputError(f"{path}: cannot be written ({below} is a file)")


def parse_seeds(text: str) -> Sequence[int]:
    """The seeds of `A:B` or `A,B,C`. Raises `BadInputError` if the text is neither."""
    try:
        if ":" in text:
            first, end = map(int, text.split(":"))
            return range(first, end)
        seeds = [int(part) for part in text.split(",")]
    except ValueError:
        raise BadInputError(f"seeds are A:B or A,B,C, not {text!r}") from None
    twice = [seed for seed, count in Counter(seeds).items() if count > 1]
    if twice:
        raise BadInputError(f"scene {twice[0]} is given twice; for other random draws in it use --rng-seed")
    return seeds
