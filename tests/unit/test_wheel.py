"""What an installation gets: one wheel with the library, the server extension, the built panel and one version."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of this checkout, with the front end as it was built last."""
    pytest.importorskip("hatch_jupyter_builder", reason="the build's own tools are installed for development only")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT, env={**os.environ, "SKIP_JUPYTER_BUILDER": "1"}, check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_holds_both_packages_and_the_schema(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    assert {
        "stc/__init__.py", "stc/_version.py", "stc/py.typed", "stc/cli.py", "stc/record/schema.json", "stc_server/app.py", "stc_server/py.typed",
    } <= names  # fmt: skip
    assert not [n for n in names if n.startswith(("tests/", "labextension/", "stc_server/labextension/"))]


def test_holds_the_panel_where_jupyterlab_looks_for_it(wheel: zipfile.ZipFile) -> None:
    places = {n.partition(".data/data/")[2] for n in wheel.namelist()}
    panel = "share/jupyter/labextensions/jupyterlab-stc"
    assert {f"{panel}/package.json", f"{panel}/install.json", f"{panel}/static/style.js"} <= places
    assert any(p.startswith(f"{panel}/static/remoteEntry") for p in places)
    assert f"{panel}/schemas/jupyterlab-stc/plugin.json" in places


def test_switches_the_server_extension_on(wheel: zipfile.ZipFile) -> None:
    (name,) = (n for n in wheel.namelist() if n.endswith("etc/jupyter/jupyter_server_config.d/stc_server.json"))
    assert json.loads(wheel.read(name)) == {"ServerApp": {"jpserver_extensions": {"stc_server": True}}}


def test_has_the_command_and_the_one_version_and_no_torch(wheel: zipfile.ZipFile) -> None:
    version = json.loads((ROOT / "package.json").read_text())["version"]
    info = f"jupyterlab_stc-{version}.dist-info"
    assert "stc = stc.cli:main" in wheel.read(f"{info}/entry_points.txt").decode()
    metadata = wheel.read(f"{info}/METADATA").decode().splitlines()
    needed = [
        line.partition(": ")[2] for line in metadata if line.startswith("Requires-Dist") and "extra ==" not in line
    ]
    assert f"Version: {version}" in metadata
    assert "License-Expression: Apache-2.0" in metadata
    assert needed
    assert not [n for n in needed if n.startswith(("torch", "jupyterlab"))]
