"""Things of one kind by name: tasks, methods, learners, cost models, suites, public data."""

from collections.abc import Iterable, Iterator, Mapping
from pkgutil import resolve_name
from typing import TypeVar

from wfairl.core.support.errors import BadInputError

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """The things of one kind, by the names used in files and on the command line.

    Args:
        noun: what one of them is called in messages.
        entries: the built-in ones. A text "module:NAME" is where one is defined: it is imported when it is asked for.
        advice: a sentence after the message about an unknown name.
    """

    def __init__(self, noun: str, entries: Mapping[str, T | str], advice: str = "") -> None:
        self.noun, self.advice = noun, advice
        self._entries = dict(entries)

    def find(self, name: str) -> T:
        """The entry of a name.

        Raises:
            BadInputError: there is none; lists the names.
        """
        if name not in self._entries:
            advice = f". {self.advice}" if self.advice else ""
            raise BadInputError(f"unknown {self.noun} {name!r}; known are {', '.join(self)}{advice}")
        return self[name]

    def register(self, name: str, entry: T) -> T:
        """Add an entry.

        Raises:
            BadInputError: another one has this name.
        """
        self.register_all([(name, entry)])
        return entry

    def register_all(self, entries: Iterable[tuple[str, T]]) -> None:
        """Add entries; if one of them is refused, none is added."""
        together = dict(self._entries)
        for name, entry in entries:
            if together.setdefault(name, entry) is not entry:
                raise BadInputError(f"there is a {self.noun} {name!r} already")
        self._entries = together

    def __getitem__(self, name: str) -> T:
        entry = self._entries[name]
        if isinstance(entry, str):
            self._entries[name] = entry = resolve_name(entry)
        return entry

    def __contains__(self, name: object) -> bool:
        return name in self._entries  # without importing it

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
