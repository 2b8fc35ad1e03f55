"""Imports of packages that would import another, slow package for a part that is not used here."""

import sys
from importlib import import_module
from types import ModuleType


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
