"""The IPython face and the script runner.

``%load_ext stc`` comes here; everything that needs IPython is imported then and not before.
"""

from __future__ import annotations

from typing import Any


def load_ipython_extension(shell: Any) -> None:
    """Bring the magics into a shell; called by ``%load_ext stc``."""
    from .shell import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take everything out again; called by ``%unload_ext stc``."""
    from .shell import unload

    unload(shell)
