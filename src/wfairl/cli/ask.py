"""`wfairl ask`: one good question about a task, or the scene that is most worth demonstrating."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from wfairl.cli.app import AsJson, command_group, out, print_json
from wfairl.cli.planning import path_table
from wfairl.cli.words import of_episodes
from wfairl.errors import BadInputError

if TYPE_CHECKING:
    from wfairl.automata.task_model import TaskModel
    from wfairl.demonstrations.demonstration import Dataset
    from wfairl.logic.proposals import Proposal
    from wfairl.logic.questions import Question
    from wfairl.worlds.task import Task

app = command_group()

CANDIDATE_SCENES = 24
"""Scenes to choose from, unless they are given."""

SHOWN_OPINIONS = 3

ASK_EXAMPLE = """
Ask one good question about a task: would this have been right?

Of the plans of all automata that demonstrations leave probable, in scenes behind those of the demonstrations, this
shows the one whose answer says most about which of them is the task. The answer, yes if the task is fulfilled by the
end of the plan, is kept in a file beside the demonstrations, and the task is learned again with it. In a terminal you
are asked; elsewhere give --answer. The same command finds the same question until it is answered. Example:

    wfairl ask demos.safetensors --task-model task.json -o question.gif

    wfairl ask demos.safetensors --task-model task.json --answer no

With --demonstrate, it proposes instead the scene in which another demonstration would say most. Example:

    wfairl ask demos.safetensors --demonstrate -o scene.png
"""


class Reply(StrEnum):
    """What may be said of a plan."""

    YES = "yes"
    NO = "no"


@app.command("ask", help=ASK_EXAMPLE)
def ask(
    demos: Annotated[Path, typer.Argument(metavar="DEMOS", help="Demonstrations that `wfairl demos` wrote.")],
    task_model: Annotated[
        Path | None,
        typer.Option(
            help="What `wfairl learn-task` wrote; learned if it is not there or lacks answers, and rewritten."
        ),
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(help="Answers so far, *.jsonl; DEMOS with the ending .answers.jsonl if not given.")
    ] = None,
    answer: Annotated[Reply | None, typer.Option(help="Whether the plan would have been right.")] = None,
    demonstrate: Annotated[bool, typer.Option("--demonstrate", help="Propose a scene to demonstrate in.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write a picture here, .png or .gif.")] = None,
    scenes: Annotated[str | None, typer.Option(help="Scenes to choose from: A:B, or A,B,C.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Chooses among equally good plans.")] = 0,
    jobs: Annotated[int, typer.Option(help="Number of worlds to explore in parallel.")] = 2,
    as_json: AsJson = False,
) -> None:
    """Ask one good question about a task."""
    import numpy as np

    from wfairl.demonstrations.answers import place_of_answers, read_answers, write_answers
    from wfairl.demonstrations.storage import load
    from wfairl.logic.proposals import find_scene
    from wfairl.logic.questions import find_question, take_answer
    from wfairl.planning.film import check_format
    from wfairl.worlds.registry import find_task

    if demonstrate and answer is not None:
        raise BadInputError("--demonstrate asks for a demonstration, which is no --answer")
    if output is not None:
        check_format(output)
    if not of_episodes(demos):
        raise BadInputError(
            f"{demos}: questions are about plans in the worlds of demonstrations (.safetensors, by `wfairl demos`). Of "
            "an event log, `wfairl score --differing` shows the cases to ask about"
        )
    dataset = load(demos)
    task = find_task(dataset.task)
    kept_in = place_of_answers(demos) if answers is None else answers
    so_far = read_answers(kept_in) if kept_in.exists() else ()
    dataset = replace(dataset, answers=(*dataset.answers, *so_far))
    model = _known(dataset, task, task_model, jobs)
    rng, candidates = np.random.default_rng(seed), _candidates(dataset, scenes)
    if demonstrate:
        proposal = find_scene(model, dataset, task, candidates, rng, n_jobs=jobs)
        _show(task, model, proposal.seed, (), output)
        if as_json:
            print_json({"task": task.name, **proposal.to_document(), "picture": _text(output)})
        else:
            _print_proposal(proposal, output)
        return
    question = find_question(model, dataset, task, candidates, rng, n_jobs=jobs)
    _show(task, model, question.seed, question.controls, output)
    if not as_json:
        _print_question(task, model, question, output)
    is_right = _reply(answer, as_json)
    changed = None
    if is_right is not None:
        dataset = take_answer(dataset, question, is_right)
        write_answers((*so_far, dataset.answers[-1]), kept_in)
        changed = _learn(dataset, task, task_model, jobs)
    if as_json:
        after = None if changed is None else _beliefs(changed)
        document = {"task": task.name, **question.to_document(), "picture": _text(output), "answer": is_right}
        print_json({**document, "answers": len(dataset.answers), "before": _beliefs(model), "after": after})
    elif changed is None:
        out.print("Answer with --answer yes, if the task is fulfilled by the end of the plan, or --answer no.")
    else:
        _print_change(model, changed, kept_in, task_model)


def _known(dataset: "Dataset", task: "Task", path: Path | None, jobs: int) -> "TaskModel":
    """The task model of a file if it was learned with all answers, else learned now."""
    from wfairl.automata.task_model import TaskModel
    from wfairl.logic.learners import ANSWERS

    if path is not None and path.exists():
        model = TaskModel.load(path)
        model.finite.check_propositions(task.propositions)  # a model of another task is refused
        if model.facts.get(ANSWERS, 0) == len(dataset.answers):
            return model
    return _learn(dataset, task, path, jobs)


def _learn(dataset: "Dataset", task: "Task", path: Path | None, jobs: int) -> "TaskModel":
    from wfairl.logic.learners import RATIONAL, find_learner

    model = find_learner(RATIONAL).learn(dataset, task, n_jobs=jobs)
    if path is not None:
        model.save(path)
    return model


def _candidates(dataset: "Dataset", scenes: str | None) -> Sequence[int]:
    """The scenes to choose from: those that are given, else the ones behind the demonstrated ones."""
    from wfairl.cli.evaluation import parse_seeds

    if scenes is not None:
        return parse_seeds(scenes)
    first = max(dataset.seeds, default=-1) + 1
    return range(first, first + CANDIDATE_SCENES)


def _show(task: "Task", model: "TaskModel", seed: int, controls: Sequence[int], output: Path | None) -> None:
    """Write the picture, if one is wanted."""
    from wfairl.planning.film import film_path, write_image
    from wfairl.planning.path import follow_controls

    if output is not None:
        world = task.make_world(seed)
        write_image(film_path(world, follow_controls(world, model.finite, controls, world.initial_state)), output)


def _reply(answer: Reply | None, as_json: bool) -> bool | None:
    """The answer; None if there is no terminal to ask in."""
    if answer is not None:
        return answer is Reply.YES
    if as_json or not sys.stdin.isatty():
        return None
    return typer.confirm("Would this have been right: is the task fulfilled by the end of the plan?")


def _print_question(task: "Task", model: "TaskModel", question: "Question", output: Path | None) -> None:
    from wfairl.planning.path import follow_controls

    world = task.make_world(question.seed)
    out.print(f"Would this have been right, in scene {question.seed} of {task.name}?")
    out.print(path_table(world.controls, follow_controls(world, model.finite, question.controls, world.initial_state)))
    opinions = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for says, title in ((True, "yes"), (False, "no")):
        held = [one for one in question.opinions if one.accepts is says]
        for i, one in enumerate(held[:SHOWN_OPINIONS]):
            total = f"{title}, with {sum(other.weight for other in held):.0%}" if i == 0 else ""
            opinions.add_row(total, f"{one.weight:.1%}  {one.text}")
    out.print(opinions)
    out.print(f"An answer is expected to say {question.information:.2g} nats.")
    if output is not None:
        out.print(f"wrote {output}")


def _print_proposal(proposal: "Proposal", output: Path | None) -> None:
    from wfairl.automata.words import compress, format_word

    out.print(f"Demonstrate scene {proposal.seed}: that is expected to say {proposal.information:.2g} nats.")
    table = Table("probability", "if the task is", "then one would do there")
    for plan in proposal.plans[: 2 * SHOWN_OPINIONS]:
        events = [label for label in compress(plan.labels) if label]
        table.add_row(f"{plan.weight:.1%}", plan.text, f"{format_word(events)} ({len(plan.labels)} steps)")
    out.print(table)
    if output is not None:
        out.print(f"wrote {output}")


def _print_change(before: "TaskModel", after: "TaskModel", kept_in: Path, task_model: Path | None) -> None:
    was, now = _beliefs(before)[0], _beliefs(after)[0]
    if was["rule"] == now["rule"]:
        out.print(f"rule  {now['rule']}, as before: {was['weight']:.0%} -> {now['weight']:.0%}")
    else:
        out.print(f"rule  {was['rule']} ({was['weight']:.0%})\n  ->  {now['rule']} ({now['weight']:.0%})")
    out.print(f"the answer is kept in {kept_in}{'' if task_model is None else f', the task model in {task_model}'}")


def _beliefs(model: "TaskModel") -> list[dict[str, Any]]:
    """The probable automata with their weights, the chosen one first."""
    return [{"rule": one["text"], "weight": one["weight"]} for one in model.facts["alternatives"]]


def _text(output: Path | None) -> str | None:
    return None if output is None else str(output)
