"""Put the checkout's front end and server configuration where this environment's Jupyter looks for them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINKS = {
    "share/jupyter/labextensions/jupyterlab-stc": "extension/stc_server/labextension",
    "etc/jupyter/jupyter_server_config.d/stc_server.json": "extension/jupyter-config/server-config/stc_server.json",
}


def main() -> None:
    for place, source in LINKS.items():
        link = Path(sys.prefix) / place
        link.parent.mkdir(parents=True, exist_ok=True)
        if link.is_dir() and not link.is_symlink():
            shutil.rmtree(link)
        else:
            link.unlink(missing_ok=True)
        link.symlink_to(ROOT / source)


if __name__ == "__main__":
    main()
