"""A registry finds things by name, and says which names there are."""

import sys

import pytest

from wfairl.core.support.errors import BadInputError
from wfairl.core.support.registry import Registry


@pytest.fixture
def planets():
    return Registry("planet", {"earth": 1.0, "tau": "math:tau"}, "See the sky")


def test_an_entry_is_found_by_its_name(planets):
    assert planets.find("earth") == planets["earth"] == 1.0
    assert list(planets) == ["earth", "tau"]


def test_an_unknown_name_is_refused_with_the_known_ones_and_the_advice(planets):
    with pytest.raises(BadInputError, match=r"^unknown planet 'mars'; known are earth, tau\. See the sky$"):
        planets.find("mars")
    assert "mars" not in planets
    assert planets.get("mars") is None


def test_an_entry_given_as_a_place_is_imported_when_it_is_asked_for_and_not_before(monkeypatch):
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    lazy = Registry("colour space", {"hsv": "colorsys:rgb_to_hsv"})
    assert "hsv" in lazy
    assert "colorsys" not in sys.modules
    assert lazy.find("hsv")(1.0, 1.0, 1.0) == (0.0, 0.0, 1.0)


def test_a_name_is_taken_once(planets):
    mars = object()
    assert planets.register("mars", mars) is mars
    planets.register("mars", mars)  # the same again
    with pytest.raises(BadInputError, match="there is a planet 'mars' already"):
        planets.register("mars", object())
    assert planets.find("mars") is mars


def test_of_entries_that_are_registered_together_all_or_none_are(planets):
    with pytest.raises(BadInputError, match="there is a planet 'earth' already"):
        planets.register_all([("venus", 0.8), ("earth", 2.0)])
    assert "venus" not in planets
