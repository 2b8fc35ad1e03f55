"""The formats that an automaton is written in and read from; each module knows one of them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from wfairl.core.automata.automaton import Automaton, EdgeCounts
from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.support.errors import BadInputError, WfairlError
from wfairl.core.support.files import read_text
from wfairl.core.support.registry import Registry

__all__ = ["FORMATS", "Format", "read_automaton"]


@dataclass(frozen=True)
class Format:
    """A format of automata."""

    name: str
    suffixes: tuple[str, ...]  # of files in it
    write: Callable[[Automaton, EdgeCounts], str | bytes]  # from an automaton and how often its edges were taken
    read: Callable[[str], GuardedAutomaton] | None = None  # None for formats that are only written


def _lazily(place: str, arguments: int = 1) -> Callable[..., Any]:
    """The function at a place, "module:NAME", which is imported when it is called; it takes the first arguments."""
    return lambda *given: resolve_name(place)(*given[:arguments])


_HERE, _DRAWING = "wfairl.specifications.formats", "wfairl.pages.automata"

FORMATS: Registry[Format] = Registry(
    "format",
    {
        one.name: one
        for one in (
            Format("svg", (".svg",), _lazily(f"{_DRAWING}.images:automaton_svg", 2)),
            Format("png", (".png",), _lazily(f"{_DRAWING}.figures:automaton_png", 2)),
            Format("dot", (".dot", ".gv"), _lazily(f"{_DRAWING}.dot:to_dot", 2)),
            Format("hoa", (".hoa",), _lazily(f"{_HERE}.hoa:to_hoa"), _lazily(f"{_HERE}.hoa:from_hoa")),
            Format("ltlf", (".ltlf",), _lazily(f"{_HERE}.ltlf:to_ltlf"), _lazily(f"{_HERE}.ltlf:from_ltlf")),
            Format(
                "reward-machine",
                (".rm",),
                _lazily(f"{_HERE}.reward_machine:to_reward_machine"),
                _lazily(f"{_HERE}.reward_machine:from_reward_machine"),
            ),
            Format("python", (".py",), _lazily(f"{_HERE}.python_module:to_python")),
            Format("pnml", (".pnml",), _lazily(f"{_HERE}.pnml:to_pnml")),
        )
    },
)
"""The formats by name; a model for PRISM is of a world, too, and so in `wfairl.specifications.prism`."""

DRAWINGS = ("svg", "png", "dot", "hoa")
"""What `wfairl draw` writes."""


def find_format(name: str | None, path: Path | None, among: Callable[[Format], bool] = lambda _: True) -> Format:
    """The format of a name, or of the suffix of a file if there is no name; a `BadInputError` lists all."""
    suffix = "" if path is None else path.suffix.lower()
    formats = [one for one in FORMATS.values() if among(one)]
    for one in formats:
        if name == one.name or (name is None and suffix in one.suffixes):
            return one
    asked = f"{path}: '{suffix}'" if name is None else f"'{name}'"
    listed = ", ".join(f"{one.name} ({' '.join(one.suffixes)})" for one in formats)
    raise BadInputError(f"{asked} is none of the formats {listed}")


def read_automaton(path: Path, name: str | None = None) -> GuardedAutomaton:
    """Read the automaton in a file whose format has a name, or else the suffix of the file."""
    form = find_format(name, path, lambda one: one.read is not None)
    assert form.read is not None  # by the filter above
    text = read_text(path)
    try:
        return form.read(text)
    except (WfairlError, ValueError) as error:  # nothing is accepted, or a number has thousands of digits
        raise BadInputError(f"{path}: {error}") from None
