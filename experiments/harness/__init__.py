"""The harness: cells in a directory that resume, one table of results, one page; see ../README.md."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "cell": ("Cell", "DataFolder", "Outcome"),
    "experiment": ("Experiment", "Options", "register_experiment", "run_experiment"),
    "results": ("Results",),
    "tables": ("mean_and_spread", "pivot", "table_of"),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
