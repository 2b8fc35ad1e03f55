"""`wfairl report` and the report of `wfairl run`, as a user meets them."""

import json

import pytest


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    from wfairl.experiment import Config, run
    from wfairl.learning.trainer import Settings

    directory = tmp_path_factory.mktemp("cli") / "run"
    run(Config("doorkey", successes=4, failures=4, training=Settings(epochs=1), test_scenes=2), directory)
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
