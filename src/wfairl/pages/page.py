"""A page: one self-contained HTML file.

    page = Page("doorkey", "pick up the key, ...", (Section("Result", (Table(...), prose("..."))),))
    write_page(page, Path("report.html"))

Style, script and images are part of the file, and a content security policy forbids the browser any request. The
templates, `assets/*.html.jinja`, escape all values but `Markup`.
"""

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import ClassVar, Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import write_atomically
from wfairl.pages.text import Text

__all__ = ["Block", "Page", "Section", "check_page_file", "page_html", "write_page"]


class Block(Protocol):
    """A part of a section: prose, facts, a table, a figure, a chart, a drawing, a player.

    Attributes:
        template: the macro of `blocks.html.jinja` that renders it.
    """

    template: ClassVar[str]


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading; the contents of the page list it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """A page; `kind` is the line above its title, and `notice` a warning below it."""

    title: str
    subtitle: Text
    sections: tuple[Section, ...]
    kind: str = "wfairl"
    footer: Text = ""
    notice: Text = ""


def check_page_file(path: Path) -> None:
    """Refuse a file name that does not end in .html. Raises `BadInputError`."""
    if path.suffix.lower() != ".html":
        raise BadInputError(f"{path}: a page is written as *.html")


def write_page(page: Page, path: Path) -> None:
    """Write a page to a file, atomically; errors as in `check_page_file`."""
    check_page_file(path)
    write_atomically(path, page_html(page))


def page_html(page: Page) -> str:
    """The whole page as text."""
    script = asset("player.js")
    return (
        environment()
        .get_template("page.html.jinja")
        .render(
            page=page,
            sections=list(zip(_anchors(page.sections), page.sections, strict=True)),
            policy=content_security_policy(script),
            style=asset("style.css"),
            script=script,
        )
    )


def content_security_policy(script: str) -> str:
    """Forbid all requests, and all scripts but this one."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _anchors(sections: tuple[Section, ...]) -> list[str]:
    """A unique anchor for each section, made from its title."""
    anchors: list[str] = []
    for section in sections:
        base = re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-") or "section"
        count = 1 + sum(anchor == base or anchor.startswith(f"{base}--") for anchor in anchors)
        anchors.append(base if count == 1 else f"{base}--{count}")
    return anchors


def asset(name: str) -> Markup:
    """A file that goes into a page unchanged: the style or the script."""
    return Markup(files("wfairl.pages").joinpath("assets", name).read_text(encoding="utf-8"))


@cache
def environment() -> Environment:
    """The Jinja environment of all templates."""
    return Environment(
        loader=PackageLoader("wfairl.pages", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
