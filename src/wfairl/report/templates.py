"""The templates of pages: `assets/*.html.jinja`. Whatever is put into one is escaped, unless it is `Markup`."""

from functools import cache
from importlib.resources import files
from typing import ClassVar, Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wfairl.report.text import Text


class Block(Protocol):
    """A part of a section: prose, facts, a table, a figure, a chart, a drawing, a player.

    Attributes:
        template: the macro of `blocks.html.jinja` that renders it.
    """

    template: ClassVar[str]


def block_html(block: Block) -> str:
    """A block as HTML."""
    return str(getattr(environment().get_template("blocks.html.jinja").module, block.template)(block))


def text_html(text: Text) -> str:
    """A text as HTML."""
    return str(environment().get_template("text.html.jinja").module.text(text))  # type: ignore[attr-defined]


def render(template: str, **values: object) -> str:
    """A template with its places filled in."""
    return environment().get_template(template).render(**values)


def asset(name: str) -> Markup:
    """A file of the package that stands in a page as it is: the style and the script."""
    return Markup(files("wfairl.report").joinpath("assets", name).read_text(encoding="utf-8"))


@cache
def environment() -> Environment:
    """Where the templates are found, and how they are filled in."""
    return Environment(
        loader=PackageLoader("wfairl.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
