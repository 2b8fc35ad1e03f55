"""The application: the list of commands, and how they print.

The module of a command is imported only when that command runs, so that `wfairl --help` stays fast.
"""

import importlib
import inspect
import json
import sys
from collections.abc import Iterable
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from typer.core import TyperGroup

from wfairl import __version__

COMMANDS = {
    "run": (
        "cli.experiment",
        "Run the whole pipeline for one task: demonstrations, automaton, cost, agent, report.",
    ),
    "tasks": ("cli.tasks", "List the tasks: goals, propositions and step limits."),
    "demos": ("cli.demonstrations", "Collect demonstrations of a task."),
    "demos-import": ("cli.demonstrations", "Convert your own log, or a Minari data set, to demonstrations."),
    "demos-export": ("cli.demonstrations", "Write demonstrations as a Minari data set."),
    "learn-task": ("cli.learn_task", "Learn a task as an automaton, from demonstrations or scored words."),
    "ask": (
        "questions.commands",
        "Ask the most informative question about a task, or propose a scene to demonstrate.",
    ),
    "score": ("events.commands", "Score words with a task model, and show where a rejected word was lost."),
    "draw": ("specifications.commands", "Draw the automaton of a task model."),
    "explain": ("specifications.commands", "Explain in sentences how a task model judges a word."),
    "diff": (
        "specifications.commands",
        "Compare two task models by the shortest words that only one of them accepts.",
    ),
    "export": ("specifications.commands", "Write a task model as HOA, LTLf, a reward machine, PRISM or Python."),
    "import": ("specifications.commands", "Read a task from HOA, LTLf or a reward machine."),
    "plan": ("cli.planning", "Plan one episode of a task."),
    "train": ("cli.learning", "Learn a policy from demonstrations, by one of several methods."),
    "evaluate": ("cli.evaluation", "Run a policy in unseen scenes, and report its performance."),
    "data": ("cli.data", "Convert public data to worlds and demonstrations for `wfairl reproduce`."),
    "reproduce": ("cli.suites", "Compute the tables and figures of a suite, such as the paper's."),
    "report": ("pages.commands", "Write the HTML report of a run."),
    "studio": ("studio.commands", "Demonstrate a task in the browser, and watch it being learned."),
}
"""The commands in the order of `--help`: the module of the package that defines each, and a one-line summary."""

out = Console(highlight=False, markup=False, soft_wrap=True)


class LazyGroup(TyperGroup):
    """Commands whose modules are imported when they run; the listing needs only their summaries."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - Click's own signature
        """The names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """A placeholder for the listing: the command's name and summary."""
        if cmd_name not in COMMANDS:
            return None
        command = typer.core.TyperCommand(cmd_name, help=COMMANDS[cmd_name][1])
        command.rich_help_panel = None
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the command to run."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is None or command is None:
            return name, command, rest
        module = importlib.import_module(f"wfairl.{COMMANDS[name][0]}")
        group = typer.main.get_group(_reflowed(module.app))
        return name, group.commands[name], rest


app = typer.Typer(
    name="wfairl",
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def command_group() -> typer.Typer:
    """A group in which a module registers its commands."""
    return typer.Typer(pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]})


def _print_version(wanted: bool) -> None:
    if wanted:
        out.print(f"wfairl {__version__}")
        raise typer.Exit


def _load(sources: list[str]) -> list[str]:
    """Load the user's own tasks before the command is looked up, since their methods add options to commands."""
    if sources:
        from wfairl.core.worlds.task_registry import load_tasks

        for source in sources:
            load_tasks(source)
    return sources


@app.callback()
def _wfairl(
    tasks: Annotated[
        list[str] | None,
        typer.Option(
            callback=_load,
            metavar="FILE|MODULE",
            help="A Python file or module with tasks, methods or learners of your own. Repeat it for several.",
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Learn the task of a demonstrator and the costs it minimises, and plan with both."""


def print_json(document: Any) -> None:
    """Print the JSON object of a command with `--json`."""
    sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")


def warn(message: str) -> None:
    """Print a warning on standard error."""
    sys.stderr.write(f"wfairl: {message}\n")


def facts_table(rows: Iterable[tuple[str, str]] = ()) -> Table:
    """A table without lines, of names and values."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in rows:
        table.add_row(name, value)
    return table


def _reflowed(group: typer.Typer) -> typer.Typer:
    """Join the lines of each paragraph of the help, so that they wrap at the terminal's width; indented lines stay."""
    group.callback()(lambda: None)  # a group of one command stays a group
    for command in group.registered_commands:
        text = command.help or inspect.getdoc(command.callback) or ""
        paragraphs = text.strip().split("\n\n")
        command.help = "\n\n".join(part if part.startswith("    ") else part.replace("\n", " ") for part in paragraphs)
    return group
