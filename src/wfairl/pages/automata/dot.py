"""DOT: an automaton in the language of Graphviz."""

from wfairl.core.automata.automaton import DEAD, Automaton, EdgeCounts
from wfairl.pages.automata.layout import LOST_TEXT, TIMES


def to_dot(automaton: Automaton, edge_counts: EdgeCounts | None = None) -> str:
    """The automaton in Graphviz's language, parallel edges as one with several lines of text."""
    counts = edge_counts or {}
    lines = [
        "digraph task {",
        "  rankdir=LR;",
        '  node [shape=circle, fontname="DejaVu Sans"];',
        '  start [shape=none, label=""];',
    ]
    for state in range(automaton.states):
        shape = "doublecircle" if automaton.accepting[state] else "circle"
        lines.append(f"  {state} [shape={shape}];")
    lines.append("  start -> 0;")
    gathered: dict[tuple[int, str], list[str]] = {}
    for arrow in automaton.arrows():
        times = arrow.count(counts)
        escaped = arrow.text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
        text = escaped + (f"  {TIMES}{times}" if times else "")
        gathered.setdefault((arrow.source, "lost" if arrow.target == DEAD else str(arrow.target)), []).append(text)
    if any(target == "lost" for _, target in gathered):
        lines.append(f'  lost [shape=none, label="{LOST_TEXT}"];')
    for (source, target), texts in gathered.items():
        label_text = "\\n".join(texts)
        lines.append(f'  {source} -> {target} [label="{label_text}"];')
    return "\n".join([*lines, "}\n"])
