"""The tutorial is run: its file is written, its commands typed, its snippets executed."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import wfairl.cli.automaton  # noqa: F401  (registers the commands)
from wfairl.automata.spectral import SpectralLearner
from wfairl.cli.app import app

TUTORIAL = (Path(__file__).parents[2] / "docs" / "words-and-scores.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TUTORIAL, re.DOTALL)


@pytest.fixture
def in_a_directory_with_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (words,) = blocks("json")
    Path("words.jsonl").write_text(words)
    return tmp_path


@pytest.mark.usefixtures("in_a_directory_with_words")
def test_the_commands_of_the_tutorial_run():
    lines = [line for block in blocks("console") for line in block.splitlines() if line.startswith("$ wfairl ")]
    outputs = []
    for line in lines:
        result = CliRunner().invoke(app, shlex.split(line)[2:])
        assert result.exit_code == 0, result.output
        outputs.append(result.output)
    assert len(lines) == 3
    assert Path("task.svg").read_text().startswith("<svg")
    # The tutorial quotes this verdict; the table may break it over lines.
    assert "expected" in outputs[-1]
    assert "label 3" in re.sub(r"\s+", " ", outputs[-1])


@pytest.mark.usefixtures("in_a_directory_with_words")
def test_the_snippets_of_the_tutorial_run():
    names = {}
    for snippet in blocks("python"):
        exec(compile(snippet, "docs/words-and-scores.md", "exec"), names)
    assert names["automaton"].closed


@pytest.mark.parametrize("row", re.findall(r"^\| T\d .*$", TUTORIAL, re.MULTILINE))
def test_the_ranks_of_the_table_are_those_of_the_dominant_words(row):
    _, task, _, _, ours, _, _ = (cell.strip() for cell in row.split("|"))
    order = {"doorkey": ["key", "door", "goal"], "multiroom": ["door1", "door2", "door3", "goal"]}[task.split("`")[1]]
    word = tuple(frozenset(order[:i]) for i in range(len(order) + 1))
    learner = SpectralLearner().fit([word, word[:1]], [1.0, 0.0])
    assert f"{learner.rank_} / {learner.rows_} / {learner.cols_}" == ours
