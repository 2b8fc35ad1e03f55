"""The Python snippets of README and docs are run, in a folder of their own."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wfairl.cli.app import app

ROOT = Path(__file__).parents[1]
TESTED_ELSEWHERE = {"words-and-event-logs.md"}  # it needs the file that it tells the reader to write
DOCUMENTS = [
    path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if path.name not in TESTED_ELSEWHERE and "```python" in path.read_text()
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_snippets_of_a_document_run(document, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names = {}
    for snippet in re.findall(r"```python\n(.*?)```", document.read_text(), re.DOTALL):
        exec(compile(snippet, document.name, "exec"), names)
    assert names


@pytest.mark.slow
def test_the_commands_of_the_worked_example_run(tmp_path, monkeypatch):
    document = (ROOT / "docs" / "your-own-world.md").read_text()
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names = {}
    for snippet in re.findall(r"```python\n(.*?)```", document, re.DOTALL)[:3]:  # they write the logs
        exec(compile(snippet, "your-own-world.md", "exec"), names)
    commands = re.findall(r"^\$ wfairl (.*)$", document, re.MULTILINE)
    assert len(commands) > 10
    for command in commands:
        ended = CliRunner().invoke(app, shlex.split(command))
        assert ended.exit_code == 0, f"{command}: {ended.output} {ended.exception}"
    assert Path("plan.gif").stat().st_size > 0
    assert Path("runs/warehouse/report.html").exists()
    assert Path("runs/all/report.html").exists()


@pytest.mark.parametrize("document", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda p: p.name)
def test_every_link_to_a_file_leads_somewhere(document):
    """Also links out of `docs`, which mkdocs does not check."""
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_the_paper_map_names_functions_and_tests_that_exist():
    _, table = (ROOT / "docs" / "paper.md").read_text().split("## Where each equation is")
    rows = re.findall(r"^\|(?! paper|-)(.*)\|$", table, re.MULTILINE)
    assert len(rows) > 10
    for row in rows:
        *_, functions, tests = row.split("|")
        for cell, folders in ((functions, (ROOT / "src" / "wfairl", ROOT)), (tests, (ROOT / "tests",))):
            source = ""
            for name in re.findall(r"`([^`]+)`", cell):
                if name.endswith(".py"):
                    source = next(folder / name for folder in folders if (folder / name).exists()).read_text()
                else:
                    assert re.search(rf"(def|class) {name.split('.')[-1]}\b", source), name


@pytest.mark.slow
def test_the_commands_about_specifications_say_what_the_page_shows(tmp_path, monkeypatch):
    document = (ROOT / "docs" / "specifications.md").read_text()
    monkeypatch.chdir(tmp_path)
    shown = re.findall(r"^\$ wfairl (.*)\n((?:(?!\$|```).*\n)*)", document, re.MULTILINE)
    assert len(shown) == 8
    for command, said in shown:
        ended = CliRunner().invoke(app, shlex.split(command))
        assert ended.exit_code == (command.startswith("diff")), f"{command}: {ended.output} {ended.exception}"
        assert not said or ended.stdout == said
