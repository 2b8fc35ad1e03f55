"""`wfairl tasks`."""

from wfairl.cli.console import facts_table, out, print_json
from wfairl.cli.options import AsJson
from wfairl.core.automata.automaton import DEAD, Automaton
from wfairl.core.worlds.task_registry import all_tasks


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
                    "rule": task.rule.to_document(),
                    "horizon": task.horizon,
                    "default_cost": task.default_cost,
                }
                for task in all_tasks()
            }
        )
        return
    for task in all_tasks():
        rows = {
            "to do": task.summary,
            "propositions": ", ".join(task.propositions),
            "done when": f"{describe_rule(task.rule)}, within {task.horizon} steps",
            "cost": task.default_cost,
        }
        out.print(task.name, style="bold")
        out.print(facts_table((f"  {name}", value) for name, value in rows.items()))


def describe_rule(rule: Automaton) -> str:
    """A rule in words: what each state waits for if the states form a chain, else the number of states."""
    forbidden = {frozenset(arrow.text.split(" & ")) for arrow in rule.arrows() if arrow.target == DEAD}
    weakest = sorted(" & ".join(sorted(one)) for one in forbidden if not any(other < one for other in forbidden))
    never = f", never {' or '.join(weakest)}" if weakest else ""
    steps, state = [], 0
    while not rule.accepting[state]:
        arrows = [arrow for arrow in rule.arrows() if arrow.source == state and arrow.target != DEAD]
        nearest = min(arrows, key=lambda arrow: len(arrow.text), default=None)
        if nearest is None or len({arrow.target for arrow in arrows if "&" not in arrow.text}) > 1:
            return f"an automaton of {rule.states} states is fulfilled{never}"
        steps.append(nearest.text)
        state = nearest.target
    return " then ".join(steps) + never
