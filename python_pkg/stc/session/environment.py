"""What a run ran on: versions, processor, memory, compiler, GPUs. Everything that cannot be told is None."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import socket
import subprocess
import sys
from importlib import metadata
from typing import Any

from stc.record.types import Environment, Gpu

_PACKAGES = (
    "torch",
    "numpy",
    "ipykernel",
    "ipython",
    "jupyterlab",
    "accelerate",
    "transformers",
    "lightning",
    "torchvision",
)


def environment() -> Environment:
    """This process's environment. Does not import torch; says what is known of it where it is loaded."""
    torch = sys.modules.get("torch")
    return Environment(
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.release()} {platform.machine()}",
        stc=_version("jupyterlab-stc") or "unknown",
        torch=None if torch is None else str(torch.__version__),
        ipython=_version("ipython"),
        host=socket.gethostname(),
        cpu=_cpu_name(),
        cpu_cores=_cores(),
        threads=torch.get_num_threads() if torch is not None else None,
        memory_bytes=_memory(),
        compiler=_compiler(),
        gpus=_gpus(torch),
        packages={name: version for name in _PACKAGES if (version := _version(name)) is not None},
    )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cores() -> int | None:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


@functools.lru_cache(maxsize=1)
def _cpu_name() -> str | None:
    try:
        with open("/proc/cpuinfo") as lines:
            for line in lines:
                if line.startswith(("model name", "Model")):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or None


def _memory() -> int | None:
    try:
        import psutil
    except ImportError:
        return None
    return int(psutil.virtual_memory().total)


@functools.lru_cache(maxsize=1)
def _compiler() -> str | None:
    for name in (os.environ.get("CXX"), "g++", "clang++"):
        path = shutil.which(name) if name else None
        if path is None:
            continue
        try:
            said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
        except (OSError, subprocess.SubprocessError):
            continue
        if said:
            return said.splitlines()[0]
    return None


def _gpus(torch: Any) -> list[Gpu]:
    if torch is None or not torch.cuda.is_available():
        return []
    found = []
    for index in range(torch.cuda.device_count()):
        about = torch.cuda.get_device_properties(index)
        found.append(Gpu(name=about.name, memory_bytes=about.total_memory, capability=f"{about.major}.{about.minor}"))
    return found
