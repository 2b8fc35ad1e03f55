"""The guide to files names the formats and versions that the code writes."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def written(folder):
    """Format and version of every `Form` in the source below a folder."""
    forms = {}
    for path in (ROOT / folder).rglob("*.py"):
        tree = ast.parse(path.read_text())
        texts = {
            one.targets[0].id: one.value.value
            for one in tree.body
            if isinstance(one, ast.Assign)
            and isinstance(one.value, ast.Constant)
            and isinstance(one.targets[0], ast.Name)
        }
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Form":
                name, _, version = call.args[:3]
                name, version = (texts[one.id] if isinstance(one, ast.Name) else one.value for one in (name, version))
                forms[name] = version
    return forms


def test_the_guide_names_the_versions_that_are_written():
    rows = re.findall(
        r"^\| `.*?\| `(wfairl-[\w-]+)` \| (\d+) \|", (ROOT / "docs" / "files.md").read_text(), re.MULTILINE
    )
    told = {name: int(version) for name, version in rows}
    assert told
    assert told.items() <= (written("src/wfairl") | written("experiments")).items()
    assert written("src/wfairl").keys() <= told.keys()
