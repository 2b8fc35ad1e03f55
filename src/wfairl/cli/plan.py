"""`wfairl plan`. It imports what every plan needs; SciPy, torch and matplotlib only where an option needs them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table

from wfairl.cli.console import tell
from wfairl.cli.options import AsJson, ImageFile, TaskName
from wfairl.core.automata.automaton import DEAD, Label
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import Word, compress, format_label, format_word, with_optional_start
from wfairl.core.planning.cost import Cost, nominal_cost, path_cost
from wfairl.core.planning.path import Path as WorldPath
from wfairl.core.planning.path import effects_along, follow
from wfairl.core.planning.plan import Plan
from wfairl.core.planning.planner import PLANNERS, Planner, Solution
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.graph import state_name
from wfairl.core.worlds.rendering import offered_rendering
from wfairl.core.worlds.task import Task, rule_of
from wfairl.core.worlds.world import slips
from wfairl.runs.task_laws import with_limit
from wfairl.runs.task_registry import find_task

MOST_DETOURS = 6
"""Ways to leave the most probable path that are listed."""

if TYPE_CHECKING:
    from wfairl.floors.commands import RefinedPlan


def plan(
    task: TaskName,
    seed: Annotated[int, typer.Option(min=0, help="The scene to plan in.")] = 0,
    task_model: Annotated[
        Path | None, typer.Option(help="The task model to plan with, from `wfairl learn-task`.")
    ] = None,
    cost: Annotated[Path | None, typer.Option(metavar="RUN", help="The run whose learned cost to use.")] = None,
    output: ImageFile = None,
    planner: Annotated[
        str, typer.Option(help="exact builds the whole product, focused expands only a part; auto chooses by size.")
    ] = "auto",
    refine: Annotated[bool, typer.Option("--refine", help="On a roadmap: shorten the plan off the roadmap.")] = False,
    largest_doubt: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Refuse a plan whose probability of failure is larger, given the demonstrations; 1 accepts any plan.",
        ),
    ] = None,
    max_states: Annotated[int, typer.Option(min=1, help="Largest world or product to search, in states.")] = 5_000_000,
    as_json: AsJson = False,
) -> None:
    """Plan one episode of a task: the cheapest controls that its automaton accepts.

    The automaton is that of --task-model, else that of the run of --cost, else the task's own rule. The cost is that of
    --cost, a run of `wfairl train`; without it, every control costs 1, or a metre on a roadmap. For scenes too large to
    enumerate, such as BabyAI levels, the planner expands only the states that it needs (--planner). A plan is refused
    if its probability of failure, given the demonstrations, is too high (--largest-doubt).

    With -o, the plan is drawn if the world has a renderer. A .png shows the path over the scene, in another colour
    after each step at which the automaton state changes or a proposition comes true, and the frames of these steps if
    more than the agent changes; a .gif shows all frames. On a roadmap, --refine shortens the plan off the roadmap
    without changing its word, and the image shows both. Examples:

        wfairl plan doorkey --seed 7 --cost runs/doorkey -o plan.gif
        wfairl plan workshop --seed 7 --cost runs/workshop --refine -o plan.png
    """
    if output is not None:
        from wfairl.pages.film import check_drawable, check_format, film_path, write_image

        check_format(output)
    found_task = with_limit(find_task(task), max_states)
    model, transition_cost = model_and_cost(found_task, task_model, cost)
    if cost is not None and task_model is None and model is not None:
        from wfairl.runs.run_directory import check_fits

        check_fits(cost, model, found_task)
    world = found_task.make_world(seed)
    if refine:
        from wfairl.floors.commands import check_refinable, refine_plan

        check_refinable(world, output)
    if output is not None:
        check_drawable(world)
    chosen = PLANNERS.find(planner)(max_states)
    if model is not None and model.record is not None:
        found = _plan_cautiously(world, model, transition_cost, chosen, found_task.horizon, largest_doubt)
    else:
        automaton = rule_of(found_task) if model is None else model.finite
        solution = chosen.solve(world, automaton, transition_cost)
        found = _SupportedPlan(solution.plan(), solution)
    refined = refine_plan(world, found.plan.path, cost) if refine else None
    if output is not None and refined is not None:
        refined.write_image(output)
    elif output is not None:
        shown = found.plan.path
        if slips(world) and output.suffix.lower() == ".gif":
            shown = _drawn_episode(world, found, transition_cost, found_task.horizon, seed)
        write_image(film_path(world, shown), output)
    picture = None if output is None else str(output)
    document = {"task": task, "seed": seed, **_document(world, found, refined), "picture": picture}
    tell(document, _lines(world, found, refined, output), as_json)


@dataclass(frozen=True)
class _SupportedPlan:
    """A plan, and where demonstrations do not support it."""

    plan: Plan
    solution: Solution  # what the plan is taken from
    untested_steps: Sequence[int] = ()  # that read a label whose transition no demonstration tests
    leaves_at: int | None = None  # the first step that no demonstrated word continues with; None if there is none
    doubt: float | None = (
        None  # probability that the plan fails, given the demonstrations; None where nobody has doubts
    )


def model_and_cost(task: Task, task_model: Path | None, run: Path | None) -> tuple[TaskModel | None, Cost]:
    """The given task model, else the run's, else None for the task's rule; and the run's cost, else the nominal one."""
    model = None if task_model is None else TaskModel.load(task_model)
    if run is None:
        return model, nominal_cost(task)
    from wfairl.runs.methods import method_of
    from wfairl.runs.run_directory import TASK_MODEL

    _, method = method_of(run)
    cost = method.learned_cost(run)
    if cost is None:
        raise BadInputError(f"{run}: this is a run of {method.name}, which learns no cost")
    return TaskModel.load(run / TASK_MODEL) if model is None else model, cost


def _plan_cautiously(
    world: Any, model: TaskModel, cost: Cost, planner: Planner, horizon: int, largest_doubt: float | None
) -> _SupportedPlan:
    """A cautious plan, with the states of the most probable automaton."""
    from wfairl.core.rational.caution import LARGEST_DOUBT, CautiousPolicy
    from wfairl.core.rational.task_posterior import posterior_of

    doubt = LARGEST_DOUBT if largest_doubt is None else largest_doubt
    choice = CautiousPolicy("plan", model, cost, 0.0, horizon=horizon, largest_doubt=doubt).choose(world)
    solution = planner.solve(world, choice.automaton, cost)
    cautious = solution.plan()
    path = follow(world, cautious.path.controls, model.finite, effects=effects_along(cautious.path))
    total = cautious.cost if slips(world) else path_cost(cost, path)
    lower_bound = total - (cautious.cost - cautious.lower_bound)
    plan = replace(cautious, path=path, cost=total, lower_bound=lower_bound)
    posterior = posterior_of(model)
    if posterior is None:
        return _SupportedPlan(plan, solution)
    words = posterior.demonstrated_words
    left = leaves_at(words, path.labels) if words else None
    return _SupportedPlan(plan, solution, posterior.untested_steps(path.labels), left, choice.doubt)


def leaves_at(words: Collection[Word], labels: Sequence[Label]) -> int | None:
    """The first step, from 1, at which labels are no longer those of a demonstrated word; None if there is none."""
    shown, _ = with_optional_start([compress(word) for word in words], [1.0] * len(words))
    begun = {word[:n] for word in shown for n in range(len(word) + 1)}
    return next((step for step in range(1, len(labels) + 1) if compress(labels[:step]) not in begun), None)


def _drawn_episode(world: Any, found: _SupportedPlan, cost: Cost, horizon: int, seed: int) -> WorldPath:
    """An episode of the policy in a world that slips."""
    from wfairl.core.planning.agent import Agent
    from wfairl.core.planning.rollout import act
    from wfairl.core.worlds.simulator import ModelSimulator, simulator_rng

    planned = found.solution.plan().path
    agent = Agent(planned.automaton, cost, 0.0, simulator_rng(seed))
    agent.start(world, found.solution)
    return act(agent, ModelSimulator(world, simulator_rng(seed)), planned.automaton, horizon, seed)


def _document(world: Any, found: _SupportedPlan, refined: "RefinedPlan | None") -> dict[str, Any]:
    plan, path = found.plan, found.plan.path
    otherwise = [
        {**vars(one), "state": _place(world, one.state), "control": _name(world, one.control)} for one in plan.detours
    ]
    document = {
        "controls": [world.controls[control] for control in path.controls],
        "labels": [sorted(label) for label in path.labels],
        "word": [sorted(label) for label in compress(path.labels)],
        "automaton_states": list(path.automaton_states),
        "cost": plan.cost,
        "lower_bound": plan.lower_bound,
        "steps": len(path.controls),
        **({"success": plan.success, "otherwise": otherwise} if slips(world) else {}),
        **found.plan.statistics,
        "untested_steps": list(found.untested_steps),
        "leaves_at": found.leaves_at,
        "doubt": found.doubt,
    }
    return document if refined is None else {**document, "refined": refined.to_document()}


def _lines(
    world: Any, found: _SupportedPlan, refined: "RefinedPlan | None", output: Path | None
) -> Iterator[RenderableType]:
    plan, path = found.plan, found.plan.path
    yield path_table(world.controls, path)
    if slips(world):
        yield "this world slips: the plan is a policy, and the table its most probable way to succeed"
        yield f"cost  {plan.cost:.4g} expected; succeeds with probability {plan.success:.4f}"
        yield from _detour_lines(world, plan)
    else:
        proof = "" if plan.is_optimal else f"; not proven optimal: the lower bound is {plan.lower_bound:g}"
        yield f"cost  {plan.cost:g} in {len(path.controls)} steps{proof}"
    yield f"word  {format_word(compress(path.labels))}"
    yield ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in plan.statistics.items())
    if output is not None:
        drawn = " (an episode that was drawn)" if slips(world) and output.suffix.lower() == ".gif" else ""
        yield f"wrote {output}{drawn}"
    if refined is not None:
        yield refined.sentence
    if found.doubt is not None:
        yield f"doubt {found.doubt:.1%}, that this plan breaks the rule, given the demonstrations"
        if not path.is_accepted:
            yield "the most probable rule cannot be satisfied in this scene: the plan keeps the next probable one"
    if found.leaves_at is not None:
        yield f"from step {found.leaves_at} on, this plan does what no demonstration does"
    if found.untested_steps:
        steps = ", ".join(map(str, found.untested_steps))
        yield f"no demonstration tests the automaton's transitions at step {steps}"


def _detour_lines(world: Any, plan: Plan) -> Iterator[RenderableType]:
    """The detours that are probable, and those that make success least probable, in the order of the steps."""
    worst = sorted(plan.detours, key=lambda one: (-one.probability * (plan.success - one.success), -one.probability))
    table = Table("after step", "chance", "otherwise at", "then", "succeeds")
    for one in sorted(worst[:MOST_DETOURS], key=lambda one: one.step):
        then, at = _name(world, one.control) or "-", _place(world, one.state)
        table.add_row(str(one.step + 1), f"{one.probability:.1%}", at, then, f"{one.success:.1%}")
    if plan.detours:
        yield table
    if len(worst) > MOST_DETOURS:
        yield f"and {len(worst) - MOST_DETOURS} more; --json lists them all"


def _name(world: Any, control: int | None) -> str | None:
    return None if control is None else str(world.controls[control])


def _place(world: Any, state: Any) -> str:
    """A state for people."""
    rendering = offered_rendering(world)
    if rendering is None or rendering.describe is None:
        return str(state_name(world, state))
    return rendering.describe(state).split(";")[0]


def path_table(controls: Sequence[str], path: WorldPath) -> Table:
    """One row per change of the label along a path, with the controls before it."""
    labels = (frozenset(), *path.labels)  # no proposition holds before the first step
    table = Table("step", "controls", "then holds", "automaton state")
    first, last = 0, len(path.controls)
    for step in range(1, last + 1):
        if step == last or labels[step] != labels[step - 1]:
            names = " ".join(controls[control] for control in path.controls[first:step])
            state = "lost" if path.automaton_states[step] == DEAD else str(path.automaton_states[step])
            accepted = " (accepted)" if step == last and path.is_accepted else ""
            table.add_row(str(step), names, format_label(labels[step]), f"{state}{accepted}")
            first = step
    return table
