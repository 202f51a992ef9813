"""Where the store lies, and whether its file system is one on which SQLite's write-ahead log is safe."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

# Write-ahead logging needs shared memory between all processes, which these do not give across hosts.
NETWORK_TYPES = {
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "lustre", "glusterfs", "ceph", "fuse.sshfs", "fuse.s3fs",
    "fuse.glusterfs", "afpfs", "webdav", "efs", "beegfs", "gpfs",
}  # fmt: skip


def home() -> Path:
    """The store's folder: ``STC_HOME``, else the user's data directory. Not created here."""
    given = os.environ.get("STC_HOME")
    if given:
        return Path(given).expanduser()
    if platform.system() == "Darwin":
        return Path.home() / "Library" / "Application Support" / "stc"
    if platform.system() == "Windows":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "stc"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "stc"


def file_system(path: Path, mounts: str | None = None) -> str | None:
    """Type of the file system that holds ``path`` (which need not exist yet), or None where it cannot be told.

    Args:
        mounts: text in the format of /proc/mounts; read from there if None.
    """
    if mounts is None:
        mounts = _mounts()
    best, kind = -1, None
    real = os.path.realpath(path)
    for line in mounts.splitlines():
        fields = line.split()
        if len(fields) < 3:
            continue
        point = fields[1].encode().decode("unicode_escape")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:
            best, kind = len(point), fields[2]
    return kind


def is_network(kind: str | None) -> bool:
    return kind is not None and kind.lower() in NETWORK_TYPES


def _mounts() -> str:
    try:
        return Path("/proc/mounts").read_text(errors="replace")
    except OSError:
        pass
    try:
        said = subprocess.run(["mount"], capture_output=True, text=True, timeout=5, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    lines = []
    for line in said.splitlines():  # macOS: "device on /point (type, options)"
        device, _, rest = line.partition(" on ")
        point, _, options = rest.rpartition(" (")
        lines.append(
            f"{device.replace(' ', '_')} {point.replace(' ', chr(92) + '040')} {options.split(',')[0].rstrip(')')}"
        )
    return "\n".join(lines)
