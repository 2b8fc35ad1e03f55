"""Things of one kind by name: tasks, methods, learners, cost models, planners.

The core brings some, and its neighbours offer others (`wfairl.neighbours`). An offer is a text, "module" or
"module:NAME", which is imported when the thing is asked for.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pkgutil import resolve_name
from typing import TypeVar

from wfairl.core.support.errors import BadInputError, did_you_mean

T = TypeVar("T")

_offers: dict[str, dict[str, str]] = {}
"""The offers of the neighbours, by the noun of their registry and by name."""


def offer(noun: str, entries: Mapping[str, str]) -> None:
    """Offer things to the registry with a noun, which must not exist yet."""
    _offers.setdefault(noun, {}).update(entries)


class Registry(Mapping[str, T]):
    """The things of one kind, by the names used in files and on the command line.

    Args:
        noun: what one of them is called in messages.
        entries: those of the core; the neighbours' offers follow them.
        advice: a sentence after the message about an unknown name.
        load: from a name and the text of its offer to the thing.
    """

    def __init__(
        self,
        noun: str,
        entries: Mapping[str, T | str],
        advice: str = "",
        load: Callable[[str, str], T] = lambda _, text: resolve_name(text),
    ) -> None:
        self.noun, self.advice, self._load = noun, advice, load
        self._entries: dict[str, T | str] = {**entries, **_offers.get(noun, {})}

    def find(self, name: str) -> T:
        """The entry of a name; an unknown name is a `BadInputError` that lists the names."""
        if name not in self._entries:
            advice = f". {self.advice}" if self.advice else ""
            unknown = f"unknown {self.noun} {name!r}{did_you_mean(name, self)}"
            raise BadInputError(f"{unknown}; known are {', '.join(self)}{advice}")
        return self[name]

    def register(self, name: str, entry: T) -> T:
        """Add an entry; a name that is taken is a `BadInputError`."""
        self.register_all([(name, entry)])
        return entry

    def register_all(self, entries: Iterable[tuple[str, T]]) -> None:
        """Add entries; if one of them is refused, none is added."""
        new: dict[str, T] = {}
        for name, entry in entries:
            if (self[name] if name in self else new.setdefault(name, entry)) is not entry:
                raise BadInputError(f"there is a {self.noun} {name!r} already")
        self._entries |= new

    def __getitem__(self, name: str) -> T:
        entry = self._entries[name]
        if isinstance(entry, str):
            self._entries[name] = entry = self._load(name, entry)
        return entry

    def __contains__(self, name: object) -> bool:
        return name in self._entries  # without importing it

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
