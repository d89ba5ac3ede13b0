"""The machine a benchmark ran on, in words: no host name and no path."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

_PACKAGES = ("responsa", "numpy", "bm25s", "PyStemmer", "rank-bm25")


def describe() -> dict[str, str]:
    """Processor, cores, memory, operating system, Python and the versions of the packages measured."""
    return {
        "processor": _processor(),
        "cores": str(_cores()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{_distribution()}, {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        **{name: metadata.version(name) for name in _PACKAGES},
    }


def _processor() -> str:
    """The model as Linux names it, or what the platform says."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.lower().startswith("model name"))
    return next(names, "") or platform.processor() or "unknown"


def _cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.release()}"
