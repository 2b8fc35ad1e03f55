"""Logic and cost together, for demonstrators to whom transitions do not all cost the same.

    A <- argmax_A log posterior(A | c),        c <- argmax_c likelihood of the demonstrations under A,

starting from the task's nominal cost (1 everywhere for most), until the automaton no longer changes, or the cost
explains hardly more (`LEAST_LOSS_SAVED`), or for `MOST_TURNS` turns; the automaton of highest posterior counts. One
that forbids what is only expensive would never change: no demonstration tells what the forbidden costs. So the cost is
also learned under the automaton without its edges to `DEAD`, and the automaton is learned again under that cost: unless
the demonstrations are so unlikely under both that no automaton, however short, could be more probable than the best.
The result lists explanations that are about as likely, and its alternatives are the automata of all.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from wfairl.core.automata.automaton import DEAD, Label
from wfairl.core.automata.minimisation import canonical_table, to_table
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import sort_labels
from wfairl.core.costs.cost_model import CostModel
from wfairl.core.costs.scene import LeftOut, comparisons_of, prepare_scenes
from wfairl.core.costs.settings import CostSettings
from wfairl.core.costs.training import CostTraining, TrainingResult
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.demonstrations.learners import RATIONAL, TaskLearner
from wfairl.core.rational.compact_automaton import compact, simplify
from wfairl.core.rational.observations import observe
from wfairl.core.rational.rational_learner import DEFAULT_SETTINGS, MAX_ALTERNATIVES, RationalLearner, evidence_of
from wfairl.core.rational.task_posterior import Alternative, Rival, posterior_of
from wfairl.core.worlds.task import Task

MOST_TURNS = 3

LEAST_LOSS_SAVED = 0.01
"""The fraction of the loss that a learned cost must save for the logic to be learned again under it."""

CLOSE_NATS = 3.0
"""Nats between two explanations below which the demonstrations do not decide between them."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """A task and a cost that explain the demonstrations.

    Attributes:
        model: the task.
        cost: the cost under which it was learned; None for the nominal one.
        log_posterior: of the automaton, under that cost; -inf where the learner found none that explains anything.
    """

    model: TaskModel
    cost: CostModel | None
    log_posterior: float


def learn_logic_and_cost(
    dataset: Dataset,
    task: Task,
    settings: CostSettings | None = None,
    learner: TaskLearner | None = None,
    n_jobs: int = 2,
) -> Explanation:
    """The best explanation; the posterior of its model names others that are about as likely.

    The rule and the true cost of the task are not used. The learner is `rational` unless given, and `n_jobs` changes
    nothing in the result.
    """
    settings = (settings or CostSettings()).complete(task.default_cost)
    learner = learner or RationalLearner()
    rounds = _alternate(dataset, task, settings, learner, None, n_jobs)
    cost = _cost_without_bans(dataset, task, _best(rounds), settings, n_jobs)
    if cost is not None:
        rounds += _alternate(dataset, task, settings, learner, cost, n_jobs)
    best = _best(rounds)
    near = {
        one.model.sentence: best.log_posterior - one.log_posterior
        for one in rounds
        if not _is_same_rule(one.model, best.model) and best.log_posterior - one.log_posterior < CLOSE_NATS
    }
    posterior = posterior_of(best.model)
    if posterior is None:
        return best
    rivals = tuple(Rival(rule, nats) for rule, nats in near.items())
    alternatives = _joined_alternatives([best, *rounds], posterior.labels)
    record = replace(posterior, rounds=len(rounds), not_told_apart=rivals, alternatives=alternatives)
    return replace(best, model=replace(best.model, record=record))


def _joined_alternatives(explanations: list[Explanation], labels: tuple[Label, ...]) -> tuple[Alternative, ...]:
    """The automata of all explanations, each with its posterior under the cost that suits it best; ranked."""
    found: dict[bytes, tuple[float, Alternative]] = {}
    for one in explanations:
        if (posterior := posterior_of(one.model)) is not None:
            for alternative in (some for some in posterior.alternatives if some.weight):
                log_weight = one.log_posterior + np.log(alternative.weight / posterior.chosen.weight)
                key = canonical_table(to_table(alternative.automaton, labels)).tobytes()
                if key not in found or log_weight > found[key][0]:
                    found[key] = log_weight, alternative
    ranked = sorted(found.values(), key=lambda one: -one[0])[: MAX_ALTERNATIVES + 1]
    weights = np.exp([log_weight - ranked[0][0] for log_weight, _ in ranked])
    return tuple(
        replace(one, weight=float(weight)) for (_, one), weight in zip(ranked, weights / weights.sum(), strict=True)
    )


def _alternate(
    dataset: Dataset, task: Task, settings: CostSettings, learner: TaskLearner, cost: CostModel | None, n_jobs: int
) -> list[Explanation]:
    """Automata and costs in turn, beginning with a cost, or with the nominal one."""
    rounds = [_explain(dataset, task, learner, cost, n_jobs)]
    for _ in range(MOST_TURNS):
        training = learn_cost(dataset, task, rounds[-1].model, settings, n_jobs)
        if _gain(training) < LEAST_LOSS_SAVED:
            break
        rounds.append(_explain(dataset, task, learner, training.model, n_jobs))
        if _is_same_rule(rounds[-1].model, rounds[-2].model):
            break
    return rounds


def _is_same_rule(one: TaskModel, other: TaskModel) -> bool:
    """Whether the automata of two models are the same until they accept, on the labels that both models know."""
    labels = sort_labels(one.labels_seen | other.labels_seen)
    tables = [canonical_table(to_table(model.finite, labels)) for model in (one, other)]
    return np.array_equal(*tables)


def _best(rounds: list[Explanation]) -> Explanation:
    return max(rounds, key=lambda one: one.log_posterior)


def _cost_without_bans(
    dataset: Dataset, task: Task, best: Explanation, settings: CostSettings, n_jobs: int
) -> CostModel | None:
    """A cost that explains the demonstrations about as well as the bans of an automaton do; None if there is none."""
    posterior = posterior_of(best.model)
    if posterior is None:
        return None
    chosen = compact(posterior.chosen.automaton)
    free = simplify(edge for edge in chosen.edges if edge.target != DEAD)
    if free == chosen:
        return None
    model = TaskModel.of_automaton(free.to_guarded(), RATIONAL, dataset.words, dataset.scores)
    training = learn_cost(dataset, task, model, settings, n_jobs)
    evidence = evidence_of(
        observe(dataset.demonstrations, task.make_world, training.model, n_jobs, dataset.answers), DEFAULT_SETTINGS
    )
    log_evidence = evidence.log_probability(canonical_table(free.to_table(evidence.labels)))
    can_be_best = log_evidence > best.log_posterior
    return training.model if can_be_best and _gain(training) >= LEAST_LOSS_SAVED else None


def _explain(dataset: Dataset, task: Task, learner: TaskLearner, cost: CostModel | None, n_jobs: int) -> Explanation:
    model = learner.learn(dataset, task, cost, n_jobs)
    posterior = posterior_of(model)
    return Explanation(model, cost, -np.inf if posterior is None else posterior.log_posterior)


def learn_cost(
    dataset: Dataset, task: Task, model: TaskModel, settings: CostSettings, n_jobs: int = 2
) -> TrainingResult:
    """The cost under an automaton; nothing is written."""
    training, _ = prepare_training(dataset, task, model, settings, n_jobs)
    return training.model.learn(training)


def prepare_training(
    dataset: Dataset,
    task: Task,
    model: TaskModel,
    settings: CostSettings,
    n_jobs: int = 2,
    directory: Path | None = None,
    resume: bool = False,
) -> tuple[CostTraining, tuple[LeftOut, ...]]:
    """The training of a cost under an automaton, and the demonstrations that the automaton rejects."""
    prepared = prepare_scenes(dataset.demonstrations, task.make_world, model.finite, model.threshold, n_jobs)
    cost = settings.make_model([scene.product for scene in prepared.scenes])
    compared = comparisons_of(dataset.answers, task.make_world)
    settings = settings.for_demonstrations(dataset.temperature)
    training = CostTraining(cost, prepared.scenes, settings, directory, resume, n_jobs, compared)
    return training, prepared.left_out


def _gain(training: TrainingResult) -> float:
    """The fraction of the loss that training has saved, on held-out demonstrations if there are any."""
    before, after = training.history[0], training.history[training.epoch]
    if before.held_out_loss is None or after.held_out_loss is None:
        return (before.train_loss - after.train_loss) / before.train_loss
    return (before.held_out_loss - after.held_out_loss) / before.held_out_loss
