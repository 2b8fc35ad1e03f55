"""What a session gives away: its files as they are, a report page, a script that repeats it, and all of it at once."""

import io
import zipfile
from collections.abc import Callable

import numpy as np

from wfairl.automata.formats import FORMATS
from wfairl.demonstrations.collection import FIRST_TEST_SEED
from wfairl.errors import BadInputError
from wfairl.files import read_bytes
from wfairl.report.blocks import AutomatonDrawing, Facts, prose
from wfairl.report.page import Page, Section, page_html
from wfairl.report.player import EpisodePlayer
from wfairl.report.recording import record_episode
from wfairl.report.text import counted
from wfairl.studio.acting import policy_of
from wfairl.studio.jobs import cost_of
from wfairl.studio.session import DEMONSTRATIONS, JOURNAL, RUN, TASK_MODEL, Session
from wfairl.studio.understanding import known_edges, sentence

RECORDED_SCENES = 3

SCRIPT = '''"""Learn {name} again from what was demonstrated in the studio, and try it in new scenes."""

from pathlib import Path

from wfairl import CautiousPolicy, evaluate, find_task, unit_cost
from wfairl.demonstrations import load
from wfairl.files import read_json
from wfairl.logic.corrections import LAWS, correction_of_document, obey
from wfairl.logic.learners import find_learner
from wfairl.worlds.registry import load_tasks

here = Path(__file__).parent
{load}dataset = load(here / "{demonstrations}")
task = find_task(dataset.task)
laws = [correction_of_document(one) for one in read_json(here / "{task_model}")["facts"].get(LAWS, [])]

model = obey(find_learner("rational").learn(dataset, task), laws, dataset)
print(model.sentences[0])

policy = CautiousPolicy("learned", model, unit_cost, temperature=0.0)
result = evaluate(task, policy, range({first}, {first} + 10))
print(f"{{result.success_rate:.0%}} of ten new scenes done right")
'''


def download(session: Session, file: str) -> tuple[bytes, str, str]:
    """A file of a session: its content, its media type and what to call it.

    Raises:
        BadInputError: there is no such file; a path is none.
    """
    known: dict[str, tuple[Callable[[], bytes], str]] = {
        JOURNAL: (lambda: read_bytes(session.directory / JOURNAL), "application/jsonl"),
        DEMONSTRATIONS: (lambda: read_bytes(session.directory / DEMONSTRATIONS), "application/octet-stream"),
        TASK_MODEL: (lambda: read_bytes(session.directory / TASK_MODEL), "application/json"),
        "report.html": (lambda: report_page(session).encode(), "text/html"),
        "repeat.py": (lambda: script(session).encode(), "text/x-python"),
        "session.zip": (lambda: archive(session), "application/zip"),
    }
    specified = {f"task{form.suffixes[0]}": form for form in FORMATS.values()}
    if file in specified and session.model is not None:
        form, model = specified[file], session.model
        content = form.write(model.finite, model.edge_counts)
        return content.encode() if isinstance(content, str) else content, "text/plain", f"{session.name}-{file}"
    if file not in known:
        raise BadInputError(f"a session has no file {file!r}")
    make, kind = known[file]
    return make(), kind, f"{session.name}-{file}"


def script(session: Session) -> str:
    """A script that learns the task again from the files beside it."""
    invented = session.assignment.is_invented
    load = f'load_tasks(str(here / "{session.assignment.name}.task.json"))\n' if invented else ""
    text = SCRIPT.format(
        name=session.assignment.name,
        load=load,
        demonstrations=DEMONSTRATIONS,
        task_model=TASK_MODEL,
        first=FIRST_TEST_SEED,
    )
    return text if invented else text.replace("from wfairl.worlds.registry import load_tasks\n", "")


def archive(session: Session) -> bytes:
    """All files of a session in one."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for path in sorted(session.directory.rglob("*")):
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(session.directory).parts):
                made.write(path, f"{session.name}/{path.relative_to(session.directory)}")
        if session.model is not None:
            made.writestr(f"{session.name}/repeat.py", script(session))
            made.writestr(f"{session.name}/report.html", report_page(session))
    return stream.getvalue()


def report_page(session: Session) -> str:
    """What was shown and understood as one page that needs nothing but itself.

    Raises:
        BadInputError: nothing was understood yet.
    """
    model, dataset = session.model, session.dataset
    if model is None:
        raise BadInputError("nothing was understood yet")
    edges = tuple(
        (
            f"{edge.source} on {edge.text}",
            ("?" if edge.certainty is None else f"{edge.certainty:.0%} certain")
            + f", shown by {counted(len(edge.behind), 'demonstration')}",
        )
        for edge in known_edges(model, dataset)
    )
    shown = tuple(
        (
            f"#{number}",
            f"scene {one.seed}, {counted(len(one.controls), 'step')}, {'right' if one.is_right else 'wrong'}",
        )
        for number, one in enumerate(session.shown, start=1)
    )
    said = tuple((one.correction.sentence, "law" if one.is_law else "evidence") for one in session.corrected)
    policy = policy_of(model, cost_of(run if (run := session.directory / RUN).is_dir() else None, session.task))
    recordings = tuple(
        record_episode(session.judged_task, policy, seed, np.random.default_rng(seed))
        for seed in range(FIRST_TEST_SEED, FIRST_TEST_SEED + RECORDED_SCENES)
    )
    understood = (prose(sentence(model)), AutomatonDrawing(model.finite, model.edge_counts), Facts(edges, "Its edges"))
    told = (Facts(shown, "Demonstrations"), *((Facts(said, "Corrections"),) if said else ()))
    return page_html(
        Page(
            session.assignment.name,
            session.task.summary,
            (
                Section("What was understood", understood),
                Section("What it does in new scenes", (EpisodePlayer(recordings),)),
                Section("What was shown and said", told),
            ),
            kind="wfairl studio",
            footer=f"Session {session.name}.",
        )
    )
