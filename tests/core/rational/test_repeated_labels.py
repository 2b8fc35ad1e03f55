"""What a label means that is read twice in a row: learned from what demonstrators do, and the same from log to plan.

A place holds as long as one stays there. An event takes place at every step at which its label is read. Nothing says
which of the two a proposition is: who needs two events stays and repeats the one, and who needs two visits pays to
leave and come back.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from wfairl.core.automata.automaton import Guard
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.minimisation import to_table
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.learners import find_learner
from wfairl.core.planning import ExactPlanner
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.path import follow
from wfairl.core.rational import CautiousPolicy, posterior_of
from wfairl.core.rational.tables import read_word
from wfairl.core.worlds import ModelTask
from wfairl.runs.collection import collect

A, HOME, NOTHING = frozenset({"a"}), frozenset({"home"}), frozenset[str]()
ALPHABET = (NOTHING, A, HOME)


@dataclass(frozen=True)
class Corridor:
    """Five to eight cells in a row, a at one end and home at the other; one may go left or right, or wait."""

    length: int
    initial_state: int
    controls: tuple[str, ...] = ("left", "right", "wait")
    propositions: tuple[str, ...] = ("a", "home")

    def step(self, state, control):
        return min(max(state + (-1, 1, 0)[control], 0), self.length - 1)

    def label(self, state, control, next_state):
        return A if next_state == 0 else HOME if next_state == self.length - 1 else NOTHING

    def features(self, state, control, next_state):
        return np.ones(1)


def corridor(seed):
    rng = np.random.default_rng(seed)
    length = int(rng.integers(5, 9))
    return Corridor(length, int(rng.integers(1, length - 1)))


def in_turn(*guards):
    """The guards hold one after the other, each at a step of its own: written without the package's rules."""
    rows = [(Edge(guard, i + 1),) for i, guard in enumerate(guards)]
    return GuardedAutomaton((*rows, ()), np.arange(len(guards) + 1) == len(guards))


def fulfils_by_hand(word, meaning):
    """Whether a word has two of a, and home after them: events count at every step, visits where they begin."""
    seen, before = 0, NOTHING
    for label in word:
        if label == A and (meaning == "event" or before != A):
            seen += 1
        if label == HOME and seen >= 2:
            return True
        before = label
    return False


ON, OFF, THERE = Guard(A), Guard(NOTHING, A), Guard(HOME)
RULES = {"event": in_turn(ON, ON, THERE), "visit": in_turn(ON, OFF, ON, THERE)}


@pytest.mark.parametrize("meaning", RULES)
def test_repeated_labels_mean_one_thing_from_demonstrations_to_plans(meaning, tmp_path):
    task = ModelTask("twice", "a twice, then home", ("a", "home"), RULES[meaning], 60, corridor)
    dataset = collect(task, 8, 0, 0.5, 0, n_jobs=1)
    model = find_learner("rational").learn(dataset, task, n_jobs=1)
    model.save(tmp_path / "task.json")
    loaded = TaskModel.load(tmp_path / "task.json")
    table = to_table(posterior_of(model).chosen.automaton, ALPHABET)
    small, found = Corridor(4, 1), set()
    for controls in product(range(3), repeat=7):
        word = follow(small, controls, model.finite).labels
        if HOME in word and A in word[word.index(HOME) :]:
            continue  # nobody shows whether home counts that comes too early
        expected = fulfils_by_hand(word, meaning)
        numbers = np.array([ALPHABET.index(label) for label in word], np.int32)
        readers = {
            "the evidence": read_word(table, numbers) > 0,
            "the model": model.finite.fulfilled_at(word) is not None,
            "the model on disk": loaded.finite.fulfilled_at(word) is not None,
            "the task's own rule": task.rule.fulfilled_at(word) is not None,
        }
        assert readers == dict.fromkeys(readers, expected), word
        found.add(expected)
    assert found == {True, False}
    policy = CautiousPolicy("learned", model, unit_cost, 0.0, horizon=task.horizon)
    for seed in range(6):
        world = corridor(seed)
        plan = ExactPlanner().solve(world, policy.choose(world).automaton, unit_cost).plan()
        assert fulfils_by_hand(plan.path.labels, meaning)
        assert plan.cost == ExactPlanner().solve(world, task.rule, unit_cost).plan().cost
