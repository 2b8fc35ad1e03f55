"""The commands about learning a policy: train, and run for the whole flow."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from wfairl.cli.app import AsJson, app, out, print_json
from wfairl.errors import BadInputError

if TYPE_CHECKING:
    from wfairl.baselines.policy_run import PolicyRun
    from wfairl.learning.run_directory import TrainedRun
    from wfairl.methods import Trained

TRAIN_EXAMPLE = """
Learn a policy from demonstrations, by one of four methods.

DEMOS is what `wfairl demos` wrote (several files of one task count as one). The methods:

    wfa-irl       plan with a learned automaton (--task-model) and cost
    no-automaton  plan until the goal is reached, with a learned cost
    bc            behavioural cloning: imitate the control in each state
    gail          adversarial imitation with PPO (extra "baselines")

The result, a directory, is a policy for `wfairl evaluate` whatever the method, and with wfa-irl and no-automaton a
cost for `wfairl plan`. Settings have defaults for each method; one that a method does not have is refused. A run that
was killed goes on with --resume, and ends as if it had not been. Examples:

    wfairl train demos.safetensors --task-model task.json -o runs/doorkey
    wfairl train demos.safetensors --method bc -o runs/doorkey-bc
"""

Output = Annotated[Path, typer.Option("-o", "--output", metavar="RUN", help="The directory of the run.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run that is there.")]
COST_HELP = "paper (sees the whole map), local (sees what is near), linear or tabular."
CostKind = Annotated[str, typer.Option("--cost", help=COST_HELP)]
Activation = Annotated[str, typer.Option(help="Output of the cost: softplus, or relu as in the paper.")]
Epochs = Annotated[int, typer.Option(min=0, help="Times over the demonstrations.")]
BatchSize = Annotated[int, typer.Option(min=1, help="Scenes a step of Adam.")]
LearningRate = Annotated[float, typer.Option(help="Of Adam at the beginning; it falls to zero along half a cosine.")]
WeightDecay = Annotated[float, typer.Option(help="Of Adam; it pulls all costs towards the same number.")]
HeldOut = Annotated[float, typer.Option(help="Part of the demonstrations that only choose the epoch.")]
Seed = Annotated[int, typer.Option(min=0, help="Everything random follows from it.")]
Jobs = Annotated[int, typer.Option(help="Scenes or networks to work on at once; -1 for one a core.")]

PLANNERS, CLONING, ADVERSARIAL = "wfa-irl and no-automaton", "bc", "gail"
"""Panels of the help."""

MethodEpochs = Annotated[
    int | None, typer.Option(min=0, help="Times over the demonstrations: 50, bc up to 150; PPO over a rollout: 2.")
]
MethodBatchSize = Annotated[
    int | None, typer.Option(min=1, help="Demonstrations a step of Adam: 8, bc 2; steps in a batch of PPO: 1024.")
]
MethodLearningRate = Annotated[
    float | None, typer.Option(help="Of Adam at the beginning: 0.001, bc 0.002, gail 0.0005. It falls as it goes.")
]
MethodWeightDecay = Annotated[float | None, typer.Option(help="Of Adam: 0.01; gail: of the discriminator's.")]
MethodSeed = Annotated[int | None, typer.Option(min=0, help="Everything random follows from it; 0.")]
MethodCost = Annotated[str | None, typer.Option(help=f"{COST_HELP} Default: local.", rich_help_panel=PLANNERS)]
MethodActivation = Annotated[
    str | None,
    typer.Option(help="Output of the cost: softplus, or relu as in the paper.", rich_help_panel=PLANNERS),
]
Floor = Annotated[float | None, typer.Option(help="The least cost of a transition: 0.05.", rich_help_panel=PLANNERS)]
TrainingTemperature = Annotated[
    float | None,
    typer.Option(
        help="To train at. Default: that of the demonstrations, 0.5 if that is 0 or unknown.",
        rich_help_panel=PLANNERS,
    ),
]
MethodHeldOut = Annotated[
    float | None,
    typer.Option(help="Part of the demonstrations that only choose the epoch: 0.25.", rich_help_panel=PLANNERS),
]
View = Annotated[
    str | None,
    typer.Option(
        help="What the networks of bc and gail are shown: agent (the map around it), or map, as in the paper.",
        rich_help_panel=CLONING,
    ),
]
Networks = Annotated[
    int | None,
    typer.Option(help="In the committee, each trained without another part of DEMOS: 4.", rich_help_panel=CLONING),
]
DropoutRates = Annotated[
    list[float] | None,
    typer.Option(help="Dropout to choose from: 0.3; repeat it for several.", rich_help_panel=CLONING),
]
Iterations = Annotated[
    int | None,
    typer.Option(help="Rollouts, each with an update of both networks: 100.", rich_help_panel=ADVERSARIAL),
]
Rewards = Annotated[
    list[str] | None,
    typer.Option(
        help="Of the generator, log-d or minus-log-1-d: the better of both.",
        rich_help_panel=ADVERSARIAL,
    ),
]
"""Options of `train`: None is the method's own default, which the help names."""


@app.command(help=TRAIN_EXAMPLE)
def train(
    demos: Annotated[list[Path], typer.Argument(metavar="DEMOS...", help="Demonstrations (.safetensors).")],
    output: Output,
    method: Annotated[str, typer.Option(help="wfa-irl, no-automaton, bc or gail.")] = "wfa-irl",
    task_model: Annotated[Path | None, typer.Option(help="What `learn-task` wrote; for wfa-irl alone.")] = None,
    resume: Resume = False,
    epochs: MethodEpochs = None,
    batch_size: MethodBatchSize = None,
    learning_rate: MethodLearningRate = None,
    weight_decay: MethodWeightDecay = None,
    seed: MethodSeed = None,
    cost: MethodCost = None,
    activation: MethodActivation = None,
    floor: Floor = None,
    temperature: TrainingTemperature = None,
    held_out: MethodHeldOut = None,
    view: View = None,
    networks: Networks = None,
    dropout: DropoutRates = None,
    iterations: Iterations = None,
    reward: Rewards = None,
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Learn a policy from demonstrations."""
    from wfairl.automata.task_model import TaskModel
    from wfairl.demonstrations import load, merge
    from wfairl.methods import train as train_method

    given = {
        "epochs": epochs,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "weight_decay": weight_decay,
        "seed": seed,
        "cost": cost,
        "activation": activation,
        "floor": floor,
        "temperature": temperature,
        "held_out": held_out,
        "view": view,
        "networks": networks,
        "dropouts": tuple(dropout) if dropout else None,
        "iterations": iterations,
        "rewards": tuple(reward) if reward else None,
    }
    settings = {name: value for name, value in given.items() if value is not None}
    _check_place(output, resume)
    _check_options(method, list(settings), task_model is not None)
    dataset = merge([load(path) for path in demos])
    trained = train_method(
        method,
        dataset,
        output,
        settings,
        task_model=None if task_model is None else TaskModel.load(task_model),
        origin={"demonstrations": [path.name for path in demos]},
        resume=resume,
        n_jobs=jobs,
    )
    if as_json:
        print_json({"task": dataset.task, "method": method, "run": str(output), **_trained_document(trained)})
    else:
        _print_trained(trained, output)


def _check_place(directory: Path, resume: bool) -> None:
    """Refuse the directory of a reproduction, and say so if there is nothing to go on with."""
    from wfairl.reproduction.layout import is_reproduction

    if is_reproduction(directory):
        raise BadInputError(f"{directory}: there is a reproduction; a run needs another directory")
    if resume and not directory.exists():
        sys.stderr.write(f"wfairl: {directory}: there is no run to go on with; a new one begins\n")


def _trained_document(trained: "Trained") -> dict[str, object]:
    from wfairl.learning.run_directory import TrainedRun

    if isinstance(trained, TrainedRun):
        return _document(trained)
    return {"temperature": trained.selection.temperature, "choice": trained.selection.details}


def _print_trained(trained: "Trained", directory: Path) -> None:
    from wfairl.learning.run_directory import TrainedRun

    if isinstance(trained, TrainedRun):
        out.print(_training_table(trained, directory))
        _print_left_out(trained)
    else:
        out.print(_policy_table(trained, directory))


def _check_options(method: str, settings: list[str], has_task_model: bool) -> None:
    """Refuse options that a method does not have, by the names that they have here."""
    from wfairl.methods import find_method

    found = find_method(method)
    foreign = [_option(name) for name in settings if name not in found.settings()]
    if foreign:
        raise BadInputError(f"the method {method} has no {', '.join(foreign)}; `wfairl train --help` says which it has")
    if found.needs_task_model and not has_task_model:
        raise BadInputError(
            f"the method {method} needs --task-model, the file that `wfairl learn-task` writes;"
            " no-automaton, bc and gail do without"
        )
    if has_task_model and not found.needs_task_model:
        raise BadInputError(f"the method {method} has no --task-model: it learns from the demonstrations alone")


def _option(setting: str) -> str:
    """What the command line calls a setting: one of several is given at a time."""
    return "--" + {"dropouts": "dropout", "rewards": "reward"}.get(setting, setting).replace("_", "-")


def _policy_table(run: "PolicyRun", directory: Path) -> Table:
    """How a network that acts was chosen."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row("method", run.config.method)
    for name, value in run.selection.details.items():
        for told, one in _facts(name, value):
            table.add_row(told, one)
    how = "greedily" if run.selection.temperature == 0 else f"at temperature {run.selection.temperature:g}"
    reason = "which was best on scenes for validation"
    if run.selection.validation_return == 0:
        reason = "though it solved no scene for validation so or otherwise: train longer, or from more demonstrations"
    table.add_row("acts", f"{how}, {reason}")
    table.add_row("written to", str(directory))
    return table


KEYS = {"held_out_errors": "dropout", "validation_returns": "temperature"}
"""What the entries of a choice are listed by."""


def _facts(name: str, value: object) -> list[tuple[str, str]]:
    """What to say of an entry of a choice: one line, or one for each of several variants."""
    told = name.replace("_", " ")
    if not isinstance(value, dict):
        return [(told, ", ".join(map(_told, value)) if isinstance(value, list | tuple) else _told(value))]
    if all(isinstance(one, dict) for one in value.values()):
        return [(f"{told}, {variant}", line) for variant, one in value.items() for told, line in _facts(name, one)]
    listed = ", ".join(f"{key}: {_told(one)}" for key, one in value.items())
    return [(f"{told} by {KEYS[name]}" if name in KEYS else told, listed)]


def _told(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


RUN_EXAMPLE = """
Do the whole job for one task: demonstrations, automaton, cost, an agent in new scenes, and a page to look at.

The result is tried on scenes that nobody has seen, beside the optimal policy, the expert that was imitated, and a
random one. The defaults are the paper's data set D2; --temperature 0 is D1. Example:

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
    _check_place(directory, resume)
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
