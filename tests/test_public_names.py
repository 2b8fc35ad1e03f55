"""What `import wfairl` and its rooms offer is there, and documents use nothing else."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import wfairl

ROOT = Path(__file__).parents[1]
ROOMS = sorted(
    ".".join(("wfairl", *path.parent.relative_to(ROOT / "src" / "wfairl").parts))
    for path in (ROOT / "src" / "wfairl").rglob("__init__.py")
    if "__all__" in path.read_text()
)
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").glob("*.py"))]


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_that_a_room_lists_is_there(room):
    module = importlib.import_module(room)
    assert len(module.__all__) == len(set(module.__all__))
    assert set(module.__all__) - {"__version__"} <= set(dir(module))
    for name in module.__all__:
        assert not inspect.ismodule(getattr(module, name))  # no module of that name stands in its place


def test_type_checkers_and_programs_see_the_same_names():
    tree = ast.parse(Path(wfairl.__file__).read_text())
    checked = next(one for one in tree.body if isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING")
    imported = {alias.name: str(one.module) for one in checked.body for alias in one.names}
    assert imported == {name: f"wfairl.{module}" for module, names in wfairl._MODULES.items() for name in names}
    assert {*imported, "__version__"} == set(wfairl.__all__)


def test_an_unknown_name_cannot_be_imported():
    with pytest.raises(ImportError, match="cannot import name 'magic'"):
        from wfairl.core.rational import magic  # noqa: F401


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_imports_public_names_only(document):
    text = document.read_text()
    snippets = [text] if document.suffix == ".py" else re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    for snippet in snippets:
        for one in ast.walk(ast.parse(snippet)):
            if isinstance(one, ast.ImportFrom) and str(one.module).split(".")[0] == "wfairl":
                public = importlib.import_module(str(one.module)).__all__
                assert {alias.name for alias in one.names} <= set(public), one.module
