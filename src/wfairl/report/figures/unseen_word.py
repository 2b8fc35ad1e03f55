"""What does it cost to know only the words that were shown? (Figure 5 of the paper)

An agent whose automaton was learned from few words plans for these words alone. The expert, which knows the rule
itself, may do the same task in fewer steps, with a word that the agent's automaton does not accept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wfairl.automata.automaton import Automaton, Label
from wfairl.automata.task_model import fit_task_model
from wfairl.automata.words import compress, format_word
from wfairl.demonstrations.demonstration import Dataset
from wfairl.errors import FailedRunError
from wfairl.parallel import map_in_threads
from wfairl.planning.cost import unit_cost
from wfairl.planning.film import film_path
from wfairl.planning.path import Path
from wfairl.planning.plan import UnsatisfiableTaskError, find_plan
from wfairl.planning.product import build_product
from wfairl.report.figures.captioned import CaptionedFigure
from wfairl.report.figures.label_differences import EXPLANATION, format_difference
from wfairl.report.figures.style import NORMAL, PAGE, SMALL, new_figure, place, without_frame, write_at
from wfairl.report.text import counted
from wfairl.worlds.task import Task

FRAMES_PER_ROW = 2
APART, GAP, TITLE, LINE = 0.35, 0.1, 0.21, 0.2
"""Inches between the columns, between frames, of the titles, and of the text under a frame."""


class NoUnseenWordError(FailedRunError):
    """In all scenes that were searched, the agents know the expert's word.

    Attributes:
        reason: the same for the reader of a page, without the advice.
    """

    def __init__(self, scenes: int, task: str):
        self.reason = f"in {counted(scenes, 'scene')} of {task} every automaton accepts the word of the expert"
        super().__init__(f"{self.reason}. Search other scenes, or take an automaton learned from fewer demonstrations")


@dataclass(frozen=True, eq=False)
class UnseenWord:
    """A scene in which the expert's word is one that the agent's automaton does not accept.

    Attributes:
        seed: the scene.
        agent: the agent's path, accepted by its automaton.
        expert: a shortest path by the true rule.
        learned_from: what the agent's automaton was learned from, for the reader.
        learned_from_more: what automata were learned from that lose no step in any of the scenes, for the reader.
        scenes: how many scenes were searched.
    """

    seed: int
    agent: Path
    expert: Path
    learned_from: str
    learned_from_more: tuple[str, ...]
    scenes: int

    @property
    def extra_steps(self) -> int:
        """The steps that the agent takes beyond the fewest."""
        return len(self.agent.controls) - len(self.expert.controls)


def learn_from_fewer(dataset: Dataset) -> dict[str, Automaton]:
    """The automata of the first of the demonstrations, by their number: all, half of them, and so on down to one.

    Args:
        dataset: successes and failures; as many parts of both are left out.
    """
    successes = [i for i, one in enumerate(dataset) if one.is_success]
    failures = [i for i, one in enumerate(dataset) if not one.is_success]
    automata, part = {}, 1
    while part <= len(successes):
        chosen = [*successes[: len(successes) // part], *failures[: len(failures) // part]]
        words, scores = [dataset.words[i] for i in chosen], [dataset.scores[i] for i in chosen]
        model = fit_task_model(words, scores, optional_start=True)
        text = f"{len(successes) // part} success{'es' if part < len(successes) else ''}"
        automata[f"{text} and {len(failures) // part} failures"] = model.finite
        part *= 2
    return automata


def find_unseen_word(task: Task, automata: Mapping[str, Automaton], seeds: Sequence[int]) -> UnseenWord:
    """The scene in which an agent loses most steps by not knowing the expert's word.

    The first automaton for which there is such a scene is taken. If none ever loses a step, the first scene, of the
    first automaton, whose expert's word it does not accept, though it finds another word that is as short.

    Args:
        task: the task.
        automata: what agents know of it, those learned from most first, by what they were learned from.
        seeds: the scenes to search; those that an agent sees no way in are passed over.

    Raises:
        NoUnseenWordError: every automaton accepts the expert's word in every scene.
    """
    experts = dict(zip(seeds, map_in_threads(lambda seed: _expert_path(task, seed), seeds, n_jobs=2), strict=True))
    best: UnseenWord | None = None
    lossless: list[str] = []
    for learned_from, automaton in automata.items():
        unknown = [seed for seed, path in experts.items() if not automaton.accepts(path.word)]
        for seed in unknown:
            agent = _agent_path(task, automaton, seed)
            if agent is not None:
                pair = UnseenWord(seed, agent, experts[seed], learned_from, tuple(lossless), len(seeds))
                best = pair if best is None or pair.extra_steps > best.extra_steps else best
        if best is not None and best.extra_steps > 0:
            return best
        lossless.append(learned_from)
    if best is None:
        raise NoUnseenWordError(len(seeds), task.name)
    return best


def _expert_path(task: Task, seed: int) -> Path:
    world = task.make_world(seed)
    product = build_product(world, task.rule)
    return find_plan(product, unit_cost(product)).path


def _agent_path(task: Task, automaton: Automaton, seed: int) -> Path | None:
    product = build_product(task.make_world(seed), automaton)
    try:
        return find_plan(product, unit_cost(product)).path
    except UnsatisfiableTaskError:
        return None


def draw_unseen_word(task: Task, pair: UnseenWord, name: str = "unseen-word") -> CaptionedFigure:
    """The moments at which the labels of agent and expert change, in two columns, and both words.

    Args:
        task: the task.
        pair: what `find_unseen_word` found.
        name: of the figure.

    Raises:
        NoRendererError: the world cannot show its states.
    """
    films = [_moments(task, pair.seed, path) for path in (pair.agent, pair.expert)]
    column = (PAGE - APART) / 2
    width = (column - GAP * (FRAMES_PER_ROW - 1)) / FRAMES_PER_ROW
    pixels_down, pixels_across, _ = films[0][0][1].shape
    picture = width * pixels_down / pixels_across
    rows = -(-max(map(len, films)) // FRAMES_PER_ROW)
    figure = new_figure(PAGE, TITLE + rows * (picture + LINE))
    for side, (who, path, film) in enumerate(zip(("agent", "expert"), (pair.agent, pair.expert), films, strict=True)):
        edge = side * (column + APART)
        write_at(figure, edge, 0.02, f"{who}, {len(path.controls)} steps", NORMAL, va="top", weight="bold")
        for number, (text, image) in enumerate(film):
            row, place_in_row = divmod(number, FRAMES_PER_ROW)
            left, top = edge + place_in_row * (width + GAP), TITLE + row * (picture + LINE)
            axes = place(figure, left, top, width, picture)
            without_frame(axes)
            axes.imshow(image, interpolation="antialiased", label=f"{who}-{number}")
            write_at(figure, left, top + picture + 0.025, text, SMALL, va="top")
    return CaptionedFigure(name, figure, _caption(task, pair), _alt(pair))


def _moments(task: Task, seed: int, path: Path) -> list[tuple[str, Any]]:
    """The start, and every step at which the label changes: what happens, and the frame."""
    film = film_path(task.make_world(seed), path)
    moments = [("start", film.frames[0])]
    before: Label = frozenset()
    for step, label in enumerate(path.labels, start=1):
        if label != before:
            moments.append((f"step {step}: {format_difference(before, label)}", film.frames[step]))
        before = label
    return moments


def _caption(task: Task, pair: UnseenWord) -> str:
    agent, expert = len(pair.agent.controls), len(pair.expert.controls)
    unseen = f"The agent's automaton, learned from {pair.learned_from}, does not accept the word of the expert"
    searched = f"in any of the {pair.scenes} scenes that were searched."
    if pair.extra_steps == 0:
        verdict = f"but knows another one that is as short: both need {expert} steps. No agent loses a step {searched}"
    else:
        verdict = f"and the agent needs {agent} steps where {expert} are enough."
        if pair.learned_from_more:
            others = " or from ".join(pair.learned_from_more)
            verdict += f" Agents that learned from {others} lose no step {searched}"
    return (
        f"Agent and expert in the same scene of {task.name} ({pair.seed}), at the start and whenever the label changes"
        f" {EXPLANATION}. {unseen}, {verdict} Word of the agent: {format_word(compress(pair.agent.labels))}."
        f" Word of the expert: {format_word(compress(pair.expert.labels))}."
    )


def _alt(pair: UnseenWord) -> str:
    return "Two columns of pictures of one scene. " + "; ".join(
        f"the {who} takes {counted(len(path.controls), 'step')} with the word {format_word(compress(path.labels))}"
        for who, path in (("agent", pair.agent), ("expert", pair.expert))
    )
