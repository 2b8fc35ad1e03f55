"""Blocks and texts of a page as HTML, each on its own."""

from wfairl.pages.page import environment


def block_html(block):
    return str(getattr(environment().get_template("blocks.html.jinja").module, block.template)(block))


def text_html(text):
    return str(environment().get_template("text.html.jinja").module.text(text))
