"""Where public data come from, and whether a copy is the version behind the published figures."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from experiments.harness.cell import DataFolder
from experiments.public_data.trajectories import TrajectorySet
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import parse_json, read_bytes


class NoDataError(BadInputError):
    """An experiment on recorded data was started without them."""


class WrongSourceError(BadInputError):
    """A file of public data is missing, cut short, or of another version."""


@dataclass(frozen=True)
class SourceFile:
    """A file as its authors publish it: path below the source, size, and SHA-256."""

    path: str
    size: int
    sha256: str


def published_files(name: str) -> tuple[SourceFile, ...]:
    """The files of a data set, with the checksums that are part of this room."""
    checksums = parse_json(resources.files("experiments.public_data").joinpath("checksums.json").read_text("utf-8"))
    return tuple(SourceFile(path, file["bytes"], file["sha256"]) for path, file in checksums[name].items())


@dataclass(frozen=True)
class PublicSource:
    """A public data set."""

    title: str  # what it is
    where: str  # the repository, its commit, and the folder in it
    # what is read; if empty, the files of the folder that the reader looks for and checks itself
    files: tuple[SourceFile, ...]
    read: Callable[[Path], TrajectorySet]  # from a directory with these files to trajectories
    licence: str = "none stated: measure on it, do not pass it on"  # of the data

    def check(self, directory: Path) -> None:
        """Refuse a copy with a file that is missing, cut short, or of another version."""
        for file in self.files:
            path = directory / file.path
            if not path.is_file():
                raise WrongSourceError(f"{path}: missing. {self.title} come from {self.where}")
            content = read_bytes(path)
            if hashlib.sha256(content).hexdigest() == file.sha256:
                continue
            if len(content) < file.size:
                raise WrongSourceError(f"{path}: cut short: {len(content):,} of {file.size:,} bytes; fetch it again")
            raise WrongSourceError(f"{path}: another version than published figures are of; they are of {self.where}")

    def load(self, directory: Path) -> TrajectorySet:
        """Check a copy and read its trajectories, once in a process; errors as in `check` and of the reader."""
        return _load(self, directory)

    def folder(self, directory: Path | None) -> DataFolder:
        """A copy for the cells of an experiment, checked and read once now rather than in every cell."""
        if directory is None or not directory.is_dir():
            missing = "" if directory is None else f"{directory}: no such folder. "
            raise NoDataError(
                f"{missing}{self.title} are public data, which are not part of this project. Get {self.where}, and give"
                " that folder as --data"
            )
        self.load(directory)
        names = [file.path for file in self.files] or [path.name for path in directory.iterdir() if path.is_file()]
        return DataFolder(directory.resolve(), tuple(sorted(names)))


@cache
def _load(source: PublicSource, directory: Path) -> TrajectorySet:
    source.check(directory)
    return source.read(directory)
