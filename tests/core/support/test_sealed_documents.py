"""A document or a line that was changed, or is of another version, is refused."""

import json
from dataclasses import dataclass, replace

import pytest

from wfairl.core.support.documents import Form, read_lines, write_lines
from wfairl.core.support.errors import BadInputError


@dataclass(frozen=True)
class Figures:
    mean: float


FORM = Form("wfairl-figures", "figures", 2, Figures, BadInputError, "measure again")


def test_a_document_is_read_only_if_nothing_in_it_changed(tmp_path):
    path = tmp_path / "figures.json"
    FORM.write(path, {"mean": 0.5})
    assert FORM.read(path) == Figures(0.5)
    path.write_text(path.read_text().replace("0.5", "0.9"))
    with pytest.raises(BadInputError, match="digest"):
        FORM.read(path)
    path.write_text(json.dumps({"format": "wfairl-figures", "version": 2, "mean": 0.5}))
    with pytest.raises(BadInputError, match="digest"):
        FORM.read(path)


@pytest.mark.parametrize("version", [None, 1, 3, True, "2"])
def test_a_document_of_another_version_is_refused(tmp_path, version):
    path = tmp_path / "figures.json"
    replace(FORM, version=version).write(path, {"mean": 0.5})
    with pytest.raises(BadInputError, match=f"version {version!r} of figures; this wfairl reads version 2"):
        FORM.read(path)


def test_lines_that_were_changed_lost_or_have_no_digest_are_refused(tmp_path):
    lines = tmp_path / "metrics.jsonl"
    entries = [{"epoch": 0, "loss": 0.5}, {"epoch": 1, "loss": 0.25}]
    write_lines(lines, entries)
    assert read_lines(lines, dict[str, float], BadInputError) == tuple(entries)
    written = lines.read_text()
    without_digest = "".join(json.dumps(entry) + "\n" for entry in entries)
    for changed in (written.replace("0.25", "0.75"), written.splitlines()[0] + "\n", without_digest):
        lines.write_text(changed)
        with pytest.raises(BadInputError, match="do not match its digest"):
            read_lines(lines, dict[str, float], BadInputError)
