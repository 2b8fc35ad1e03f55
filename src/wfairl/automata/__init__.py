"""From scored words to an automaton."""

from wfairl.lazy_names import load_lazily

_MODULES = {
    "ACCEPTED": "automaton",
    "Automaton": "automaton",
    "FiniteAutomaton": "finite",
    "Reading": "word_learners",
    "SpectralLearner": "spectral",
    "TaskModel": "task_model",
    "WordLearner": "word_learners",
    "all_of": "rules",
    "avoid": "rules",
    "before": "rules",
    "compress": "words",
    "find_word_learner": "word_learners",
    "fit_task_model": "task_model",
    "read_event_log": "event_logs",
    "read_jsonl": "words",
    "same_words": "symbolic",
    "then": "rules",
    "visit_all": "rules",
    "visit_in_order": "rules",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
