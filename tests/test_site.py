"""The documentation site is built strictly: no broken link, no missing page, nothing loaded from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import wfairl

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs", reason="needs the extra `docs`")
    pytest.importorskip("mkdocstrings", reason="needs the extra `docs`")
    directory = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", directory],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return directory


def test_every_page_is_built(site):
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} <= {path.stem for path in site.glob("*.html")}


def test_no_page_loads_anything_from_elsewhere(site):
    loads = r"<(?:script|img|iframe)[^>]+src=\"?https?:|<link[^>]+href=\"?https?:|url\(https?:"
    for page in site.glob("*.html"):
        assert not re.search(loads, page.read_text()), page.name


def test_every_public_name_is_in_the_reference(site):
    page = (site / "api.html").read_text()
    for module, names in wfairl._MODULES.items():
        for name in names:
            assert f'id="wfairl.{module}.{name}"' in page, name


def test_every_example_is_in_the_gallery():
    pages = "".join((ROOT / "docs" / name).read_text() for name in ("gallery.md", "your-own-world.md"))
    for path in (ROOT / "examples").glob("*.py"):
        assert f'--8<-- "examples/{path.name}"' in pages, path.name
