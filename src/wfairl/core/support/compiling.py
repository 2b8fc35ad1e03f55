"""Numba's compiler, with a cache that is never older than the code.

Numba compiles a kernel again when its own file has changed. But a compiled kernel also contains code and constants of
imported modules, and the cache would miss an update of those. So every module has its own cache directory, whose name
is a digest of its source and of all that it imports from this package.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache as memoized
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba

from wfairl.core.support.imports import import_without

# Numba imports SciPy's linear algebra, 0.2 s of processor, to see whether it is there. It is.
import_without("scipy.linalg", "numba.np.arraymath")._HAVE_BLAS = True  # type: ignore[attr-defined]

PACKAGE = Path(__file__).parents[2]
IMPORT = re.compile(rf"^\s*(?:from|import)\s+{PACKAGE.name}\.([\w.]+)(?:\s+import\s+([\w, ]+))?", re.MULTILINE)


def njit(*, cache: bool, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit`, also where no cache can be written (Numba refuses `cache` there); then every process compiles."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            with _directory_of(Path(function.__code__.co_filename)):
                return _ignore_literals(numba.njit(cache=cache, **options)(function))
        except RuntimeError:
            return _ignore_literals(numba.njit(**options)(function))

    return compiled


def _ignore_literals(kernel: Any) -> Any:
    """Compile one version of a kernel for all its callers; Numba would compile one for each constant argument."""
    find = kernel.get_call_template

    def find_for_types(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        unliteral = numba.types.unliteral
        return find(tuple(map(unliteral, args)), {name: unliteral(one) for name, one in kws.items()})

    kernel.get_call_template = find_for_types
    return kernel


@contextmanager
def _directory_of(source: Path) -> Iterator[None]:
    """Set Numba's cache to the directory of a module, for functions that are decorated meanwhile."""
    chosen = numba.config.CACHE_DIR
    try:
        numba.config.CACHE_DIR = str(_make_directory(source, chosen))
        yield
    finally:
        numba.config.CACHE_DIR = chosen


@memoized
def _make_directory(source: Path, chosen: str) -> Path | str:
    """The cache directory of a module; inside the package, those of its former versions are deleted.

    Args:
        source: the module's file.
        chosen: the user's own cache directory for Numba, or "".
    """
    if not source.is_relative_to(PACKAGE):
        return chosen
    name = ".".join(source.relative_to(PACKAGE).with_suffix("").parts)
    inside = source.parent / "__pycache__"
    for parent in [Path(chosen)] if chosen else [inside, *_user_cache()]:
        directory = parent / f"wfairl-kernels-{name}-{source_digest(source)[:16]}"
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        for former in inside.glob(f"wfairl-kernels-{name}-*"):
            if former != directory:
                shutil.rmtree(former, ignore_errors=True)
        return directory
    return chosen


def _user_cache() -> list[Path]:
    """The user's cache directory; empty without a home directory."""
    try:
        return [Path.home() / ".cache"]
    except RuntimeError:
        return []


def source_digest(source: Path) -> str:
    """A digest of a module's source and of every module of the package that it imports, directly or through others."""
    modules, queue = {source}, [source]
    for module in queue:  # which grows meanwhile
        new = _imports(module) - modules
        modules |= new
        queue += sorted(new)
    return sha256(b"".join(_read(module) for module in sorted(modules))).hexdigest()


@memoized
def _imports(source: Path) -> set[Path]:
    """The files of the package that a module imports."""
    files = set()
    for module, names in IMPORT.findall(_read(source).decode()):
        path = PACKAGE.joinpath(*module.split("."))
        candidates = [path, *(path / name.strip() for name in names.split(","))]
        files |= {one.with_suffix(".py") for one in candidates if one.with_suffix(".py").is_file()}
    return files


@memoized
def _read(source: Path) -> bytes:
    return source.read_bytes()
