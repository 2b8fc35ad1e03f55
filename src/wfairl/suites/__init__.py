"""Suites of experiments, computed cell by cell into one directory, with tables, figures and a page."""

from wfairl.lazy_names import load_lazily

_MODULES = {
    "DataSet": "suite",
    "Entry": "suite",
    "Protocol": "suite",
    "Suite": "suite",
    "find_suite": "suite",
    "narrowed": "suite",
    "register_suite": "suite",
    "reproduce": "compute",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
