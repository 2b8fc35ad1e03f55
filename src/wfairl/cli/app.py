"""The application: the list of commands. The module of a command is imported only when that command is called."""

import inspect
from pkgutil import resolve_name
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup

from wfairl import __version__
from wfairl.cli.console import out
from wfairl.cli.warm_up import announce_compilation
from wfairl.core.support.errors import did_you_mean

START, STEPS, RULES = "Start here", "One step at a time", "Rules as automata"

COMMANDS = {
    "run": ("cli.run:run_flow", "Run the whole pipeline for one task, and write a report.", START),
    "studio": ("studio.commands:studio", "Demonstrate a task in the browser, and watch it being learned.", START),
    "tasks": ("cli.tasks:tasks", "List the tasks: goals, propositions and step limits.", START),
    "warm-up": ("cli.warm_up:warm_up", "Compile everything for this processor now, once.", START),
    "demos": ("cli.demos:demos", "Collect demonstrations of a task.", STEPS),
    "demos-import": (
        "recordings.commands:demos_import",
        "Convert your own log, or a Minari data set, to demonstrations.",
        STEPS,
    ),
    "learn-task": ("cli.learn_task:learn_task", "Learn a rule, from demonstrations or scored words.", STEPS),
    "ask": (
        "questions.commands:ask_command",
        "Ask the most informative question about a task, or propose a scene.",
        STEPS,
    ),
    "train": ("cli.train:train_command", "Learn a policy from demonstrations, by one of several methods.", STEPS),
    "plan": ("cli.plan:plan", "Plan one episode of a task.", STEPS),
    "evaluate": ("cli.evaluate:evaluate_command", "Run a policy in unseen scenes, and report its performance.", STEPS),
    "report": ("pages.commands:report", "Write the HTML report of a run.", STEPS),
    "score": ("events.commands:score", "Score words with a task model, and show where a rejected one was lost.", RULES),
    "conform": ("events.commands:conform_command", "Tell how far each case of a log is from a model, and why.", RULES),
    "draw": ("specifications.commands:draw_command", "Draw the automaton of a task model.", RULES),
    "explain": ("specifications.commands:explain", "Explain in sentences how a task model judges a word.", RULES),
    "evidence": ("specifications.commands:evidence", "Weigh rules of your own beside the learned one.", RULES),
    "diff": ("specifications.commands:diff", "Compare two task models by words that only one accepts.", RULES),
    "export": ("specifications.commands:export", "Write a task as HOA, LTLf, a reward machine, PRISM, Python.", RULES),
    "import": ("specifications.commands:import_task", "Read a task from HOA, LTLf or a reward machine.", RULES),
}
"""The commands in the order of `--help`: the function of the package that is the command, a one-line
summary, and its group."""

HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}


def find_command(name: str) -> Any:
    """The command of a name with its options; imports its module. The help of a command is its docstring."""
    function = resolve_name(f"wfairl.{COMMANDS[name][0]}")
    # A word of `explain` begins with '-' where no proposition holds.
    of_explain = {"ignore_unknown_options": True, "help_option_names": ["--help"]}
    context = of_explain if name == "explain" else HELP_OPTIONS
    group = typer.Typer(add_completion=False, pretty_exceptions_enable=False, context_settings=context)
    group.command(name, help=_reflow(inspect.getdoc(function) or ""))(function)
    return typer.main.get_command(group)


def _reflow(text: str) -> str:
    """Join the lines of each paragraph, so that they wrap at the terminal's width; indented lines and brackets stay."""
    paragraphs = escape(text.strip()).split("\n\n")
    return "\n\n".join(part if part.startswith("    ") else part.replace("\n", " ") for part in paragraphs)


class LazyGroup(TyperGroup):
    """Commands whose modules are imported when they are called; the listing needs only their summaries."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - Click's own signature
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """A placeholder for the listing: the command's name and summary."""
        if cmd_name not in COMMANDS:
            return None
        command = TyperCommand(cmd_name, help=COMMANDS[cmd_name][1])
        command.rich_help_panel = COMMANDS[cmd_name][2]
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command to call; a name that is nearly one gets a question."""
        if args and args[0] not in COMMANDS and (near := did_you_mean(args[0], COMMANDS)):
            ctx.fail(f"no such command {args[0]!r}{near}")
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None:
            announce_compilation(name)
        return name, command if name is None else find_command(name), rest


app = typer.Typer(
    name="wfairl", cls=LazyGroup, no_args_is_help=True, pretty_exceptions_enable=False, context_settings=HELP_OPTIONS
)


def _print_version(wanted: bool) -> None:
    if wanted:
        out.print(f"wfairl {__version__}")
        raise typer.Exit


def _load(sources: list[str]) -> list[str]:
    """Load the user's own tasks before the command is looked up, since their methods add options to commands."""
    if sources:
        from wfairl.runs.task_registry import load_tasks

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
            help="A Python file or module that defines your own tasks. Repeat it for several.",
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Learn the task of a demonstrator and the costs it minimises, and plan with both."""
