"""Event logs: readers, and learners of automata from scored words."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "Aligner": "alignment",
    "DeclareLearner": "declare",
    "conform": "conformance",
    "conform_frame": "conformance",
    "learn_process": "conformance",
    "MergingLearner": "merging",
    "OrderLearner": "order_learner",
    "ShortestLearner": "shortest",
    "LogColumns": "event_logs",
    "read_event_log": "event_logs",
    "read_jsonl": "scored_words",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
