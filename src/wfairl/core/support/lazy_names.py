"""Names that a package offers and loads when they are first used, so that importing it stays fast."""

from collections.abc import Callable, Mapping
from importlib import import_module
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
