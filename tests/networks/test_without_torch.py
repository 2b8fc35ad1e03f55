"""PyTorch is an extra: without it, all but networks works, and networks say what is missing."""

import subprocess
import sys


def wfairl_without_torch(*arguments):
    code = "import sys; sys.modules['torch'] = None\nfrom wfairl.cli import main\nmain()"
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True)


def test_a_rule_and_a_cost_are_learned_and_reported_without_torch(tmp_path):
    ran = wfairl_without_torch("run", "coffee-and-mail", "--successes", 4, "--failures", 0, "-o", tmp_path / "run")
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "run" / "report.html").exists()


def test_a_network_asks_for_its_extra(tmp_path):
    ran = wfairl_without_torch("run", "doorkey", "--cost", "local", "-o", tmp_path / "run")
    assert (ran.returncode, ran.stderr) == (2, "wfairl: PyTorch is not installed: pip install 'wfairl[networks]'\n")
    assert not (tmp_path / "run").exists()
