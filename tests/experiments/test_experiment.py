"""What may be asked of an experiment, and what it says of itself."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.harness import Cell, Experiment, Options, Outcome, register_experiment, run_experiment, table_of
from experiments.harness.experiment import EXPERIMENTS, command_of
from experiments.method_comparison.paper import LITTLE_TRAINED
from wfairl.core.support.errors import BadInputError


def square(number):
    return Outcome([{"square": number**2}])


def cells(options):
    return [Cell(f"square {i}", square, {"number": i}) for i in range(2 if options.quick else 4)]


def sections(results):
    frame = results.table.set_index("number")[["square"]]
    return {"Results": [table_of(frame, "Squares.", "number")], "Nothing": []}


SQUARES = Experiment("squares", "Squares", "Numbers times themselves", cells, sections, quick="two of them")


def test_an_experiment_is_one_table_of_results_and_what_it_shows_of_it(tmp_path):
    results = run_experiment(SQUARES, Options(), tmp_path, n_jobs=1)
    assert (tmp_path / "results.csv").read_text().splitlines() == [
        "cell,number,square",
        *(f"square {i},{i},{i**2}" for i in range(4)),
    ]
    assert (tmp_path / "results.md").read_text() == results.to_markdown()
    assert results.to_markdown().splitlines()[0] == "Squares."
    assert "| 3 | 9 |" in results.to_markdown()
    page = (tmp_path / "report.html").read_text()
    assert "Numbers times themselves." in page
    assert "Nothing" not in page


def test_a_quick_look_says_what_it_leaves_out_and_its_cells_are_taken_up_by_the_whole(tmp_path):
    quick = run_experiment(SQUARES, Options(quick=True), tmp_path, n_jobs=1)
    assert quick.notice == "A quick look: two of them."
    assert quick.to_markdown().startswith(f"**{quick.notice}**")
    made = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json")}
    assert run_experiment(SQUARES, Options(), tmp_path, n_jobs=1).notice == ""
    assert {path: path.stat().st_mtime_ns for path in made} == made


@pytest.mark.parametrize(
    ("options", "arguments", "notice"),
    [
        (Options(), "", ""),
        (Options(data=Path("a place")), "--data 'a place'", ""),
        (
            Options(seeds=2, tasks=("a", "b")),
            "--tasks a,b --seeds 2",
            "Not the full experiment: --tasks a,b --seeds 2.",
        ),
        (Options(quick=True, methods=("bc",)), "--quick --methods bc", "Not the full experiment: --methods bc."),
    ],
)
def test_options_are_told_as_they_are_typed(options, arguments, notice):
    assert command_of(SQUARES, options, Path("runs/x")) == " ".join(
        ["python -m experiments squares", *([arguments] if arguments else []), "-o runs/x"]
    )
    assert options.notice(SQUARES).endswith(notice)


def test_a_quick_look_at_the_paper_says_that_it_is_no_reproduction():
    told = Options(quick=True).notice(EXPERIMENTS.find("paper"))
    assert LITTLE_TRAINED in told
    assert "a low return says nothing about a method" in told
    assert Options().notice(EXPERIMENTS.find("paper")) == ""


@pytest.mark.parametrize("options", [Options(seeds=3), Options(tasks=("a",)), Options(data=Path())])
def test_options_that_an_experiment_does_not_have_are_refused(options, tmp_path):
    (name,) = options.given
    with pytest.raises(BadInputError, match=f"--{name} does not apply"):
        run_experiment(SQUARES, options, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_experiment_goes_neither_into_a_file_nor_where_a_run_is(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BadInputError, match="this is a file; give a directory"):
        run_experiment(SQUARES, Options(), tmp_path / "file")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BadInputError, match="an experiment needs another directory"):
        run_experiment(SQUARES, Options(), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"file", "config.json"}


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(BadInputError, match="there is a experiment 'paper' already"):
        register_experiment(Experiment("paper", "Mine", "mine", cells, sections))


def test_the_command_prints_the_tables_and_ends_with_one_line_if_it_fails(tmp_path):
    def command(*arguments):
        given = [sys.executable, "-m", "experiments", *arguments]
        return subprocess.run(given, cwd=tmp_path, capture_output=True, text=True, check=False)

    refused = command("magic")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (f"wfairl: unknown experiment 'magic'; known are {', '.join(EXPERIMENTS)}\n")
    examples = Path(__file__).parents[2] / "examples"
    for name in ("own_world.py", "own_experiment.py"):
        shutil.copy(examples / name, tmp_path)
    refused = command("corridor", "--load", "own_experiment.py", "--methods", "magic")
    assert refused.stderr.splitlines() == [
        "wfairl: the experiment corridor has no method 'magic'; it has wfa-irl, no-automaton"
    ]
