"""The public data sets by name."""

from experiments.public_data.borlange import BORLANGE
from experiments.public_data.labyrinth import LABYRINTH
from experiments.public_data.shanghai import SHANGHAI
from experiments.public_data.source import PublicSource
from wfairl.core.support.registry import Registry

SOURCES = Registry("data set", {source.name: source for source in (LABYRINTH, BORLANGE, SHANGHAI)})


def find_source(name: str) -> PublicSource:
    """The data set of a name; an unknown name is a `BadInputError`."""
    return SOURCES.find(name)
