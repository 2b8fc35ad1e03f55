"""Command-line options generated from dataclasses of settings, with their names, types, defaults and help.

The help of an option is its entry under "Attributes" in the dataclass's docstring. A setting of several dataclasses is
one option, whose help lists their defaults.
"""

import inspect
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer

from wfairl.core.runs.methods import plain


@dataclass(frozen=True)
class Setting:
    """One field of a dataclass of settings.

    Attributes:
        type: of its values, or of the items of a tuple.
        is_tuple: whether it holds several values.
        default: the default; None where data or task decide.
        help: its description.
    """

    type: type[Any]
    is_tuple: bool
    default: Any
    help: str


def settings_of(record: type[Any]) -> dict[str, Setting]:
    """The settings of a dataclass that a text can state, by name."""
    hints, descriptions, defaults = get_type_hints(record), _attributes(inspect.getdoc(record) or ""), record()
    types_of = {one.name: _value_type(hints[one.name]) for one in fields(record)}
    return {
        name: Setting(kind, is_tuple, plain(getattr(defaults, name)), descriptions.get(name, ""))
        for name, (kind, is_tuple) in types_of.items()
        if isinstance(kind, type) and issubclass(kind, bool | int | float | str)
    }


def with_settings(records: Mapping[str, type[Any]]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add an option to a command for every setting of dataclasses, given by the names of their owners.

    The command receives the options that the user gave as `settings: dict[str, Any]`.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        owners = _owners(records)
        taken = set(own.parameters)
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(name, group))
            for name, group in owners.items()
            if name not in taken
        ]
        kept = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, one in own.parameters.items()
            if name != "settings"
        ]

        def call(**arguments: Any) -> None:
            given = {name: arguments.pop(name, None) for name in owners if name not in taken}
            settings = {name: plain(value) for name, value in given.items() if value not in (None, [], ())}
            command(**arguments, settings=settings)

        call.__doc__, call.__name__ = command.__doc__, command.__name__
        call.__signature__ = inspect.Signature([*kept, *added])  # type: ignore[attr-defined]
        call.__annotations__ = {one.name: one.annotation for one in (*kept, *added)}
        return call

    return decorate


def _owners(records: Mapping[str, type[Any]]) -> dict[str, dict[str, Setting]]:
    """For each setting, the settings of that name by their owners."""
    owners: dict[str, dict[str, Setting]] = {}
    for owner, record in records.items():
        for name, setting in settings_of(record).items():
            owners.setdefault(name, {})[owner] = setting
    return owners


def _annotation(name: str, group: Mapping[str, Setting]) -> Any:
    first = next(iter(group.values()))
    kind: Any = list[first.type] if first.is_tuple else first.type  # type: ignore[name-defined]
    flag = f"--{name.replace('_', '-')}"
    declaration = f"{flag}/--no-{name.replace('_', '-')}" if first.type is bool else flag
    several = " Repeat it for several." if first.is_tuple else ""
    panel = " and ".join(group) if len(group) < 3 else "Settings of several"
    return Annotated[kind | None, typer.Option(declaration, help=_help(group) + several, rich_help_panel=panel)]


def _help(group: Mapping[str, Setting]) -> str:
    """The description of a setting and its default; one for each owner where they differ."""
    texts: dict[str, list[str]] = {}
    for owner, setting in group.items():
        text = setting.help[:1].upper() + setting.help[1:]
        texts.setdefault(f"{text.rstrip('.')} {_default_text(setting)}".strip() + ".", []).append(owner)
    if len(texts) == 1:
        return next(iter(texts))
    return " ".join(f"{', '.join(owners)}: {text}" for text, owners in texts.items())


def _default_text(setting: Setting) -> str:
    if setting.default is None:
        return ""
    shown = ", ".join(map(str, setting.default)) if isinstance(setting.default, list) else setting.default
    return f"({shown:g})" if isinstance(shown, float) else f"({shown})"


def _value_type(hint: Any) -> tuple[type[Any], bool]:
    """The type of a field without None, or of the items of a tuple."""
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(one for one in get_args(hint) if one is not type(None))
    if get_origin(hint) is tuple:
        return get_args(hint)[0], True
    return hint, False


def _attributes(docstring: str) -> dict[str, str]:
    """The description of each attribute under "Attributes" in a docstring."""
    section = docstring.partition("Attributes:\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    return {name: " ".join(text.replace("`", "").split()) for name, text in entries}
