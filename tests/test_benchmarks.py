"""Every benchmark runs and prints its figures: a change of what it measures must not leave it behind."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
NAMES = sorted(path.stem for path in BENCHMARKS.glob("*.py") if "__main__" in path.read_text())


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_prints_its_figures_as_one_json_object(name):
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), "--quick", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert isinstance(figures, dict)
    assert figures
