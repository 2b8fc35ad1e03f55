"""When, on what and with which versions results were made: what a reader needs to believe them."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("wfairl", "numpy", "scipy", "numba", "torch", "gymnasium", "minigrid", "stable-baselines3")


def provenance(command: str) -> dict[str, Any]:
    """The date, the machine and the versions, for a command that is just ending."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "command": command,
        "machine": f"{os.cpu_count()} cores ({_processor()}), {platform.system()}",
        "versions": {"Python": platform.python_version(), **_versions()},
    }


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    """The processor's name where the system tells it, else the kind of machine."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()
