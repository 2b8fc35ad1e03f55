"""`wfairl studio`."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from wfairl.cli.console import out
from wfairl.core.support.errors import BadInputError


def studio(
    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="A task, or the MiniGrid environment of a new task.")
    ] = None,
    directory: Annotated[Path, typer.Option("-d", "--directory", help="The directory of the sessions.")] = Path(
        "runs/studio"
    ),
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port to listen on. Default: 8421, or a free one.")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    new: Annotated[bool, typer.Option("--new", help="Begin another session of TASK.")] = False,
    workers: Annotated[int, typer.Option(min=1, help="Processes that learn and plan.")] = 1,
) -> None:
    """Demonstrate a task in the browser, and watch it being learned.

    Act in scenes with keys, buttons or touch. After each demonstration the page shows the inferred automaton. Watch the
    agent in new scenes, ask it for its reasons, answer its questions, and correct it. Every step is saved in DIRECTORY
    at once, with demonstrations and task model in the usual files. The page is served to this machine only, and needs
    no internet. Examples:

        wfairl studio doorkey

        wfairl studio MiniGrid-FourRooms-v0

    The second example begins a new task: you define its propositions by clicking. With TASK you continue its latest
    session, or begin one. Without TASK, the first page lists the tasks and the saved sessions.
    """
    try:
        from wfairl.studio.registry import ENTRANCE, running_address
        from wfairl.studio.server import open_socket, serve
    except ModuleNotFoundError as error:
        raise BadInputError(f"the studio needs {error.name}: pip install 'wfairl[studio]'") from None
    from wfairl.studio.task_spec import find_task_spec

    if task is not None:
        find_task_spec(task)  # refuses an unknown task before anything starts

    def announce(text: str) -> None:
        out.print(text)
        if browser:
            webbrowser.open((directory / ENTRANCE).resolve().as_uri())  # not the address: others may read command lines

    running = running_address(directory)
    if running is not None:
        announce(f"A studio already runs in {directory}. It is open at {running}")
        return
    saved, listening = f"Sessions are saved in {directory}. Ctrl-C ends it.", open_socket(port)
    serve(directory, listening, lambda at: announce(f"The studio is open at {at}\n{saved}"), task, new, workers)
