"""What to ask the demonstrator, what to show next, and what the answers change."""

from wfairl.core.support.lazy_names import load_lazily

_MODULES = {
    "Before": "corrections",
    "correction_of_document": "corrections",
    "find_question": "questions",
    "find_scene": "proposals",
    "obey": "corrections",
    "take_answer": "questions",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
