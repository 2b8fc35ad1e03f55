import re
from pathlib import Path


def test_the_snippets_of_the_guide_run_one_after_the_other(capsys):
    guide = (Path(__file__).parents[3] / "docs" / "planning.md").read_text()
    snippets = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    assert len(snippets) == 5
    exec(compile("\n".join(snippets), "docs/planning.md", "exec"), {})
    length, *_ = capsys.readouterr().out.split()
    assert float(length) > 0
