"""What a run learned, in words and in one drawing: the first thing on its page."""

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.costs.cost_words import cost_sentences
from wfairl.core.costs.feature_costs import SampledCost
from wfairl.core.costs.storage import load_cost
from wfairl.core.rational.task_posterior import LEAST_WEIGHT, posterior_of
from wfairl.core.runs.run_directory import COST
from wfairl.core.worlds.task import Task
from wfairl.pages.automata.label_differences import DIFFERENCES_EXPLAINED, with_label_differences
from wfairl.pages.automata.layout import LOST_TEXT, TIMES
from wfairl.pages.blocks import MAX_DRAWN_STATES, AutomatonDrawing, Statements
from wfairl.pages.enforced import enforced_orders, enforced_sentence
from wfairl.pages.page import Block, Section
from wfairl.pages.run_episodes import scenes_of
from wfairl.pages.run_files import RunFiles, is_learned
from wfairl.pages.text import Text, capitalised, counted

SEARCHED_SCENES = 2
"""Scenes in which is searched for what the world enforces."""


def learned_section(run: RunFiles, task: Task, model: TaskModel) -> Section:
    """The rule, the cost and how sure they are, in sentences; and the automaton."""
    statements = [*_rule(run, task, model), *_cost(run, task), *_doubts(model), *_tests(run, task)]
    drawing: tuple[Block, ...] = (automaton_drawing(model),) if model.summary.closed else ()
    return Section("What it learned", (Statements(tuple(statements)), *drawing))


def automaton_drawing(model: TaskModel) -> AutomatonDrawing:
    """The automaton of a model, with a caption that explains the drawing."""
    by_difference = with_label_differences(model.finite) is not model.finite
    change = f"when the label changes, and shows the change {DIFFERENCES_EXPLAINED}"
    reads = change if by_difference else "when its guard holds"
    caption = (
        f"State 0 is the initial state; double rings mark acceptance; {LOST_TEXT} and “never” mark what loses the task."
        f" An edge is taken {reads}; {TIMES} counts the successful demonstrations that took it."
    )
    is_drawn = model.finite.states <= MAX_DRAWN_STATES
    return AutomatonDrawing(model.finite, model.edge_counts, caption if is_drawn else "")


def _rule(run: RunFiles, task: Task, model: TaskModel) -> list[tuple[str, Text]]:
    name = "Rule" if run.method.needs_task_model else "Rule it was given"
    statements: list[tuple[str, Text]] = [(name, f"{capitalised(model.sentence)}.")]
    if model.summary.closed:
        worlds = map(task.make_world, scenes_of(run, SEARCHED_SCENES))
        orders = enforced_orders(worlds, task.propositions)
        if orders:
            unsaid = f"{capitalised(enforced_sentence(orders))}: nobody has to learn that."
            statements.append(("Not to be learned", unsaid))
    return statements


def _cost(run: RunFiles, task: Task) -> list[tuple[str, Text]]:
    if not (run.directory / COST).exists():
        return []
    cost = load_cost(run.directory / COST)
    if not isinstance(cost, SampledCost):
        return [("Cost", f"A model of the kind {cost.kind}; see below what it charges.")]
    world = task.make_world(scenes_of(run, 1)[0])
    verdict, *terms = cost_sentences(cost, world)
    return [("Cost", "; ".join(capitalised(one) if i == 0 else one for i, one in enumerate(terms or [verdict])) + ".")]


def _doubts(model: TaskModel) -> list[tuple[str, Text]]:
    """How sure the rule is."""
    posterior = posterior_of(model)
    if posterior is None:
        return []
    shown = f"From {counted(model.summary.successes, 'demonstration')}"
    failures = model.summary.words - model.summary.successes
    shown += f" and {counted(failures, 'failure')}" if failures else ", no failures"
    others = [f"or, with {weight:.0%}: {rule}" for rule, weight in posterior.other_rules(1)]
    doubts = [
        f"{one.constraint}, with {one.probability:.0%}" for one in posterior.doubts if one.probability >= LEAST_WEIGHT
    ]
    sure = "; ".join([f"{shown}, this rule is {posterior.chosen.weight:.0%} likely among those considered", *others])
    beside = f" It may also be that: {doubts[0]}." if doubts else ""
    return [("How sure", f"{sure}.{beside}")]


def _tests(run: RunFiles, task: Task) -> list[tuple[str, Text]]:
    """How the learned policy did in new scenes."""
    learned = next((one for name, one in run.evaluation.items() if is_learned(name)), None)
    if learned is None:
        return []
    kept = sum(episode.success for episode in learned.episodes)
    text = f"{kept} of {counted(len(learned.episodes), 'scene')} done right"
    best = run.evaluation["optimal"].mean_cost if "optimal" in run.evaluation else None
    if task.true_cost is not None and learned.mean_cost is not None and best is not None:
        text += f", at a mean true cost of {learned.mean_cost:.1f} (the least possible: {best:.1f})"
    return [("In new scenes", f"{text}.")]
