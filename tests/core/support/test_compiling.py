"""Kernels that are kept are never older than the code that they were made of."""

import shutil
import subprocess
import sys
from pathlib import Path

from wfairl.core.support import compiling, imports
from wfairl.core.support.compiling import njit

CALLEE = """
from wfairl.core.support.compiling import njit
ADDED = {added}
@njit(cache=True)
def add(number): return number + ADDED
"""

CALLER = """
from wfairl.callee import add
from wfairl.core.support.compiling import njit
@njit(cache=True)
def twice(number): return add(add(number))
"""

ASK = "from wfairl.caller import twice; print(twice(0), sum(twice.stats.cache_hits.values()))"


def test_a_kernel_is_compiled_anew_when_a_module_changes_that_it_calls(tmp_path: Path):
    package = tmp_path / "wfairl"
    support = package / "core" / "support"
    support.mkdir(parents=True)
    for module in (compiling, imports):
        shutil.copy(module.__file__, support)
    (package / "__init__.py").touch()
    (package / "caller.py").write_text(CALLER)

    def ask(added: int) -> str:
        (package / "callee.py").write_text(CALLEE.format(added=added))
        done = subprocess.run([sys.executable, "-c", ASK], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert [ask(1), ask(1), ask(5)] == ["2 0", "2 1", "10 0"]
    assert len(list(package.glob("__pycache__/caller.twice-*.nbi"))) == 1


def test_a_kernel_that_others_call_with_constants_is_compiled_once():
    @njit(cache=False)
    def power(base, exponent):
        return base**exponent

    @njit(cache=False)
    def polynomial(x):
        return power(x, 2) + power(x, 3)

    assert polynomial(2) == 12
    assert len(power.signatures) == 1
