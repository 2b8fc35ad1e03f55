"""`wfairl data`."""

from pathlib import Path
from typing import Annotated

import typer

from wfairl.cli.console import out, print_json
from wfairl.cli.options import AsJson


def data_command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The data set: labyrinth, borlange, shanghai, or your own.")
    ],
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="The folder with the authors' files.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Directory for NAME.safetensors.")
    ] = Path("public-data"),
    as_json: AsJson = False,
) -> None:
    """Convert public data, as published by their authors, to worlds and demonstrations for `wfairl reproduce`.

    The data are not part of this package, because their licences are unclear. Download the authors' repository at the
    commit below, and give this folder of it as SOURCE. The command checks that the files are the published version, and
    names one that is missing, incomplete or different. Reading the labyrinth's pickles executes no code.

        labyrinth   github.com/97aditi/dynamic_irl, 58b7225: data/mouse_data
        borlange    github.com/maitien86/RecursiveLogit.Classical.V2,
                    43ce934: Input
        shanghai    github.com/liangchunyaobing/RCM-AIRL, 02d4005: data

    Examples:

        wfairl data borlange RecursiveLogit.Classical.V2/Input -o public-data
        wfairl reproduce --suite borlange --data public-data
    """
    from experiments.public_data.sources import find_source
    from experiments.public_data.trajectories import save_trajectories

    data = find_source(name).load(source)
    path = save_trajectories(data, output)
    counts = {"states": len(data.table.successors), "trajectories": len(data), "steps": len(data.states)}
    if as_json:
        print_json({"name": data.name, "file": str(path), **counts, "splits": list(data.splits)})
    else:
        summary = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        out.print(f"{path}: {summary}; next: wfairl reproduce --suite {data.name} --data {output}")
