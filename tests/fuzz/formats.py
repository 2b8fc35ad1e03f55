"""All formats that wfairl reads."""

from fuzz import formats_of_experiments, formats_of_runs, formats_of_tasks
from fuzz.file_format import FileFormat

FORMATS: tuple[FileFormat, ...] = (
    *formats_of_tasks.FORMATS,
    *formats_of_runs.FORMATS,
    *formats_of_experiments.FORMATS,
)
