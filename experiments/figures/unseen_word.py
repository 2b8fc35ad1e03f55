"""The cost of knowing few words. (Figure 5 of the paper)

An agent whose automaton was learned from few words plans for these words only. The expert, which knows the rule, may
complete the same task in fewer steps, with a word that the agent's automaton does not accept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.figures.episodes import draw_episode
from wfairl.core.automata.automaton import Automaton
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.path import Path
from wfairl.core.planning.plan import UnsatisfiableTaskError, find_plan
from wfairl.core.planning.product import build_product
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.errors import FailedRunError
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.worlds.task import Task, rule_of
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.text import counted


class NoUnseenWordError(FailedRunError):
    """In all searched scenes, the automata accept the expert's word.

    Attributes:
        reason: the message without the advice, for a page.
    """

    def __init__(self, scenes: int, task: str):
        self.reason = f"in {counted(scenes, 'scene')} of {task} every automaton accepts the word of the expert"
        super().__init__(f"{self.reason}. Search other scenes, or use an automaton learned from fewer demonstrations")


@dataclass(frozen=True, eq=False)
class UnseenWord:
    """A scene in which the agent's automaton does not accept the expert's word.

    Attributes:
        seed: the scene.
        agent: the agent's path, accepted by its automaton.
        expert: a shortest path by the true rule.
        learned_from: the data of the agent's automaton, as text.
        learned_from_more: the data of automata that lose no step in any scene, as text.
        scenes: the number of searched scenes.
    """

    seed: int
    agent: Path
    expert: Path
    learned_from: str
    learned_from_more: tuple[str, ...]
    scenes: int

    @property
    def extra_steps(self) -> int:
        """How many more steps the agent takes than the expert."""
        return len(self.agent.controls) - len(self.expert.controls)


def learn_from_fewer(dataset: Dataset) -> dict[str, Automaton]:
    """Automata learned from all demonstrations, the first half of them, and so on down to one success, by their number.

    Args:
        dataset: successes and failures, both halved each time.
    """
    successes = [i for i, one in enumerate(dataset) if one.is_success]
    failures = [i for i, one in enumerate(dataset) if not one.is_success]
    automata, part = {}, 1
    while part <= len(successes):
        chosen = [*successes[: len(successes) // part], *failures[: len(failures) // part]]
        words, scores = [dataset.words[i] for i in chosen], [dataset.scores[i] for i in chosen]
        model = SpectralTaskLearner().fit(words, scores, Reading(optional_start=True)).model
        text = f"{len(successes) // part} success{'es' if part < len(successes) else ''}"
        automata[f"{text} and {len(failures) // part} failures"] = model.finite
        part *= 2
    return automata


def find_unseen_word(task: Task, automata: Mapping[str, Automaton], seeds: Sequence[int]) -> UnseenWord:
    """The scene in which an agent loses most steps by not accepting the expert's word.

    The first automaton with such a scene is used. If no automaton ever loses a step, it is the first scene in which one
    does not accept the expert's word, but another word that is as short.

    Args:
        automata: of the agents, by the data that they were learned from, most data first.
        seeds: the scenes to search; those that an agent cannot solve are skipped.

    Raises:
        NoUnseenWordError: every automaton accepts the expert's word in every scene.
    """
    paths = map_in_threads(lambda seed: _shortest_path(task, rule_of(task), seed), seeds, n_jobs=2)
    experts = {seed: path for seed, path in zip(seeds, paths, strict=True) if path is not None}
    best: UnseenWord | None = None
    lossless: list[str] = []
    for learned_from, automaton in automata.items():
        unknown = [seed for seed, path in experts.items() if not automaton.accepts(path.word)]
        for seed in unknown:
            agent = _shortest_path(task, automaton, seed)
            if agent is not None:
                pair = UnseenWord(seed, agent, experts[seed], learned_from, tuple(lossless), len(seeds))
                best = pair if best is None or pair.extra_steps > best.extra_steps else best
        if best is not None and best.extra_steps > 0:
            return best
        lossless.append(learned_from)
    if best is None:
        raise NoUnseenWordError(len(seeds), task.name)
    return best


def _shortest_path(task: Task, automaton: Automaton, seed: int) -> Path | None:
    """The shortest path that an automaton accepts; None if it accepts nothing in the scene."""
    product = build_product(task.make_world(seed), automaton)
    try:
        return find_plan(product, unit_cost(product)).path
    except UnsatisfiableTaskError:
        return None


def draw_unseen_word(task: Task, pair: UnseenWord) -> list[CaptionedFigure]:
    """The paths of agent and expert, each with frames of its events.

    Raises:
        NoRendererError: the world has no renderer.
    """
    steps = counted(len(pair.expert.controls), "step")
    return [
        draw_episode(task, pair.seed, pair.agent, "unseen-word-agent", f"{_verdict(pair)} The path of the agent."),
        draw_episode(task, pair.seed, pair.expert, "unseen-word-expert", f"The path of the expert, {steps}."),
    ]


def _verdict(pair: UnseenWord) -> str:
    agent, expert = len(pair.agent.controls), len(pair.expert.controls)
    unseen = f"The agent's automaton, learned from {pair.learned_from}, does not accept the word of the expert"
    searched = f"in any of the {pair.scenes} searched scenes."
    if pair.extra_steps == 0:
        return (
            f"{unseen}, but accepts another one that is as short: both need {expert} steps. No agent loses a step"
            f" {searched}"
        )
    verdict = f"{unseen}, and the agent needs {agent} steps where {expert} are enough."
    if pair.learned_from_more:
        others = " or from ".join(pair.learned_from_more)
        verdict += f" Agents that learned from {others} lose no step {searched}"
    return verdict
