from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from oracles_logic import accepts, log_likelihood
from strategies_logic import random_scene, random_table

from wfairl.core.rational.evidence import Evidence
from wfairl.core.rational.likelihood import log_mean
from wfairl.core.rational.observations import BadSceneError, DemonstratedScene, Observations
from wfairl.core.rational.settings import RationalSettings

LABELS = tuple(frozenset({str(i)}) for i in range(4))
TEMPERATURES = np.array([0.2, 0.7, 2.0])
OUTLIER = 0.03


def make_evidence(scenes, max_states=1000):
    settings = RationalSettings(outlier_probability=OUTLIER, max_world_states=max_states)
    return Evidence(Observations(LABELS, tuple(scenes)), TEMPERATURES, settings)


def ended(scene, table):
    """The scene with its demonstration up to acceptance, where it comes to that."""
    lengths = [k for k in range(1, len(scene.controls) + 1) if accepts(table, scene.word[:k].tolist())]
    return DemonstratedScene.along(scene.world, scene.controls[: lengths[0]]) if lengths else scene


@pytest.mark.parametrize("unit", [True, False])
def test_evidence_is_that_of_the_boltzmann_policy_or_of_an_outlier(unit):
    rng = np.random.default_rng(0)
    accepted = 0
    for _ in range(150):
        table = random_table(rng)
        scene = ended(random_scene(rng, unit), table)
        evidence = make_evidence([scene]).of_scenes(table)[0]
        choices = np.prod((scene.world.successors[scene.visited[:-1]] >= 0).sum(axis=1))
        for temperature, found in zip(TEMPERATURES, evidence, strict=True):
            follows = np.exp(log_likelihood(scene, table, temperature))
            accepted += follows > 0
            assert found == pytest.approx(np.log((1 - OUTLIER) * follows + OUTLIER / choices), abs=1e-9)
    assert accepted > 60  # the law is not only about outliers


def test_scenes_count_one_by_one_whatever_stands_beside_them():
    rng = np.random.default_rng(1)
    scenes = [random_scene(rng, bool(i % 2)) for i in range(6)]
    together = make_evidence(scenes)
    for _ in range(20):
        table = random_table(rng)
        apart = np.concatenate([make_evidence([scene]).of_scenes(table) for scene in scenes])
        np.testing.assert_allclose(together.of_scenes(table), apart)


def test_a_candidate_is_given_up_only_if_its_evidence_stays_below_what_is_needed():
    rng = np.random.default_rng(2)
    given_up = 0
    for _ in range(100):
        table = random_table(rng)
        evidence = make_evidence([ended(random_scene(rng, True), table) for _ in range(5)])
        total = log_mean(evidence.of_scenes(table).sum(axis=0))
        needed = total + rng.normal()
        found = evidence.of_scenes_if(table, needed)
        if found is None:
            given_up += 1
            assert total < needed
        else:
            assert total >= needed
    assert given_up > 10


def test_a_table_is_planned_with_again_only_if_it_was_given_up_sooner(monkeypatch):
    rng = np.random.default_rng(3)
    planned, fill = [], Evidence.of_scenes_if
    monkeypatch.setattr(Evidence, "of_scenes_if", lambda *given: planned.append(given[0]) or fill(*given))
    for _ in range(40):
        table = random_table(rng)
        evidence = make_evidence([ended(random_scene(rng, True), table) for _ in range(3)])
        exact, least_so_far, is_known = log_mean(evidence.of_scenes(table).sum(axis=0)), np.inf, False
        for least in exact + rng.normal(size=8):
            planned.clear()
            found = evidence.log_probability(table, least)
            assert found == (pytest.approx(exact) if least < exact else -np.inf)
            assert bool(planned) == (not is_known and least < least_so_far)
            least_so_far, is_known = min(least, least_so_far), is_known or least < exact
    assert evidence.tables_planned == 1


@pytest.mark.parametrize("unit", [True, False])
def test_no_automaton_that_reads_a_repeated_label_once_explains_more_than_the_highest_log_probability(unit):
    rng = np.random.default_rng(6)
    ratios = []
    for _ in range(200):
        table = reading_repeats_once(random_table(rng))
        scenes = [ended(random_scene(rng, unit), table) for _ in range(2)]
        evidence = make_evidence(scenes)
        found, highest = evidence.log_probability(table), evidence.highest_log_probability()
        assert found <= highest + 1e-9
        ratios.append(highest / found)
    assert np.mean(ratios) > 0.1  # it is below 0, and by how much


def reading_repeats_once(table):
    """The automaton that also remembers the last label, which changes nothing when it is read again."""
    states, labels = table.shape
    number = lambda q, a: states + q * labels + a if q >= 0 else q  # noqa: E731
    rows = [[number(q, a) for a, q in enumerate(row)] for row in table.tolist()]
    for q in range(states):
        for last in range(labels):
            rows.append(
                [states + q * labels + last if a == last else number(int(table[q, a]), a) for a in range(labels)]
            )
    return np.array(rows, np.int32)


def test_the_cost_of_a_step_is_the_unit_of_temperature():
    rng = np.random.default_rng(3)
    for _ in range(30):
        scene, table = random_scene(rng, False), random_table(rng)
        tripled = replace(scene, world=replace(scene.world, costs=3 * scene.world.costs))
        found = make_evidence([tripled]).of_scenes(table, 3 * TEMPERATURES)
        np.testing.assert_allclose(found, make_evidence([scene]).of_scenes(table))


def test_states_far_from_the_demonstration_may_be_left_out_only_on_request():
    rng = np.random.default_rng(4)
    scene = random_scene(rng, True)
    few = make_evidence([scene], max_states=1)
    assert few.of_scenes(random_table(rng)).shape == (1, 3)


def test_a_demonstration_that_cannot_have_happened_is_refused():
    scene = random_scene(np.random.default_rng(5), True)
    world, blocked = scene.world, scene.world.successors.copy()
    blocked[world.start, scene.controls[0]] = -1
    with pytest.raises(BadSceneError, match="not available"):
        replace(scene, world=replace(world, successors=blocked))
    with pytest.raises(BadSceneError, match="at least one"):
        DemonstratedScene.along(world, [])
    with pytest.raises(BadSceneError, match="above zero"):
        replace(world, costs=0 * world.costs)
    with pytest.raises(BadSceneError, match="same shape"):
        replace(world, costs=world.costs[1:])


def test_a_choice_is_what_all_demonstrations_take_one_of_and_none_can_be_left_out():
    rng = np.random.default_rng(5)
    found = set()
    for _ in range(200):
        scenes = [random_scene(rng, True) for _ in range(int(rng.integers(1, 5)))]
        evidence = make_evidence(scenes)
        for after in (None, "3"):
            words = ["".join(map(str, scene.word.tolist())) for scene in scenes]
            parts = words if after is None else [word[word.rindex(after) :] for word in words if after in word]
            enough = {
                chosen
                for size in (1, 2, 3)
                for chosen in combinations("0123", size)
                if all(any(name in part for name in chosen) for part in parts)
            }
            least = {one for one in enough if not any(set(fewer) < set(one) for fewer in enough)}
            expected = {one for one in least if len(one) > 1} if parts else set()
            assert set(evidence.choices(after)) == expected
            found.update((after, len(one)) for one in expected)
    assert {(None, 2), (None, 3), ("3", 2)} <= found
