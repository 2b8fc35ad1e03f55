"""A page: one HTML file that needs nothing but itself.

    page = Page("doorkey", "pick up the key, ...", (Section("Result", (Table(...), prose("..."))),))
    write_page(page, Path("report.html"))

Styles and script stand in the file, pictures as data in it, and a content security policy forbids the browser any
request at all. The templates escape all text.
"""

import base64
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from wfairl.errors import BadInputError
from wfairl.files import write_atomically
from wfairl.report.templates import Block, asset, render
from wfairl.report.text import Text

__all__ = ["Block", "Page", "Section", "check_page_file", "page_html", "write_page"]


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading, which the page's contents list."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes:
        title: the heading, and the title of the browser's window.
        subtitle: one line below it.
        sections: in the order in which they are read.
        kind: what sort of page this is, above the heading.
        footer: one line at the end.
        notice: what a reader has to know before the first number, below the heading.
    """

    title: str
    subtitle: Text
    sections: tuple[Section, ...]
    kind: str = "wfairl"
    footer: Text = ""
    notice: Text = ""


def check_page_file(path: Path) -> None:
    """Refuse a file that would not be opened as a page.

    Raises:
        BadInputError: its name does not end in .html.
    """
    if path.suffix.lower() != ".html":
        raise BadInputError(f"{path}: a page is written as *.html")


def write_page(page: Page, path: Path) -> None:
    """Write a page to a file, atomically; errors as in `check_page_file`."""
    check_page_file(path)
    write_atomically(path, page_html(page))


def page_html(page: Page) -> str:
    """The whole page as text."""
    script = asset("player.js")
    return render(
        "page.html.jinja",
        page=page,
        sections=list(zip(_anchors(page.sections), page.sections, strict=True)),
        policy=content_security_policy(script),
        style=asset("style.css"),
        script=script,
    )


def content_security_policy(script: str) -> str:
    """Nothing may be loaded from anywhere, and no script may run but this one."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _anchors(sections: tuple[Section, ...]) -> list[str]:
    """A name for the address of each section, made of its title; no two are the same."""
    anchors: list[str] = []
    for section in sections:
        base = re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-") or "section"
        count = 1 + sum(anchor == base or anchor.startswith(f"{base}--") for anchor in anchors)
        anchors.append(base if count == 1 else f"{base}--{count}")
    return anchors
