"""`wfairl tasks`."""

from wfairl.cli.console import facts_table, out, print_json
from wfairl.cli.options import AsJson
from wfairl.core.automata.sentences import describe, join_clauses
from wfairl.runs.task_registry import all_tasks


def tasks(as_json: AsJson = False) -> None:
    """List the tasks: goals, propositions and step limits.

    Define your own task in a Python file, and name the file before any command with --tasks (docs/your-own-world.md).
    An installed package provides tasks through the entry-point group wfairl.tasks. Example:

        wfairl --tasks my_tasks.py tasks
    """
    if as_json:
        print_json(
            {
                task.name: {
                    "title": task.title,
                    "summary": task.summary,
                    "propositions": list(task.propositions),
                    "rule": None if task.rule is None else task.rule.to_document(),
                    "horizon": task.horizon,
                    "default_cost": task.default_cost,
                }
                for task in all_tasks()
            }
        )
        return
    for task in all_tasks():
        done = "nobody knows: demonstrations tell" if task.rule is None else join_clauses(describe(task.rule))
        if task.rule is not None and len(done) > 200:  # characters
            done = f"a rule in {task.rule.states} stages is fulfilled"
        rows = {
            "to do": task.summary,
            "propositions": ", ".join(task.propositions),
            "done when": f"{done}, within {task.horizon} steps",
            "cost": task.default_cost,
        }
        out.print(task.name, style="bold")
        out.print(facts_table((f"  {name}", value) for name, value in rows.items()))
