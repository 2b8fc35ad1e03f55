"""The episodes of a run's page: the policies that were evaluated, in the scenes of their evaluation.

In a few scenes they act once more, which shows how likely they found each control; in all others what they did is
played back from the evaluation, which takes no planning.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from wfairl.demonstrations.collection import FIRST_TEST_SEED, FIRST_TRAINING_SEED
from wfairl.evaluation.evaluate import Evaluation, episode_rng
from wfairl.evaluation.policies import REFERENCES, Policy
from wfairl.evaluation.replay import OtherEpisodeError, replay
from wfairl.experiment import learned_names
from wfairl.parallel import map_in_threads
from wfairl.progress import track
from wfairl.report.blocks import prose
from wfairl.report.page import Section
from wfairl.report.player import EpisodePlayer
from wfairl.report.recording import Recording, record_episode, record_trajectory
from wfairl.report.run_files import RunFiles, is_learned
from wfairl.worlds.task import Task

DEFAULT_SCENES = 3

MOST_TILES = 256
"""Different tiles of an episode, up to which all test scenes are kept: a grid has a dozen, a drawn floor thousands."""

Job = tuple[str, int]
"""The name of a policy and a scene."""

TITLE = "Watch it act"


def episodes_section(run: RunFiles, task: Task, scenes: int, n_jobs: int = 2) -> Section:
    """The player.

    Args:
        run: what is shown.
        task: its task.
        scenes: how many to act in once more.
        n_jobs: episodes to record at once; it changes nothing in the page.

    Raises:
        BadInputError: the run has not finished, or a file of it is broken.
    """
    policies = dict(policies_of(run, task))
    acted = scenes_of(run, scenes)

    def act(name: str, seed: int) -> Recording:
        return replace(record_episode(task, policies[name], seed, episode_rng(seed)), policy=name)

    def play_back(name: str, seed: int) -> Recording:
        recording = _played_back(task, policies[name], run.evaluation[name], seed)
        return act(name, seed) if recording is None else replace(recording, policy=name)

    def record(make: Callable[[str, int], Recording], jobs: Sequence[Job], title: str) -> dict[Job, Recording]:
        made = track(map_in_threads(lambda job: make(*job), jobs, n_jobs=n_jobs), title, total=len(jobs))
        return dict(zip(jobs, made, strict=True))

    recordings = record(act, [(name, seed) for name in policies for seed in acted], "recording episodes")
    are_small = all(one.film is None or len(one.film.tiles) <= MOST_TILES for one in recordings.values())
    if are_small:
        others = [(name, seed) for name in policies for seed in _seeds(run, name) if seed not in acted]
        recordings |= record(play_back, others, "playing back episodes")
    shown = sorted(recordings, key=lambda job: (list(policies).index(job[0]), job[1]))
    first = next((i for i, (_, seed) in enumerate(shown) if seed in acted[:1]), 0)
    player = EpisodePlayer(tuple(recordings[job] for job in shown), first)
    counted = all(name in run.evaluation for name in policies)
    return Section(TITLE, (prose(_introduction(run, counted, acted, are_small)), player))


def _played_back(task: Task, policy: Policy, evaluation: Evaluation, seed: int) -> Recording | None:
    """What was evaluated in a scene; None if the simulator no longer does what it did."""
    episode = next(one for one in evaluation.episodes if one.seed == seed)
    try:
        return record_trajectory(task, policy, replay(task, episode))
    except OtherEpisodeError:
        return None


def _seeds(run: RunFiles, policy: str) -> list[int]:
    """The scenes that a policy was evaluated in and that its run has not seen."""
    episodes = run.evaluation[policy].episodes if policy in run.evaluation else ()
    return [episode.seed for episode in episodes if episode.seed not in run.config.seen]


def policies_of(run: RunFiles, task: Task) -> Iterator[tuple[str, Policy]]:
    """The learned policy in the ways that it is tested in, greedy first; then those to compare it with."""
    temperature = run.demonstrated_temperature
    ways = learned_names(run.method.ways_to_act(temperature))
    for name in sorted(ways, key=lambda name: ways[name] or 0.0):
        yield name, run.method.load(run.directory, task, ways[name])
    yield "optimal", REFERENCES["optimal"](task, 0.0)
    if temperature > 0:
        yield "expert", REFERENCES["expert"](task, temperature)
    yield "random", REFERENCES["random"](task, 0.0)


def scenes_of(run: RunFiles, count: int) -> list[int]:
    """Scenes that the run was tested on, first those in which it failed; none that it has seen."""
    learned = [evaluation for name, evaluation in run.evaluation.items() if is_learned(name)]
    episodes = [episode for evaluation in learned for episode in evaluation.episodes]
    failed = [episode.seed for episode in episodes if not episode.success]
    tested = [episode.seed for episode in episodes]
    seen = set(run.config.seen)
    untested = (seed for seed in range(FIRST_TEST_SEED, FIRST_TRAINING_SEED))
    candidates = dict.fromkeys((*failed, *tested)) if tested else untested
    return list(islice((seed for seed in candidates if seed not in seen), count))


def _introduction(run: RunFiles, counted: bool, acted: Sequence[int], has_all: bool) -> str:
    if counted:
        which = "All episodes that were counted above" if has_all else "Some of the episodes that were counted above"
    else:
        which = f"Episodes in scenes {'of the result above' if run.evaluation else 'it has never seen'}"
    where = f" in scene{'s' if len(acted) > 1 else ''} {', '.join(map(str, acted))}" if has_all else ""
    more = "it" if has_all else "more scenes, whose pictures are large here"
    planned = (
        " The automaton reads what is true after each step: its state is filled, the edge that was just taken is thick."
        if run.task_model is not None
        else ""
    )
    return (
        f"{which}, step by step,{where} with the chance that the policy gave to each control (wfairl report --scenes"
        f" has {more}{' in more' if has_all else ''}).{planned}"
    )
