"""Why the scheduler did not fuse two neighbours: its own words, and the same in a plain sentence."""

from __future__ import annotations

import re

from stc.record.types import Kernel

_PLAIN = (
    (r"intermediate nodes between", "Something that needs the first one's result has to run before the second."),
    (r"no shared data", "They go through the buffer in different orders, so fusing them would keep nothing out of memory."),
    (r"numel|rnumel|sizes? (?:mis|do)|ranges|shape", "They loop over different sizes."),
    (r"memory deps did not match|memory_dep|dependency|index", "The second reads the first's result in another order than it is written."),
    (r"reduction|split", "A reduction has to be finished before its result can be used."),
    (r"will create cycle|cycle", "Fusing them would make each wait for the other."),
    (r"device", "They run on different devices."),
    (r"template|epilogue|prologue", "The matrix kernel takes no such operation into itself."),
    (r"score|threshold|too (?:large|many|far)|max_fusion|exceed|peak", "Inductor judged that fusing them would not pay."),
    (r"foreach", "They belong to different lists of a foreach operation."),
    (r"mutation|alias|inplace", "One of them writes in place what the other reads."),
    (r"extern|nop|not a", "One of them is a call into a library."),
)  # fmt: skip


class Refusals:
    """What the scheduler said of pairs of nodes while it compiled one graph. Fused nodes are named "op1_op2"."""

    def __init__(self) -> None:
        self._said: list[tuple[frozenset[str], frozenset[str], str]] = []

    def add(self, first: str, second: str, reason: str) -> None:
        self._said.append((_parts(first), _parts(second), reason))

    def between(self, first: frozenset[str], second: frozenset[str]) -> str | None:
        """The last reason given for parts of these two final nodes, or None."""
        for a, b, reason in reversed(self._said):
            if (a <= first and b <= second) or (a <= second and b <= first):
                return reason
        return None


def explain(said: str | None, first: Kernel, second: Kernel) -> tuple[str, str | None]:
    """One plain sentence and torch's own words."""
    for kernel, other in ((first, second), (second, first)):
        if kernel.kind in ("library", "fallback"):
            what = (
                "a library call"
                if kernel.kind == "library"
                else "an operator's own kernel, which Inductor does not open"
            )
            if other.kind in ("library", "fallback"):
                return "Both are calls into a library; only generated code can be fused.", said
            added = _bias(kernel)
            extra = f", and its {added} is done inside that call" if added else ""
            return f"{kernel.name} is {what}{extra}: generated code cannot be put into it.", said
    if said is None:
        if first.id == second.id:
            return "Two loop nests of one C++ kernel: the result passes through memory, likely from cache.", None
        return "The scheduler gave no reason.", None
    for pattern, sentence in _PLAIN:
        if re.search(pattern, said, re.IGNORECASE):
            return sentence, said
    return "The scheduler refused; its own words say why.", said


def _bias(kernel: Kernel) -> str | None:
    has = any("addmm" in op.name or "baddbmm" in op.name for op in kernel.ops) or "addmm" in kernel.name
    return "bias addition" if has else None


def _parts(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"[A-Za-z]+\d+", name)) or frozenset([name])
