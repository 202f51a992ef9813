"""Leaves those models eager whose gradients are differentiated again: compiled code cannot do that, and fails only then.

By then the step is lost, so it is looked for in the code around a model's call before the model is compiled.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from stc.source.derivatives import asks_for_second
from stc.source.places import is_user_code

if TYPE_CHECKING:
    from .models import Model, Models

_FAILURE = "does not currently support double backward"
# Code of the models that failed in this way, in whatever run: the next one leaves them eager.
_failed: weakref.WeakSet[CodeType] = weakref.WeakSet()


class Twice:
    """Watches the models of one run."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._looked: dict[tuple[int, int], Any] = {}  # model and caller: what these ids stand for

    def look(self, model: Model, frame: FrameType | None) -> None:
        """A model is called, from ``frame``: look into the code there, once."""
        if model.barred or not self._models.compiles:
            return
        while frame is not None and not is_user_code(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None:
            return
        key = (id(model), id(frame.f_code))
        if key in self._looked:
            return
        self._looked[key] = (model, frame.f_code)
        if model.code is not None and model.code in _failed:
            self._models.bar(
                model, "In an earlier run its gradients were differentiated again, which compiled code cannot do."
            )
            return
        module = model.ref()
        classes = dict.fromkeys(type(part) for part in module.modules()) if module is not None else {}
        place = asks_for_second(frame, classes)
        if place is not None:
            where = f"{place.file}, line {place.line}"
            self._models.bar(
                model, f"Its gradients may be differentiated again ({where}), which compiled code cannot do."
            )

    def seen(self, models: Iterable[Model]) -> None:
        """A backward pass was asked for a graph of its own."""
        for model in models:
            self._models.bar(
                model, "Its gradients are to be differentiated again (create_graph), which compiled code cannot do."
            )

    def failed(self, error: BaseException, models: Iterable[Model]) -> None:
        """A backward pass has failed; where that was the cause, the next run knows."""
        if _FAILURE not in str(error):
            return
        for model in models:
            if model.code is not None:
                _failed.add(model.code)
            self._models.bar(
                model,
                "Its gradients were differentiated again, which compiled code cannot do: the next run leaves it eager.",
            )
