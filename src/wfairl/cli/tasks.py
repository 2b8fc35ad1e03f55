"""`wfairl tasks`."""

from rich.table import Table

from wfairl.cli.app import AsJson, app, out, print_json
from wfairl.worlds.registry import all_tasks


@app.command()
def tasks(as_json: AsJson = False) -> None:
    """List the tasks: what to do, what labels can say, and how many steps it may take."""
    if as_json:
        print_json(
            {
                task.name: {
                    "summary": task.summary,
                    "environment_id": task.environment_id,
                    "propositions": list(task.propositions),
                    "rule": {"visit": list(task.rule.visit), "avoid": sorted(task.rule.avoid)},
                    "horizon": task.horizon,
                }
                for task in all_tasks()
            }
        )
        return
    for task in all_tasks():
        done = " then ".join(task.rule.visit) + "".join(f", never {name}" for name in sorted(task.rule.avoid))
        table = Table(show_header=False, box=None, padding=(0, 2, 0, 2))
        table.add_row("to do", task.summary)
        table.add_row("propositions", ", ".join(task.propositions))
        table.add_row("done when", f"{done}, within {task.horizon} steps")
        table.add_row("environment", task.environment_id)
        out.print(task.name, style="bold")
        out.print(table)
