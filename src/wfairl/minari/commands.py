"""`wfairl demos-export`."""

from pathlib import Path
from typing import Annotated

import typer

from wfairl.cli.console import out
from wfairl.core.demonstrations.storage import load
from wfairl.core.worlds.task_registry import find_task
from wfairl.minari.exchange import export_minari


def demos_export(
    demonstrations: Annotated[Path, typer.Argument(metavar="DEMOS", help="Demonstrations, from `wfairl demos`.")],
    dataset_id: Annotated[str, typer.Argument(metavar="ID", help="Minari's id, such as doorkey/expert-v0.")],
    minari_root: Annotated[Path | None, typer.Option(help="Minari's folder, if not the default.")] = None,
) -> None:
    """Write demonstrations as a Minari data set (needs the extra `minari`).

    Example: wfairl demos-export d2.safetensors doorkey/expert-v0
    """
    dataset = load(demonstrations)
    export_minari(dataset, find_task(dataset.task), dataset_id, minari_root)
    out.print(f"{len(dataset)} episodes written as {dataset_id}")
