"""What to ask the demonstrator, what to show next, and what answers and corrections change; see README.md."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "HoldsBefore": "corrections",
    "add_answer": "question",
    "correction_of_document": "corrections",
    "enforce_laws": "corrections",
    "find_question": "question",
    "propose_scene": "scene_proposal",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
