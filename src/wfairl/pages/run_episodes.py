"""The episodes of a run's page: the evaluated policies act again in a few scenes of their evaluation."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from wfairl.core.demonstrations.collection import FIRST_TEST_SEED, FIRST_TRAINING_SEED
from wfairl.core.planning.policies import REFERENCES, Policy
from wfairl.core.runs.evaluation import episode_rng
from wfairl.core.runs.methods import learned_name
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.support.progress import track
from wfairl.core.worlds.task import Task
from wfairl.pages.blocks import prose
from wfairl.pages.page import Section
from wfairl.pages.player import EpisodePlayer, Recording, record_episode
from wfairl.pages.run_files import RunFiles, is_learned
from wfairl.pages.text import Code, Text

DEFAULT_SCENES = 3


def episodes_section(run: RunFiles, task: Task, scenes: int, n_jobs: int = 2) -> Section:
    """The episode player.

    Args:
        scenes: in how many scenes each policy acts.

    Raises:
        BadInputError: the run is unfinished, or a file is broken.
    """
    policies, seeds = dict(policies_of(run, task)), scenes_of(run, scenes)

    def record(played: tuple[str, int]) -> Recording:
        name, seed = played
        return replace(record_episode(task, policies[name], seed, episode_rng(seed)), policy=name)

    jobs = [(name, seed) for name in policies for seed in seeds]
    recordings = track(map_in_threads(record, jobs, n_jobs=n_jobs), "recording episodes", total=len(jobs))
    return Section("Episodes", (prose(_introduction(run)), EpisodePlayer(tuple(recordings))))


def policies_of(run: RunFiles, task: Task) -> Iterator[tuple[str, Policy]]:
    """The learned policy at each tested temperature, greedy first; then the references."""
    temperature = run.demonstrated_temperature
    temperatures = {learned_name(mode): one for mode, one in run.method.acting_temperatures(temperature).items()}
    for name in sorted(temperatures, key=lambda name: temperatures[name] or 0.0):
        yield name, run.method.load(run.directory, task, temperatures[name])
    yield "optimal", REFERENCES["optimal"](task, 0.0)
    if temperature > 0:
        yield "expert", REFERENCES["expert"](task, temperature)
    yield "random", REFERENCES["random"](task, 0.0)


def scenes_of(run: RunFiles, count: int) -> list[int]:
    """Scenes of the evaluation, failed ones first; none that the run was trained on."""
    learned = [evaluation for name, evaluation in run.evaluation.items() if is_learned(name)]
    episodes = [episode for evaluation in learned for episode in evaluation.episodes]
    failed = [episode.seed for episode in episodes if not episode.success]
    tested = [episode.seed for episode in episodes]
    seen = set(run.config.seen)
    untested = (seed for seed in range(FIRST_TEST_SEED, FIRST_TRAINING_SEED))
    candidates = dict.fromkeys((*failed, *tested)) if tested else untested
    return list(islice((seed for seed in candidates if seed not in seen), count))


def _introduction(run: RunFiles) -> Text:
    which = "scenes of the evaluation" if run.evaluation else "new scenes"
    text = f"Episodes in {which}, step by step, with the probability of each control; for more scenes use "
    automaton = " The automaton reads the label of each step: its state is filled, and the edge just taken is thick."
    return (text, Code("wfairl report --scenes"), "." if run.task_model is None else f".{automaton}")
