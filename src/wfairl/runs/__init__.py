"""From demonstrations to an evaluated run in a directory."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "collection": ("FIRST_TRAINING_SEED", "collect"),
    "evaluation": ("Episode", "Evaluation", "evaluate"),
    "methods": ("Method", "Trained", "register_method"),
    "run_directory": ("Run", "RunConfig", "check_free", "load_run", "seen_tests", "write_config"),
    "task_laws": ("check_task",),
    "task_registry": ("all_tasks", "find_task", "load_tasks", "register_task", "slipping_task"),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
