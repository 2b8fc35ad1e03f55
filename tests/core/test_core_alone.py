"""The core stands alone: no module of it loads a neighbour, or anything that draws."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import wfairl

PACKAGE = Path(wfairl.__file__).parent
NEIGHBOURS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py") if path.parent.name != "core")
ROOMS = sorted(path.parent.name for path in (PACKAGE / "core").glob("*/__init__.py"))
FOREIGN = (
    "matplotlib",
    "PIL",
    "pygame",
    "minigrid",
    "torch",
    "experiments",
    *(f"wfairl.{name}" for name in NEIGHBOURS),
)


def test_there_are_rooms_and_neighbours():
    assert {"automata", "planning", "rational"} <= set(ROOMS)
    assert {"minigrid", "events", "pages"} <= set(NEIGHBOURS)
    assert all(find_spec(name) for name in FOREIGN)


def test_no_module_of_the_core_loads_a_neighbour():
    modules = [
        ".".join(("wfairl", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        for path in sorted((PACKAGE / "core").rglob("*.py"))
    ]
    code = f"import importlib, sys; [importlib.import_module(name) for name in {modules!r}]; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert modules[-1] in loaded
    foreign = [name for name in loaded if name.startswith(tuple(f"{one}." for one in FOREIGN)) or name in FOREIGN]
    assert not foreign
