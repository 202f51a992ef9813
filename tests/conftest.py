"""What every test shares: folders of its own in place of the user's, and one Inductor cache, so that a second session starts warm.

Set in the environment before any test module is imported, so that kernels, servers and scripts that tests start inherit it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / ".stc-build"

_folder: Path | None = None


def pytest_configure(config: pytest.Config) -> None:
    """Isolate this session from the user's Jupyter, IPython and STC folders."""
    global _folder
    _folder = Path(tempfile.mkdtemp(prefix="stc-tests-"))
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "STC_HOME"):
        path = _folder / name.lower()
        path.mkdir(mode=0o700)
        os.environ[name] = str(path)
    for name in ("JUPYTER_PATH", "JUPYTER_CONFIG_PATH", "JUPYTER_TOKEN"):
        os.environ.pop(name, None)
    # Private to each torch: the two supported ends of the range run from one checkout.
    cache = BUILD / f"inductor-{_torch_version()}"
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(cache))
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")


def pytest_unconfigure(config: pytest.Config) -> None:
    if _folder is not None:
        shutil.rmtree(_folder, ignore_errors=True)


@pytest.fixture
def stc_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store folder that only this test uses; processes it starts see the same one."""
    home = tmp_path / "stc-home"
    home.mkdir()
    monkeypatch.setenv("STC_HOME", str(home))
    return home


@pytest.fixture
def cold_inductor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty Inductor cache: for tests that say what a first compile does. Kernels started after this see it too."""
    folder = tmp_path / "inductor"
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def _torch_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("torch")
    except PackageNotFoundError:
        return "none"
