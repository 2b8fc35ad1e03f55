"""Evidence: how probable the observations are if a given automaton A were the task.

The rational learner looks for the task under which the demonstrators look most rational: if coffee were not part of the
task, the demonstrator would not have gone there. It compares automata by

    log posterior(A) = log P(observations | A) + log prior(A)

An automaton that forgets something makes the demonstrators look irrational. One that remembers too much pays in length
(`prior`). This module computes the first term.

A demonstrator is nearly rational: the better a control, the more probable it is. In scene i, let s be a pair of a world
state and a state of A, and Q_A(s, u) the least cost of a path that takes control u in s and on which A comes to accept
(`table_cost_to_go`). Then

    pi_A(u | s) = exp(-Q_A(s, u) / eta) / sum over available u' of exp(-Q_A(s, u') / eta)

With a small probability e a demonstration follows no task, and its controls are drawn uniformly:

    evidence_i(A, eta) = log((1 - e) prod_t pi_A(u_t | s_t) + e / prod_t number of controls available at s_t)

A reads every label, also a repeated one. If A does not accept a demonstration exactly at its last step, the first part
is 0. Of a large world only the part near the demonstration is planned through (`max_world_states`), and where all costs
are 1, a control that takes `SLACK_STEPS` steps more than the demonstration counts as leading nowhere.

The temperature eta is unknown, so that the evidence is averaged over a grid of temperatures; Q_A does not depend on eta
and is computed once. Failed demonstrations and answers to questions are verdicts on words, which are wrong with a small
probability:

    log P(observations | A) = log mean over eta of prod_i exp(evidence_i(A, eta))
                            + log P(failures | A)                  each one that A accepts costs log(failure_error)
                            + log P(answers | A)                   each one that A contradicts costs log(answer_error)

Failures and answers help, but successful demonstrations are enough.

No automaton explains everything. In a loop in which the label stays the same, a demonstrator loses the cost of the
loop, whatever the task is, and a control that changes nothing is as probable as its cost lets it be. Together:

    log prod_t pi_A(u_t | s_t) <= - cost of loops / eta - sum_t log(1 + sum over idle controls u of exp(-c(u) / eta))

for every A to which a repeated label is read once. What is left between this and the evidence of the best automaton is
all that another automaton could explain (`highest_log_probability`).
"""

from copy import copy
from functools import cached_property
from math import inf, log, log1p

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.minimisation import Table
from wfairl.core.planning.shortest_path import Floats
from wfairl.core.rational.constraints import Constraint, constraints_on, words_that_keep
from wfairl.core.rational.likelihood import fill_evidence, log_mean, pack_scenes
from wfairl.core.rational.moves import choices
from wfairl.core.rational.observations import DemonstratedScene, Observations
from wfairl.core.rational.settings import RationalSettings
from wfairl.core.rational.tables import mark_reads, read_word

LEAST_KEPT = 0.75
"""Share of the demonstrations that keep a constraint which is tried; the others may be outliers."""

UNFORESEEN_NATS = 10.0
"""By so much may an automaton explain all scenes better than the best that was found for each, where worlds slip."""


class Evidence:
    """Evaluates automata, given as tables [states, labels] over the labels of the observations.

    Attributes:
        temperatures: the grid of eta, shape [temperatures].
        log_uniform: log(1 / prod_t available controls), of controls drawn uniformly; shape [scenes].
        log_outlier: log(e) + log_uniform, shape [scenes].
    """

    def __init__(self, observations: Observations, temperatures: Floats, settings: RationalSettings) -> None:
        self.observations, self.settings = observations, settings
        self.temperatures = np.ascontiguousarray(temperatures, np.float64)
        self.log_uniform = np.array([scene.log_uniform for scene in observations.scenes])
        self.log_outlier = np.log(settings.outlier_probability) + self.log_uniform
        self._scenes, self._slipping = pack_scenes(
            observations.scenes,
            len(observations.labels),
            settings.max_world_states,
            self.log_outlier,
            float(np.log1p(-settings.outlier_probability)),
        )
        self._bounds = np.zeros((len(observations.scenes), len(self.temperatures)))
        self._found: list[Floats] = []
        # of a table: its log probability, -inf if it was given up; and what it was to be given up below
        self._known: dict[bytes, tuple[float, float]] = {}

    @property
    def labels(self) -> tuple[Label, ...]:
        """What the columns of a table mean."""
        return self.observations.labels

    @cached_property
    def possible_constraints(self) -> tuple[Constraint, ...]:
        """Constraints on what somebody reads: at times, two at once, choices. Nearly all demonstrations keep them."""
        seen, packed = self.observations, self._scenes
        words = [packed.word, *seen.failures, *(one.word for one in seen.answers)]
        read = sorted(frozenset().union(*(self.labels[i] for i in set(np.concatenate(words).tolist()))))
        least = LEAST_KEPT * len(seen.scenes)
        needed = tuple(Constraint("needed", p, instead=tuple(instead)) for p, *instead in self.choices())
        return needed + tuple(
            one
            for one in constraints_on(read, self.labels)
            if words_that_keep(one, self.labels, packed.step_first, packed.word) >= least
        )

    def choices(self, after: str | None = None) -> list[tuple[str, ...]]:
        """Two or three propositions of which every demonstration reads one, and of which none can be left out.

        If `after` is given, only what follows its last occurrence counts, in the demonstrations that read it.
        """
        held = []
        for scene in self.observations.scenes:
            word = [self.labels[i] for i in scene.word]
            first = 0 if after is None else max((t for t, label in enumerate(word) if after in label), default=None)
            if first is not None:
                held.append(frozenset().union(*word[first:]))
        names = sorted(frozenset().union(*held))
        happens = np.array([[name in one for one in held] for name in names], bool).reshape(len(names), len(held))
        return [tuple(names[k] for k in chosen) for chosen in choices(happens, 1.0)]

    @cached_property
    def always_read(self) -> tuple[Label, Label]:
        """What every demonstration reads, and what every one reads at its end."""
        words = [[self.labels[i] for i in scene.word] for scene in self.observations.scenes]
        return (
            frozenset.intersection(*(frozenset().union(*word) for word in words)),
            frozenset.intersection(*(word[-1] for word in words)),
        )

    def log_probability(self, table: Table, least: float = -inf) -> float:
        """log P(observations | A); -inf where that is below `least`, which is seen sooner.

        What was found for a table is kept: only one that was given up is planned with again, for a smaller `least`.
        """
        key = table.tobytes()
        value, given_up = self._known.get(key, (-inf, inf))
        if value == -inf and least < given_up:
            verdicts = self.of_verdicts(table)
            scenes = self.of_scenes_if(table, least - verdicts)
            value = -inf if scenes is None else log_mean(scenes.sum(axis=0)) + verdicts
            self._known[key] = value, least
        return value if value >= least else -inf

    @property
    def tables_planned(self) -> int:
        """For how many tables something was found, or given up."""
        return len(self._known)

    def of_scenes(self, table: Table, temperatures: Floats | None = None) -> Floats:
        """evidence_i of every scene at every temperature of the grid, or of another; [scenes, temperatures]."""
        temperatures = self.temperatures if temperatures is None else temperatures
        result = np.zeros((len(self.observations.scenes), len(temperatures)))
        fill_evidence(table, self._scenes, self._slipping, temperatures, -np.inf, result)
        return result

    def of_scenes_if(self, table: Table, needed: float) -> Floats | None:
        """As `of_scenes`; None if the log of its mean over temperatures must stay below `needed`.

        A scene that is not yet planned counts with 0, which no logarithm of a probability exceeds; see `tighten`.
        """
        result = self._bounds.copy()
        if not fill_evidence(table, self._scenes, self._slipping, self.temperatures, needed, result):
            return None
        if self._slipping is not None:
            self._found.append(result)
        return result

    def tighten(self) -> None:
        """Where worlds slip, let scenes that are not yet planned count with the best found for them so far.

        Each automaton takes ten times as long there. The bound is no longer exact, but `UNFORESEEN_NATS` away from it.
        """
        if self._found:
            best = np.max(self._found, axis=0)
            self._found = [best]
            self._bounds = np.minimum(best + UNFORESEEN_NATS / len(best), 0.0)

    def at_prices(self, *factors: float) -> "list[Evidence]":
        """The same evidence if failures cost so many times as much; itself alone where worlds do not slip."""
        if self._slipping is None:
            return [self]
        views = [copy(self) for _ in factors]
        for view, factor in zip(views, factors, strict=True):
            view._slipping = self._slipping._replace(failure=factor * self._slipping.failure)
            view._bounds, view._found, view._known = np.zeros_like(self._bounds), [], {}
        return views

    def of_verdicts(self, table: Table) -> float:
        """log P(failures | A) + log P(answers | A)."""
        failures, answers = self.observations.failures, self.observations.answers
        accepted = sum(read_word(table, word) > 0 for word in failures)
        contradicted = sum(one.weight for one in answers if (read_word(table, one.word) > 0) != one.is_right)
        return _log_verdicts(accepted, len(failures), self.settings.failure_error) + _log_verdicts(
            contradicted, sum(one.weight for one in answers), self.settings.answer_error
        )

    def highest_log_probability(self) -> float:
        """What log P(observations | A) cannot exceed for any A of the equation above; 0 where worlds slip."""
        if self._slipping is not None:
            return 0.0
        follows = [
            log1p(-self.settings.outlier_probability) + highest_log_likelihood(scene, self.temperatures)
            for scene in self.observations.scenes
        ]
        scenes = np.logaddexp(follows, self.log_outlier[:, None])
        answers = sum(one.weight for one in self.observations.answers)
        errors = ((len(self.observations.failures), self.settings.failure_error), (answers, self.settings.answer_error))
        return float(log_mean(scenes.sum(axis=0))) + sum(_log_verdicts(0, count, error) for count, error in errors)

    def reads(self, table: Table) -> NDArray[np.bool_]:
        """Whether a demonstration reads a label in a state, [scenes, states, labels]."""
        return mark_reads(table, self._scenes.step_first, self._scenes.word)


def highest_log_likelihood(scene: DemonstratedScene, temperatures: Floats) -> Floats:
    """What the log likelihood of a demonstration cannot exceed at each temperature; [temperatures]."""
    visited, word, costs, world = scene.visited, scene.word, scene.costs, scene.world
    left = np.zeros(len(word) + 1)  # what the demonstration costs from each step on without its loops
    result = np.zeros(len(temperatures))
    for t in reversed(range(len(word))):
        run = next((k for k in range(t, len(word)) if word[k] != word[t]), len(word))  # where the label changes
        again = [left[k] for k in range(t + 1, run + 1) if visited[k] == visited[t] and t and word[t - 1] == word[t]]
        left[t] = min([costs[t] + left[t + 1], *again])
        if t:
            idle = (world.successors[visited[t]] == visited[t]) & (world.label_index[visited[t]] == word[t - 1])
            result -= np.log1p(np.exp(-world.costs[visited[t], idle] / temperatures[:, None]).sum(axis=1))
    return np.asarray(result - (costs.sum() - left[0]) / temperatures)


def _log_verdicts(wrong: float, count: float, error: float) -> float:
    """Log probability of `count` verdicts of which `wrong` given ones are wrong."""
    return wrong * log(error) + (count - wrong) * log1p(-error)
