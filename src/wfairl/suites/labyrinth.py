"""Mice in a labyrinth: their task as an automaton, their preferences as a cost, compared with DIRL."""

from collections.abc import Sequence

from wfairl.automata.guarded import GuardedAutomaton
from wfairl.automata.task_model import TaskModel
from wfairl.logic.learners import RATIONAL
from wfairl.public_data.labyrinth import HOME, LABYRINTH, MICE, WATER
from wfairl.report.figures.automaton import draw_automaton
from wfairl.report.figures.captioned import CaptionedFigure
from wfairl.report.figures.estimates import draw_network_costs
from wfairl.suites.data_suite import DataSuite, Fit, Outcome, Outcomes
from wfairl.suites.labyrinth_fits import ENTRIES, count, learn
from wfairl.suites.reproduction import TextTable

PUBLISHED = {
    "MaxEnt (authors' files)": (-1.767, -1.565),
    "Deep MaxEnt (authors' files)": (-1.708, -1.558),
    "DIRL, 1 map (authors' files, best seed)": (-0.876, -1.166),
    "DIRL, 2 maps, the paper's choice": (-0.827, -1.152),
    "DIRL, 3 maps": (-0.820, -1.155),
    "DIRL, 4 maps": (-0.820, -1.153),
}
"""Bits per decision on the validation sets, restricted and unrestricted mice (Ashwood, Jha and Pillow 2022)."""

COUNTS = "counts"


def fits(quick: bool) -> Sequence[Fit]:
    """What to compute; a quick look has three rows."""
    entries = ("ours", "unit", "no-automaton") if quick else tuple(ENTRIES)
    listed = []
    for mice in MICE:
        listed += [Fit(f"{entry}, {mice}", learn, {"entry": entry, "mice": mice}, 15) for entry in entries]
        listed.append(Fit(f"{COUNTS}, {mice}", count, {"mice": mice}, 5))
    return listed


COLUMNS = {
    "bits": "bits per decision",
    "bits without padding": "padding left out",
    "bits, copies of controls counted as one": "copies of controls as one",
}


def tables(outcomes: Outcomes) -> Sequence[TextTable]:
    """One table for each kind of mice, and the automata."""
    return *(_scores(outcomes, mice) for mice in MICE), _automata(outcomes)


def _scores(outcomes: Outcomes, mice: str) -> TextTable:
    published = ((title, figures[MICE.index(mice)]) for title, figures in PUBLISHED.items())
    body: list[tuple[str, ...]] = [(title, f"{figure:.3f}", "", "", "") for title, figure in published]
    titles = {entry: row.title for entry, row in ENTRIES.items()}
    for entry, title in {**titles, COUNTS: "counts by automaton state and node, no planning"}.items():
        if (outcome := outcomes.get(f"{entry}, {mice}")) is not None:
            body.append(_line(title, outcome))
    return TextTable(
        f"Water-{mice} mice: log-likelihood of the authors' validation set in bits per decision (0 is certainty, -2 a"
        " guess), over all steps as the authors take it; then without the padding at the end; then of where a step led,"
        " whichever of several equal controls it was. Last, processor time to learn all of it, penalty included.",
        ("", *COLUMNS.values(), "time"),
        tuple(body),
    )


def _line(title: str, outcome: Outcome) -> tuple[str, ...]:
    numbers = (f"{outcome.measured[name]:.3f}" if name in outcome.measured else "" for name in COLUMNS)
    return title, *numbers, f"{outcome.measured['seconds']:.1f} s"


def _automata(outcomes: Outcomes) -> TextTable:
    body = []
    for mice in MICE:
        if (outcome := outcomes.get(f"ours, {mice}")) is not None:
            facts = outcome.facts
            body.append((mice, "; ".join(facts["rule"]), f"{facts['look wrong']} of {len(facts['words'])}"))
    return TextTable(
        "The automata, learned from the training trajectories, and how many of these follow no task by their account.",
        ("", "rule", "follow none"),
        tuple(body),
    )


def figures(outcomes: Outcomes) -> Sequence[CaptionedFigure]:
    """The automata, and the cost on the tree in every state of the automaton."""
    drawn = []
    for mice in MICE:
        outcome = outcomes.get(f"ours, {mice}")
        if outcome is None:
            continue
        facts, arrays = outcome.facts, outcome.arrays
        words = [tuple(frozenset(label) for label in word) for word in facts["words"]]
        automaton = GuardedAutomaton.from_document(facts["automaton"])
        model = TaskModel.of_automaton(automaton, RATIONAL, words, [1.0] * len(words), sentences=facts["rule"])
        drawn.append(draw_automaton(model, f"automaton-{mice}"))
        panels = {
            f"automaton state {state}": costs
            for state, costs in zip(arrays["automaton states"], arrays["costs"], strict=True)
        }
        caption = (
            f"What a move costs water-{mice} mice, by the state of the learned automaton. Moves there and back lie side"
            " by side; home is the root in the middle. What nobody did stays near the cost that steps share."
        )
        texts = {HOME: "home", WATER: "water"}
        drawn.append(draw_network_costs(f"costs-{mice}", panels, arrays["positions"], arrays["edges"], caption, texts))
    return drawn


LABYRINTH_SUITE = DataSuite(
    name="labyrinth",
    title="Mice in a labyrinth",
    summary="Thirsty and other mice in a binary maze: their task as an automaton, what steps cost them, DIRL beside",
    source=LABYRINTH,
    fits=fits,
    tables=tables,
    figures=figures,
    notes=(
        "The world is a binary tree of 127 nodes with four controls. Automata read two propositions, home and water."
        " They are learned from the training trajectories alone; nobody told them that water comes before home. Once"
        " the task is done nothing more is wanted, and a control costs what it costs: so the padding is scored too.",
        "Some controls are copies of each other: at home reverse is stay, at the ends of the maze left and right are"
        " stay. A cost on nodes cannot tell copies apart; a cost on controls can, and part of its gain is to learn"
        " which copy the records use. The column that counts copies as one takes that part away from every row.",
        "Trajectories are padded with stay at home, which a model that remembers that the task is done predicts almost"
        " surely. The column without padding takes that away. The authors' files give no figure without it.",
        "What may be claimed: on the authors' validation sets and by their measure, an automaton with a cost on top"
        " predicts these mice better than the figures in DIRL's files, in seconds. It is the memory of the automaton"
        " and the cost on controls that do it: the soft planner with the same automaton does about as well, and so do"
        " mere counts in its states, which know nothing of where they lead. What may not: that all of the gain is about"
        " what mice want. DIRL's reward is on nodes, and the row to set beside it is the cost on nodes only, which is"
        " no better than DIRL; for unrestricted mice most of the gain is the padding.",
    ),
)
