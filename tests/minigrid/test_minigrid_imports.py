"""The library minigrid, and pygame with it, is loaded only where an environment is made or a state is drawn."""

import subprocess
import sys
from pathlib import Path

import pytest

import wfairl.minigrid

LOADS_MINIGRID = {"environment", "library", "missions", "renderer", "rooms"}
ROOM = Path(wfairl.minigrid.__file__).parent
MODULES = sorted(path.relative_to(ROOM).with_suffix("").as_posix().replace("/", ".") for path in ROOM.rglob("*.py"))

CHECK = """
import importlib, sys
for module in sys.argv[1:]:
    importlib.import_module(f"wfairl.minigrid.{module}")
print(*sorted({"minigrid", "pygame", "gymnasium", "matplotlib", "experiments"} & set(sys.modules)))
"""


def loaded_by(*modules: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", CHECK, *modules], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_model_its_tasks_costs_and_planner_load_no_minigrid():
    assert loaded_by(*(module for module in MODULES if module not in LOADS_MINIGRID)) == []


@pytest.mark.parametrize("module", sorted(LOADS_MINIGRID))
def test_the_modules_of_the_real_environment_load_it(module: str):
    assert "minigrid" in loaded_by(module)


def test_reading_a_document_loads_no_minigrid():
    document = {
        "format": "wfairl-task", "version": 1, "kind": "minigrid", "name": "n", "summary": "s", "horizon": 9,
        "environment": "MiniGrid-Empty-5x5-v0", "rule": None, "propositions": {"a": {"is": "at", "x": 1, "y": 1}},
    }  # fmt: skip
    code = (
        "import sys; from wfairl.minigrid.documents import task_of_document; "
        f"print(task_of_document({document!r}).name, 'minigrid' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["n", "False"]
