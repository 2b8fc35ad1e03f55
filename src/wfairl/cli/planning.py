"""The command about plans: plan."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from wfairl.cli.app import AsJson, command_group, out, print_json
from wfairl.errors import BadInputError

if TYPE_CHECKING:
    from wfairl.automata.automaton import Automaton
    from wfairl.automata.task_model import TaskModel
    from wfairl.planning.cost import Cost
    from wfairl.planning.path import Path as WorldPath
    from wfairl.planning.plan import Plan
    from wfairl.planning.planner import Planner
    from wfairl.worlds.continuous.refining import RefinedPath
    from wfairl.worlds.task import Task

app = command_group()


class PlannerName(StrEnum):
    """What the command line calls the planners; see `wfairl.planning.auto`."""

    auto = "auto"
    exact = "exact"
    focused = "focused"


PLAN_EXAMPLE = """
Plan one episode of a task: the cheapest controls that its automaton accepts.

The automaton is one that `wfairl learn-task` wrote, that of the run if --cost
names one, or the task's own rule. The cost is that of a run of `wfairl train`;
without one, every control costs 1 (on a roadmap: a metre). Scenes too large to
enumerate, such as the levels of BabyAI, are searched only where it matters
(--planner). With -o, a picture shows the world along the
plan, if it has a renderer, and under each frame the automaton's state: .png for
the frames where it moves on or something comes to hold, .gif for all of them. On
a roadmap, --refine makes the plan cheaper in the plane without changing what it
shows, and the picture is of both. Where few demonstrations leave so much open
that every plan is doubtful, it is refused (--largest-doubt). Examples:

    wfairl plan doorkey --seed 7 --cost runs/doorkey -o plan.gif
    wfairl plan workshop --seed 7 --cost runs/workshop --refine -o plan.png
"""


@app.command(help=PLAN_EXAMPLE)
def plan(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task; `wfairl tasks` lists them.")],
    seed: Annotated[int, typer.Option(min=0, help="The scene to plan in.")] = 0,
    task_model: Annotated[
        Path | None, typer.Option(help="The task model to plan with, from `wfairl learn-task`.")
    ] = None,
    cost: Annotated[Path | None, typer.Option(metavar="RUN", help="The run whose learned cost to use.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write a picture here, .png or .gif.")] = None,
    planner: Annotated[
        PlannerName,
        typer.Option(help="exact builds the whole product, focused only what it needs; auto chooses by size."),
    ] = PlannerName.auto,
    refine: Annotated[bool, typer.Option("--refine", help="On a roadmap: make the plan cheaper in the plane.")] = False,
    largest_doubt: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Refuse a plan that fails with a larger probability, by what demonstrations leave open; 1 for none.",
        ),
    ] = None,
    max_states: Annotated[int, typer.Option(min=1, help="Largest product to search, in states.")] = 5_000_000,
    as_json: AsJson = False,
) -> None:
    """Plan one episode of a task."""
    from wfairl.cli.refining import check_refinable, prices_of, refine_plan, write_refined
    from wfairl.planning.auto import make_planner
    from wfairl.planning.film import check_format, film_path, write_image
    from wfairl.worlds.registry import find_task
    from wfairl.worlds.rendering import as_renderer

    if output is not None:
        check_format(output)
        if refine and output.suffix.lower() != ".png":
            raise BadInputError(f"{output}: the picture of a refined plan ends in .png")
    found_task = find_task(task)
    model, transition_cost = model_and_cost(found_task, task_model, cost)
    world = found_task.make_world(seed)
    if refine:
        check_refinable(world)
    if output is not None:
        as_renderer(world)  # before the search, which may take long
    chosen = make_planner(planner.value, max_states)
    if model is not None and "support" in model.facts:
        found = _plan_cautiously(world, model, transition_cost, chosen, found_task.horizon, largest_doubt)
    else:
        automaton = found_task.rule if model is None else model.finite
        found = _Found(*_plan(world, automaton, transition_cost, chosen))
    refined = refine_plan(world, found.plan.path, prices_of(cost, world)) if refine else None
    if output is not None and refined is not None:
        write_refined(world, found.plan.path, refined, output)
    elif output is not None:
        write_image(film_path(world, found.plan.path), output)
    if as_json:
        picture = None if output is None else str(output)
        print_json({"task": task, "seed": seed, **_document(world, found, refined), "picture": picture})
    else:
        _print(world, found, refined, output)


@dataclass(frozen=True)
class _Found:
    """A plan, how much was searched for it, and where demonstrations do not support it.

    Attributes:
        plan: what was found.
        effort: see `Solution`.
        untested_steps: those that read a label of which no demonstration tells where it leads.
        leaves_at: the step that leaves what was demonstrated; None if none does.
    """

    plan: "Plan"
    effort: dict[str, int]
    untested_steps: Sequence[int] = ()
    leaves_at: int | None = None


def model_and_cost(task: "Task", task_model: Path | None, run: Path | None) -> "tuple[TaskModel | None, Cost]":
    """What was named: the task model, or that of the run, None for the task's rule; and the cost, nominal if none."""
    from wfairl.automata.task_model import TaskModel
    from wfairl.planning.cost import nominal_cost

    model = None if task_model is None else TaskModel.load(task_model)
    if run is None:
        return model, nominal_cost(task)
    from wfairl.learning.run_directory import TASK_MODEL  # torch is slow to import
    from wfairl.methods import method_of

    _, method = method_of(run)
    cost = method.learned_cost(run)
    if cost is None:
        raise BadInputError(f"{run}: a run of {method.name}, which learns no cost to plan with")
    return TaskModel.load(run / TASK_MODEL) if model is None else model, cost


def _plan(world: Any, automaton: "Automaton", cost: "Cost", planner: "Planner") -> "tuple[Plan, dict[str, int]]":
    """The plan, and how much was searched for it."""
    solution = planner.solve(world, automaton, cost)
    return solution.plan(), solution.statistics


def _plan_cautiously(
    world: Any, model: "TaskModel", cost: "Cost", planner: "Planner", horizon: int, largest_doubt: float | None
) -> _Found:
    """A cautious plan, told in the states of the most probable automaton."""
    from wfairl.logic.caution import LARGEST_DOUBT, CautiousPolicy
    from wfairl.logic.demonstrated import demonstrated_words
    from wfairl.logic.support import untested_steps
    from wfairl.planning.path import follow_controls
    from wfairl.planning.plan import Plan
    from wfairl.planning.product import states_alone

    doubt = LARGEST_DOUBT if largest_doubt is None else largest_doubt
    automaton, priced = CautiousPolicy("plan", model, cost, 0.0, horizon=horizon, largest_doubt=doubt).choose(world)
    found, effort = _plan(world, automaton, priced, planner)
    path = follow_controls(world, model.finite, found.path.controls, world.initial_state)
    paid = cost(states_alone(world, path.states[:-1]))
    total = float(sum(paid[step, control] for step, control in enumerate(path.controls)))
    told = Plan(path, total, total - (found.cost - found.lower_bound))
    words = demonstrated_words(model)
    return _Found(told, effort, untested_steps(model, path), None if words is None else words.leaves_at(path.labels))


def _document(world: Any, found: _Found, refined: "RefinedPath | None") -> dict[str, Any]:
    from wfairl.automata.words import compress
    from wfairl.cli.refining import refined_document

    plan, path = found.plan, found.plan.path
    document = {
        "controls": [world.controls[control] for control in path.controls],
        "labels": [sorted(label) for label in path.labels],
        "word": [sorted(label) for label in compress(path.labels)],
        "automaton_states": list(path.automaton_states),
        "cost": plan.cost,
        "lower_bound": plan.lower_bound,
        "steps": len(path.controls),
        **found.effort,
        "untested_steps": list(found.untested_steps),
        "leaves_at": found.leaves_at,
    }
    return document if refined is None else {**document, "refined": refined_document(world, refined)}


def _print(world: Any, found: _Found, refined: "RefinedPath | None", output: Path | None) -> None:
    from wfairl.automata.words import compress, format_word
    from wfairl.cli.refining import print_refined

    plan, path = found.plan, found.plan.path
    out.print(path_table(world.controls, path))
    proof = "" if plan.is_optimal else f"; not proven to be the least, which is {plan.lower_bound:g} or more"
    out.print(f"cost  {plan.cost:g} in {len(path.controls)} steps{proof}")
    out.print(f"word  {format_word(compress(path.labels))}")
    out.print(", ".join(f"{number:,} {what.replace('_', ' ')}" for what, number in found.effort.items()))
    if output is not None:
        out.print(f"wrote {output}")
    if refined is not None:
        print_refined(world, refined)
    if found.leaves_at is not None:
        out.print(f"this plan leaves what was demonstrated at step {found.leaves_at}")
    if found.untested_steps:
        steps = ", ".join(map(str, found.untested_steps))
        out.print(f"no demonstration tells where the label leads that it reads at step {steps}")


def path_table(controls: Sequence[str], path: "WorldPath") -> Table:
    """A row for each change of the label along a path, with the controls that lead to it."""
    from wfairl.automata.automaton import DEAD
    from wfairl.automata.words import format_label

    before = (frozenset(), *path.labels)  # nothing was shown before the first step
    table = Table("step", "controls", "then holds", "automaton state")
    since, last = 0, len(path.controls)
    for step in range(1, last + 1):
        if step == last or before[step] != before[step - 1]:
            names = " ".join(controls[control] for control in path.controls[since:step])
            state = "lost" if path.automaton_states[step] == DEAD else str(path.automaton_states[step])
            ends = " (accepted)" if step == last and path.is_accepted else ""
            table.add_row(str(step), names, format_label(before[step]), f"{state}{ends}")
            since = step
    return table
