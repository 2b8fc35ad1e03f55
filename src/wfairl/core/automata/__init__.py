"""Labels, words and automata."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "ACCEPTED": "automaton",
    "Automaton": "automaton",
    "DEAD": "automaton",
    "Edge": "guarded",
    "FiniteAutomaton": "finite",
    "Guard": "automaton",
    "GuardedAutomaton": "guarded",
    "TaskModel": "task_model",
    "all_of": "rules",
    "avoid": "rules",
    "before": "rules",
    "compress": "words",
    "then": "rules",
    "visit_all": "rules",
    "visit_in_order": "rules",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
