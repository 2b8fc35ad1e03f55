"""What comes from elsewhere: a user's own logs, Minari's data sets, and Gymnasium's tables as worlds."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "GymnasiumWorld": "gymnasium_table",
    "estimate_slip": "slip_estimate",
    "export_minari": "minari_exchange",
    "import_minari": "minari_exchange",
    "read_log": "log",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
