"""Imports that come when a name is first used, or that leave a slow part out, so that importing stays fast."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def load_lazily(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package.

    Args:
        package: its name.
        modules: the module below the package that defines each name.
    """

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return load, lambda: sorted(modules)


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
