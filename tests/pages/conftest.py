"""A small run, and its page, for all tests of the report."""

import pytest

from wfairl.pages.run_page import write_run_report
from wfairl.runs.pipeline import PipelineConfig, run_pipeline


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory):
    """The directory of a run on DoorKey that took a few seconds, with its report."""
    directory = tmp_path_factory.mktemp("report") / "run"
    config = PipelineConfig(
        "doorkey", successes=6, failures=6, learner="spectral", settings={"cost": "local", "epochs": 2}, test_scenes=3
    )
    run_pipeline(config, directory)
    write_run_report(directory, scenes=3)
    return directory
