"""`stc doctor`: tries what STC stands on, really, and says what is missing and what to do about it.

Each check is a plain record. A fault means that something will not work; a warning, that something may not; a note is for information.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import msgspec

from stc.errors import StcUserError

State = Literal["ok", "note", "warning", "fault"]
Version = tuple[int, int]

_ANY = 10**6
# Distribution, what people call it, lowest and highest version that is supported, and what its absence means.
_RANGES: tuple[tuple[str, str, Version, Version, State, str], ...] = (
    ("torch", "PyTorch", (2, 8), (2, 13), "fault", "Install the build for your machine, as pytorch.org says."),
    ("ipython", "IPython", (8, 37), (9, _ANY), "fault", "Install it with: pip install 'ipython>=8.37'."),
    ("ipykernel", "ipykernel", (6, 0), (7, _ANY), "note", "Notebooks need it; scripts do not."),
    ("jupyterlab", "JupyterLab", (4, 4), (4, 6), "note", "The panel needs it; cells and scripts do not."),
)
_LAB_EXTENSION = "jupyterlab-stc"
_SERVER_EXTENSION = "stc_server"


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    area: str
    name: str
    state: State
    value: str
    remedy: str | None = None


def examine() -> list[Check]:
    """Every check, in the order in which a reader wants them. Imports torch, builds a small library and opens the store."""
    found: list[Check] = []
    compiled: list[Check] = []

    def compiler() -> Iterable[Check]:
        compiled.extend(_compiler())
        return compiled

    def targets() -> Iterable[Check]:
        return _targets(can_compile=not any(c.state == "fault" for c in compiled))

    areas: tuple[tuple[str, Callable[[], Iterable[Check]]], ...] = (
        ("Versions", _versions), ("C++ compiler", compiler), ("Targets", targets), ("Capture", _capture),
        ("JupyterLab", _jupyter), ("Store", _store),
    )  # fmt: skip
    for area, look in areas:
        try:
            found.extend(look())
        except Exception as error:  # one that fails must not hide the others
            found.append(_check(area, "check", "fault", f"could not be made: {type(error).__name__}: {error}"))
    return found


def is_well(checks: Iterable[Check]) -> bool:
    return all(check.state != "fault" for check in checks)


def as_text(checks: list[Check]) -> str:
    """A table by area, and one sentence on the whole."""
    from stc.render.summary import SEVERITY_MARKS

    marks = {"ok": "✓", "note": "–", "warning": SEVERITY_MARKS["warning"], "fault": SEVERITY_MARKS["error"]}
    widest = max(len(check.name) for check in checks)
    lines: list[str] = []
    for position, check in enumerate(checks):
        if position == 0 or checks[position - 1].area != check.area:
            lines += ["", check.area] if lines else [check.area]
        lines.append(f"  {marks[check.state]} {check.name:<{widest}}  {check.value}")
        if check.remedy is not None:
            lines.append(f"    {'':<{widest}}  → {check.remedy}")
    faults, warnings = (sum(c.state == state for c in checks) for state in ("fault", "warning"))
    told = [f"{n} {word}{'s' * (n != 1)}" for n, word in ((faults, "fault"), (warnings, "warning")) if n]
    return "\n".join([*lines, "", f"{' and '.join(told)}." if told else "Everything is in order."])


def as_json(checks: list[Check]) -> bytes:
    from stc import __version__

    document = {"schema_version": 1, "stc": __version__, "ok": is_well(checks), "checks": checks}
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _check(area: str, name: str, state: State, value: str, remedy: str | None = None) -> Check:
    return Check(area=area, name=name, state=state, value=value, remedy=remedy)


# --------------------------------------------------------------------------- versions


def _versions() -> Iterable[Check]:
    from stc import __version__

    area = "Versions"
    yield _check(area, "STC", "ok", __version__)
    yield _check(area, "Python", "ok", f"{platform.python_version()} at {sys.executable} (supported: 3.10 or newer)")
    for distribution, name, lowest, highest, without, remedy in _RANGES:
        version = installed(distribution)
        if version is None:
            yield _check(area, name, without, "not installed", remedy)
        else:
            yield in_range(name, version, lowest, highest)


def installed(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def in_range(name: str, version: str, lowest: Version, highest: Version) -> Check:
    """Whether a version lies in the supported range, by its first two numbers."""
    supported = f"supported: {_shown(lowest)} to {_shown(highest)}"
    numbers = re.match(r"(\d+)\.(\d+)", version)
    have = (int(numbers[1]), int(numbers[2])) if numbers else None
    text = f"{version} ({supported})"
    if have is None:
        return _check("Versions", name, "warning", f"{text}: not a version that can be compared")
    if have < lowest:
        return _check("Versions", name, "fault", text, f"Upgrade it to {_shown(lowest)} or newer.")
    if have > highest:
        remedy = "What it changed may be missing from reports; they name what they could not see."
        return _check("Versions", name, "warning", f"{text}: newer than what STC was tried on", remedy)
    return _check("Versions", name, "ok", text)


def _shown(version: Version) -> str:
    return str(version[0]) if version[1] in (0, _ANY) else f"{version[0]}.{version[1]}"


# --------------------------------------------------------------------------- C++ compiler

_LIBRARY = 'extern "C" int stc_doctor(int x) { return x + 1; }\n'
_OPENMP = "#include <omp.h>\nstatic int threads = omp_get_max_threads();\n"
_PYTHON = "#include <Python.h>\n"


def _compiler() -> Iterable[Check]:
    area = "C++ compiler"
    name = os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++")
    path = shutil.which(name)
    if path is None:
        other = shutil.which("clang++")
        remedy = "Set CXX=clang++." if other else "Install g++, or on macOS the command-line tools."
        yield _check(area, name, "fault", "not found: the cpu target cannot compile", remedy)
        return
    said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False).stdout
    yield _check(area, name, "ok", f"{(said.splitlines() or ['version unknown'])[0]} at {path}")
    headers = ["-I" + folder for folder in {sysconfig.get_path("include"), sysconfig.get_path("platinclude")} if folder]
    trials: list[tuple[str, str, list[str], str]] = [
        ("shared library", _LIBRARY, [], "Reinstall the compiler with its standard library."),
        ("Python headers", _PYTHON + _LIBRARY, headers, "Install them: python3-dev, or python3-devel."),
    ]
    if sys.platform != "darwin":  # Apple's compiler has no OpenMP; torch does without it there
        trials.append(("OpenMP", _OPENMP + _LIBRARY, ["-fopenmp"], "Install libgomp, or libomp-dev for clang++."))
    for what, source, flags, remedy in trials:
        began = time.perf_counter()
        problem = built_and_loaded(path, source, flags)
        if problem is None:
            yield _check(area, what, "ok", f"built and loaded in {time.perf_counter() - began:.1f} s")
        else:
            yield _check(area, what, "fault", problem, remedy)


def built_and_loaded(compiler: str, source: str, flags: list[str]) -> str | None:
    """Build a shared library, load it and call it; what went wrong in one line, or None."""
    with tempfile.TemporaryDirectory(prefix="stc-doctor-", ignore_cleanup_errors=True) as folder:
        code, library = Path(folder, "trial.cpp"), Path(folder, "trial.so")
        code.write_text(source)
        lookup = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
        command = [compiler, "-shared", "-fPIC", "-O1", *flags, *lookup, str(code), "-o", str(library)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        except (OSError, subprocess.SubprocessError) as error:
            return f"the compiler could not be run: {error}"
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "error" in line.lower()] or [done.stderr.strip()]
            return f"the compiler refused it: {lines[0][:300]}"
        try:
            answer = ctypes.CDLL(str(library)).stc_doctor(41)
        except (OSError, AttributeError) as error:
            return f"it was built but cannot be loaded: {error}"
    return None if answer == 42 else f"it was built but computes {answer} for 42"


# --------------------------------------------------------------------------- targets and capture


def _targets(can_compile: bool) -> Iterable[Check]:
    area = "Targets"
    try:
        import torch
    except Exception as error:  # a broken installation raises anything
        why = "PyTorch is not installed" if isinstance(error, ModuleNotFoundError) else f"PyTorch fails: {error}"
        yield _check(area, "cpu", "fault", f"no: {why}.", "Install PyTorch 2.8 to 2.13.")
        yield _check(area, "cuda", "note", f"no: {why}.")
    else:
        if can_compile:
            yield _check(area, "cpu", "ok", f"yes, {torch.get_num_threads()} threads")
        else:
            yield _check(area, "cpu", "fault", "eager only: there is no working C++ compiler (see above)")
        yield _cuda(torch)
    for name, package in (("xla", "torch_xla"), ("neuron", "torch_neuronx")):
        version = installed(package) or installed(package.replace("_", "-"))
        there = f"{package} {version} is installed" if version else f"{package} is not installed"
        yield _check(area, name, "note", f"no: this version of STC does not compile for it; {there}")


def _cuda(torch: Any) -> Check:
    from stc.session.asked import check_target

    try:
        check_target("cuda")
    except StcUserError as error:
        return _check("Targets", "cuda", "note", f"no: {error.message.partition(': ')[2]}")
    try:
        about = torch.cuda.get_device_properties(0)
        torch.zeros(1, device="cuda").add_(1).item()
    except Exception as error:
        return _check("Targets", "cuda", "fault", f"found but does not work: {error}", "Check the driver: nvidia-smi.")
    device = f"{about.name}, capability {about.major}.{about.minor}, CUDA {torch.version.cuda}"
    triton = installed("triton")
    if triton is None:
        return _check("Targets", "cuda", "fault", f"{device}; Triton is missing", "Install it: pip install triton.")
    if about.major < 7:
        return _check("Targets", "cuda", "warning", f"{device}: too old for Triton, which needs 7.0")
    return _check("Targets", "cuda", "ok", f"yes: {device}, Triton {triton}")


def _capture() -> Iterable[Check]:
    area = "Capture"
    try:
        import torch
    except Exception:
        yield _check(area, "hooks", "fault", "cannot be tried without PyTorch")
        return
    from stc.capture import listener

    def sink(event: Any) -> None:
        """Only the gaps matter here, and they are asked for."""

    hooks = listener()
    hooks.attach(sink, step=lambda: None, artefact=lambda name, text: None)
    try:
        gaps = hooks.gaps()
    finally:
        hooks.detach(sink)
    for gap in gaps:
        yield _check(area, gap.part, "warning", f"not on torch {torch.__version__}: {gap.reason}")
    if not gaps:
        yield _check(area, "hooks", "ok", f"all of them go in and out on torch {torch.__version__}")


# --------------------------------------------------------------------------- JupyterLab


def _jupyter() -> Iterable[Check]:
    from importlib.util import find_spec

    from jupyter_core.paths import jupyter_config_path, jupyter_path
    from jupyter_server.extension.config import ExtensionConfigManager

    from stc import __version__

    area = "JupyterLab"
    # Without JupyterLab here its extensions are of no use, and their absence is no fault.
    missing: State = "note" if installed("jupyterlab") is None else "fault"
    install = "Install the wheel of STC into the environment that JupyterLab's server runs in, and restart the server."
    folders = jupyter_config_path()
    known = ExtensionConfigManager(read_config_path=folders).get_jpserver_extensions()  # type: ignore[no-untyped-call]
    if find_spec(_SERVER_EXTENSION) is None:
        yield _check(area, "server extension", missing, "not installed", install)
    elif known.get(_SERVER_EXTENSION) is None:
        yield _check(area, "server extension", missing, "installed, but no configuration names it", install)
    elif not known[_SERVER_EXTENSION]:
        remedy = f"Run: jupyter server extension enable {_SERVER_EXTENSION}"
        yield _check(area, "server extension", missing, "disabled", remedy)
    else:
        version = installed(_LAB_EXTENSION)  # one wheel holds all parts, so another version is what an old wheel left
        state: State = "ok" if version == __version__ else "warning"
        yield _check(area, "server extension", state, f"enabled, {version}", None if state == "ok" else install)
    yield _lab_extension(jupyter_path("labextensions"), folders, missing, install)


def _lab_extension(places: list[str], config: list[str], missing: State, install: str) -> Check:
    from stc import __version__

    area, name = "JupyterLab", "panel"
    folder = next((f for p in places if (f := Path(p, _LAB_EXTENSION)).joinpath("package.json").is_file()), None)
    if folder is None:
        return _check(area, name, missing, "not installed", install)
    try:
        version = str(msgspec.json.decode((folder / "package.json").read_bytes())["version"])
    except (OSError, msgspec.MsgspecError, KeyError, TypeError) as error:
        return _check(area, name, missing, f"{folder / 'package.json'} cannot be read: {error}", install)
    if same_version(version) != __version__:
        return _check(area, name, missing, f"{version} at {folder}, but STC is {__version__}", install)
    if not any(folder.glob("static/remoteEntry.*.js")):
        return _check(area, name, missing, f"{folder} holds no built front end", install)
    if _is_disabled(config):
        return _check(area, name, missing, "disabled", f"Run: jupyter labextension enable {_LAB_EXTENSION}")
    return _check(area, name, "ok", f"installed, {version}, at {folder}")


def same_version(npm: str) -> str:
    """A version as Python writes it: 0.2.0-rc.1 is 0.2.0rc1."""
    return re.sub(r"-(alpha|beta|rc)\.?", lambda m: {"alpha": "a", "beta": "b", "rc": "rc"}[m[1]], npm)


def _is_disabled(config: list[str]) -> bool:
    for folder in config:
        try:
            page = msgspec.json.decode(Path(folder, "labconfig", "page_config.json").read_bytes())
            disabled = page.get("disabledExtensions", {})
        except (OSError, msgspec.MsgspecError, AttributeError):
            continue
        if _LAB_EXTENSION in disabled and (not isinstance(disabled, dict) or disabled[_LAB_EXTENSION]):
            return True
    return False


# --------------------------------------------------------------------------- store


def _store() -> Iterable[Check]:
    from stc.record.database import FILE
    from stc.record.paths import home, is_network
    from stc.record.store import Store
    from stc.render import numbers

    area = "Store"
    try:
        store = Store.open()
    except StcUserError as error:
        yield _check(area, str(home()), "fault", error.message, error.remedy)
        return
    try:
        problem = store.problem()
        chosen = "from STC_HOME" if os.environ.get("STC_HOME") else "the user's data directory"
        if problem is None:
            yield _check(area, "folder", "ok", f"{store.folder} ({chosen}), can be read and written")
        else:
            yield _check(area, "folder", "fault", f"{store.folder} ({chosen}): {problem.message}", problem.remedy)
        where = "a network file system: slower, but safe" if is_network(store.file_system) else "local"
        yield _check(
            area, "file system", "ok", f"{store.file_system or 'unknown'} ({where}), journal mode {store.mode}"
        )
        runs = store.runs()
        going = sum(run.status == "running" for run in runs)
        kept = f"{numbers.counted(len(runs), 'run')}, {going} running, {numbers.data(store.size())}"
        yield _check(area, "contents", "ok", kept)
        for damaged in sorted(store.folder.glob(f"{FILE.removesuffix('.db')}.damaged-*.db")):
            size = numbers.data(damaged.stat().st_size)
            remedy = "Delete it once you do not need what it holds."
            yield _check(area, "set aside", "warning", f"{damaged} was damaged ({size})", remedy)
    finally:
        store.close()
