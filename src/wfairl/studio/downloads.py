"""What a session gives away: its files as they are, a report page, a script that repeats it, and all of it at once."""

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wfairl.automata.formats import FORMATS
from wfairl.automata.task_model import TaskModel
from wfairl.demonstrations.collection import FIRST_TEST_SEED
from wfairl.demonstrations.demonstration import Dataset
from wfairl.errors import BadInputError
from wfairl.files import read_bytes
from wfairl.studio.acting import policy_of
from wfairl.studio.assignment import Assignment
from wfairl.studio.jobs import cost_of
from wfairl.studio.session import DEMONSTRATIONS, JOURNAL, TASK_MODEL, Session
from wfairl.studio.story import Correcting, Shown
from wfairl.studio.understanding import known_edges, sentence
from wfairl.studio.workers import Report

RECORDED_SCENES = 3

REPORT, SCRIPT, SCENE, ARCHIVE = "report.html", "repeat.py", "scene.prism", "session.zip"

TEMPLATE = '''"""Learn {name} again from what was shown and said in the studio, and try it in new scenes.

It needs nothing but wfairl: python repeat.py
"""

from wfairl import CautiousPolicy, Dataset, evaluate, find_learner, find_task
from wfairl.demonstrations import Answer, replay
from wfairl.logic import correction_of_document, obey
from wfairl.planning import nominal_cost
{imports}
SHOWN = [  # scene, controls, whether that was right
{shown}
]
ANSWERED = [  # the same of walks that were asked about or that corrections speak of, and how much each counts
{answered}
]
LAWS = [
{laws}
]
{task}

def walk(seed, controls, is_right):
    return replay(task.make_world(seed), controls, float(is_right), seed)


answers = [Answer(one[0], tuple(one[1]), walk(*one[:3]).labels, *one[2:]) for one in ANSWERED]
dataset = Dataset(task.name, tuple(walk(*one) for one in SHOWN), None, tuple(answers))
model = find_learner("rational").learn(dataset, task)
model = obey(model, [correction_of_document(one) for one in LAWS], dataset)
print(model.sentences[0])

policy = CautiousPolicy("learned", model, nominal_cost(task), temperature=0.0, horizon=task.horizon)
result = evaluate(task, policy, range({first}, {first} + 10), n_jobs=1)
print(f"{{result.success_rate:.0%}} of ten new scenes done right")
'''


def download(session: Session, file: str) -> tuple[bytes, str]:
    """A file of a session that takes no time to make: its content and its media type.

    Raises:
        BadInputError: there is no such file; a path is none.
    """
    kinds = {JOURNAL: "application/jsonl", DEMONSTRATIONS: "application/octet-stream", TASK_MODEL: "application/json"}
    if session.assignment.is_invented:
        kinds[session.task_file] = "application/json"
    specified = {f"task{form.suffixes[0]}": form for form in FORMATS.values()}
    if file in kinds:
        return read_bytes(session.directory / file), kinds[file]
    if file in specified and session.model is not None:
        content = specified[file].write(session.model.finite, session.model.edge_counts)
        return content.encode() if isinstance(content, str) else content, "text/plain"
    if file == SCRIPT:
        return script(session).encode(), "text/x-python"
    raise BadInputError(f"a session has no file {file!r}")


def script(session: Session) -> str:
    """A script that learns the task again; it holds all that was shown and said."""
    if session.assignment.is_invented:
        document = json.dumps(session.assignment.to_document(session.model))
        imports = "from wfairl.worlds.documents import task_of_document\n"
        task = f"TASK = {json.loads(document)!r}\n\ntask = task_of_document(TASK)\n"
    else:
        imports, task = "", f"\ntask = find_task({session.assignment.name!r})\n"
    text = TEMPLATE.format(
        name=session.assignment.name,
        imports=imports,
        shown=_lines([(one.seed, list(one.controls), one.is_right) for one in session.shown]),
        answered=_lines([(one.seed, list(one.controls), one.is_right, one.weight) for one in session.answers]),
        laws=_lines([law.to_document() for law in session.laws]),
        task=task,
        first=FIRST_TEST_SEED,
    )
    return text.replace(", find_task\n", "\n") if session.assignment.is_invented else text


def _lines(items: list[object]) -> str:
    return "\n".join(f"    {item!r}," for item in items)


def archive(session: Session, page: str | None) -> bytes:
    """All files of a session in one, with its report page if there is one."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for path in sorted(session.directory.rglob("*")):
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(session.directory).parts):
                made.write(path, f"{session.name}/{path.relative_to(session.directory)}")
        if page is not None:
            made.writestr(f"{session.name}/{SCRIPT}", script(session))
            made.writestr(f"{session.name}/{REPORT}", page)
    return stream.getvalue()


@dataclass(frozen=True)
class Material:
    """What a report page is made of.

    Attributes:
        name: of the session.
        assignment: what it is about.
        model: what was understood.
        dataset: from what.
        shown: the demonstrations as they were made.
        corrected: the corrections.
        run: where the learned cost is, if there is one.
    """

    name: str
    assignment: Assignment
    model: TaskModel
    dataset: Dataset
    shown: tuple[Shown, ...]
    corrected: tuple[Correcting, ...]
    run: Path | None


def report_page(report: Report, material: Material) -> str:
    """What was shown and understood as one page that needs nothing but itself; a job for a worker."""
    from wfairl.report.blocks import AutomatonDrawing, Facts, prose  # figures are slow to import
    from wfairl.report.page import Page, Section, page_html
    from wfairl.report.player import EpisodePlayer
    from wfairl.report.recording import record_episode
    from wfairl.report.text import counted

    report()
    model, task = material.model, material.assignment.task_with(material.model)
    edges = tuple(
        (
            f"{edge.source} on {edge.text}",
            ("?" if edge.certainty is None else f"{edge.certainty:.0%} certain")
            + f", shown by {counted(len(edge.behind), 'demonstration')}",
        )
        for edge in known_edges(model, material.dataset)
    )
    shown = tuple(
        (
            f"#{number}",
            f"scene {one.seed}, {counted(len(one.controls), 'step')}, {'right' if one.is_right else 'wrong'}",
        )
        for number, one in enumerate(material.shown, start=1)
    )
    said = tuple((one.correction.sentence, "law" if one.is_law else "evidence") for one in material.corrected)
    policy = policy_of(model, cost_of(material.run, task), task)
    recordings = []
    for seed in range(FIRST_TEST_SEED, FIRST_TEST_SEED + RECORDED_SCENES):
        report()
        recordings.append(record_episode(task, policy, seed, np.random.default_rng(seed)))
    understood = (prose(sentence(model)), AutomatonDrawing(model.finite, model.edge_counts), Facts(edges, "Its edges"))
    told = (Facts(shown, "Demonstrations"), *((Facts(said, "Corrections"),) if said else ()))
    return page_html(
        Page(
            material.assignment.name,
            task.summary,
            (
                Section("What was understood", understood),
                Section("What it does in new scenes", (EpisodePlayer(tuple(recordings)),)),
                Section("What was shown and said", told),
            ),
            kind="wfairl studio",
            footer=f"Session {material.name}.",
        )
    )
