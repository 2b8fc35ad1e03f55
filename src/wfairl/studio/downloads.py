"""Downloads of a session: its files, a report page, a script that repeats it, and an archive of everything."""

import io
import json
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from wfairl.core.demonstrations.demonstration import Dataset, Demonstration
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import read_bytes
from wfairl.pages.text import counted
from wfairl.runs.collection import FIRST_TEST_SEED
from wfairl.specifications.formats import FORMATS
from wfairl.studio.episodes import policy_of
from wfairl.studio.events import JudgedPath
from wfairl.studio.jobs import SessionSnapshot
from wfairl.studio.session import DEMONSTRATIONS, JOURNAL, TASK_MODEL, Session
from wfairl.studio.task_spec import TaskSpec
from wfairl.studio.understanding import edge_evidence

RECORDED_SCENES = 3

REPORT, SCRIPT, PRISM, ARCHIVE, MINARI = "report.html", "repeat.py", "scene.prism", "session.zip", "minari.zip"

MEDIA_TYPES = {JOURNAL: "application/jsonl", DEMONSTRATIONS: "application/octet-stream", TASK_MODEL: "application/json"}

TEMPLATE = '''"""Learn {name} again from a session of the studio, and try it in new scenes.

It needs nothing but wfairl: python repeat.py
"""

from wfairl import CautiousPolicy, Dataset, evaluate, find_learner, find_task
from wfairl.core.demonstrations import Answer, replay
from wfairl.questions import correction_of_document, enforce_laws
from wfairl.core.planning import nominal_cost
{imports}
DEMONSTRATIONS = [  # scene, controls, whether they are right, and what happened in each step if the world slips
{demonstrations}
]
ANSWERS = [  # the same for the paths of questions and corrections, with the weight of each
{answers}
]
LAWS = [
{laws}
]
{task}

def demonstrate(seed, controls, is_right, effects=()):
    return replay(task.make_world(seed), controls, float(is_right), seed, effects)


answers = [
    Answer(seed, tuple(controls), demonstrate(seed, controls, is_right, *effects).labels, is_right, weight)
    for seed, controls, is_right, weight, *effects in ANSWERS
]
dataset = Dataset(task.name, tuple(demonstrate(*one) for one in DEMONSTRATIONS), None, tuple(answers))
model = find_learner("rational").learn(dataset, task)
model = enforce_laws(model, [correction_of_document(one) for one in LAWS], dataset)
print(model.sentence)

policy = CautiousPolicy("learned", model, nominal_cost(task), temperature=0.0, horizon=task.horizon)
result = evaluate(task, policy, range({first}, {first} + 10), n_jobs=1)
print(f"{{result.success_rate:.0%}} of ten new scenes succeeded")
'''


def download(session: Session, file: str) -> tuple[bytes, str]:
    """Content and media type of a file that needs no job. Raises `BadInputError` if there is no such file."""
    own = {session.task_file: "application/json"} if session.state.spec.is_invented else {}
    media_types = {**MEDIA_TYPES, **own}
    formats = {f"task{form.suffixes[0]}": form for form in FORMATS.values()}
    if file in media_types:
        return read_bytes(session.directory / file), media_types[file]
    if file in formats and session.model is not None:
        content = formats[file].write(session.model.finite, session.model.edge_counts)
        return content.encode() if isinstance(content, str) else content, "text/plain"
    if file == SCRIPT:
        return script(session).encode(), "text/x-python"
    raise BadInputError(f"a session has no file {file!r}")


def script(session: Session) -> str:
    """A script that learns the task again; it contains all demonstrations, answers and laws."""
    if session.state.spec.is_invented:
        document = json.dumps(session.state.spec.to_document(session.model))
        imports = "from wfairl.runs.task_registry import task_of_document\n"
        task = f"TASK = {json.loads(document)!r}\n\ntask = task_of_document(TASK)\n"
    else:
        imports, task = "", f"\ntask = find_task({session.state.spec.name!r})\n"
    text = TEMPLATE.format(
        name=session.state.spec.name,
        imports=imports,
        demonstrations=_lines([_entry(one, one.is_success) for one in session.dataset]),
        answers=_lines([_entry(one, one.right, one.weight) for one in session.state.all_answers]),
        laws=_lines([law.to_document() for law in session.state.laws]),
        task=task,
        first=FIRST_TEST_SEED,
    )
    return text.replace(", find_task\n", "\n") if session.state.spec.is_invented else text


def _entry(path: Demonstration | JudgedPath, *judged: object) -> tuple[object, ...]:
    return path.seed, list(path.controls), *judged, *([list(path.effects)] if path.effects else [])


def _lines(items: list[object]) -> str:
    return "\n".join(f"    {item!r}," for item in items)


def archive(session: Session, page: str | None) -> bytes:
    """A zip archive of all files of a session, with its report page if there is one."""
    made = {} if page is None else {SCRIPT: script(session), REPORT: page}
    return _zip(session.directory, f"{session.name}/", made)


def minari_archive(spec: TaskSpec, dataset: Dataset, name: str) -> bytes:
    """The demonstrations as a Minari data set in a zip archive, to be unpacked into Minari's folder; a job.

    Raises `BadInputError` if there are no demonstrations, or the task has no Gymnasium environment.
    """
    from wfairl.recordings.minari_exchange import export_minari

    if not dataset.demonstrations:
        raise BadInputError("there are no demonstrations yet")
    with tempfile.TemporaryDirectory() as folder:
        export_minari(dataset, spec.task, f"wfairl-studio/{name}-v0", Path(folder))
        return _zip(Path(folder), "", {})


def _zip(folder: Path, prefix: str, more: Mapping[str, str]) -> bytes:
    """An archive of the files of a folder, but for hidden ones and links, and of some texts."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archived:
        for path in sorted(folder.rglob("*")):
            place = path.relative_to(folder)
            if path.is_file() and not path.is_symlink() and not any(part.startswith(".") for part in place.parts):
                archived.write(path, f"{prefix}{place}")
        for name, text in more.items():
            archived.writestr(f"{prefix}{name}", text)
    return stream.getvalue()


def report_page(snapshot: SessionSnapshot) -> str:
    """The report of a session as one self-contained page; a job for a worker."""
    from wfairl.pages.blocks import AutomatonDrawing, Facts, prose  # figures are slow to import
    from wfairl.pages.page import Page, Section, page_html
    from wfairl.pages.player import EpisodePlayer, record_episode

    model, task = snapshot.model, snapshot.spec.task_with(snapshot.model)
    edges, demonstrations = [], []
    for edge in edge_evidence(model, snapshot.dataset):
        certainty = "?" if edge["certainty"] is None else f"{edge['certainty']:.0%} certain"
        shown = counted(len(edge["demonstrations"]), "demonstration")
        edges.append((f"{edge['source']} on {edge['text']}", f"{certainty}, in {shown}"))
    for number, one in enumerate(snapshot.dataset, start=1):
        verdict = "right" if one.is_success else "wrong"
        demonstrations.append((f"#{number}", f"scene {one.seed}, {counted(len(one.controls), 'step')}, {verdict}"))
    corrections = tuple((one.parsed.sentence, "law" if one.law else "evidence") for one in snapshot.corrections)
    policy = policy_of(model, snapshot.cost, task)
    scenes = range(FIRST_TEST_SEED, FIRST_TEST_SEED + RECORDED_SCENES)
    recordings = [record_episode(task, policy, seed, np.random.default_rng(seed)) for seed in scenes]
    learned = (
        prose(model.sentence),
        AutomatonDrawing(model.finite, model.edge_counts),
        Facts(tuple(edges), "Its edges"),
    )
    evidence = [Facts(tuple(demonstrations), "Demonstrations")]
    if corrections:
        evidence.append(Facts(corrections, "Corrections"))
    sections = (
        Section("The inferred task", learned),
        Section("The agent in new scenes", (EpisodePlayer(tuple(recordings)),)),
        Section("Demonstrations and corrections", tuple(evidence)),
    )
    footer = f"Session {snapshot.name}."
    return page_html(Page(snapshot.spec.name, task.summary, sections, kind="wfairl studio", footer=footer))
