"""Documents of an older version are read, and a digest that they carry is held against them."""

import json
from dataclasses import dataclass, replace

import pytest

from wfairl.core.support.documents import Form, read_lines, unchanged, write_lines
from wfairl.core.support.errors import BadInputError


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


def test_lines_that_lost_every_digest_are_refused_beside_a_document_that_has_one(tmp_path):
    lines, beside = tmp_path / "metrics.jsonl", tmp_path / "config.json"
    entries = [{"epoch": 0, "loss": 0.5}, {"epoch": 1, "loss": 0.25}]
    write_lines(lines, entries)
    assert read_lines(lines, dict[str, float], BadInputError, beside) == tuple(entries)
    lines.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    beside.write_text('{"format": "of an older version"}')
    assert read_lines(lines, dict[str, float], BadInputError, beside) == tuple(entries)
    beside.write_text('{"format": "of this version", "digest": "5f70"}')
    with pytest.raises(BadInputError, match="do not match its digest"):
        read_lines(lines, dict[str, float], BadInputError, beside)
