"""Why the scheduler did not fuse two neighbours: its own words, and the same in a plain sentence.

Where it refused without a word, what is known of the two is said instead, and that it gave no reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .snapshot import Attempt, Unit

_CALL_WORDS = re.compile(r"extern|nop")

# Words of the scheduler (a part of its message) and what they mean. The first match counts.
_PLAIN: tuple[tuple[str, str], ...] = (
    ("intermediate nodes between", "Something that needs the first one's result has to run before the second."),
    ("will create cycle", "Fused, each would have to wait for the other."),
    ("must go before", "The second has to be finished before the first can start."),
    ("no shared data due to indexing", "Their loops go through the buffers they share in different orders; fusing them would save no trip to memory."),
    ("no shared data", "Their loops do not go through the buffers they share in step; fusing them would save no trip to memory."),
    ("score_fusion_memory_threshold", "They share too little memory for fusing to be worth it."),
    ("memory deps did not match", "The second reads the first's result in another order, or other elements of it, than the first writes."),
    ("exceeds max fusion", "Together they would be larger than Inductor lets a kernel grow (max_fusion_size)."),
    ("increase peak memory", "Fusing them would raise the peak memory."),
    ("too far away", "They are far apart in the program; fusing them may raise the peak memory."),
    ("too_many_reads_and_writes", "Together they would read and write more buffers than Inductor allows in one kernel."),
    ("numel/rnumel mismatch", "They loop over different sizes."),
    ("numel/rnumel incompatib", "They loop over different sizes."),
    ("numel incompatib", "They loop over different sizes."),
    ("tiling", "They need different tilings of the loops."),
    ("loop order", "They need different orders of the loops."),
    ("split scan", "A scan that is split over blocks is not fused with a reduction."),
    ("device mismatch", "They run on different devices."),
    ("prologue", "Inductor does not put this operation in front of a matrix kernel."),
    ("epilogue", "The kernel before it does not take this operation into itself."),
    ("foreach", "One of them belongs to a foreach operation whose parts do not line up with the other's."),
    ("candidate", "One of them belongs to a foreach operation whose parts do not line up with the other's."),
    ("register spilling", "Fused, they would need more registers than there are."),
    ("explicit disabled", "Inductor has marked one of their buffers as not to be fused."),
    ("grouped node", "One of them belongs to a group that is scheduled as a whole."),
    ("layout", "They lay the buffer out in memory differently."),
    ("template", "The matrix kernel takes no such operation into itself."),
)  # fmt: skip


class Refusals:
    """The scheduler's last word on each pair of its final nodes."""

    def __init__(self, attempts: Iterable[Attempt], units: Iterable[Unit]) -> None:
        owner = {leaf.name: unit.name for unit in units for leaf in unit.leaves}
        self._last: dict[tuple[str, str], tuple[int, Attempt]] = {}
        for attempt in attempts:
            first, second = _owner(attempt.first, owner), _owner(attempt.second, owner)
            if attempt.fused or first is None or second is None or first == second:
                continue
            key = (first, second) if first < second else (second, first)
            size = len(attempt.first) + len(attempt.second)
            before = self._last.get(key)
            # Parts are tried before wholes: what was said of most of the two is what counts, and of that the last.
            if before is None or size >= before[0]:
                self._last[key] = (size, attempt)

    def of(self, first: str, second: str) -> Attempt | None:
        """What was said of two final nodes; None where fusing them was never tried."""
        found = self._last.get((first, second) if first < second else (second, first))
        return None if found is None else found[1]


def _owner(leaves: frozenset[str], owner: dict[str, str]) -> str | None:
    owners = {owner.get(leaf) for leaf in leaves}
    return owners.pop() if len(owners) == 1 else None


def explain(
    first: Unit, second: Unit, said: Attempt | None, *, bias: bool, max_bodies: int | None
) -> tuple[str, str | None]:
    """One plain sentence, and torch's own words where it gave any.

    Args:
        first: runs before ``second``.
        bias: the call of the two adds a bias itself.
        max_bodies: how many loop bodies the C++ backend puts side by side.
    """
    words = None if said is None else said.reason
    calls = [u for u in (first, second) if u.kind == "call"]
    if len(calls) == 2:
        return f"Both are calls ({first.call} and {second.call}); only generated code can be fused.", words
    if calls:
        return _call(calls[0], after=calls[0] is second, bias=bias), words
    if words is not None and not _CALL_WORDS.search(words):
        for part, sentence in _PLAIN:
            if part in words.lower():
                return sentence + _sizes(first, second, sentence), words
        return "The scheduler refused; its own words say why.", words
    if first.device != second.device:
        return "They run on different devices.", words
    known = _known(first, second, max_bodies)
    if said is None:
        return f"Fusing them was not tried{': ' + known if known else ', and the scheduler does not say why'}.", None
    if known:
        return f"{known[0].upper()}{known[1:]}; the scheduler gave no words of its own.", None
    return "The scheduler refused and gave no reason.", None


def _call(unit: Unit, *, after: bool, bias: bool) -> str:
    name = unit.call or "The call"
    inside = " The bias addition is part of that call." if bias and not after else ""
    if unit.call_kind == "fallback":
        return f"{name} runs eager's own kernel, for which Inductor generates no code; nothing can be fused with it."
    if unit.call_kind == "triton":
        return f"{name} is a kernel written by hand; Inductor does not open it."
    if unit.call_kind == "other":
        return f"{name} runs graphs of its own; nothing is fused across its border."
    takes = "takes no operation in front of it" if after else "takes no further operation into itself"
    return f"{name} is a library call, which {takes} here.{inside}"


def _known(first: Unit, second: Unit, max_bodies: int | None) -> str:
    """What the two nodes themselves tell of why they were kept apart; no capital and no full stop."""
    if max_bodies is not None and len(first.leaves) + len(second.leaves) > max_bodies and first.device == "cpu":
        return f"together they have more loop bodies than the C++ backend puts side by side ({max_bodies})"
    one, other = _loops(first), _loops(second)
    if one and other and one != other:
        return f"their loops have different shapes ({_shown(one)} against {_shown(other)})"
    if any(leaf.reduced for leaf in first.leaves):
        return "the first ends in a reduction, which has to be finished before its result can be used"
    return ""


def _sizes(first: Unit, second: Unit, sentence: str) -> str:
    one, other = _loops(first), _loops(second)
    if "different sizes" not in sentence or not one or not other or one == other:
        return ""
    return f" The first over {_shown(one)}, the second over {_shown(other)}."


def _loops(unit: Unit) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    return {(leaf.loops, leaf.reduced) for leaf in unit.leaves if leaf.loops or leaf.reduced}


def _shown(loops: set[tuple[tuple[str, ...], tuple[str, ...]]]) -> str:
    widest = max(loops, key=lambda loop: (len(loop[1]), len(loop[0]), loop))
    outer, reduced = " x ".join(widest[0]), " x ".join(widest[1])
    if not reduced:
        return outer or "one element"
    return f"{outer + ', ' if outer else ''}reducing {reduced}"
