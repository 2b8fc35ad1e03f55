"""A wrong file is named for what it is."""

import json

import numpy as np
import pytest

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.task_model_file import BrokenTaskModelError
from wfairl.core.automata.words import MalformedWordsError, read_jsonl
from wfairl.core.demonstrations import load
from wfairl.core.demonstrations.storage import BrokenDatasetError
from wfairl.core.support.files import KINDS, kind_of
from wfairl.core.support.safetensors_files import write_arrays


@pytest.mark.parametrize("form", KINDS)
def test_every_format_of_ours_is_known_by_its_beginning(form, tmp_path):
    write_arrays(tmp_path / "arrays", form, 1, {}, {"some": np.ones(3)})
    (tmp_path / "document").write_text(json.dumps({"format": form, "version": 1}, indent=2))
    assert kind_of(tmp_path / "arrays") == kind_of(tmp_path / "document") == KINDS[form]


def test_every_format_in_the_code_has_a_name_for_people(pytestconfig):
    written = [
        line.split('"')[1]
        for path in (pytestconfig.rootpath / "src").rglob("*.py")
        for line in path.read_text().splitlines()
        if line.startswith('FORMAT = "wfairl-')
    ]
    assert len(written) > 5
    assert set(written) <= set(KINDS)


def test_a_file_in_the_place_of_another_is_named(tmp_path):
    model, words, dataset = tmp_path / "task.json", tmp_path / "words.jsonl", tmp_path / "demos.safetensors"
    TaskModel.of_automaton(visit_in_order("a"), "rule").save(model)
    words.write_text('{"word": ["a"], "score": 1}\n')
    write_arrays(dataset, "wfairl-demonstrations", 1, {}, {})
    with pytest.raises(MalformedWordsError, match="seems to be a task model"):
        read_jsonl(model)
    with pytest.raises(BrokenTaskModelError, match="seems to be a file of words"):
        TaskModel.load(words)
    with pytest.raises(BrokenTaskModelError, match="seems to be demonstrations"):
        TaskModel.load(dataset)
    with pytest.raises(BrokenDatasetError, match="seems to be a task model"):
        load(model)


def test_what_cannot_be_told_is_not_guessed(tmp_path):
    (tmp_path / "noise").write_bytes(bytes(range(256)))
    assert kind_of(tmp_path / "noise") == kind_of(tmp_path / "absent") == kind_of(tmp_path) == ""
