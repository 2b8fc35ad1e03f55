"""The episodes of a run's page: the evaluated policies, in the scenes of their evaluation.

In a few scenes the policies act again, which gives the probabilities of their controls; the other episodes are replayed
from the evaluation, without planning.
"""

from collections.abc import Callable, Iterator, Sequence
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
from wfairl.pages.player import (
    EpisodePlayer,
    OtherEpisodeError,
    Recording,
    film_episode,
    record_episode,
    record_trajectory,
    replay_episode,
)
from wfairl.pages.run_files import RunFiles, is_learned
from wfairl.pages.text import Code, Text
from wfairl.pages.tiles import TileSet

DEFAULT_SCENES = 3

MOST_TILES = 256
"""Of an episode, up to which all test scenes are included: a grid has a dozen tiles, a drawn floor thousands."""

Played = tuple[str, int]
"""The name of a policy and the scene that it plays in."""


def episodes_section(run: RunFiles, task: Task, scenes: int, n_jobs: int = 2) -> Section:
    """The episode player.

    Args:
        scenes: how many scenes to act in again.

    Raises:
        BadInputError: the run is unfinished, or a file is broken.
    """
    policies = dict(policies_of(run, task))
    acted = scenes_of(run, scenes)

    def act(name: str, seed: int) -> Recording:
        return replace(record_episode(task, policies[name], seed, episode_rng(seed)), policy=name)

    def replay_or_act(name: str, seed: int) -> Recording:
        episode = next(one for one in run.evaluation[name].episodes if one.seed == seed)
        try:
            recording = record_trajectory(task, policies[name], replay_episode(task, episode))
        except OtherEpisodeError:  # the simulator no longer does what it did
            return act(name, seed)
        return replace(recording, policy=name)

    def record(make: Callable[[str, int], Recording], jobs: Sequence[Played], title: str) -> dict[Played, Recording]:
        results = track(map_in_threads(lambda job: make(*job), jobs, n_jobs=n_jobs), title, total=len(jobs))
        return dict(zip(jobs, results, strict=True))

    recordings = record(act, [(name, seed) for name in policies for seed in acted], "recording episodes")
    are_small = all(_has_few_tiles(one) for one in recordings.values())
    if are_small:
        others = [(name, seed) for name in policies for seed in _seeds(run, name) if seed not in acted]
        recordings |= record(replay_or_act, others, "replaying episodes")
    order = sorted(recordings, key=lambda job: (list(policies).index(job[0]), job[1]))
    first = next((i for i, (_, seed) in enumerate(order) if seed in acted[:1]), 0)
    player = EpisodePlayer(tuple(recordings[job] for job in order), first)
    return Section("Episodes", (prose(_introduction(run, list(policies), acted, are_small)), player))


def _has_few_tiles(recording: Recording) -> bool:
    tiles = TileSet()
    film_episode(recording, tiles)
    return len(tiles.tiles) <= MOST_TILES


def _seeds(run: RunFiles, policy: str) -> list[int]:
    """The scenes that a policy was evaluated in, without those that the run was trained on."""
    episodes = run.evaluation[policy].episodes if policy in run.evaluation else ()
    return [episode.seed for episode in episodes if episode.seed not in run.config.seen]


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


def _introduction(run: RunFiles, policies: Sequence[str], acted: Sequence[int], has_all: bool) -> Text:
    if all(name in run.evaluation for name in policies):
        which = f"{'All' if has_all else 'Some'} evaluated episodes, step by step"
    else:
        which = f"Episodes in {'scenes of the evaluation' if run.evaluation else 'new scenes'}, step by step"
    option = Code("wfairl report --scenes")
    automaton = " The automaton reads the label of each step: its state is filled, and the edge just taken is thick."
    rest = "" if run.task_model is None else automaton
    if not has_all:
        text = f"{which}, with the probability of each control. Images are large in this world; for more scenes use "
        return (text, option, f".{rest}")
    scenes = f"scene{'s' if len(acted) > 1 else ''} {', '.join(map(str, acted))}"
    return (f"{which}. For {scenes} the page has the probability of each control; for more use ", option, f".{rest}")
