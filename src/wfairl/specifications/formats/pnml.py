"""PNML: an automaton as a Petri net, for tools of process mining.

A state is a place, an edge on a label is a transition with the name of the label. From each accepting state a silent
transition leads to the final place, in which a run of the net ends.
"""

from xml.etree import ElementTree

from wfairl.core.automata.automaton import DEAD, Automaton
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.automata.words import format_label
from wfairl.core.support.errors import BadInputError


def to_pnml(automaton: Automaton) -> str:
    """The net of an automaton over a list of labels."""
    if not isinstance(automaton, FiniteAutomaton):
        raise BadInputError("PNML names every label that an automaton reads, and this one has guards; export it as hoa")
    root = ElementTree.Element("pnml")
    net = ElementTree.SubElement(root, "net", id="net", type="http://www.pnml.org/version-2009/grammar/pnml")
    page = ElementTree.SubElement(net, "page", id="page")
    for state in range(automaton.states):
        _node(page, "place", f"p{state}", f"p{state}", tokens=int(state == 0))
    _node(page, "place", "end", "end")
    for number, (source, label, target) in enumerate(_edges(automaton)):
        _node(page, "transition", f"t{number}", label)
        _arc(page, f"p{source}", f"t{number}")
        _arc(page, f"t{number}", target)
    final = ElementTree.SubElement(ElementTree.SubElement(net, "finalmarkings"), "marking")
    for place in (*(f"p{state}" for state in range(automaton.states)), "end"):
        ElementTree.SubElement(ElementTree.SubElement(final, "place", idref=place), "text").text = str(
            int(place == "end")
        )
    ElementTree.indent(root)
    return ElementTree.tostring(root, "unicode", xml_declaration=True) + "\n"


def _edges(automaton: FiniteAutomaton) -> list[tuple[int, str | None, str]]:
    """Source, label and target of every transition; the label of a silent one is None."""
    edges: list[tuple[int, str | None, str]] = []
    for source, row in enumerate(automaton.transitions):
        edges += [
            (source, format_label(label), f"p{target}")
            for label, target in zip(automaton.alphabet, row, strict=True)
            if target != DEAD
        ]
    return edges + [(state, None, "end") for state in range(automaton.states) if automaton.accepting[state]]


def _node(page: ElementTree.Element, kind: str, identity: str, name: str | None, tokens: int = 0) -> None:
    node = ElementTree.SubElement(page, kind, id=identity)
    ElementTree.SubElement(ElementTree.SubElement(node, "name"), "text").text = identity if name is None else name
    if tokens:
        ElementTree.SubElement(ElementTree.SubElement(node, "initialMarking"), "text").text = str(tokens)
    if name is None:  # as ProM and pm4py mark what leaves no event
        ElementTree.SubElement(
            node, "toolspecific", tool="ProM", version="6.4", activity="$invisible$", localNodeID=identity
        )


def _arc(page: ElementTree.Element, source: str, target: str) -> None:
    arc = ElementTree.SubElement(page, "arc", id=f"{source}-{target}", source=source, target=target)
    ElementTree.SubElement(ElementTree.SubElement(arc, "inscription"), "text").text = "1"
