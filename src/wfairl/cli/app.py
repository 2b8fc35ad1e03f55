"""The application: which commands there are, and what they share.

A command's module is imported when the command is run, not before: `wfairl --help` imports none of them.
"""

import importlib
import inspect
import json
import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from wfairl import __version__

COMMANDS = {
    "run": ("experiment", "Do the whole job for one task: demonstrations, automaton, cost, agent, report."),
    "tasks": ("tasks", "List the tasks: what to do, what labels can say, how many steps it may take."),
    "demos": ("demonstrations", "Collect demonstrations of a task."),
    "demos-import": ("demonstrations", "Turn a log of your own, or a Minari data set, into demonstrations."),
    "demos-export": ("demonstrations", "Write demonstrations as a Minari data set."),
    "learn-task": ("learn_task", "Learn the task of demonstrations or scored words as an automaton."),
    "ask": ("ask", "Ask one good question about a task, or propose the scene to demonstrate next."),
    "score": ("scoring", "Score words with a task model, and say where a rejected word was lost."),
    "draw": ("specification", "Draw the automaton of a task model."),
    "explain": ("specification", "Say in sentences what a task model makes of a word."),
    "diff": ("specification", "Compare two task models by the shortest words that tell them apart."),
    "export": ("specification", "Write a task model as HOA, LTLf, a reward machine, PRISM or Python."),
    "import": ("specification", "Read a task from HOA, LTLf or a reward machine."),
    "plan": ("planning", "Plan one episode of a task."),
    "train": ("learning", "Learn a policy from demonstrations, by one of several methods."),
    "evaluate": ("evaluation", "Run a policy in unseen scenes, and report how well it did."),
    "data": ("data", "Turn public data into worlds and demonstrations to measure on."),
    "reproduce": ("suites", "Compute the tables and figures of a suite, such as the paper's."),
    "report": ("report", "Write the page of a run or a suite."),
    "studio": ("studio", "Demonstrate a task in the browser, and watch it being understood."),
}
"""The commands in the order in which `--help` lists them: the module of this package that defines each, and one line
about it."""

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else.")]

out = Console(highlight=False, markup=False, soft_wrap=True)


class LazyGroup(TyperGroup):
    """Commands that are imported when one of them is run; until then, a line about each."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - Click's own signature
        """The names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """A command for the listing: its name and a line about it."""
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
        module = importlib.import_module(f"wfairl.cli.{COMMANDS[name][0]}")
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
    """Where a module of this package registers its commands."""
    return typer.Typer(pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]})


def _print_version(wanted: bool) -> None:
    if wanted:
        out.print(f"wfairl {__version__}")
        raise typer.Exit


def _load(sources: list[str]) -> list[str]:
    """Load the user's own tasks before the command is looked up: methods of theirs have options there."""
    if sources:
        from wfairl.worlds.registry import load_tasks

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
            help="Tasks of your own: a Python file or module that defines them. May be given several times.",
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Learn what a demonstrator was doing and what it cared about, and plan with both."""


def print_json(document: Any) -> None:
    """Print the one JSON object that a command with `--json` gives."""
    sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")


def _reflowed(group: typer.Typer) -> typer.Typer:
    """Commands whose help is broken where the terminal ends, not where the source is; indented lines stay."""
    group.callback()(lambda: None)  # a group of one command stays a group
    for command in group.registered_commands:
        text = command.help or inspect.getdoc(command.callback) or ""
        paragraphs = text.strip().split("\n\n")
        command.help = "\n\n".join(part if part.startswith("    ") else part.replace("\n", " ") for part in paragraphs)
    return group
