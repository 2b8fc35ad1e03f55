"""Your own format of automata: this one writes a Mermaid diagram, which Markdown renders as an image.

    wfairl --tasks examples/own_format.py export task.json --as mermaid

A format with a function `read`, from a text to an automaton, also works in `wfairl import`.
"""

from own_world import TASK  # noqa: F401 (a file of --tasks has a task)

from wfairl.specifications.formats import FORMATS, Format


def to_mermaid(automaton, edge_counts):
    """The text that `wfairl export` writes; this format does not show the edge counts."""
    lines = ["stateDiagram-v2", "    direction LR", "    [*] --> 0"]
    for arrow in automaton.arrows():
        target = arrow.target if arrow.target >= 0 else "lost"
        lines.append(f"    {arrow.source} --> {target}: {arrow.text}")
    lines += [f"    {state} --> [*]" for state in range(automaton.states) if automaton.accepting[state]]
    return "\n".join(lines) + "\n"


FORMATS.register("mermaid", Format("mermaid", (".mmd",), to_mermaid))

if __name__ == "__main__":
    from wfairl import all_of, avoid, visit_in_order

    print(to_mermaid(all_of(visit_in_order("parcel", "home"), avoid("wall")), {}))
