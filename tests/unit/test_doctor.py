"""`stc doctor` tries things really; here it is given environments that lack them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fixtures.stores import a_finished_run
from stc import __version__, doctor
from stc.record.store import Store


def by_name(document: dict[str, Any], area: str) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in document["checks"] if check["area"] == area}


def examined(*flags: str, **environment: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, *flags, "-m", "stc.cli", "doctor", "--json"], capture_output=True, text=True, timeout=200, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


def test_tells_of_everything_in_one_document(stc_home: Path) -> None:
    a_finished_run(Store.open())
    status, document = examined()
    areas = {check["area"] for check in document["checks"]}
    assert areas == {"Versions", "C++ compiler", "Targets", "Capture", "JupyterLab", "Store"}
    assert document["ok"] is (status == 0)
    assert document["stc"] == __version__
    compiler = by_name(document, "C++ compiler")
    assert compiler["shared library"]["state"] == compiler["Python headers"]["state"] == "ok"
    targets = by_name(document, "Targets")
    assert targets["cpu"]["state"] == "ok"
    assert {"cpu", "cuda", "xla", "neuron"} == targets.keys()
    assert all(t["value"].startswith(("yes", "no: ")) for t in targets.values())
    assert [c["state"] for c in by_name(document, "Capture").values()] == ["ok"]
    assert str(stc_home) in by_name(document, "Store")["folder"]["value"]
    assert by_name(document, "Store")["contents"]["value"].startswith("1 run, 0 running")


def test_names_what_is_missing_and_what_to_do(tmp_path: Path) -> None:
    # Given neither a compiler, nor configuration of Jupyter's, nor a store that can be made
    (tmp_path / "file").write_text("")
    status, document = examined(PATH=str(tmp_path), CXX="", STC_HOME=str(tmp_path / "file" / "x"))
    # Then each is a fault with a remedy, and the status says so
    assert (status, document["ok"]) == (1, False)
    compiler = by_name(document, "C++ compiler")["g++" if sys.platform != "darwin" else "clang++"]
    assert compiler["state"] == "fault"
    assert "Install g++" in compiler["remedy"]
    assert by_name(document, "Targets")["cpu"]["state"] == "fault"
    (store,) = by_name(document, "Store").values()
    assert "cannot be created" in store["value"]
    assert "STC_HOME" in store["remedy"]


def test_tells_of_damage_that_was_set_aside(stc_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (stc_home / "runs.db").write_bytes(b"no database " * 1000)
    checks = {check.name: check for check in doctor._store()}
    assert checks["set aside"].state == "warning"
    assert "runs.damaged-" in checks["set aside"].value
    assert checks["folder"].state == "ok"


@pytest.mark.parametrize(
    ("version", "state"),
    [
        ("2.7.1", "fault"), ("2.8.0", "ok"), ("2.13.0+cpu", "ok"), ("2.13.9", "ok"), ("2.14.0", "warning"), ("3.0.0a1", "warning"),
        ("odd", "warning"),
    ],
)  # fmt: skip
def test_judges_a_version_at_the_ends_of_its_range(version: str, state: str) -> None:
    assert doctor.in_range("PyTorch", version, (2, 8), (2, 13)).state == state


@pytest.mark.parametrize(("version", "shown"), [((6, 0), "6"), ((9, 10**6), "9"), ((8, 37), "8.37")])
def test_shows_the_ends_of_a_range(version: tuple[int, int], shown: str) -> None:
    assert doctor._shown(version) == shown


def test_a_compiler_that_refuses_is_quoted() -> None:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler here")
    good = 'extern "C" int stc_doctor(int x) { return x + 1; }\n'
    assert doctor.built_and_loaded(compiler, good, []) is None
    assert "no_such.h" in (doctor.built_and_loaded(compiler, "#include <no_such.h>\n" + good, []) or "")
    assert "cannot be loaded" in (doctor.built_and_loaded(compiler, "int other() { return 0; }", []) or "")
    assert "computes 43" in (doctor.built_and_loaded(compiler, good.replace("+ 1", "+ 2"), []) or "")
    assert "could not be run" in (doctor.built_and_loaded("/no/such/compiler", good, []) or "")


def panel(folder: Path, version: str = __version__, *, built: bool = True) -> list[str]:
    place = folder / "jupyterlab-stc"
    (place / "static").mkdir(parents=True)
    (place / "package.json").write_text(json.dumps({"version": version}))
    if built:
        (place / "static" / "remoteEntry.0123.js").write_text("")
    return [str(folder)]


def test_a_panel_of_this_version_is_in_order(tmp_path: Path) -> None:
    assert doctor._lab_extension(panel(tmp_path), [], "fault", "install it").state == "ok"


def test_a_panel_that_is_not_there_or_old_or_unbuilt_or_damaged_or_disabled_is_not(tmp_path: Path) -> None:
    damaged = panel(tmp_path / "d")
    (tmp_path / "d" / "jupyterlab-stc" / "package.json").write_text("{")
    config = tmp_path / "config"
    (config / "labconfig").mkdir(parents=True)
    (config / "labconfig" / "page_config.json").write_text('{"disabledExtensions": {"jupyterlab-stc": true}}')
    said = [
        doctor._lab_extension([str(tmp_path / "a")], [], "fault", "install it"),
        doctor._lab_extension(panel(tmp_path / "b", "0.0.1"), [], "fault", "install it"),
        doctor._lab_extension(panel(tmp_path / "c", built=False), [], "fault", "install it"),
        doctor._lab_extension(damaged, [], "fault", "install it"),
        doctor._lab_extension(panel(tmp_path / "e"), [str(config)], "fault", "install it"),
    ]
    assert [check.state for check in said] == ["fault"] * 5
    for check, words in zip(
        said, ("not installed", "0.0.1", "no built front end", "cannot be read", "disabled"), strict=True
    ):
        assert words in check.value
        assert check.remedy


@pytest.mark.parametrize(
    ("npm", "python"), [("0.2.0", "0.2.0"), ("0.2.0-rc.1", "0.2.0rc1"), ("1.0.0-alpha.3", "1.0.0a3")]
)
def test_reads_a_version_of_the_front_end_as_one_of_pythons(npm: str, python: str) -> None:
    assert doctor.same_version(npm) == python


def test_a_check_that_fails_does_not_hide_the_others(stc_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> list[doctor.Check]:
        raise RuntimeError("of ours")

    for name in ("_compiler", "_capture", "_jupyter", "_targets"):
        monkeypatch.setattr(doctor, name, broken if name == "_jupyter" else lambda *a, **k: [])
    checks = doctor.examine()
    assert not doctor.is_well(checks)
    assert any("RuntimeError: of ours" in c.value for c in checks)
    assert any(c.area == "Store" for c in checks)
    text = doctor.as_text(checks)
    assert "\nStore\n" in text
    assert text.rstrip().endswith(".")
