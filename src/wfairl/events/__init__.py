"""Event logs: readers, and learners of automata from scored words."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "alignment": ("Aligner",),
    "conformance": ("conform", "conform_frame", "learn_process"),
    "declare": ("DeclareLearner",),
    "event_logs": ("LogColumns", "read_event_log"),
    "merging": ("MergingLearner",),
    "order_learner": ("OrderLearner",),
    "scored_words": ("read_jsonl",),
    "shortest": ("ShortestLearner",),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
