"""Suites of experiments, computed cell by cell into one directory, with tables, figures and a page."""

from wfairl.core.support.lazy_names import load_lazily

_MODULES = {
    "DataSet": "suite",
    "DataSuite": "data_suite",
    "Entry": "suite",
    "Fit": "data_suite",
    "Outcome": "data_suite",
    "Protocol": "suite",
    "Suite": "suite",
    "TextTable": "reproduction",
    "find_suite": "suite",
    "narrowed": "suite",
    "register_data_suite": "data_suite",
    "register_suite": "suite",
    "reproduce": "compute",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
