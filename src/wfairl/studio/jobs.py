"""The jobs of worker processes: everything that takes longer than a key press.

They are functions of plain values; from a `TaskSpec` a worker makes its own task. Planning and learning never run in
the process that serves the browser.
"""

import pathlib
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.minimisation import to_table
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import compress, format_label
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.planning.cost import Cost, nominal_cost
from wfairl.core.planning.path import effects_along, follow
from wfairl.core.planning.planner import ExactPlanner
from wfairl.core.planning.product import build_product
from wfairl.core.planning.rollout import roll_out
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.core.rational.table_plans import plan_table
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.support.files import write_json
from wfairl.core.worlds.world import slips
from wfairl.pages.enforced import enforced_orders, enforced_sentence
from wfairl.pages.text import capitalised
from wfairl.pages.tiles import TILE
from wfairl.pages.world_drawing import need_places
from wfairl.questions.corrections import BadCorrectionError, Correction, enforce_laws, obeys, weigh_correction
from wfairl.questions.hypotheses import explore_scenes
from wfairl.questions.question import NothingToAskError, find_question
from wfairl.questions.scene_proposal import SceneProposal, propose_scene
from wfairl.runs.collection import FIRST_TRAINING_SEED
from wfairl.specifications.prism import to_prism
from wfairl.studio.episodes import act_after, explain_episode, how_read, policy_of, unit_of
from wfairl.studio.events import CorrectionAdded
from wfairl.studio.frames import encode_film
from wfairl.studio.keys import Waypoint
from wfairl.studio.plain_questions import probability_of, question_text
from wfairl.studio.session import COST_WORDS, CostWords
from wfairl.studio.task_spec import TaskSpec
from wfairl.studio.understanding import describe_understanding

MOST_PLANNED, MOST_MAPPED = 1_000_000, 20_000
"""Product states of a map's plan, and those of one automaton state that it shows."""

QUESTION_SCENES, PROPOSED_SCENES, SEARCHED_SCENES = 8, 12, 2
"""New scenes to search for a question, for one to demonstrate, and for what the world enforces."""


@dataclass(frozen=True)
class SessionSnapshot:
    """What jobs need of a session with a model; `run` is the directory of the learned cost, if there is one."""

    name: str
    spec: TaskSpec
    model: TaskModel
    dataset: Dataset
    corrections: tuple[CorrectionAdded, ...]
    next_seed: int
    run: pathlib.Path | None = None

    @property
    def cost(self) -> Cost:
        """The learned cost; without one, the task's nominal cost."""
        if self.run is None:
            return nominal_cost(self.spec.task)
        from wfairl.runs.run_directory import load_run  # it is slow to import

        return load_run(self.run).cost


def learn(
    spec: TaskSpec, dataset: Dataset, laws: Sequence[Correction], before: TaskModel | None = None
) -> tuple[TaskModel, dict[str, Any]]:
    """The model of demonstrations under laws, and what the page shows of it."""
    model = enforce_laws(_learn_without_outliers(spec, dataset), laws, dataset)
    return model, {**describe_understanding(model, dataset, before), "enforced": enforced(spec)}


def _learn_without_outliers(spec: TaskSpec, dataset: Dataset) -> TaskModel:
    """The model of the demonstrations that follow a task: outliers shape nothing, unless nothing else is left."""
    model = RationalLearner().learn(dataset, spec.task, n_jobs=1)
    posterior = posterior_of(model)
    outliers = () if posterior is None else posterior.outliers
    others = tuple(one for i, one in enumerate(dataset) if i not in outliers)
    if posterior is None or not outliers or not any(one.is_success and any(one.labels) for one in others):
        return model
    again = RationalLearner().learn(replace(dataset, demonstrations=others), spec.task, n_jobs=1)
    record = posterior_of(again)
    assert record is not None
    probabilities = np.array(posterior.outlier_probabilities)
    probabilities[[i for i in range(len(dataset)) if i not in outliers]] = record.outlier_probabilities
    return replace(again, record=replace(record, outlier_probabilities=probabilities))


def describe_model(snapshot: SessionSnapshot) -> dict[str, Any]:
    """What the page shows of a stored model."""
    return {**describe_understanding(snapshot.model, snapshot.dataset, None), "enforced": enforced(snapshot.spec)}


_enforced_by: dict[str, str] = {}
"""In a worker: what worlds enforce, in words, by their keys."""


def enforced(spec: TaskSpec) -> str:
    """What the worlds of a task enforce, in words; empty if nothing."""
    key = spec.world_key
    if key not in _enforced_by:
        worlds = map(spec.task.make_world, range(FIRST_TRAINING_SEED, FIRST_TRAINING_SEED + SEARCHED_SCENES))
        _enforced_by[key] = capitalised(enforced_sentence(enforced_orders(worlds, spec.task.propositions)))
    return _enforced_by[key]


def ask_plainly(snapshot: SessionSnapshot, asked: Sequence[Sequence[Label]]) -> dict[str, Any]:
    """The most informative question with its film; if nothing is in doubt, the agent's own plan in a new scene.

    No path is asked about again, answered or not: `asked` has the labels of each. Raises `NothingToAskError` if the
    agent's plans were all asked about, too.
    """
    task, model = snapshot.spec.task, snapshot.model
    seeds = range(snapshot.next_seed, snapshot.next_seed + QUESTION_SCENES)
    try:
        rng = np.random.default_rng(len(asked))
        question = find_question(model, snapshot.dataset, task, seeds, rng, n_jobs=1, asked=asked)
        seed, world = question.seed, task.make_world(question.seed)
        path = follow(world, question.controls, model.finite, effects=question.effects)
        usual = act_after(task, model, world, seed, snapshot.cost)[0]
    except NothingToAskError:
        known = {compress(labels) for labels in asked}
        plans = ((one, act_after(task, model, task.make_world(one), one, snapshot.cost)[0]) for one in seeds)
        new = next((one for one in plans if compress(one[1].labels) not in known), None)
        if new is None:
            raise NothingToAskError(
                "there is nothing left to ask: all probable tasks agree in the scenes that were searched, and you have"
                " judged what the agent does there"
            ) from None
        seed, path = new
        world, usual = path.world, path
    shown = {
        "seed": seed,
        "controls": path.controls,
        "effects": effects_along(path),
        "text": question_text(path.labels, usual.labels),
        "labels": (None, *map(format_label, path.labels)),  # at each moment
        "states": path.automaton_states,
        "usual": [format_label(label) for label in compress(usual.labels)],
        "usual_places": [frame.get("place") for frame in encode_film(world, usual.states)["frames"]],
        "probability": None if path == usual else probability_of(model, path.labels),
        "explanation": how_read(model, path.labels),
    }
    return {"seed": seed, **encode_film(world, path.states), "question": shown}


def propose(snapshot: SessionSnapshot) -> SceneProposal:
    """The most informative scene to demonstrate in. Raises `NothingToAskError` if none tells anything new."""
    seeds = range(snapshot.next_seed, snapshot.next_seed + PROPOSED_SCENES)
    rng = np.random.default_rng(0)
    return propose_scene(snapshot.model, snapshot.dataset, snapshot.spec.task, seeds, rng, n_jobs=1)


def check_law(snapshot: SessionSnapshot, law: Correction) -> tuple[Answer, ...]:
    """Refuse a law that another one contradicts, or that no plan can keep in the worlds; it counts as no answers.

    A `BadCorrectionError` says which.
    """
    laws = [one.parsed for one in snapshot.corrections if one.law]
    model = enforce_laws(snapshot.model, [*laws, law], snapshot.dataset)
    broken = [one.sentence for one in laws if obeys(snapshot.model, one) and not obeys(model, one)]
    if broken:
        raise BadCorrectionError(f'"{law.sentence}" contradicts the law "{broken[0]}": withdraw that one first')
    seeds = tuple(dict.fromkeys(one.seed for one in snapshot.dataset if one.is_success))[:QUESTION_SCENES]
    scenes = explore_scenes(seeds, snapshot.dataset, snapshot.spec.task, n_jobs=1)
    table = to_table(model.finite, scenes.labels)
    if not any(np.isfinite(plan_table(world, table).start_cost) for world in scenes.worlds):
        raise BadCorrectionError(
            f"in no scene that you demonstrated can the task be completed under {law.sentence}: the world itself does"
            " not let it happen, perhaps because an episode ends first"
        )
    return ()


def weigh(snapshot: SessionSnapshot, correction: Correction) -> tuple[Answer, ...]:
    """The answers that a correction counts as; see `weigh_correction`."""
    if slips(snapshot.spec.task.make_world(snapshot.next_seed)):
        raise BadCorrectionError("this world slips, and answers are about paths that one can choose: make it a law")
    seeds, rng = range(snapshot.next_seed, snapshot.next_seed + QUESTION_SCENES), np.random.default_rng(0)
    task = snapshot.spec.task
    return weigh_correction(correction, snapshot.model, snapshot.dataset, task, seeds, rng)


def try_scenes(snapshot: SessionSnapshot, seeds: Sequence[int]) -> list[dict[str, Any]]:
    """Seed, outcome and steps of an episode in each scene's simulator, judged by the true rule if there is one."""
    task = snapshot.spec.task_with(snapshot.model)
    policy = policy_of(snapshot.model, snapshot.cost, task)
    episodes = (roll_out(task, policy, seed, np.random.default_rng(seed)) for seed in seeds)
    return [{"seed": one.seed, "outcome": one.outcome, "steps": len(one)} for one in episodes]


def run_agent(
    snapshot: SessionSnapshot, seed: int, imposed: Sequence[int] = (), waypoints: Sequence[Waypoint] = ()
) -> dict[str, Any]:
    """An explained episode of the agent; see `explain_episode`."""
    return explain_episode(snapshot.spec.task, snapshot.model, seed, imposed, snapshot.cost, waypoints)


def map_scene(snapshot: SessionSnapshot, seed: int, automaton_state: int) -> dict[str, Any]:
    """Costs over the places of a scene in one state of the automaton, as far as they are known.

    These are the `places` of the agent and their `size`, in tiles; by place `step`, the mean known cost of a step
    there, and `to_go`, the least cost-to-go from there, None where there is none; and the `unit` of costs. Raises
    `NoRendererError` if the world does not tell where the agent is.
    """
    world, cost = snapshot.spec.task.make_world(seed), snapshot.cost
    agent, is_known = need_places(world), getattr(cost, "is_known", None)
    solution = ExactPlanner(MOST_PLANNED).solve(world, snapshot.model.finite, cost)
    product, costs = solution.product, cost(solution.product)
    nodes = np.flatnonzero(product.automaton_states == automaton_state)[:MOST_MAPPED]
    located = np.array([agent.locate(product.state(int(node))) for node in nodes], float).reshape(-1, 2)
    points, numbers = np.unique(located, axis=0, return_inverse=True)
    cell = np.full(len(product.successors), -1)
    cell[nodes] = numbers.ravel()
    to_go = np.full(len(points), np.inf)
    np.minimum.at(to_go, cell[nodes], solution.solution.cost_to_go[nodes])
    sources, controls = np.nonzero(product.successors >= 0)
    arrived = cell[product.successors[sources, controls]]
    moved = (arrived >= 0) & (arrived != cell[sources])
    if is_known is not None:
        moved &= is_known(product)[sources, controls]
    count = np.bincount(arrived[moved], minlength=len(points))
    step = np.bincount(arrived[moved], costs[sources[moved], controls[moved]], len(points))
    mean = np.divide(step, count, out=np.full(len(points), np.inf), where=count > 0)
    # from each place to the next one: all the same where there are cells
    gaps = KDTree(points).query(points, k=2, p=np.inf)[0][:, 1] if len(points) > 1 else np.array([TILE])
    return {
        "places": (points / TILE - 0.5).tolist(),
        "size": float(np.median(gaps)) / TILE,
        "step": _finite(mean),
        "to_go": _finite(to_go),
        "unit": unit_of(cost),
    }


def write_prism(snapshot: SessionSnapshot, seed: int) -> str:
    """The task in a scene, for PRISM and Storm; see `to_prism`."""
    product = build_product(snapshot.spec.task.make_world(seed), snapshot.model.finite)
    return to_prism(product, snapshot.cost(product), f"task {snapshot.spec.name}, seed {seed}")


def learn_session_cost(snapshot: SessionSnapshot, directory: pathlib.Path, evidence: str) -> None:
    """Learn the cost from evidence of a digest, as a run that other commands read, with a `COST_WORDS` beside it."""
    from wfairl.core.costs.feature_costs import SampledCost
    from wfairl.runs.cost_words import CLAIMED, cost_sentences
    from wfairl.runs.methods import TrainingRequest, find_method  # it is slow to import
    from wfairl.runs.run_directory import load_run

    new = directory.parent.with_name(f".{directory.parent.name}.{directory.name}")  # outside: it may be deleted
    shutil.rmtree(new, ignore_errors=True)
    origin = {"demonstrations": ["demos.safetensors"]}
    request = TrainingRequest(snapshot.spec.task, snapshot.dataset, new, {}, snapshot.model, origin, False, 1)
    trained = find_method("wfa-irl").train(request)
    cost, world = load_run(new).cost, snapshot.spec.task.make_world(snapshot.dataset.demonstrations[0].seed)
    verdict, *terms = cost_sentences(cost, world) if isinstance(cost, SampledCost) else (f"a model, {cost.kind}",)
    left_out = [
        re.sub(r"^demonstration (\d+)", lambda found: f"left out: demonstration #{int(found[1]) + 1}", text)
        for name, text in trained.lines
        if name == "left out"
    ]
    words = CostWords(
        text=capitalised("; ".join([*(terms or [verdict]), *left_out])) + ".",
        is_shown=not isinstance(cost, SampledCost) or float(cost.unit[0]) < CLAIMED,
        evidence=evidence,
        world=snapshot.spec.world_key,
    )
    write_json(new / COST_WORDS, vars(words))
    shutil.rmtree(directory, ignore_errors=True)
    new.rename(directory)


def warm_up_worker() -> None:
    """Load the compiled kernels before the first demonstration needs them."""
    from wfairl.runs.collection import collect

    spec = TaskSpec("errand")
    model, _ = learn(spec, collect(spec.task, 2, 0, 0.0, 0, n_jobs=1), ())
    explain_episode(spec.task, model, 0, (), nominal_cost(spec.task))


def _finite(values: NDArray[np.float64]) -> list[float | None]:
    return [round(float(one), 4) if np.isfinite(one) else None for one in values]
