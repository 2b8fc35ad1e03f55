"""The public data sets by name."""

from wfairl.public_data.borlange import BORLANGE
from wfairl.public_data.labyrinth import LABYRINTH
from wfairl.public_data.shanghai import SHANGHAI
from wfairl.public_data.source import PublicSource
from wfairl.registry import Registry

SOURCES = Registry("data set", {source.name: source for source in (LABYRINTH, BORLANGE, SHANGHAI)})


def find_source(name: str) -> PublicSource:
    """The data set of a name; an unknown name is a `BadInputError`."""
    return SOURCES.find(name)
