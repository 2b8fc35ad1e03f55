import json

import pytest
from public_data_files import published_as, write_borlange

from experiments.public_data.borlange import BORLANGE
from experiments.public_data.sources import SOURCES
from experiments.suites import compute


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A folder that counts as what the authors published."""
    directory = write_borlange(tmp_path / "Input")
    monkeypatch.setattr(SOURCES, "_entries", {"borlange": published_as(BORLANGE, directory)})
    return directory


def test_data_converts_a_source_and_says_what_comes_next(wfairl, source, tmp_path):
    result = wfairl("data", "borlange", source, "-o", tmp_path / "data")
    assert result.returncode == 0
    assert "60 trajectories" in result.stdout
    assert "wfairl reproduce --suite borlange --data" in result.stdout
    told = json.loads(wfairl("data", "borlange", source, "-o", tmp_path / "data", "--json").stdout)
    assert told["trajectories"] == 60
    assert (tmp_path / "data" / "borlange.safetensors").exists()


def test_data_names_the_file_that_is_wrong_and_writes_nothing(wfairl, source, tmp_path):
    (source / "linkIncidence.txt").unlink()
    result = wfairl("data", "borlange", source, "-o", tmp_path / "data")
    assert result.returncode == 2
    assert "linkIncidence.txt: missing" in result.stderr
    assert "github.com" in result.stderr
    assert not (tmp_path / "data").exists()


def test_a_suite_without_its_data_says_where_to_get_them(wfairl, tmp_path):
    for arguments in ((), ("--data", tmp_path)):
        result = wfairl("reproduce", "--suite", "shanghai", *arguments, "-o", tmp_path / "run")
        assert result.returncode == 2
        assert "github.com/liangchunyaobing/RCM-AIRL" in result.stderr
        assert "wfairl data shanghai" in result.stderr
    assert not (tmp_path / "run").exists()


def test_options_that_do_not_apply_to_public_data_are_refused(wfairl, tmp_path):
    result = wfairl("reproduce", "--suite", "borlange", "--data", tmp_path, "--seeds", "3")
    assert result.returncode == 2
    assert "--seeds does not apply" in result.stderr


def test_a_suite_on_public_data_prints_published_figures_beside_ours(wfairl, source, tmp_path, monkeypatch):
    def run_jobs(jobs, directory, workers, title):
        for job in jobs:
            job.work(directory)
        return {}

    monkeypatch.setattr(compute, "run_jobs", run_jobs)  # in this process
    wfairl("data", "borlange", source, "-o", tmp_path / "data")
    run = tmp_path / "run"
    result = wfairl("reproduce", "--suite", "borlange", "--data", tmp_path / "data", "-o", run, "--quick")
    assert result.returncode == 0
    assert "-6303.9" in result.stdout  # the published figure beside ours
