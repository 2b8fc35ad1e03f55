"""`wfairl data`."""

from pathlib import Path
from typing import Annotated

import typer

from wfairl.cli.app import AsJson, command_group, out, print_json

app = command_group()

EXAMPLE = """
Turn public data, as their authors publish them, into worlds and demonstrations that `wfairl reproduce` measures on.

The data are not part of this package: their licences are unclear. SOURCE is a folder of the authors' repository, of the
commit named here. Its files are checked against the version that published figures are of; one that is missing, cut
short or another is named. The labyrinth's pickles are read without running anything that they say.

    labyrinth   github.com/97aditi/dynamic_irl, 58b7225: data/mouse_data
    borlange    github.com/maitien86/RecursiveLogit.Classical.V2,
                43ce934: Input
    shanghai    github.com/liangchunyaobing/RCM-AIRL, 02d4005: data

Examples:

    wfairl data borlange RecursiveLogit.Classical.V2/Input -o public-data
    wfairl reproduce --suite borlange --data public-data
"""


@app.command("data", help=EXAMPLE)
def data_command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Which data: labyrinth, borlange, shanghai, or your own.")
    ],
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="The folder with the authors' files.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Directory for NAME.safetensors.")
    ] = Path("public-data"),
    as_json: AsJson = False,
) -> None:
    """Convert a data set."""
    from wfairl.public_data.registry import find_source
    from wfairl.public_data.trajectories import save_trajectories

    data = find_source(name).load(source)
    path = save_trajectories(data, output)
    counts = {"states": len(data.table.successors), "trajectories": len(data), "steps": len(data.states)}
    if as_json:
        print_json({"name": data.name, "file": str(path), **counts, "splits": list(data.splits)})
    else:
        told = ", ".join(f"{count:,} {what}" for what, count in counts.items())
        out.print(f"{path}: {told}; next: wfairl reproduce --suite {data.name} --data {output}")
