"""What Inductor decided about one graph, as plain data: final scheduler nodes, the memory they touch, and refused fusions.

Read from the scheduler by ``torch_compat.schedule`` while it is alive; everything after it needs no torch and can be
tested on a snapshot made by hand, such as one of a GPU that the machine does not have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

UnitKind = Literal["generated", "call", "host", "none"]
CallKind = Literal["library", "fallback", "triton", "other"]


@dataclass(frozen=True)
class Buffer:
    """A tensor in memory. Sizes are kept as text, for symbolic ones, and as numbers (None: not known when compiled)."""

    name: str
    dtype: str
    item_bytes: int
    shape: tuple[str, ...]
    stride: tuple[str, ...]
    sizes: tuple[int | None, ...]
    strides: tuple[int | None, ...]

    @property
    def elements(self) -> int | None:
        """Distinct elements; a dimension with stride 0 repeats what is there."""
        count = 1
        for size, stride in zip(self.sizes, self.strides, strict=False):
            if size is None:
                return None
            count *= 1 if stride == 0 else size
        return count


@dataclass(frozen=True)
class Access:
    """Elements of one buffer that are read or written; None: the whole buffer."""

    buffer: str
    elements: int | None = None
    known: bool = True  # False: how many is not known before the graph runs


@dataclass(frozen=True)
class Leaf:
    """One scheduler node before fusion: one loop nest, or one call.

    ``origin`` is the FX node whose value it computes exactly; ``origins`` all that Inductor credits it with.
    """

    name: str
    reads: tuple[Access, ...] = ()
    writes: tuple[Access, ...] = ()
    origin: Any = None
    origins: tuple[Any, ...] = ()
    loops: tuple[str, ...] = ()
    reduced: tuple[str, ...] = ()  # loops that a reduction runs over


@dataclass(frozen=True)
class Unit:
    """One scheduler node after fusion, in the order in which it runs."""

    name: str
    kind: UnitKind
    leaves: tuple[Leaf, ...]
    device: str | None = None
    call: str | None = None  # what is called, for kind "call"
    call_kind: CallKind | None = None
    parts: tuple[tuple[str, ...], ...] = ()  # leaf names of bodies that only share a launch (foreach, combo)
    inside: frozenset[str] = frozenset()  # buffers that never leave it
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    """A kernel whose code was generated: its name, what wrote it, and the leaves in it."""

    name: str
    language: Literal["cpp", "triton", "other"]
    leaves: frozenset[str]
    backend: str = ""


@dataclass(frozen=True)
class Attempt:
    """The scheduler's last word on fusing two nodes. ``reason`` None: refused without a word."""

    first: frozenset[str]
    second: frozenset[str]
    fused: bool
    reason: str | None = None


@dataclass
class Snapshot:
    """One graph after its code was generated."""

    units: list[Unit]
    written: list[Written]
    attempts: list[Attempt]
    buffers: dict[str, Buffer]
    inputs: list[str]
    outputs: list[str]  # buffer of each output, in order; "" for what is not a tensor
    fx: Any  # the torch.fx.Graph that was lowered
    fx_buffers: dict[Any, str]  # FX node to the buffer that holds its value
    real_names: dict[str, str] = field(default_factory=dict)  # new name of a buffer after an update: the buffer
    made_of: dict[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # a concatenation: its parts; a result: its call's
    results: dict[str, list[str]] = field(default_factory=dict)  # buffer of a call with several results: theirs
    removed: frozenset[str] = frozenset()
    returns: int | None = None  # how many outputs of a forward the user gets; the rest is saved for the backward
    backward: bool = False
    inference: bool = False
    dynamic: bool = False
    max_bodies: int | None = None  # how many loop bodies the C++ backend puts side by side
