"""A page read back: what a strict parser makes of it, with none of the code that wrote it."""

import base64
import io
import json
import zlib
from html.parser import HTMLParser

import numpy as np
from PIL import Image

VOID = {"meta", "link", "img", "input", "br"}


class Element:
    def __init__(self, tag, attributes):
        self.tag, self.attributes, self.children = tag, dict(attributes), []

    @property
    def text(self):
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag=None, **attributes):
        """Elements below this one with a tag and attributes; `class_` is one among the classes."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if (tag is None or child.tag == tag) and child.has(attributes):
                    found.append(child)
                found += child.all(tag, **attributes)
        return found

    def one(self, tag=None, **attributes):
        (found,) = self.all(tag, **attributes)
        return found

    def has(self, wanted):
        own = self.attributes
        return all(
            value in own.get("class", "").split() if name == "class_" else own.get(name) == value
            for name, value in wanted.items()
        )


class _Parser(HTMLParser):
    def __init__(self):
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(set(names)) == len(names), f"<{tag}> has an attribute twice"
        element = Element(tag, attributes)
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.open[-1].children.append(Element(tag, attributes))

    def handle_endtag(self, tag):
        assert self.open[-1].tag == tag, f"</{tag}> where <{self.open[-1].tag}> is open"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].children.append(data)


def read_page(html):
    """The elements of a page; fails if any is not closed where it should be."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    assert len(parser.open) == 1, f"<{parser.open[-1].tag}> is never closed"
    return parser.root


def numbers_in(element):
    """The exact numbers below an element, in order."""
    return [json.loads(data.attributes["value"]) for data in element.all("data")]


def player_data(element):
    """What the script of a player draws from."""
    return unpack(element.one("script", type="application/octet-stream").text)


def unpack(text):
    """A document that stands in a page as compressed JSON."""
    return json.loads(zlib.decompress(base64.b64decode(text)))


def decode_image(address):
    """The pixels of an image in a data address, [height, width, 3]."""
    head, _, content = address.partition(",")
    assert head == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(content))).convert("RGB"))


def frames_of(episode, atlas):
    """The frames of a player's episode as pixels, one after the other."""
    tile, across = atlas["tile"], atlas["columns"]
    pixels = decode_image(atlas["image"])
    cells = list(episode["frame"])
    for moment in episode["moments"]:
        for cell, number in moment["changes"]:
            cells[cell] = number
        frame = np.zeros((episode["rows"] * tile, episode["columns"] * tile, 3), np.uint8)
        for cell, number in enumerate(cells):
            y, x = divmod(cell, episode["columns"])
            from_y, from_x = divmod(number, across)
            frame[y * tile : (y + 1) * tile, x * tile : (x + 1) * tile] = pixels[
                from_y * tile : (from_y + 1) * tile, from_x * tile : (from_x + 1) * tile
            ]
        yield frame
