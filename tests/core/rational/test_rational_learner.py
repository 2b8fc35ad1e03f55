from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from strategies_logic import GRID_LABELS, chain, demonstrations, dusky, grid, hidden

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.minimisation import canonical_table, to_table
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.demonstrations.learners import find_learner
from wfairl.core.rational import (
    ArrayWorld,
    DemonstratedScene,
    NothingExplainedError,
    Observations,
    RationalSettings,
    learn_posterior,
)
from wfairl.core.rational.compact_automaton import ANY, CompactAutomaton, CompactEdge
from wfairl.core.rational.constraints import Constraint
from wfairl.core.rational.doubts import DEADLY_ODDS, OBLIGATION_ODDS, measure_doubts, measure_support
from wfairl.core.rational.rational_learner import ELSEWHERE, LEFT_OUT, UNFORESEEN, _outlier_probabilities, evidence_of
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds import GraphWorld, ModelTask
from wfairl.runs.collection import collect


def same_rule(learned, rule):
    one, other = (canonical_table(to_table(a, GRID_LABELS)) for a in (learned, rule))
    return one.tobytes() == other.tobytes()


@pytest.fixture(scope="module")
def errand():
    """Sixteen demonstrations of a, then b, without n."""
    return demonstrations(chain("a", "b"), 16, np.random.default_rng(0))


@pytest.fixture(scope="module")
def learned(errand):
    return learn_posterior(Observations(GRID_LABELS, errand))


@pytest.mark.parametrize("names", [("a",), ("c", "a"), ("b", "a", "c")])
def test_a_rule_is_found_from_successes_alone(names):
    rule = chain(*names)
    result = learn_posterior(Observations(GRID_LABELS, demonstrations(rule, 16, np.random.default_rng(1))))
    assert same_rule(result.chosen.automaton, rule)


def test_an_order_is_found_of_things_that_the_world_asks_for_anyway():
    rng, rule = np.random.default_rng(3), chain("b", "a", "c", avoid=None)
    scenes = [hidden(grid(rng)).demonstrate(rule, 0.5, rng) for _ in range(16)]
    result = learn_posterior(Observations(GRID_LABELS, [scene for scene in scenes if scene is not None]))
    assert same_rule(result.chosen.automaton, rule)


@pytest.mark.parametrize("events", ["ab", "abc"])
def test_a_choice_between_events_is_found_of_which_demonstrations_take_one_each(events):
    choice = tuple(Edge(Guard(frozenset({name})), 1) for name in events)
    last = "c" if events == "ab" else "n"
    rule = GuardedAutomaton((choice, (Edge(Guard(frozenset({last})), 2),), ()), np.array([False, False, True]))
    result = learn_posterior(Observations(GRID_LABELS, demonstrations(rule, 16, np.random.default_rng(4))))
    assert same_rule(result.chosen.automaton, rule)


def test_what_is_not_forbidden_is_not_learned_as_forbidden():
    rule = chain("a", "b", avoid=None)
    result = learn_posterior(Observations(GRID_LABELS, demonstrations(rule, 16, np.random.default_rng(2))))
    assert same_rule(result.chosen.automaton, rule)


@pytest.mark.parametrize("literals", [{"a"}, {"a", "dark"}])
def test_a_guard_has_the_literals_that_matter_and_no_others(literals):
    rng, scenes = np.random.default_rng(5), []
    rule = GuardedAutomaton(((Edge(Guard(frozenset(literals)), 1),), ()), np.array([False, True]))
    while len(scenes) < 16:
        world = grid(rng)
        three = replace(world, label_index=np.where(world.label_index == 4, 4, np.minimum(world.label_index, 1)))
        world = dusky(three, rng)  # some a in the dark, some in the light
        scene = world.demonstrate(rule, 0.5, rng)
        if scene is not None:
            scenes.append(scene)
    result = learn_posterior(Observations(world.labels, scenes))
    assert [edge.guard for edge in result.chosen.automaton.edges[0]] == [Guard(frozenset(literals))]


def test_the_same_demonstrations_give_the_same_result_however_many_are_judged_at_once(errand, learned):
    again = learn_posterior(Observations(GRID_LABELS, errand), n_jobs=3)
    assert again.chosen.text == learned.chosen.text
    assert again.log_posterior == learned.log_posterior
    assert [a.text for a in again.alternatives] == [a.text for a in learned.alternatives]
    assert again.automata_generated == learned.automata_generated
    assert again.automata_evaluated == learned.automata_evaluated


def test_the_temperature_is_estimated(learned):
    assert 0.35 < learned.temperature < 0.7


def test_the_unit_of_cost_does_not_matter(errand, learned):
    tripled = [replace(scene, world=replace(scene.world, costs=3 * scene.world.costs)) for scene in errand]
    result = learn_posterior(Observations(GRID_LABELS, tripled))
    assert result.chosen.text == learned.chosen.text
    # Where all costs are 1, long detours count as leading nowhere: the likeliest temperature may move on its grid.
    assert result.temperature == pytest.approx(3 * learned.temperature, rel=0.02)


def test_alternatives_share_the_posterior_and_the_chosen_one_has_most(learned):
    weights = [alternative.weight for alternative in learned.alternatives]
    assert sum(weights) == pytest.approx(1)
    assert weights == sorted(weights, reverse=True)


def test_random_walks_that_claim_success_are_named_and_do_not_decide(errand):
    rng = np.random.default_rng(3)
    scenes = list(errand)
    for i in range(3):
        scenes[i] = DemonstratedScene.along(grid(rng), rng.integers(4, size=30))
    result = learn_posterior(Observations(GRID_LABELS, scenes))
    assert same_rule(result.chosen.automaton, chain("a", "b"))
    assert (result.outlier_probabilities[:3] > 0.5).all()
    assert (result.outlier_probabilities[3:] < 0.5).all()
    assert result.unforeseen == pytest.approx(UNFORESEEN / len(result.outlier_probabilities))


def test_a_deliberate_demonstration_that_the_rule_leaves_out_is_a_doubt_unless_it_is_a_shortcut(errand):
    rule, found = to_table(chain("a", "b"), GRID_LABELS), set()
    for seed in range(7, 12):
        (other,) = demonstrations(chain("c"), 1, np.random.default_rng(seed))
        result = learn_posterior(Observations(GRID_LABELS, (other, *errand[:15])))
        assert result.outliers == [0]
        is_shortcut = len(other.word) < fewest_steps(other.world, rule)
        assert result.unforeseen == pytest.approx((UNFORESEEN + (0 if is_shortcut else 1 / 2)) / 16)
        found.add(is_shortcut)
    assert found == {False, True}


def test_what_only_a_demonstration_shows_that_is_left_out_is_doubted_where_it_is_read(errand):
    rule = to_table(chain("a", "b"), GRID_LABELS)
    some = (demonstrations(chain("c"), 1, np.random.default_rng(seed))[0] for seed in range(7, 12))
    other = next(one for one in some if len(one.word) >= fewest_steps(one.world, rule))  # not a shortcut
    c = [i for i, label in enumerate(GRID_LABELS) if "c" in label]
    others = [one for one in errand if not np.isin(one.word, c).any()]
    result = learn_posterior(Observations(GRID_LABELS, (other, *others)))
    assert result.outliers == [0]
    (doubt,) = [one for one in result.doubts if one.constraint.phase == "left out"]
    assert str(doubt) == "only a demonstration that does not follow the rule shows what 'c' entails"
    assert doubt.probability == LEFT_OUT
    assert result.unforeseen == pytest.approx((UNFORESEEN + LEFT_OUT * ELSEWHERE) / (1 + len(others)))


def fewest_steps(world, table):
    """The length of the shortest path that an automaton accepts, level by level."""
    level, steps = {(world.start, 0)}, 0
    while ACCEPTED not in {q for _, q in level}:
        after = {
            (int(y), int(table[q, world.label_index[x, u]]))
            for x, q in level
            for u, y in enumerate(world.successors[x])
        }
        level, steps = {(y, q) for y, q in after if q != DEAD}, steps + 1
    return steps


def test_failures_count_softly(errand):
    """A success told as a failure once does not overturn sixteen successes; told often enough, it would."""
    result = learn_posterior(Observations(GRID_LABELS, errand, (errand[0].word,)))
    assert same_rule(result.chosen.automaton, chain("a", "b"))


def odds_against_none(doubts):
    """The odds of each constraint against none about its proposition, of which at most one holds."""
    total = Counter()
    for one in doubts:
        total[one.constraint.proposition] += one.probability
    assert max(total.values()) < 1
    return {str(one.constraint): one.probability / (1 - total[one.constraint.proposition]) for one in doubts}


def test_what_people_avoid_is_feared_by_the_evidence_that_it_is_deadly_and_obligations_share_their_odds():
    """The odds by hand, with tables written out: n is avoided, and what a or c oblige to is something else."""
    scenes = demonstrations(chain("a", "b"), 3, np.random.default_rng(5))
    evidence = evidence_of(Observations(GRID_LABELS, scenes), RationalSettings())
    automaton = CompactAutomaton(
        2, (CompactEdge(0, Guard(frozenset("a")), 1), CompactEdge(1, Guard(frozenset("b")), ACCEPTED))
    )
    assert not any("n" in GRID_LABELS[i] for scene in scenes for i in scene.word)
    doubts = odds_against_none(measure_doubts(evidence, automaton))
    free = automaton.to_table(GRID_LABELS)
    deadly = np.where(["n" in label for label in GRID_LABELS], DEAD, free)
    gained = np.exp(evidence.log_probability(deadly) - evidence.log_probability(free))
    assert doubts["n unseen"] == pytest.approx(OBLIGATION_ODDS / 3 * gained)
    assert doubts["never n"] == pytest.approx(DEADLY_ODDS * gained)
    forbidding = automaton._replace(edges=(CompactEdge(ANY, Guard(frozenset("n")), DEAD), *automaton.edges))
    kept = odds_against_none(measure_doubts(evidence, forbidding))
    assert "never n" not in kept
    assert kept["n unseen"] == pytest.approx(doubts["n unseen"])
    for after in {str(one).split(" after ")[1] for one in doubts if " needed after " in one}:
        after_it = [odds for one, odds in doubts.items() if one.endswith(f"needed after {after}")]
        assert sum(after_it) < OBLIGATION_ODDS / 3 * 1.5


def test_that_two_must_hold_at_once_is_doubted():
    b, dark, a = frozenset("b"), frozenset({"dark"}), frozenset("a")
    rule = GuardedAutomaton(((Edge(Guard(b | dark), 1),), (Edge(Guard(a), 2),), ()), np.arange(3) == 2)
    rng, scenes = np.random.default_rng(0), []
    while len(scenes) < 8:
        world = grid(rng)
        world = dusky(replace(world, label_index=np.minimum(world.label_index, 2)), rng)  # some b in the light
        scene = world.demonstrate(rule, 0.5, rng)
        scenes += [] if scene is None else [scene]
    evidence = evidence_of(Observations(world.labels, scenes), RationalSettings())
    doubts = measure_doubts(evidence, CompactAutomaton(1, (CompactEdge(0, Guard(a), ACCEPTED),)))
    found = next(one for one in doubts if str(one.constraint) == "b with dark needed")
    assert found.probability == max(one.probability for one in doubts if one.constraint.proposition == "b")


def test_untested_is_what_nobody_reads_and_what_could_lead_elsewhere_just_as_well(errand, learned):
    evidence = evidence_of(Observations(GRID_LABELS, errand), RationalSettings())
    table = to_table(learned.chosen.automaton, evidence.labels)[:-1].copy()  # without the accepting state
    known, targets = evidence.log_probability(table), (*range(len(table)), ACCEPTED, DEAD)
    is_read = {(state, label) for scene in errand for state, label in read_pairs(table, scene.word)}
    for pair in np.ndindex(table.shape):
        others = []
        for target in set(targets) - {int(table[pair])}:
            changed = table.copy()
            changed[pair] = target
            others.append(evidence.log_probability(changed))
        expected = pair not in is_read and max(others) > known - 1.0
        assert learned.support.is_untested[pair] == expected


def test_the_support_has_a_row_for_each_state_also_under_a_constraint(errand):
    evidence = evidence_of(Observations(GRID_LABELS, errand), RationalSettings())
    edges = (CompactEdge(0, Guard(frozenset("a")), 1), CompactEdge(1, Guard(frozenset("b")), ACCEPTED))
    for constraint in (Constraint("never", "n", after="a"), Constraint("never", "a", after="a")):
        automaton = CompactAutomaton(2, edges, (constraint,)).to_guarded()
        assert measure_support(evidence, automaton).is_untested.shape == (automaton.states - 1, len(evidence.labels))


def read_pairs(table, word):
    """The states of a table and the labels that a word reads in them."""
    state, pairs = 0, []
    for label in word.tolist():
        pairs.append((state, label))
        state = int(table[state, label])
        if state < 0:
            break
    return pairs


def test_support_leaves_out_labels_that_no_scene_can_produce():
    """Here something holds everywhere but on an island, and some controls are unavailable."""
    edges, marks = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 3), (4, 0)], {0: "a", 1: "b", 2: "a", 3: "c", 4: "z"}
    task = ModelTask(
        "full", "", ("a", "b", "c", "z"), visit_in_order("c"), 20,
        lambda seed: GraphWorld.from_edges(edges, start=seed % 2, marks={node: [one] for node, one in marks.items()}),
    )  # fmt: skip
    model = find_learner("rational").learn(collect(task, 3, 3, 0.5, 0, n_jobs=1), task)
    assert set(posterior_of(model).labels) == {frozenset("a"), frozenset("b"), frozenset("c")}
    assert posterior_of(model).untested_labels() == {}


def test_walks_without_any_task_are_not_explained():
    rng = np.random.default_rng(4)
    walks = [DemonstratedScene.along(grid(rng), rng.integers(4, size=60)) for _ in range(6)]
    with pytest.raises(NothingExplainedError, match="better than chance"):
        learn_posterior(Observations(GRID_LABELS, walks))


def test_there_must_be_a_success(errand):
    with pytest.raises(BadInputError, match="no successful"):
        learn_posterior(Observations(GRID_LABELS, (), (errand[0].word,)))


@pytest.mark.parametrize("settings", [{"outlier_probability": 0.0}, {"failure_error": 1.0}, {"temperature": 0.0}])
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(BadInputError):
        RationalSettings(**settings)


def test_demonstrations_without_a_proposition_explain_nothing():
    world = ArrayWorld(np.array([[1, 0], [1, 0]], np.int32), np.zeros((2, 2), np.int16), 0, np.ones((2, 2)))
    with pytest.raises(NothingExplainedError):
        learn_posterior(Observations((frozenset(),), (DemonstratedScene.along(world, [0]),)))


def test_a_demonstration_is_an_outlier_with_a_probability_of_at_most_one():
    rng = np.random.default_rng(0)
    for _ in range(100):
        of_scenes = np.vstack([np.zeros(17), rng.normal(size=17)])
        evidence = SimpleNamespace(log_outlier=np.array([0.0, -9.0]))
        assert _outlier_probabilities(evidence, of_scenes).max() <= 1.0
