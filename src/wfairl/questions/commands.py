"""`wfairl ask`: the question about a task or its cost that is worth most, or the scene most worth demonstrating."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.prompt import Prompt
from rich.table import Table

from wfairl.cli.console import facts_table, out, print_json
from wfairl.cli.learn_task import learn_from_worlds
from wfairl.cli.options import AsJson, ImageFile, Jobs, parse_seeds
from wfairl.cli.plan import path_table
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import compress, format_word
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.demonstrations.learners import RATIONAL, find_learner
from wfairl.core.planning.path import Path as PathTaken
from wfairl.core.planning.path import follow
from wfairl.core.planning.planner import planning_of_large_world
from wfairl.core.rational.task_posterior import TaskPosterior, posterior_of
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.world import feature_names, slips
from wfairl.pages.film import check_drawable, check_format, film_path, write_image
from wfairl.questions.answer_files import answers_beside, place_of_answers, write_answers
from wfairl.questions.hypotheses import in_words, required_posterior
from wfairl.questions.question import CostQuestion, NothingToAskError, Question, find_question
from wfairl.questions.scene_proposal import SceneProposal, propose_scene
from wfairl.runs.data_sets import load
from wfairl.runs.task_registry import find_task

CANDIDATE_SCENES, PRINTED_OPINIONS = 24, 3
"""Scenes to choose from, unless they are given, and automata that are printed on each side."""

Reply = StrEnum("Reply", "YES NO FIRST SECOND THIRD FOURTH")
"""An answer to a question; its value is in small letters."""

WAYS = (Reply.FIRST, Reply.SECOND, Reply.THIRD, Reply.FOURTH)

TASK_MODEL = "A task model, from `wfairl learn-task`. It is learned and written if it is missing or lacks answers."
ANSWER = "Whether the plan would have been right, or which way you would rather take."


def ask_command(
    demos: Annotated[Path, typer.Argument(metavar="DEMOS", help="Demonstrations, from `wfairl demos`.")],
    task_model: Annotated[Path | None, typer.Option(help=TASK_MODEL)] = None,
    answer: Annotated[Reply | None, typer.Option(help=ANSWER)] = None,
    demonstrate: Annotated[bool, typer.Option("--demonstrate", help="Propose a scene to demonstrate in.")] = False,
    output: ImageFile = None,
    scenes: Annotated[str | None, typer.Option(help="Scenes to choose from: A:B, or A,B,C.")] = None,
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Ask what is worth most: would this plan have been right, or which of some ways would you rather take?

    Several automata may explain the demonstrations. This command plans with each of them in scenes after the
    demonstrated ones, and shows the plan whose answer says most about which automaton is the task. Answer yes if the
    plan fulfils the task. Where the task is clear and its cost is not, it shows two to four ways to do the task
    instead: answer first, second, third or fourth. Where the world slips, it shows an episode that was drawn, and never
    several ways. The answer is saved beside the demonstrations, in DEMOS with the ending .answers.jsonl. The task is
    learned again with it; `wfairl train` learns the cost with it. In a terminal the command waits for the answer;
    elsewhere give --answer. It asks the same question until you answer it. Example:

        wfairl ask demos.safetensors --task-model task.json -o question.gif

        wfairl ask demos.safetensors --task-model task.json --answer no

    With --demonstrate, it proposes the scene in which another demonstration would say most. Example:

        wfairl ask demos.safetensors --demonstrate -o scene.png
    """
    if demonstrate and answer is not None:
        raise BadInputError("--demonstrate proposes a scene and takes no --answer; give one of the two")
    if output is not None:
        check_format(output)
    if demos.suffix != ".safetensors":
        raise BadInputError(
            f"{demos}: questions are about plans in the worlds of demonstrations (.safetensors, from `wfairl demos`)."
            " For an event log, `wfairl score --differing` lists the cases to check"
        )
    dataset = load(demos)
    task = find_task(dataset.task)
    first, picture = max(dataset.seeds, default=-1) + 1, None if output is None else str(output)
    candidates = range(first, first + CANDIDATE_SCENES) if scenes is None else parse_seeds(scenes)
    if output is not None:
        for seed in candidates[:1]:
            check_drawable(task.make_world(seed))
    earlier_answers = answers_beside(demos)
    dataset = replace(dataset, answers=(*dataset.answers, *earlier_answers))
    model = _load_or_learn(dataset, task, task_model, jobs)
    rng = np.random.default_rng(0)
    if demonstrate:
        proposal = propose_scene(model, dataset, task, candidates, rng, n_jobs=jobs)
        _draw(follow(task.make_world(proposal.seed), (), model.finite), output)
        if as_json:
            print_json({"task": task.name, **proposal.to_document(), "picture": picture})
        else:
            _print_proposal(required_posterior(model), proposal, output)
        return
    question = _most_worth(model, dataset, task, candidates, rng, jobs)
    world = task.make_world(question.seed)
    if isinstance(question, CostQuestion):
        ways = [follow(world, controls, model.finite) for controls in question.ways]
        for name, way in zip(WAYS, ways, strict=False):
            _draw(way, output and output.with_stem(f"{output.stem}-{name}"))
        if not as_json:
            _print_cost_question(task, question, ways)
    else:
        path = follow(world, question.controls, model.finite, effects=question.effects)
        _draw(path, output)
        if not as_json:
            _print_question(task, required_posterior(model), question, path, output)
    reply = _reply(answer, as_json, question)
    updated = None
    if reply is not None:
        if isinstance(question, CostQuestion):
            answers = question.answers(WAYS.index(reply))
        else:
            answers = (question.answer(reply is Reply.YES),)
        dataset = replace(dataset, answers=(*dataset.answers, *answers))
        write_answers((*earlier_answers, *answers), place_of_answers(demos))
        updated = _learn(dataset, task, task_model, jobs)
    if as_json:
        after = None if updated is None else _posterior(updated)
        said = reply if reply in (None, *WAYS) else reply is Reply.YES
        document = {"task": task.name, **question.to_document(), "picture": picture, "answer": said}
        print_json({**document, "answers": len(dataset.answers), "before": _posterior(model), "after": after})
    elif updated is None:
        out.print(f"Answer with --answer {' or --answer '.join(_replies(question))}.")
    else:
        _print_change(model, updated, place_of_answers(demos), task_model)


def _load_or_learn(dataset: Dataset, task: Task, path: Path | None, jobs: int) -> TaskModel:
    """The task model of a file if it was learned with all answers, else a new one."""
    if path is not None and path.exists():
        model = TaskModel.load(path)
        model.finite.check_propositions(task.propositions)  # refuses the model of another task
        posterior = posterior_of(model)
        if (0 if posterior is None else posterior.answers) == len(dataset.answers):
            return model
    return _learn(dataset, task, path, jobs)


def _learn(dataset: Dataset, task: Task, path: Path | None, jobs: int) -> TaskModel:
    model = learn_from_worlds(dataset, task, find_learner(RATIONAL), jobs)
    if path is not None:
        model.save(path)
    return model


def _draw(path: PathTaken, output: Path | None) -> None:
    if output is not None:
        write_image(film_path(path.world, path), output)


def _most_worth(
    model: TaskModel, dataset: Dataset, task: Task, seeds: Sequence[int], rng: np.random.Generator, jobs: int
) -> Question | CostQuestion:
    """The question about the logic or the cost that is worth most, in plain steps.

    A plan that turns out wrong was all in vain: that is what an answer about the logic can save.
    """
    about_cost = _about_cost(model, dataset, task, seeds, jobs)
    try:
        question = find_question(model, dataset, task, seeds, rng, n_jobs=jobs)
    except NothingToAskError:
        if about_cost is None:
            raise
        return about_cost
    in_vain = min(question.probability, 1 - question.probability) * len(question.controls)
    return question if about_cost is None or in_vain >= about_cost.worth else about_cost


def _about_cost(model: TaskModel, dataset: Dataset, task: Task, seeds: Sequence[int], jobs: int) -> CostQuestion | None:
    """The question about the cost, where the task's own choice of a cost has a posterior that can be had at once."""
    from wfairl.core.costs import CostSettings, SampledCost  # here, because it is slow to import
    from wfairl.core.rational.logic_with_cost import learn_cost
    from wfairl.questions.cost_question import find_cost_question

    world = task.make_world(seeds[0])
    # Where the world slips, nobody can choose between two paths.
    if task.default_cost != SampledCost.kind or planning_of_large_world(world) is not None or slips(world):
        return None
    cost = learn_cost(dataset, task, model, CostSettings(cost=SampledCost.kind), jobs).model
    assert isinstance(cost, SampledCost)
    return find_cost_question(cost, model.finite, task, seeds, jobs)


def _replies(question: Question | CostQuestion) -> Sequence[Reply]:
    return WAYS[: len(question.ways)] if isinstance(question, CostQuestion) else (Reply.YES, Reply.NO)


def _reply(answer: Reply | None, as_json: bool, question: Question | CostQuestion) -> Reply | None:
    """The answer, if it is one to this question; None without a terminal to ask in."""
    replies = _replies(question)
    if answer is not None and answer not in replies:
        said = f"{', '.join(replies[:-1])} or {replies[-1]}"
        raise BadInputError(f"--answer {answer} does not answer this question; say {said}")
    if answer is not None or as_json or not sys.stdin.isatty():
        return answer
    if isinstance(question, CostQuestion):
        return Reply(Prompt.ask("Which would you rather take?", choices=[*replies]))
    is_right = typer.confirm("Would this have been right: does the plan fulfil the task?")
    return Reply.YES if is_right else Reply.NO


def _print_cost_question(task: Task, question: CostQuestion, paths: Sequence[PathTaken]) -> None:
    out.print(f"Which would you rather, in scene {question.seed} of {task.name}? All ways do the task.")
    totals = [_total_features(path) for path in paths]
    differing = [name for name in totals[0] if len({total[name] for total in totals}) > 1]
    for title, path, total, chance in zip(WAYS, paths, totals, question.probabilities, strict=False):
        amounts = "".join(f"; {name} {total[name]:g}" for name in differing)
        out.print(f"{title}, {len(path)} steps{amounts} (by the demonstrations, you take it with {chance:.0%}):")
        out.print(path_table(path.world.controls, path))
    worth = f"{question.information:.2g} nats, worth {question.worth:.2g} plain steps a scene"
    out.print(f"Expected information of an answer: {worth}.")


def _total_features(path: PathTaken) -> dict[str, float]:
    """The sum of each feature along a path, by name."""
    steps = zip(path.states, path.controls, path.states[1:], strict=False)
    total = np.sum([path.world.features(*step) for step in steps], axis=0)
    return dict(zip(feature_names(path.world, len(total)), total.tolist(), strict=True))


def _print_question(
    task: Task, posterior: TaskPosterior, question: Question, path: PathTaken, output: Path | None
) -> None:
    drawn = " This is an episode that was drawn, since the world slips." if question.effects else ""
    out.print(f"Would this have been right, in scene {question.seed} of {task.name}?{drawn}")
    out.print(path_table(path.world.controls, path))
    rows = []
    for accepts, title in ((True, "yes"), (False, "no")):
        opinions = [opinion for opinion in question.opinions if opinion.accepts is accepts]
        total = f"{title}, with {sum(opinion.weight for opinion in opinions):.0%}"
        rows += [(total, f"{one.weight:.1%}  {in_words(posterior, one.text)}") for one in opinions[:PRINTED_OPINIONS]]
    out.print(facts_table(rows))
    out.print(f"Expected information of an answer: {question.information:.2g} nats.")
    if output is not None:
        out.print(f"wrote {output}")


def _print_proposal(posterior: TaskPosterior, proposal: SceneProposal, output: Path | None) -> None:
    out.print(f"Demonstrate scene {proposal.seed}: expected information {proposal.information:.2g} nats.")
    table = Table("probability", "if the task is", "then an expert would do")
    for plan in proposal.plans[: 2 * PRINTED_OPINIONS]:
        events = [label for label in compress(plan.labels) if label]
        done = f"{format_word(events)} ({len(plan.labels)} steps)"
        table.add_row(f"{plan.weight:.1%}", in_words(posterior, plan.text), done)
    out.print(table)
    if output is not None:
        out.print(f"wrote {output}")


def _print_change(before: TaskModel, after: TaskModel, answers_file: Path, task_model: Path | None) -> None:
    old, new = _posterior(before)[0], _posterior(after)[0]
    if old["rule"] == new["rule"]:
        out.print(f"rule  {new['rule']}, as before: {old['weight']:.0%} -> {new['weight']:.0%}")
    else:
        out.print(f"rule  {old['rule']} ({old['weight']:.0%})\n  ->  {new['rule']} ({new['weight']:.0%})")
    out.print(f"saved the answer to {answers_file}{'' if task_model is None else f', the task model to {task_model}'}")


def _posterior(model: TaskModel) -> list[dict[str, Any]]:
    """The probable automata with their weights, the chosen one first."""
    posterior = required_posterior(model)
    return [{"rule": posterior.sentence(one), "weight": one.weight} for one in posterior.alternatives]
