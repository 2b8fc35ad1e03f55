"""Documents of an older version are read, and a digest that they carry is held against them."""

import json
from dataclasses import dataclass, replace

import pytest

from wfairl.documents import Form, unchanged
from wfairl.errors import BadInputError


@dataclass(frozen=True)
class Figures:
    mean: float


OLD = Form("wfairl-figures", "figures", 2, Figures, BadInputError, "measure again", {1: unchanged})
NEW = replace(OLD, version=3, older={1: unchanged, 2: unchanged})


def test_a_sealed_document_of_the_version_before_is_read_if_nothing_in_it_changed(tmp_path):
    path = tmp_path / "figures.json"
    OLD.write(path, {"mean": 0.5})
    assert NEW.read(path) == Figures(0.5)
    path.write_text(path.read_text().replace("0.5", "0.9"))
    with pytest.raises(BadInputError, match="digest"):
        NEW.read(path)


def test_the_first_version_had_no_digest_and_the_present_one_has(tmp_path):
    path = tmp_path / "figures.json"
    path.write_text(json.dumps({"format": "wfairl-figures", "version": 1, "mean": 0.5}))
    assert NEW.read(path) == Figures(0.5)
    path.write_text(json.dumps({"format": "wfairl-figures", "version": 3, "mean": 0.5}))
    with pytest.raises(BadInputError, match="digest"):
        NEW.read(path)
