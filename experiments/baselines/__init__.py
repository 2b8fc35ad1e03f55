"""What the paper's method is compared with: behavioural cloning, GAIL, no automaton, a recurrent task model."""

from wfairl.core.support.lazy_names import load_lazily

_MODULES = {
    "fit_recurrent_task": "recurrent_automaton",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
