"""Numba's compiler, with a cache that is never older than the code.

Numba compiles a kernel anew when its own file has changed. But a kernel holds the code and the constants of the modules
that it uses, too: after an update of one of those, the cache would go on with what they were. So every module has a
directory of its own in the cache, whose name is a digest of its source and of all that it imports from this package.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache as remembered
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba

PACKAGE = Path(__file__).parent
IMPORT = re.compile(rf"^\s*(?:from|import)\s+{PACKAGE.name}\.([\w.]+)(?:\s+import\s+([\w, ]+))?", re.MULTILINE)


def njit(*, cache: bool, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit`, which refuses `cache` where neither the package nor the home of the user can be written.

    There, every process compiles anew.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            with _directory_of(Path(function.__code__.co_filename)):
                return _ignore_literals(numba.njit(cache=cache, **options)(function))
        except RuntimeError:
            return _ignore_literals(numba.njit(**options)(function))

    return compiled


def _ignore_literals(kernel: Any) -> Any:
    """Have one version of a kernel for all calls by others; Numba would compile one for each constant they pass."""
    find = kernel.get_call_template

    def find_for_types(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return find(
            tuple(map(numba.types.unliteral, args)), {name: numba.types.unliteral(one) for name, one in kws.items()}
        )

    kernel.get_call_template = find_for_types
    return kernel


@contextmanager
def _directory_of(source: Path) -> Iterator[None]:
    """Let Numba keep what it compiles in the directory of a module, for functions that are decorated meanwhile."""
    chosen = numba.config.CACHE_DIR
    try:
        numba.config.CACHE_DIR = str(_make_directory(source, chosen))
        yield
    finally:
        numba.config.CACHE_DIR = chosen


@remembered
def _make_directory(source: Path, chosen: str) -> Path | str:
    """Where a module's kernels are kept; inside the package, those of former versions of it are deleted.

    Args:
        source: the module's file.
        chosen: the directory that the user has chosen for Numba, or nothing.
    """
    if not source.is_relative_to(PACKAGE):
        return chosen
    name = ".".join(source.relative_to(PACKAGE).with_suffix("").parts)
    inside = source.parent / "__pycache__"
    for parent in [Path(chosen)] if chosen else [inside, *_cache_of_user()]:
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


def _cache_of_user() -> list[Path]:
    """Where a user keeps what can be made again; nowhere if there is no home."""
    try:
        return [Path.home() / ".cache"]
    except RuntimeError:
        return []


def source_digest(source: Path) -> str:
    """A digest of a module's source and of every module of the package that it imports, directly or through others."""
    known, todo = {source}, [source]
    for module in todo:  # grows while we walk it
        new = _imports(module) - known
        known |= new
        todo += sorted(new)
    return sha256(b"".join(_read(module) for module in sorted(known))).hexdigest()


@remembered
def _imports(source: Path) -> set[Path]:
    """The files of the package that a module imports."""
    found = set()
    for module, names in IMPORT.findall(_read(source).decode()):
        place = PACKAGE.joinpath(*module.split("."))
        candidates = [place, *(place / name.strip() for name in names.split(","))]
        found |= {one.with_suffix(".py") for one in candidates if one.with_suffix(".py").is_file()}
    return found


@remembered
def _read(source: Path) -> bytes:
    return source.read_bytes()
