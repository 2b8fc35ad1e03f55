"""`wfairl studio`."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from wfairl.cli.app import command_group, out
from wfairl.errors import BadInputError

app = command_group()

EXAMPLE = """
Demonstrate a task in the browser, and watch it being understood.

A page on this machine only: act in scenes with keys, buttons or touch; see the automaton that is inferred after each
demonstration; watch the agent in new scenes and ask it why; answer its question; correct it. Every step is saved in
DIRECTORY, demonstrations and task model as ordinary files. It works without the internet. Examples:

    wfairl studio doorkey

    wfairl studio MiniGrid-FourRooms-v0

The second starts a task of your own: you define its propositions by clicking. Without TASK, the home page lists tasks,
and sessions to continue. Several people may use one studio, each in a session of their own.
"""


@app.command(help=EXAMPLE)
def studio(
    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="A task, or a MiniGrid environment to invent one in.")
    ] = None,
    directory: Annotated[Path, typer.Option("-d", "--directory", help="Where sessions are kept.")] = Path(
        "runs/studio"
    ),
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port to listen on. Default: 8421, or a free one.")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    workers: Annotated[int, typer.Option(min=1, help="Processes that learn and plan.")] = 1,
) -> None:
    """Demonstrate a task in the browser, and watch it being understood."""
    try:
        from wfairl.studio.server import find_port, serve
    except ModuleNotFoundError as error:
        raise BadInputError(f"the studio needs {error.name}: pip install 'wfairl[studio]'") from None
    from wfairl.studio.task_spec import find_task_spec

    if task is not None:
        find_task_spec(task)  # refused before anything starts

    def announce(address: str) -> None:
        out.print(f"The studio is open at {address}\nSessions are kept in {directory}. Ctrl-C ends it.")
        if browser:
            webbrowser.open(address)

    serve(directory, find_port(port), announce, "/" if task is None else f"/begin/{task}", workers)
