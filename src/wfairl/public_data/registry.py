"""The public data sets by name."""

from wfairl.errors import BadInputError
from wfairl.public_data.borlange import BORLANGE
from wfairl.public_data.labyrinth import LABYRINTH
from wfairl.public_data.shanghai import SHANGHAI
from wfairl.public_data.source import PublicSource

SOURCES = {source.name: source for source in (LABYRINTH, BORLANGE, SHANGHAI)}


def find_source(name: str) -> PublicSource:
    """The data set of a name; an unknown name is a `BadInputError`."""
    if name not in SOURCES:
        raise BadInputError(f"unknown data set {name!r}; known are {', '.join(SOURCES)}")
    return SOURCES[name]
