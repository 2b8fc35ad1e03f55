"""From demonstrations to an evaluated run in a directory."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "Episode": "evaluation",
    "Evaluation": "evaluation",
    "Method": "methods",
    "Run": "run_directory",
    "RunConfig": "run_directory",
    "Trained": "methods",
    "check_free": "run_directory",
    "evaluate": "evaluation",
    "load_run": "run_directory",
    "register_method": "methods",
    "seen_tests": "run_directory",
    "write_config": "run_directory",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
