"""Labels, words and automata."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "automaton": ("ACCEPTED", "DEAD", "Automaton", "Guard"),
    "finite": ("FiniteAutomaton",),
    "guarded": ("Edge", "GuardedAutomaton"),
    "rules": ("all_of", "avoid", "before", "then", "visit_all", "visit_in_order"),
    "task_model": ("TaskModel",),
    "words": ("compress",),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
