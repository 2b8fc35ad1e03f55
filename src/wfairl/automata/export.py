"""An automaton as a picture (SVG, PNG) or for other tools (DOT, HOA); the suffix of the file says which."""

from collections.abc import Iterator, Sequence
from html import escape
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wfairl import __version__
from wfairl.automata.automaton import DEAD, Automaton, EdgeCounts, Guard
from wfairl.automata.finite import FiniteAutomaton
from wfairl.automata.guarded import Edge, GuardedAutomaton
from wfairl.automata.layout import (
    FONT_SIZE,
    LINE_HEIGHT,
    LOST,
    RADIUS,
    TIMES,
    DrawnEdge,
    Layout,
    lay_out,
)
from wfairl.errors import BadInputError
from wfairl.files import write_atomically

INK, PAPER, ACCENT = "#1b1f24", "#ffffff", "#1f6f54"
ACCEPTING_FILL, STATE_FILL = "#dff2e9", "#f3f5f7"
RING_GAP = 4.0
ARROW_LENGTH = 34.0
TIP_LENGTH, TIP_SPREAD = 9.0, 4.0
FONT = "DejaVu Sans"


class UnknownFormatError(BadInputError):
    """The suffix of a file names no format that an automaton can be written in."""


def write_drawing(path: Path, automaton: Automaton, edge_counts: EdgeCounts | None = None) -> None:
    """Write the automaton in the format that the suffix names: .svg, .png, .dot, .hoa.

    Raises:
        UnknownFormatError: any other suffix.
    """
    match Path(path).suffix.lower():
        case ".svg":
            content: bytes | str = to_svg(lay_out(automaton, edge_counts))
        case ".png":
            content = to_png(lay_out(automaton, edge_counts))
        case ".dot" | ".gv":
            content = to_dot(automaton, edge_counts)
        case ".hoa":
            content = to_hoa(automaton)
        case other:
            raise UnknownFormatError(f"{path}: cannot draw to '{other}'; use .svg, .png, .dot or .hoa")
    write_atomically(path, content)


def to_svg(layout: Layout) -> str:
    """A drawing in SVG, of its own: no fonts, styles or ids from elsewhere.

    Classes and data attributes (`state`, or `source` and `target`) let a page colour it and find its parts.
    """
    width, height = round(layout.width), round(layout.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="{FONT}, Verdana, sans-serif" font-size="{FONT_SIZE:g}" role="img" aria-label="task automaton">',
        f'<rect class="paper" width="100%" height="100%" fill="{PAPER}"/>',
    ]
    x, y = layout.centres[0]
    entry = np.linspace((x - RADIUS - ARROW_LENGTH, y), (x - RADIUS, y), 4)
    parts.append(f'<g class="edge">{_arrow(entry)}</g>')
    for edge in layout.edges:
        parts.append(f'<g class="edge" {_ends(edge)}>{_arrow(edge.curve)}</g>')
    for edge in layout.edges:
        for i, line in enumerate(edge.lines):
            line_y = edge.label_centre[1] + (i - (len(edge.lines) - 1) / 2) * LINE_HEIGHT
            parts.append(
                f'<text class="label" {_ends(edge)} x="{edge.label_centre[0]:.1f}" y="{line_y:.1f}" '
                f'text-anchor="middle" dominant-baseline="central" fill="{ACCENT}" stroke="{PAPER}" stroke-width="4" '
                f'paint-order="stroke">{escape(line)}</text>'
            )
    for state, (x, y) in enumerate(layout.centres):
        accepting = bool(layout.accepting[state])
        fill = ACCEPTING_FILL if accepting else STATE_FILL
        circle = f'<circle cx="{x:.1f}" cy="{y:.1f}"'
        lost = state >= layout.states
        kind = "lost" if lost else "state accepting" if accepting else "state"
        parts.append(f'<g class="{kind}" data-state="{DEAD if lost else state}">')
        if not lost:
            parts.append(f'{circle} r="{RADIUS:g}" fill="{fill}" stroke="{INK}" stroke-width="1.5"/>')
        if accepting:
            parts.append(f'{circle} r="{RADIUS - RING_GAP:g}" fill="none" stroke="{INK}" stroke-width="1.2"/>')
        parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" dominant-baseline="central" '
            f'fill="{INK}">{layout.name(state)}</text></g>'
        )
    return "\n".join([*parts, "</svg>\n"])


def _ends(edge: DrawnEdge) -> str:
    return f'data-source="{edge.source}" data-target="{edge.target}"'


def _arrow(curve: NDArray[np.float64]) -> str:
    """A cubic curve with a tip at its end, which stops short of the point that the tip ends in."""
    along = (curve[3] - curve[2]) / np.linalg.norm(curve[3] - curve[2])
    across = np.array([-along[1], along[0]])
    back = curve[3] - TIP_LENGTH * along
    start, first, second, end = (f"{x:.1f},{y:.1f}" for x, y in (*curve[:3], curve[3] - 0.5 * TIP_LENGTH * along))
    left, right, point = (
        f"{x:.1f},{y:.1f}" for x, y in (back + TIP_SPREAD * across, back - TIP_SPREAD * across, curve[3])
    )
    return (
        f'<path class="line" d="M{start} C{first} {second} {end}" fill="none" stroke="{INK}" stroke-width="1.3"/>'
        f'<path class="tip" d="M{left} L{point} L{right} z" fill="{INK}"/>'
    )


def to_png(layout: Layout, scale: float = 2.0) -> bytes:
    """The same drawing as pixels, `scale` of them for one of the layout."""
    from matplotlib import patheffects
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle, FancyArrowPatch
    from matplotlib.path import Path as Curve

    inch = 72.0  # one layout pixel is one point, so that font sizes mean the same
    figure = Figure(figsize=(layout.width / inch, layout.height / inch), facecolor=PAPER)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, layout.width), ylim=(layout.height, 0))
    axes.axis("off")
    x, y = layout.centres[0]
    curves = [Curve([(x - RADIUS - ARROW_LENGTH, y), (x - RADIUS, y)])]
    cubic = [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4]
    curves += [Curve(edge.curve, cubic) for edge in layout.edges]
    for curve in curves:
        axes.add_patch(
            FancyArrowPatch(path=curve, arrowstyle="-|>,head_length=7,head_width=3.2", color=INK, lw=1.3, fill=True)
        )
    halo = [patheffects.withStroke(linewidth=4, foreground=PAPER)]
    for edge in layout.edges:
        for i, line in enumerate(edge.lines):
            line_y = edge.label_centre[1] + (i - (len(edge.lines) - 1) / 2) * LINE_HEIGHT
            axes.text(
                edge.label_centre[0],
                line_y,
                line,
                color=ACCENT,
                size=FONT_SIZE,
                family=FONT,
                ha="center",
                va="center",
                path_effects=halo,
                parse_math=False,
            )
    for state, (x, y) in enumerate(layout.centres):
        fill = ACCEPTING_FILL if layout.accepting[state] else STATE_FILL
        if state < layout.states:
            axes.add_patch(Circle((x, y), RADIUS, fc=fill, ec=INK, lw=1.5, zorder=3))
        if layout.accepting[state]:
            axes.add_patch(Circle((x, y), RADIUS - RING_GAP, fc="none", ec=INK, lw=1.2, zorder=4))
        axes.text(x, y, layout.name(state), color=INK, size=FONT_SIZE, family=FONT, ha="center", va="center", zorder=5)
    stream = BytesIO()
    FigureCanvasAgg(figure).print_figure(stream, dpi=inch * scale, format="png")
    return stream.getvalue()


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
        text = _quote(arrow.text)[1:-1] + (f"  {TIMES}{times}" if times else "")
        gathered.setdefault((arrow.source, "lost" if arrow.target == DEAD else str(arrow.target)), []).append(text)
    if any(target == "lost" for _, target in gathered):
        lines.append(f'  lost [shape=none, label="{LOST}"];')
    for (source, target), texts in gathered.items():
        label_text = "\\n".join(texts)
        lines.append(f'  {source} -> {target} [label="{label_text}"];')
    return "\n".join([*lines, "}\n"])


def to_hoa(automaton: Automaton) -> str:
    """The automaton in the Hanoi omega-automata format, version 1.

    HOA knows infinite words: the accepting states of our finite words are marked with set 0 of a
    Buchi condition, as tools for finite words expect. What loses the task has no edge.
    """
    propositions = sorted(automaton.propositions)
    lines = [
        "HOA: v1",
        f'tool: "wfairl" "{__version__}"',
        'name: "task automaton over finite words: a word is accepted if it ends in a state of set 0"',
        f"States: {automaton.states}",
        "Start: 0",
        " ".join([f"AP: {len(propositions)}", *map(_quote, propositions)]),
        "acc-name: Buchi",
        "Acceptance: 1 Inf(0)",
        "properties: trans-labels explicit-labels state-acc deterministic",
        "--BODY--",
    ]
    for state in range(automaton.states):
        lines.append(f"State: {state}" + (" {0}" if automaton.accepting[state] else ""))
        lines += [f"  [{condition}] {target}" for condition, target in _hoa_edges(automaton, state, propositions)]
    return "\n".join([*lines, "--END--\n"])


def _hoa_edges(automaton: Automaton, state: int, propositions: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Condition and target of each edge; the edges of a guarded automaton exclude those that are tried before."""
    if isinstance(automaton, FiniteAutomaton):
        for label, target in zip(automaton.alphabet, automaton.transitions[state], strict=True):
            if target != DEAD:
                yield _hoa_guard(Guard(label, frozenset(propositions) - label), propositions), int(target)
        return
    assert isinstance(automaton, GuardedAutomaton)
    before: list[str] = []
    for edge in (*automaton.edges[state], Edge(Guard(), state)):
        guard = _hoa_guard(edge.guard, propositions)
        if edge.target != DEAD:
            yield " & ".join([*(f"!({one})" for one in before), f"({guard})"] if before else [guard]), edge.target
        before.append(guard)


def _hoa_guard(guard: Guard, propositions: Sequence[str]) -> str:
    terms = [
        ("" if name in guard.true else "!") + str(i)
        for i, name in enumerate(propositions)
        if name in guard.true | guard.false
    ]
    return "&".join(terms) or "t"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'
