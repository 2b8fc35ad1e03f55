"""`wfairl tasks`."""

from rich.table import Table

from wfairl.automata.automaton import DEAD, Automaton
from wfairl.cli.app import AsJson, command_group, out, print_json
from wfairl.worlds.registry import all_tasks

app = command_group()

EXAMPLE = """
List the tasks: what to do, what labels can say, and how many steps it may take.

A task of your own is a value in a Python file, which every command takes before its name (docs/own-tasks.md); those of
an installed package are found through the entry-point group wfairl.tasks. Example:

    wfairl --tasks my_tasks.py tasks
"""


@app.command(help=EXAMPLE)
def tasks(as_json: AsJson = False) -> None:
    """List the tasks."""
    if as_json:
        print_json(
            {
                task.name: {
                    "title": task.title,
                    "summary": task.summary,
                    "propositions": list(task.propositions),
                    "rule": task.rule.to_document(),
                    "horizon": task.horizon,
                    "default_cost": task.default_cost,
                }
                for task in all_tasks()
            }
        )
        return
    for task in all_tasks():
        table = Table(show_header=False, box=None, padding=(0, 2, 0, 2))
        table.add_row("to do", task.summary)
        table.add_row("propositions", ", ".join(task.propositions))
        table.add_row("done when", f"{describe_rule(task.rule)}, within {task.horizon} steps")
        table.add_row("cost", task.default_cost)
        out.print(task.name, style="bold")
        out.print(table)


def describe_rule(rule: Automaton) -> str:
    """A rule in words: for a chain of states what each waits for, for others how many states there are."""
    lost = {frozenset(arrow.text.split(" & ")) for arrow in rule.arrows() if arrow.target == DEAD}
    weakest = sorted(" & ".join(sorted(one)) for one in lost if not any(other < one for other in lost))
    never = f", never {' or '.join(weakest)}" if weakest else ""
    steps, state = [], 0
    while not rule.accepting[state]:
        ways = [arrow for arrow in rule.arrows() if arrow.source == state and arrow.target != DEAD]
        nearest = min(ways, key=lambda arrow: len(arrow.text), default=None)
        if nearest is None or len({arrow.target for arrow in ways if arrow.text.count("&") == 0}) > 1:
            return f"an automaton of {rule.states} states is fulfilled{never}"
        steps.append(nearest.text)
        state = nearest.target
    return " then ".join(steps) + never
