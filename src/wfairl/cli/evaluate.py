"""`wfairl evaluate`."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table

from wfairl.cli.console import tell
from wfairl.cli.options import AsJson, Jobs, TaskName, parse_seeds
from wfairl.core.planning.cost import Cost
from wfairl.core.planning.policies import REFERENCES, Policy
from wfairl.core.support.errors import BadInputError, did_you_mean
from wfairl.core.worlds.task import Task
from wfairl.pages.policy_comparison import Estimate, compare_costs, compare_returns, regret_of
from wfairl.runs.evaluation import (
    Evaluation,
    check_test_seeds,
    evaluate,
    policy_title,
    read_evaluations,
    save_evaluations,
)
from wfairl.runs.held_directory import hold
from wfairl.runs.task_registry import find_task


def evaluate_command(
    task_name: TaskName,
    policy: Annotated[
        str,
        typer.Option(
            help="The policy to run: optimal (least true cost, or fewest steps in a task without one), expert, random,"
            " or the directory of a trained run."
        ),
    ] = "optimal",
    beside: Annotated[
        str | None,
        typer.Option(
            help="Another policy to compare with in the same scenes; --temperature applies to a run here too."
        ),
    ] = None,
    seeds: Annotated[str, typer.Option(help="Test scenes: A:B (B excluded) or A,B,C.")] = "5000:5064",
    temperature: Annotated[
        float | None,
        typer.Option(
            help="Temperature to act at; 0 is greedy. Default: 0.5 for expert, the run's own for a run.", min=0
        ),
    ] = None,
    rng_seed: Annotated[int, typer.Option(help="Random seed of the policy.", min=0)] = 0,
    jobs: Jobs = 2,
    save: Annotated[
        bool,
        typer.Option(
            "--save",
            help="Save the result in the run's directory, for `wfairl report`; with --beside optimal, that of the"
            " optimal policy too.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a policy in unseen scenes, one episode per scene, and report its performance.

    MiniGrid tasks run in the real Gymnasium environment. The table shows the mean return and the mean cost of an
    episode: the task's true cost, and the learned cost if there is one. --beside compares two policies scene by scene:
    the mean difference with its 95 % bootstrap interval.

    Examples:

        wfairl evaluate doorkey --policy expert --temperature 0.5 --seeds 5000:5064
        wfairl evaluate doorkey --policy runs/doorkey --temperature 0 --beside optimal
    """
    task = find_task(task_name)
    scenes = parse_seeds(seeds)
    check_test_seeds(scenes)
    if save:
        check_savable(task_name, policy, scenes, rng_seed)
    temperatures = {policy: temperature}
    if beside is not None and beside != policy:
        temperatures[beside] = None if beside in REFERENCES else temperature
    found = {name: find_policy(task, name, acts_at, scenes) for name, acts_at in temperatures.items()}
    _, learned_cost = found[policy]  # by which the references beside a run are judged too
    evaluation, *others = evaluations = [
        evaluate(task, one, scenes, rng_seed, jobs, learned_cost if name in REFERENCES else own_cost)
        for name, (one, own_cost) in found.items()
    ]
    document = evaluation.to_document()
    lines: list[RenderableType] = [summary(evaluations)]
    for other in others:
        difference = compare_returns(evaluation, other)
        document["beside"] = {**other.to_document(), "difference": asdict(difference)}
        lines.append(_comparison_sentence(evaluation, other, task, difference))
    if save:
        saved = _save(evaluation, others, Path(policy), temperature)
        lines.append(f"saved to {saved}; `{shlex.join(['wfairl', 'report', policy])}` shows it")
    tell(document, lines, as_json)


def _comparison_sentence(evaluation: Evaluation, other: Evaluation, task: Task, returns: Estimate) -> str:
    costs = None if task.true_cost is None else compare_costs(evaluation, other)
    in_cost = "" if costs is None else f"; true cost {costs.text(2, sign='+')} per scene"
    return (
        f"{policy_title(evaluation.policy, task)} beside {policy_title(other.policy, task)}: return"
        f" {returns.text(sign='+')} per scene{in_cost} (95 % intervals)"
    )


def check_savable(task: str, policy: str, scenes: Sequence[int], rng_seed: int) -> None:
    """Check that an evaluation can be saved with a run, before it is computed.

    Raises `BadInputError` if the policy is not that of a run, or the run's report could not show the evaluation.
    """
    if policy in REFERENCES or not Path(policy).is_dir():
        raise BadInputError(f"--save needs the directory of a run, and --policy {policy} is not one")
    from wfairl.runs.run_directory import read_config  # it is slow to import

    trained_for = read_config(Path(policy)).task
    if trained_for != task:
        raise BadInputError(f"--save needs the run's own task: {policy} is a run of {trained_for}, not of {task}")
    if rng_seed != 0:
        raise BadInputError("--save needs --rng-seed 0, with which the report of a run replays the episodes")
    for name, before in read_evaluations(Path(policy)).items():
        if [episode.seed for episode in before.episodes] != list(scenes):
            raise BadInputError(
                f"--save needs the scenes of the evaluations that are saved already: {name!r} of {policy} has others."
                " Give the same --seeds, or remove evaluation.json there"
            )


def _save(evaluation: Evaluation, others: Sequence[Evaluation], directory: Path, temperature: float | None) -> Path:
    """Save an evaluation in the directory of its run, under the name that `wfairl run` would give it.

    References beside it are saved if they are those of `wfairl run`, whatever its temperature.
    """
    from wfairl.runs.methods import acting_mode, learned_name, method_of

    config, method = method_of(directory)
    acted_at = config.temperature if method.learns_cost and temperature is None else temperature
    own = replace(evaluation, policy=learned_name(acting_mode(acted_at)))
    with hold(directory):  # another process may save its own
        return save_evaluations([own, *(one for one in others if one.policy in WITHOUT_TEMPERATURE)], directory)


def find_policy(task: Task, name: str, temperature: float | None, seeds: Sequence[int]) -> tuple[Policy, Cost | None]:
    """A reference policy by its name, or that of a run, which must not have seen the seeds, with its learned cost."""
    if temperature is not None and name in WITHOUT_TEMPERATURE:
        raise BadInputError(f"the policy {name!r} has no temperature; --temperature is for expert and trained runs")
    if name in REFERENCES:
        return REFERENCES[name](task, 0.5 if temperature is None else temperature), None
    if Path(name).is_dir():
        from wfairl.runs.methods import check_unseen, method_of  # it is slow to import

        check_unseen(Path(name), seeds)
        _, method = method_of(name)
        return method.load(Path(name), task, temperature), method.learned_cost(Path(name))
    near = did_you_mean(name, REFERENCES)
    raise BadInputError(f"unknown policy {name!r}{near}: give {', '.join(REFERENCES)} or the directory of a run")


WITHOUT_TEMPERATURE = ("optimal", "random")
"""The reference policies that have no temperature."""


def summary(evaluations: list[Evaluation]) -> Table:
    """One row per evaluation; in a narrow terminal, long names wrap and numbers do not."""
    task = find_task(evaluations[0].task)
    prices_learned = any(one.mean_learned_cost is not None for one in evaluations)
    true = "steps" if task.true_cost is None else "true cost"
    table = Table(title=task.name, title_justify="left", box=None, padding=(0, 2, 0, 0))
    table.add_column("policy", overflow="fold", max_width=32)
    for name in ("return", "success", true, *(["learned cost"] if prices_learned else [])):
        table.add_column(name, no_wrap=name != "learned cost")
    table.add_column("episodes", no_wrap=True)
    best = next((one for one in evaluations if one.policy == "optimal" and task.true_cost is not None), None)
    for evaluation in evaluations:
        regret = None if best is None or best is evaluation else regret_of(evaluation, best)
        above = "" if regret is None else f", {100 * regret.value:+.1f} %"
        costs = [evaluation.mean_cost, *([evaluation.mean_learned_cost] if prices_learned else [])]
        error = f" ± {evaluation.standard_error:.3f}" if len(evaluation.episodes) > 1 else ""
        table.add_row(
            policy_title(evaluation.policy, task),
            f"{evaluation.mean_return:.3f}{error}",
            f"{evaluation.success_rate:.0%}",
            *("-" if cost is None else f"{cost:.2f}{'' if i else above}" for i, cost in enumerate(costs)),
            ",\n".join(f"{count} {outcome}" for outcome, count in evaluation.outcomes.most_common()),
        )
    return table
