"""Numba's compiler, with a cache that is never older than the code, and an interpreter for a first small call.

Numba compiles a kernel again when its own file has changed. But a compiled kernel also contains code and constants of
imported modules, and the cache would miss an update of those. So the names of a kernel's files in the cache hold a
digest of its module's source and of all that this imports from the package.

To compile takes seconds, and a first plan in a small world takes half a second in Python's own interpreter. So a kernel
that gives the same bits there (`exact`) is interpreted until that has taken long, or its arrays are large.
"""

import glob
import re
from collections.abc import Callable
from functools import cache as memoized
from hashlib import sha256
from pathlib import Path
from time import thread_time
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numba
import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.registry import CPUDispatcher

from wfairl.core.support.imports import import_without

# Numba imports SciPy's linear algebra, 0.2 s of processor, to see whether it is there. It is.
import_without("scipy.linalg", "numba.np.arraymath")._HAVE_BLAS = True  # type: ignore[attr-defined]

PACKAGE = Path(__file__).parents[2]
IMPORT = re.compile(rf"^\s*(?:from|import)\s+{PACKAGE.name}\.([\w.]+)(?:\s+import\s+([\w, ]+))?", re.MULTILINE)

PATIENCE = 1.0
"""Seconds of processor in the interpreter after which a kernel is compiled."""

LARGEST_INTERPRETED = 1 << 19
"""Entries of a kernel's arrays above which it is compiled at once; the interpreter takes a microsecond for each."""


def njit(*, cache: bool, exact: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit`, also where no cache can be written (Numba refuses `cache` there); then every process compiles.

    Args:
        cache: whether to keep the compiled code.
        exact: whether the kernel computes with integers, sums and comparisons alone, and no number overflows in NumPy
            that would not overflow in compiled code. Then its first small calls are interpreted.
        options: of Numba.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            kernel = numba.njit(cache=cache, no_cfunc_wrapper=True, **options)(function)
        except RuntimeError:
            kernel = numba.njit(no_cfunc_wrapper=True, **options)(function)
        if isinstance(kernel._cache, FunctionCache):
            _name_by_digest(kernel._cache, Path(function.__code__.co_filename))
        if exact:
            kernel.__class__, kernel.interpreted_for = _Interpreted, 0.0
        return _ignore_literals(kernel)

    return compiled


def inner(function: Callable[..., Any]) -> Any:
    """A kernel that only other kernels call; it is kept as a part of these. It takes less time to compile."""
    return _ignore_literals(numba.njit(nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True)(function))


def _name_by_digest(kept: FunctionCache, source: Path) -> None:
    """Keep a kernel in files whose names hold the digest of its source, and delete those of former versions."""
    digest, base, directory = source_digest(source), kept._impl.filename_base, Path(kept.cache_path)
    for former in directory.glob(f"{glob.escape(base.rpartition('-')[0])}-*.nb?"):
        if digest not in former.name:
            former.unlink(missing_ok=True)
    kept._cache_file = IndexDataCacheFile(kept.cache_path, f"{base}-{digest}", digest)


class _Interpreted(CPUDispatcher):
    """A kernel that is interpreted as yet when Python calls it; other kernels call it compiled."""

    def __call__(self, *args: Any) -> Any:
        begin = thread_time()
        is_kept, is_large = self.interpreted_for == 0 and _is_kept(self), _entries(args) > LARGEST_INTERPRETED
        if is_kept or is_large or self.interpreted_for > PATIENCE:
            self.__class__ = CPUDispatcher
            return self(*args)
        with np.errstate(over="ignore"):  # hashes overflow, and are meant to
            result = _plain(self)(*args)
        self.interpreted_for += thread_time() - begin
        return tuple(map(_as_python, result)) if type(result) is tuple else _as_python(result)


def _is_kept(kernel: CPUDispatcher) -> bool:
    """Whether an earlier process has compiled a kernel."""
    return isinstance(kernel._cache, FunctionCache) and Path(kernel._cache._cache_file._index_path).exists()


def _entries(value: Any) -> int:
    return sum(map(_entries, value)) if isinstance(value, tuple) else getattr(value, "size", 1)


@memoized
def _plain(kernel: CPUDispatcher) -> FunctionType:
    """The Python function of a kernel, which calls the Python functions of other kernels."""
    function = kernel.py_func
    names = function.__code__.co_names
    known = {name: _plain_value(function.__globals__[name], names) for name in names if name in function.__globals__}
    known["__builtins__"] = function.__globals__["__builtins__"]
    return FunctionType(function.__code__, known, function.__name__, function.__defaults__, function.__closure__)


def _plain_value(value: Any, names: tuple[str, ...]) -> Any:
    """What a global name of a kernel stands for in its Python function; of a module, the names that the kernel uses."""
    if isinstance(value, CPUDispatcher):
        return _plain(value)
    if isinstance(value, ModuleType) and value.__name__.startswith(PACKAGE.name):
        used = {name: getattr(value, name) for name in names if hasattr(value, name)}
        return SimpleNamespace(**{name: _plain_value(one, names) for name, one in used.items()})
    return value


def _as_python(value: Any) -> Any:
    """A number of NumPy as compiled code returns it."""
    return value.item() if isinstance(value, np.generic) else value


def _ignore_literals(kernel: Any) -> Any:
    """Compile one version of a kernel for all its callers; Numba would compile one for each constant argument."""
    find = kernel.get_call_template

    def find_for_types(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        unliteral = numba.types.unliteral
        return find(tuple(map(unliteral, args)), {name: unliteral(one) for name, one in kws.items()})

    kernel.get_call_template = find_for_types
    return kernel


@memoized
def source_digest(source: Path) -> str:
    """A digest of a module's source and of every module of the package that it imports, directly or through others."""
    modules, queue = {source}, [source]
    for module in queue:  # which grows meanwhile
        new = _imports(module) - modules
        modules |= new
        queue += sorted(new)
    return sha256(b"".join(_read(module) for module in sorted(modules))).hexdigest()[:16]


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
