"""Command-line options generated from dataclasses of settings, with their names, types, defaults and help.

The help of an option is its entry under "Attributes" in the dataclass's docstring. A setting of several dataclasses is
one option, whose help lists their defaults.
"""

import inspect
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer

from wfairl.core.support.documents import plain


@dataclass(frozen=True)
class Setting:
    """One field of a dataclass of settings."""

    type: type[Any]  # of its values, or of the items of a tuple
    is_tuple: bool  # whether it holds several values
    default: Any  # None where data or task decide
    help: str


Settings = Mapping[str, Setting]
"""The settings of a dataclass, by name."""


def settings_of(record: type[Any]) -> Settings:
    """The settings of a dataclass that a text can state; fields without a default are none."""
    hints, descriptions = get_type_hints(record), _attributes(inspect.getdoc(record) or "")
    settings = {}
    for one in fields(record):
        kind, is_tuple = _value_type(hints[one.name])
        if isinstance(kind, type) and issubclass(kind, bool | int | float | str) and one.default is not MISSING:
            settings[one.name] = Setting(kind, is_tuple, plain(one.default), descriptions.get(one.name, ""))
    return settings


def with_settings(settings: Mapping[str, Settings]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add an option to a command for every setting, given by the names of their owners.

    The command receives the options that the user gave as `settings: dict[str, Any]`.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters
        options: dict[str, dict[str, Setting]] = {}
        for owner, owned in settings.items():
            for name in (one for one in owned if one not in own):
                options.setdefault(name, {})[owner] = owned[name]
        kept = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for name, one in own.items() if name != "settings"]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(name, group))
            for name, group in options.items()
        ]

        def call(**arguments: Any) -> None:
            values = {name: arguments.pop(name, None) for name in options}
            given = {name: plain(value) for name, value in values.items() if value not in (None, [], ())}
            command(**arguments, settings=given)

        call.__doc__, call.__name__ = command.__doc__, command.__name__
        call.__signature__ = inspect.Signature([*kept, *added])  # type: ignore[attr-defined]
        call.__annotations__ = {one.name: one.annotation for one in (*kept, *added)}
        return call

    return decorate


def _annotation(name: str, group: Mapping[str, Setting]) -> Any:
    first = next(iter(group.values()))
    kind: Any = list[first.type] if first.is_tuple else first.type  # type: ignore[name-defined]
    flag = f"--{name.replace('_', '-')}"
    declaration = f"{flag}/--no-{name.replace('_', '-')}" if first.type is bool else flag
    several = " Repeat it for several." if first.is_tuple else ""
    panel = " and ".join(group) if len(group) < 3 else "Settings of several"
    option = typer.Option(declaration, help=_help(group) + several, rich_help_panel=panel or None)
    return Annotated[kind | None, option]


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
    """The type of a field without None, or of the items of a tuple; and whether it is a tuple."""
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
