"""What to ask the demonstrator, what to show next, and what answers and corrections change; see README.md."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "corrections": ("HoldsBefore", "correction_of_document", "enforce_laws"),
    "question": ("add_answer", "find_question"),
    "scene_proposal": ("propose_scene",),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
