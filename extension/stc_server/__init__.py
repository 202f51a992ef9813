"""The Jupyter server extension: shows the store to the panel.

Jupyter asks this module what it has: a server extension and a prebuilt front end. Importing it loads neither.
"""

from __future__ import annotations

from typing import Any


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "jupyterlab-stc"}]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    from .app import StcApp

    return [{"module": "stc_server", "app": StcApp}]
