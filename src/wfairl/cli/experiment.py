"""`wfairl run`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from wfairl.cli.app import command_group, out, print_json, warn
from wfairl.cli.evaluation import summary
from wfairl.cli.learning import check_run_directory, cost_tables, print_trained, trained_document
from wfairl.cli.options import AsJson, Jobs, Resume, TaskName
from wfairl.cli.settings import with_settings
from wfairl.demonstrations.answers import read_answers
from wfairl.errors import BadInputError
from wfairl.experiment import METHOD, Config, run
from wfairl.logic.learners import LEARNERS, RATIONAL
from wfairl.methods import find_method
from wfairl.report.run_page import write_run_report

app = command_group()


@app.command("run")
@with_settings({METHOD: find_method(METHOD).settings_type()})
def run_command(
    task: TaskName,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="RUN", help="The directory of the run. Default: runs/TASK.")
    ] = None,
    resume: Resume = False,
    successes: Annotated[int, typer.Option(min=1, help="Number of demonstrations of the expert.")] = 32,
    failures: Annotated[
        int, typer.Option(min=0, help="Number of random walks, used only to learn the automaton.")
    ] = 128,
    temperature: Annotated[float, typer.Option(min=0, help="Temperature of the expert; 0 is strictly optimal.")] = 0.5,
    learner: Annotated[str, typer.Option(help=f"The learner of the automaton: {', '.join(LEARNERS)}.")] = RATIONAL,
    answers: Annotated[
        Path | None, typer.Option(help="Answers from `wfairl ask` about this task, *.jsonl; for the learner rational.")
    ] = None,
    test_scenes: Annotated[int, typer.Option(min=1, help="Number of new scenes to evaluate on.")] = 64,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the whole run.")] = 0,
    jobs: Jobs = 2,
    as_json: AsJson = False,
    *,
    settings: dict[str, Any],
) -> None:
    """Run the whole pipeline for one task: demonstrations, automaton, cost, an agent in new scenes, and a report.

    The agent is evaluated in unseen scenes, beside the optimal policy, the imitated expert, and a random policy. The
    defaults are the paper's data set D2; --temperature 0 gives D1. The default learner, rational, learns automaton and
    cost together and needs no failures; spectral is the paper's. For your own task see `wfairl tasks --help`. Examples:

        wfairl run doorkey -o runs/doorkey
        wfairl run random-office-mail --successes 4 --answers demos.answers.jsonl
        wfairl --tasks my_tasks.py run warehouse
    """
    config = Config(task, successes, failures, temperature, seed, learner, settings, test_scenes)
    directory = Path("runs", task) if output is None else output
    check_run_directory(directory, resume)
    if answers is not None and learner != RATIONAL:
        raise BadInputError(f"--answers is for --learner rational, not for {learner}; leave it out")
    result = run(config, directory, resume, jobs, None if answers is None else read_answers(answers))
    report = write_run_report(directory, n_jobs=jobs)
    for warning in result.trained.warnings:
        warn(warning)
    tables = cost_tables(find_method(METHOD), task, directory)
    if as_json:
        evaluations = {one.policy: one.to_document() for one in result.evaluations}
        document = {**trained_document(result.trained, tables), "evaluations": evaluations}
        print_json({"task": task, "run": str(directory), "report": str(report), **document})
    else:
        print_trained(result.trained, tables, directory)
        out.print(summary(list(result.evaluations)))
        out.print(f"report: {report}")
