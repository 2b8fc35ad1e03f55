"""What was computed of a suite, in words: all of it, or what is smaller.

The reader of a quick look must not mistake a method that was little trained for one that fails.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from experiments.suites.suite import Protocol, find_suite
from wfairl.core.runs.methods import find_method
from wfairl.core.worlds.task_registry import find_task
from wfairl.pages.text import counted

BUDGETS = ("epochs", "networks", "pretraining", "iterations")
SCENES = ("fresh_scenes", "validation_scenes")
"""Settings of how much is trained, and on how many scenes."""


@dataclass(frozen=True)
class ChangedSetting:
    """A setting of a method that is not the method's default."""

    method: str
    name: str
    value: Any
    default: Any

    @property
    def is_less(self) -> bool:
        """Whether it is less of the same training."""
        return self.name in (*BUDGETS, *SCENES) and self.value < self.default

    @property
    def is_small_budget(self) -> bool:
        """Whether it leaves half of the training or less."""
        return self.name in BUDGETS and self.value <= self.default / 2

    @property
    def text(self) -> str:
        """The setting in words."""
        usual = "the task's own" if self.default is None else self.default
        return f"{self.name.replace('_', ' ')} {self.value} instead of {usual}"


def included(protocol: Protocol) -> str:
    """What was computed, as a part of a sentence."""
    if not _narrowed(protocol):
        return "every task, data set and method"
    tasks, methods = _listed(_titles(protocol.tasks)), _listed(_entry_titles(protocol, protocol.methods))
    return f"{tasks}, from {_listed(protocol.data_sets)}, by {methods}"


def shortfall(protocol: Protocol) -> str:
    """What differs from the full protocol or from the defaults; empty if nothing does."""
    smaller = "; ".join((*_narrowed(protocol), *_fewer(protocol)))
    sentences = [f"Smaller than the full protocol: {smaller}."] if smaller else []
    changed = changed_settings(protocol)
    if any(setting.is_small_budget for setting in changed):
        sentences.append(
            "The networks are little trained: these are not the figures of the full protocol, and a low return says"
            " nothing about a method."
        )
        changed = [setting for setting in changed if not setting.is_less]
    if changed:
        titles = _entry_titles(protocol, [setting.method for setting in changed])
        settings = "; ".join(f"{title}: {setting.text}" for title, setting in zip(titles, changed, strict=True))
        sentences.append(f"Not the default: {settings}.")
    return " ".join(sentences)


def is_comparable(protocol: Protocol) -> bool:
    """Whether all that was computed was trained and tested as in the full protocol."""
    return not _fewer(protocol) and not changed_settings(protocol)


def changed_settings(protocol: Protocol) -> list[ChangedSetting]:
    """The settings of all methods of a protocol that are not the methods' defaults."""
    entries, settings = find_suite(protocol.suite).entries, []
    for entry in protocol.methods:
        changed = find_method(entries[entry].method).changed_settings(protocol.settings.get(entry, {}))
        settings += [ChangedSetting(entry, name, value, default) for name, (value, default) in changed.items()]
    return settings


def _narrowed(protocol: Protocol) -> list[str]:
    """The tasks, data sets and methods that were computed, where not all were."""
    full, methods = find_suite(protocol.suite).full, _entry_titles(protocol, protocol.methods)
    chosen = [
        (_titles(protocol.tasks), set(protocol.tasks) < set(full.tasks)),
        (protocol.data_sets, set(protocol.data_sets) < set(full.data_sets)),
        (methods, set(protocol.methods) < set(full.methods)),
    ]
    return [f"only {_listed(names)}" for names, is_part in chosen if is_part]


def _fewer(protocol: Protocol) -> list[str]:
    """The numbers that are smaller than in the full protocol."""
    full = find_suite(protocol.suite).full
    numbers = (
        (protocol.seeds, full.seeds, "training seed"),
        (protocol.test_scenes, full.test_scenes, "test scene"),
        (protocol.successes, full.successes, "demonstration"),
        (protocol.failures, full.failures, "failed demonstration"),
    )
    return [f"{counted(ours, what)} instead of {whole}" for ours, whole, what in numbers if ours < whole]


def _titles(tasks: Sequence[str]) -> list[str]:
    return [find_task(task).title for task in tasks]


def _entry_titles(protocol: Protocol, entries: Sequence[str]) -> list[str]:
    suite = find_suite(protocol.suite)
    return [suite.entries[entry].title for entry in entries]


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
