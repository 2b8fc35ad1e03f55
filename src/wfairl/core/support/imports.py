"""Imports that come when a name is first used, or that leave a slow part out, so that importing stays fast."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any


def load_lazily(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a package that takes names from the modules below it."""
    module_of = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{module_of[name]}"), name)

    return load, lambda: sorted(module_of), sorted(module_of)


def import_without(hidden: str, name: str) -> ModuleType:
    """Import a module while another one seems not to be installed.

    The other one can be imported afterwards; if it has been imported already, nothing is hidden.
    """
    if hidden in sys.modules:
        return import_module(name)
    sys.modules[hidden] = None  # type: ignore[assignment] # so that an import of it fails
    try:
        return import_module(name)
    finally:
        del sys.modules[hidden]
