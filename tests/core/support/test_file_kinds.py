"""A wrong file is named for what it is."""

import json

import numpy as np
import pytest

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.automata.task_model import BrokenTaskModelError, TaskModel
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import kind_of
from wfairl.core.support.safetensors_files import write_arrays
from wfairl.events.scored_words import read_jsonl
from wfairl.runs.data_sets import BrokenDatasetError, load


def test_a_file_of_ours_is_known_by_its_beginning(tmp_path):
    write_arrays(tmp_path / "arrays", "wfairl-some-kind", 1, {}, {"some": np.ones(3)})
    (tmp_path / "document").write_text(json.dumps({"format": "wfairl-some-kind", "version": 1}, indent=2))
    assert kind_of(tmp_path / "arrays") == kind_of(tmp_path / "document") == "of the format wfairl-some-kind"


def test_a_file_in_the_place_of_another_is_named(tmp_path):
    model, words, dataset = tmp_path / "task.json", tmp_path / "words.jsonl", tmp_path / "demos.safetensors"
    TaskModel.of_automaton(visit_in_order("a"), "rule").save(model)
    words.write_text('{"word": ["a"], "score": 1}\n')
    write_arrays(dataset, "wfairl-demonstrations", 1, {}, {})
    with pytest.raises(BadInputError, match="seems to be of the format wfairl-task-model"):
        read_jsonl(model)
    with pytest.raises(BrokenTaskModelError, match="seems to be a file of words"):
        TaskModel.load(words)
    with pytest.raises(BrokenTaskModelError, match="seems to be of the format wfairl-demonstrations"):
        TaskModel.load(dataset)
    with pytest.raises(BrokenDatasetError, match="seems to be of the format wfairl-task-model"):
        load(model)


def test_what_cannot_be_told_is_not_guessed(tmp_path):
    (tmp_path / "noise").write_bytes(bytes(range(256)))
    assert kind_of(tmp_path / "noise") == kind_of(tmp_path / "absent") == kind_of(tmp_path) == ""
