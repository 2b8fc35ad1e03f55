"""What comes from elsewhere: a user's own logs, Minari's data sets, and Gymnasium's tables as worlds."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "gymnasium_table": ("GymnasiumWorld",),
    "log": ("read_log",),
    "minari_exchange": ("export_minari", "import_minari"),
    "slip_estimate": ("estimate_slip",),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
