"""What a run was asked for: the target that has to be there, the name it goes by, and the options that changed nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stc.errors import TargetUnavailable
from stc.options import Options
from stc.record.types import Origin

if TYPE_CHECKING:
    from .models import Model


def check_target(target: str) -> None:
    """Refuse a target that this machine does not have, before anything is changed.

    Raises:
        TargetUnavailable
    """
    if target != "cuda":
        return
    try:
        import torch
    except ImportError:
        raise TargetUnavailable("The target cuda needs PyTorch.", "Install it with: pip install torch.") from None
    if not torch.cuda.is_available():
        why = (
            "this PyTorch is built without CUDA" if torch.version.cuda is None else "no NVIDIA GPU or driver was found"
        )
        raise TargetUnavailable(
            f"There is no target cuda here: {why}.", "Leave --target out, or choose cpu; `stc doctor` tells more."
        )


def default_name(origin: Origin) -> str:
    """What a run is called unless it was given a name: the notebook or script, and the cell."""
    if origin.script:
        return os.path.basename(origin.script)
    stem = os.path.splitext(os.path.basename(origin.notebook))[0] if origin.notebook else None
    cell = f"In[{origin.cell}]" if origin.cell is not None else None
    return " ".join(part for part in (stem, cell) if part) or origin.kind


def without_effect(options: Options, models: Sequence[Model]) -> dict[str, str]:
    """Options that were given and changed nothing, with the reason. ``models`` are those that the run has met."""
    ignored = {}
    compiled = [m for m in models if m.compiled is not None]
    if options.plan == "eager":
        for name in ("dynamic", "keep", "precision"):
            if getattr(options, name) not in ("auto", False, "keep"):
                ignored[name] = "The plan is eager: nothing is compiled."
    elif models and not compiled:
        for name in ("dynamic", "keep", "precision"):
            if getattr(options, name) not in ("auto", False, "keep"):
                ignored[name] = "No model was compiled."
    if options.target == "cuda" and models and all(m.device != "cuda" for m in models):
        ignored["target"] = 'The models are on the CPU; STC does not move them. Write model.to("cuda").'
    if options.target == "cpu" and models and all(m.device != "cpu" for m in models):
        ignored["target"] = f"The models are on {models[0].device}; STC does not move them."
    dtype = {"bf16": "torch.bfloat16", "fp16": "torch.float16"}.get(options.precision)
    if dtype is not None and models and all(m.dtype == dtype for m in models):
        ignored["precision"] = "The models' parameters have that type already."
    return ignored
