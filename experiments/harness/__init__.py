"""The harness: cells in a directory that resume, one table of results, one page; see ../README.md."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "Cell": "cell",
    "DataFolder": "cell",
    "Experiment": "experiment",
    "Options": "experiment",
    "Outcome": "cell",
    "Results": "results",
    "PageTable": "tables",
    "mean_and_spread": "tables",
    "pivot": "tables",
    "register_experiment": "experiment",
    "run_experiment": "experiment",
    "table_of": "tables",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
