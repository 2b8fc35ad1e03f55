"""The commands about learning a cost: train, and run for the whole flow."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from wfairl.cli.app import AsJson, app, out, print_json

if TYPE_CHECKING:
    from wfairl.learning.run_directory import TrainedRun

TRAIN_EXAMPLE = """
Learns what the demonstrator cared about: a cost under which the demonstrated controls are likely.

DEMOS is what `wfairl demos` wrote (several files of one task count as one); the task model comes from
`wfairl learn-task`. The result, a directory, is a policy for `wfairl evaluate` and a cost for `wfairl plan`.
A run that was killed goes on with --resume, and ends as if it had not been. Example:

    wfairl train demos.safetensors --task-model task.json -o runs/doorkey
"""

Output = Annotated[Path, typer.Option("-o", "--output", metavar="RUN", help="The directory of the run.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run that is there.")]
CostKind = Annotated[
    str, typer.Option("--cost", help="paper (sees the whole map), local (sees what is near), linear or tabular.")
]
Activation = Annotated[str, typer.Option(help="Output of the cost: softplus, or relu as in the paper.")]
Epochs = Annotated[int, typer.Option(min=0, help="Times over the demonstrations.")]
BatchSize = Annotated[int, typer.Option(min=1, help="Scenes a step of Adam.")]
LearningRate = Annotated[float, typer.Option(help="Of Adam at the beginning; it falls to zero along half a cosine.")]
WeightDecay = Annotated[float, typer.Option(help="Of Adam; it pulls all costs towards the same number.")]
HeldOut = Annotated[float, typer.Option(help="Part of the demonstrations that only choose the epoch.")]
Seed = Annotated[int, typer.Option(min=0, help="Everything random follows from it.")]
Jobs = Annotated[int, typer.Option(help="Scenes to work on at once; -1 for one a core.")]


@app.command(help=TRAIN_EXAMPLE)
def train(
    demos: Annotated[list[Path], typer.Argument(metavar="DEMOS...", help="Demonstrations (.safetensors).")],
    task_model: Annotated[Path, typer.Option(help="What `learn-task` wrote.")],
    output: Output,
    resume: Resume = False,
    cost: CostKind = "local",
    activation: Activation = "softplus",
    floor: Annotated[float, typer.Option(help="The least cost of a transition, between 0 and 1.")] = 0.05,
    epochs: Epochs = 50,
    batch_size: BatchSize = 8,
    learning_rate: LearningRate = 1e-3,
    weight_decay: WeightDecay = 1e-2,
    temperature: Annotated[
        float | None,
        typer.Option(help="To train at. Default: that of the demonstrations, 0.5 if that is 0 or unknown."),
    ] = None,
    held_out: HeldOut = 0.25,
    seed: Seed = 0,
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Learn a cost from demonstrations."""
    from wfairl.automata.task_model import TaskModel
    from wfairl.demonstrations import FIRST_TRAINING_SEED, load, merge
    from wfairl.learning.run_directory import RunConfig, train_run, training_temperature
    from wfairl.learning.trainer import Settings
    from wfairl.worlds.tasks import find_task

    dataset = merge([load(path) for path in demos])
    settings = Settings(
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        weight_decay=weight_decay,
        temperature=training_temperature(dataset.temperature) if temperature is None else temperature,
        held_out=held_out,
        seed=seed,
    )
    config = RunConfig(
        task=dataset.task,
        temperature=dataset.temperature,
        cost=cost,
        floor=floor,
        activation=activation,
        training=settings,
        seen=tuple(sorted(seed for seed in dataset.seeds if seed < FIRST_TRAINING_SEED)),
        origin={"demonstrations": [path.name for path in demos]},
    )
    make_world = find_task(dataset.task).make_world
    trained = train_run(dataset, make_world, TaskModel.load(task_model), config, output, resume, jobs)
    if as_json:
        print_json({"task": dataset.task, "run": str(output), **_document(trained)})
    else:
        out.print(_training_table(trained, output))
        _print_left_out(trained)


RUN_EXAMPLE = """
Does the whole job for one task: collects demonstrations, learns the automaton and the cost, and tries the result on
scenes that nobody has seen, beside the optimal policy, the expert that was imitated, and a random one.

The defaults are the paper's data set D2; --temperature 0 is D1. Example:

    wfairl run doorkey -o runs/doorkey
"""


@app.command("run", help=RUN_EXAMPLE)
def run_command(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task; `wfairl tasks` lists them.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="RUN", help="The directory of the run. Default: runs/TASK.")
    ] = None,
    resume: Resume = False,
    successes: Annotated[int, typer.Option(min=1, help="Demonstrations of the expert.")] = 32,
    failures: Annotated[int, typer.Option(min=0, help="Random walks, for the automaton alone.")] = 128,
    temperature: Annotated[float, typer.Option(min=0, help="Of the expert; 0 is strictly optimal.")] = 0.5,
    cost: CostKind = "local",
    activation: Activation = "softplus",
    epochs: Epochs = 50,
    batch_size: BatchSize = 8,
    learning_rate: LearningRate = 1e-3,
    weight_decay: WeightDecay = 1e-2,
    held_out: HeldOut = 0.25,
    test_scenes: Annotated[int, typer.Option(min=1, help="New scenes to evaluate on.")] = 64,
    seed: Seed = 0,
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Do the whole job for one task."""
    from wfairl.cli.evaluation import summary
    from wfairl.experiment import Config, run
    from wfairl.learning.trainer import Settings
    from wfairl.report.run_page import write_run_report

    training = Settings(
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        weight_decay=weight_decay,
        held_out=held_out,
    )
    config = Config(
        task=task,
        successes=successes,
        failures=failures,
        temperature=temperature,
        seed=seed,
        cost=cost,
        activation=activation,
        training=training,
        test_scenes=test_scenes,
    )
    directory = Path("runs", task) if output is None else output
    result = run(config, directory, resume, jobs)
    report = write_run_report(directory, n_jobs=jobs)
    if as_json:
        evaluations = {one.policy: one.to_document() for one in result.evaluations}
        document = {**_document(result.trained), "evaluations": evaluations}
        print_json({"task": task, "run": str(directory), "report": str(report), **document})
    else:
        out.print(_training_table(result.trained, directory))
        _print_left_out(result.trained)
        out.print(summary(list(result.evaluations)))
        out.print(f"report: {report}")


def _document(trained: "TrainedRun") -> dict[str, object]:
    history = trained.training.history
    return {
        "rank": trained.run.task_model.summary.rank,
        "states": trained.run.task_model.finite.states,
        "epoch": trained.training.epoch,
        "epochs": len(history) - 1,
        "held_out_loss": history[trained.training.epoch].held_out_loss,
        "held_out_loss_before": history[0].held_out_loss,
        "left_out": [{"number": one.number, "seed": one.seed, "reason": one.reason} for one in trained.left_out],
    }


def _training_table(trained: "TrainedRun", directory: Path) -> Table:
    history, chosen = trained.training.history, trained.training.epoch
    model = trained.run.task_model
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row("automaton", f"rank {model.summary.rank}, {model.finite.states} states")
    kind = trained.run.config.cost
    if len(history) == 1:
        table.add_row("cost", f"{kind}, 1 everywhere: not trained")
    elif chosen == 0:
        table.add_row("cost", f"{kind}, 1 everywhere: no other made held-out demonstrations more likely")
        table.add_row("", "(which is right for an expert to whom all controls cost the same; docs/learning.md)")
    else:
        table.add_row("cost", f"{kind}, of epoch {chosen} of {len(history) - 1}")
    before, after = history[0].held_out_loss, history[chosen].held_out_loss
    if before is not None and after is not None:
        table.add_row("held-out loss a step", f"{after:.4f} (before training {before:.4f})")
    table.add_row("written to", str(directory))
    return table


def _print_left_out(trained: "TrainedRun") -> None:
    for one in trained.left_out:
        out.print(f"left out: demonstration {one.number} (scene {one.seed}): {one.reason}")
