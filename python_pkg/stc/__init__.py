"""STC: a training compiler you can see, inside JupyterLab.

The public names, each loaded when it is first used, so that ``import stc`` costs next to nothing and needs no framework.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._version import __version__ as __version__
    from .magics import load_ipython_extension as load_ipython_extension
    from .magics import unload_ipython_extension as unload_ipython_extension
    from .magics.api import compile as compile
    from .magics.api import compiling as compiling
    from .magics.api import finish as finish
    from .magics.api import runs as runs
    from .magics.api import show as show
    from .options import Options as Options

_PLACES = {
    "__version__": "._version",
    "Options": ".options",
    "compile": ".magics.api",
    "compiling": ".magics.api",
    "finish": ".magics.api",
    "load_ipython_extension": ".magics",
    "runs": ".magics.api",
    "show": ".magics.api",
    "unload_ipython_extension": ".magics",
}

__all__ = [  # noqa: RUF022  # in the order in which a reader needs them
    "load_ipython_extension", "unload_ipython_extension", "compiling", "compile", "finish", "show", "runs", "Options", "__version__",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(place, __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
