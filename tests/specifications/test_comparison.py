"""Laws of comparisons: the words tell the two apart, and the picture shows both."""

from io import BytesIO
from xml.etree import ElementTree

from hypothesis import given, settings
from oracles_automata import accept_the_same, all_labels
from PIL import Image
from strategies_automata import guarded_automata

from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.pages.automata.images import MARK
from wfairl.specifications.comparison import compare, comparison_png, comparison_svg

ORDER = visit_in_order("a", "b")
CAREFUL = all_of(ORDER, avoid("c"))


@given(guarded_automata(propositions="ab"), guarded_automata(propositions="ab"))
@settings(max_examples=50)
def test_words_tell_two_automata_apart_or_there_are_none(one, other):
    found = compare(("one", "other"), (one, other))
    for word in found.words:
        assert one.accepts(word) != other.accepts(word)
        assert sum(verdict.startswith("accepted") for verdict in found.verdicts(word)) == 1
    assert bool(found.words) != accept_the_same(one, other, "ab", 6)
    assert [len(word) for word in found.words] == sorted(len(word) for word in found.words)


def test_words_are_of_known_labels_where_such_words_tell_them_apart():
    known = [frozenset(), frozenset("a"), frozenset("b"), frozenset("c")]
    assert compare(("", ""), (ORDER, CAREFUL)).words[0] == (frozenset("abc"),)
    found = compare(("", ""), (ORDER, CAREFUL), known)
    assert found.known_labels
    assert found.words[0] in {(frozenset(one), *map(frozenset, rest)) for one, *rest in ("cab", "acb", "abc")}
    unknown = compare(("", ""), (ORDER, CAREFUL), known[:3])
    assert not unknown.known_labels
    assert frozenset("c") & frozenset().union(*unknown.words[0])


def test_what_differs_only_once_the_task_is_fulfilled_is_the_same_to_a_planner():
    known = [label for label in all_labels("abc") if "c" not in label or label == frozenset("c")]
    sloppy = visit_in_order("a")
    careful = all_of(sloppy, avoid("b"))
    assert not compare(("", ""), (sloppy, careful), [frozenset("a"), frozenset("b")]).same_plans
    later = compare(("", ""), (ORDER, all_of(ORDER, visit_in_order("a"))), known)
    assert not later.words
    assert later.same_plans


def test_the_picture_shows_both_automata_and_the_words_as_text():
    nasty = compare(("<script>", "b.json"), (visit_in_order("<b>", "&"), visit_in_order("&")))
    root = ElementTree.fromstring(comparison_svg(nasty))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "<script>" in texts
    assert "Words that tell them apart (<script>; b.json):" in texts
    assert [text for text in texts if text.isdigit()] == ["0", "1", "2", "0", "1"]
    marked = [g for g in root.iter("{http://www.w3.org/2000/svg}path") if g.get("stroke") == MARK]
    assert len(marked) == 1  # '&' moves the second automaton alone


def test_the_picture_in_pixels_is_twice_as_large_as_that_in_svg():
    found = compare(("one", "other"), (ORDER, CAREFUL))
    root = ElementTree.fromstring(comparison_svg(found))
    with Image.open(BytesIO(comparison_png(found))) as picture:
        width, height = picture.size
        assert (abs(width - 2 * float(root.get("width"))), abs(height - 2 * float(root.get("height")))) <= (2, 2)
        colours = {colour for _, colour in picture.convert("RGB").getcolors(10**7)}
    assert tuple(bytes.fromhex(MARK[1:])) in colours


def test_automata_that_are_the_same_say_so():
    found = compare(("one", "other"), (ORDER, visit_in_order("a", "b")))
    assert found.words == ()
    assert "They accept the same words." in comparison_svg(found)
