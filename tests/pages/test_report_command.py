"""`wfairl report` and the report of `wfairl run`, as a user meets them."""

import json
import shlex
import shutil

import pytest
from oracles_report import read_page

from wfairl.runs.evaluation import read_evaluations, write_evaluations
from wfairl.runs.pipeline import PipelineConfig, run_pipeline


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("cli") / "run"
    run_pipeline(PipelineConfig("doorkey", successes=4, failures=4, settings={"epochs": 1}, test_scenes=2), directory)
    return directory


def test_report_says_where_the_page_is(wfairl, small_run, tmp_path):
    code, out, _ = wfairl("report", small_run, "--scenes", 1)
    assert code == 0
    assert str(small_run / "report.html") in out
    assert (small_run / "report.html").read_text().startswith("<!doctype html>")
    code, out, _ = wfairl("report", small_run, "--scenes", 1, "-o", tmp_path / "page.html", "--json")
    document = json.loads(out)
    assert (code, document["report"]) == (0, str(tmp_path / "page.html"))
    assert document["bytes"] == (tmp_path / "page.html").stat().st_size < 1_500_000


def test_run_ends_with_the_path_of_its_report(wfairl, tmp_path):
    size = ("--successes", 4, "--failures", 4, "--epochs", 1, "--test-scenes", 1)
    code, out, _ = wfairl("run", "doorkey", "-o", tmp_path / "run", *size)
    assert code == 0
    assert out.splitlines()[-1] == f"report: {tmp_path / 'run' / 'report.html'}"
    assert (tmp_path / "run" / "report.html").exists()


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir()])
def test_what_is_no_run_is_one_line_and_exit_code_2(wfairl, tmp_path, make):
    make(tmp_path / "other")
    code, out, err = wfairl("report", tmp_path / "other")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "not the directory of a run" in err


def test_what_evaluate_saves_is_what_run_had_written(wfairl, small_run, tmp_path):
    run = shutil.copytree(small_run, tmp_path / "run")
    written = read_evaluations(run)
    (run / "evaluation.json").unlink()
    evaluate = ("evaluate", "doorkey", "--policy", run, "--seeds", "5000:5002", "--save")
    code, out, _ = wfairl(*evaluate)
    assert code == 0
    assert str(run / "evaluation.json") in out
    assert read_evaluations(run) == {"learned, at 0.5": written["learned, at 0.5"]}
    assert wfairl(*evaluate, "--temperature", 0, "--json").returncode == 0
    both = {name: written[name] for name in ("learned, at 0.5", "learned, greedy")}
    assert read_evaluations(run) == both
    assert wfairl(*evaluate, "--beside", "optimal", "--json").returncode == 0
    assert read_evaluations(run) == both | {"optimal": written["optimal"]}
    assert wfairl(*evaluate, "--beside", "expert", "--json").returncode == 0  # at 0.5, as the run's may not be
    assert read_evaluations(run) == both | {"optimal": written["optimal"]}


def test_a_page_without_a_result_names_the_command_that_gives_it_one(wfairl, small_run, tmp_path):
    run = shutil.copytree(small_run, tmp_path / "a run")
    (run / "evaluation.json").unlink()
    assert wfairl("report", run, "--scenes", 1).returncode == 0
    before = read_page((run / "report.html").read_text()).one("section", id="result")
    program, *arguments = shlex.split(before.all("code")[-1].text)
    assert program == "wfairl"
    assert wfairl(*arguments, "--seeds", "5000:5001").returncode == 0
    assert wfairl("report", run, "--scenes", 1).returncode == 0
    result = read_page((run / "report.html").read_text()).one("section", id="result")
    assert result.one("tbody").one("tr").one("th").text == "learned, at 0.5"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["doorkey", "--policy", "expert"], "--policy expert is not one"),
        (["doorkey"], "--policy optimal is not one"),
        (["multiroom", "--policy", "RUN"], "is a run of doorkey, not of multiroom"),
        (["doorkey", "--policy", "RUN", "--rng-seed", "1"], "--save needs --rng-seed 0"),
        (["doorkey", "--policy", "EMPTY"], "not the directory of a run"),
        (["doorkey", "--policy", "RUN", "--seeds", "6000"], "'optimal' of RUN has others"),
    ],
)
def test_only_what_the_page_of_a_run_can_show_is_saved(wfairl, small_run, tmp_path, arguments, message):
    places = {"RUN": small_run, "EMPTY": tmp_path}
    before = (small_run / "evaluation.json").read_bytes()
    code, out, err = wfairl("evaluate", *(places.get(word, word) for word in arguments), "--save")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message.replace("RUN", str(small_run)) in err
    assert (small_run / "evaluation.json").read_bytes() == before


def test_a_run_that_is_resumed_keeps_what_was_saved_with_it(tmp_path):
    config = PipelineConfig("doorkey", successes=4, failures=4, test_scenes=1, settings={"epochs": 0})
    run_pipeline(config, tmp_path, n_jobs=1)
    before = read_evaluations(tmp_path)
    kept = {**before, "learned, at 0.25": before["learned, at 0.5"]}
    write_evaluations(kept, tmp_path / "evaluation.json")
    run_pipeline(config, tmp_path, resume=True, n_jobs=1)
    assert read_evaluations(tmp_path) == kept


def test_a_report_that_is_no_html_is_refused(wfairl, small_run, tmp_path):
    code, _, err = wfairl("report", small_run, "-o", tmp_path / "page.pdf")
    assert code == 2
    assert "a page is written as *.html" in err
    assert list(tmp_path.iterdir()) == []
