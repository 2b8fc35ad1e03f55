"""Downloads: the session, and what other tools read of it."""

import ast
import io
import json
import subprocess
import sys
import zipfile

import pytest
from studio_sessions import (
    FOUR_ROOMS,
    GOAL,
    finish,
)

from wfairl.core.support.errors import BadInputError
from wfairl.recordings.minari_exchange import import_minari
from wfairl.runs.task_registry import task_of_document
from wfairl.specifications.formats import FORMATS, read_automaton
from wfairl.studio.downloads import download
from wfairl.studio.session import Session
from wfairl.studio.task_spec import find_task_spec


def test_the_automaton_is_given_in_formats_of_other_tools(controller, tmp_path):
    with pytest.raises(BadInputError, match="guards; export it as hoa"):
        download(controller.session, "task.pnml")
    for form in (one for one in FORMATS.values() if one.name != "pnml"):
        name = f"task{form.suffixes[0]}"
        content, _ = download(controller.session, name)
        assert content
        if form.read is not None:
            (tmp_path / name).write_bytes(content)
            again = read_automaton(tmp_path / name)
            assert all(again.accepts(one.labels) for one in controller.session.dataset)
    assert finish(controller.download("scene.prism"))[0].decode().count("\nmdp\n") == 1
    document = json.loads(finish(controller.download("my-fourrooms.task.json"))[0])
    assert all(task_of_document(document).rule.accepts(one.labels) for one in controller.session.dataset)
    with pytest.raises(BadInputError):
        download(controller.session, "../journal.jsonl")


@pytest.mark.parametrize("name", ["'); import os; ('", '"""; x', "{first}", "\\", "<script>"])
def test_names_in_the_script_are_text(tmp_path, name):
    session = Session(tmp_path / "one", find_task_spec(FOUR_ROOMS))
    session.do({**GOAL, "name": name})
    correction = {"kind": "never", "proposition": name}
    session.do({"do": "correct", "correction": correction, "law": True, "answers": []})
    named = {
        line.targets[0].id: ast.literal_eval(line.value)
        for line in ast.parse(download(session, "repeat.py")[0]).body
        if isinstance(line, ast.Assign) and line.targets[0].id.isupper()
    }
    assert named["LAWS"] == [correction]
    assert list(named["TASK"]["propositions"]) == [name]


@pytest.mark.slow
def test_downloads_are_the_session_and_repeat_it(controller, tmp_path):
    content, kind = finish(controller.download("session.zip"))
    assert kind == "application/zip"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path / "out")
    files = {path.name for path in (tmp_path / "out" / "one").iterdir()}
    assert files >= {"demos.safetensors", "task.json", "my-fourrooms.task.json", "report.html", "repeat.py"}
    ran = subprocess.run(
        [sys.executable, str(tmp_path / "out" / "one" / "repeat.py")], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines() == ["corner, then goal", "100% of ten new scenes succeeded"]


def test_a_session_comes_back_from_its_minari_data_set(controller, tmp_path):
    content = finish(controller.download("minari.zip"))[0]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path)
    (metadata,) = tmp_path.rglob("metadata.json")
    name = metadata.parents[1].relative_to(tmp_path).as_posix()
    again = import_minari(name, controller.session.state.spec.task, tmp_path).dataset
    assert [one.controls for one in again] == [one.controls for one in controller.session.dataset]
    assert [one.score for one in again] == [one.score for one in controller.session.dataset]
