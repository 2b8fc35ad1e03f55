"""`wfairl run`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from wfairl.cli.console import facts_table, tell, warn
from wfairl.cli.evaluate import summary
from wfairl.cli.options import AsJson, Jobs, Resume, TaskName
from wfairl.cli.settings import settings_of, with_settings
from wfairl.cli.train import check_run_directory
from wfairl.core.demonstrations import Dataset, merge
from wfairl.core.demonstrations.learners import RATIONAL
from wfairl.core.support.errors import BadInputError
from wfairl.pages.page import write_page
from wfairl.pages.run_files import read_run_files
from wfairl.pages.run_page import REPORT, run_page, what_it_learned
from wfairl.questions.answer_files import answers_beside, read_answers
from wfairl.runs.data_sets import load
from wfairl.runs.methods import find_method
from wfairl.runs.pipeline import METHOD, PipelineConfig, run_pipeline
from wfairl.runs.task_registry import find_task

OWN = settings_of(PipelineConfig)
OF_METHOD = {name: one for name, one in settings_of(find_method(METHOD).settings_type()).items() if name not in OWN}
OF_EXPERT = ("successes", "failures", "temperature")
"""Settings of the run, of its method, and of the built-in expert."""


@with_settings({"": OWN, METHOD: OF_METHOD})
def run_flow(
    task: TaskName,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="RUN", help="The directory of the run. Default: runs/TASK.")
    ] = None,
    resume: Resume = False,
    demos: Annotated[
        list[Path] | None,
        typer.Option(metavar="DEMOS", help="Your own demonstrations (.safetensors) in place of the expert's."),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="Answers from `wfairl ask` about this task, *.jsonl, for the learner rational. Default: those beside"
            " --demos."
        ),
    ] = None,
    jobs: Jobs = 2,
    as_json: AsJson = False,
    *,
    settings: dict[str, Any],
) -> None:
    """Run the whole pipeline for one task: demonstrations, automaton, cost, an agent in new scenes, and a report.

    The agent is evaluated in unseen scenes, beside the optimal policy, a random one and, unless you give --demos, the
    imitated expert. The defaults are the paper's data set D2; --temperature 0 gives D1. The default learner, rational,
    learns automaton and cost together and needs no failures; spectral is the paper's. For your own task see
    `wfairl tasks --help`. Examples:

        wfairl run doorkey -o runs/doorkey
        wfairl run random-office-mail --successes 4 --answers demos.answers.jsonl
        wfairl --tasks my_tasks.py run warehouse

    --demos takes demonstrations of your own in place of the expert's, such as logs from `wfairl demos-import`:

        wfairl --tasks my_tasks.py run warehouse --demos drives.safetensors
    """
    directory = Path("runs", task) if output is None else output
    check_run_directory(directory, resume)
    config, dataset = _configure(task, demos or [], settings)
    if answers is not None and config.learner != RATIONAL:
        raise BadInputError(f"--answers is for --learner rational, not for {config.learner}; leave it out")
    given_answers = None if answers is None else read_answers(answers)
    if demos and answers is None and config.learner == RATIONAL:
        given_answers = tuple(answer for path in demos for answer in answers_beside(path))
    result = run_pipeline(config, directory, resume, jobs, given_answers, dataset)
    run, report = read_run_files(directory), directory / REPORT
    write_page(run_page(run, n_jobs=jobs), report)
    for warning in result.trained.warnings:
        warn(warning)
    document = {"task": task, "run": str(directory), "report": str(report), **result.trained.facts}
    document["warnings"] = list(result.trained.warnings)
    document["evaluations"] = {one.policy: one.to_document() for one in result.evaluations}
    lines = summary(list(result.evaluations)), facts_table(what_it_learned(run)), f"report: {report}"
    tell(document, lines, as_json)


def _configure(task: str, demos: Sequence[Path], settings: Mapping[str, Any]) -> tuple[PipelineConfig, Dataset | None]:
    """The configuration of a run, and the given demonstrations; None if the built-in expert demonstrates."""
    own: dict[str, Any] = {name: value for name, value in settings.items() if name in OWN}
    own["settings"] = {name: value for name, value in settings.items() if name not in OWN}
    if not demos:
        return PipelineConfig(task, **own), None
    foreign = [f"--{name}" for name in OF_EXPERT if name in own]
    if foreign:
        raise BadInputError(f"{', '.join(foreign)}: only for demonstrations of the built-in expert, not with --demos")
    dataset = merge([load(path, find_task(task).name) for path in demos])
    return PipelineConfig.for_dataset(dataset, list(map(str, demos)), **own), dataset
