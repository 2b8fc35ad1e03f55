"""The provenance of results: date, command, machine and versions."""

import os
import platform
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("wfairl", "numpy", "scipy", "numba", "torch", "gymnasium", "minigrid", "stable-baselines3")


def provenance(command: str) -> dict[str, Any]:
    """The provenance of the results of a command that just ran."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "command": command,
        "machine": f"{os.cpu_count()} cores ({_processor()}), {platform.system()}",
        "versions": {"Python": platform.python_version(), **_versions()},
    }


def _versions() -> dict[str, str]:
    versions = {}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


def _processor() -> str:
    """The name of the processor if known, else the machine type."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()
