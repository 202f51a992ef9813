"""Records made from a snapshot written by hand: graphs of hardware that this machine does not have, and rare shapes of graphs."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch.fx import Graph

from stc.capture.code import with_code
from stc.capture.kernels import GraphKernels
from stc.capture.layouts import memory_format
from stc.capture.operations import Operations
from stc.capture.reasons import Refusals, explain
from stc.capture.snapshot import Access, Attempt, Buffer, Leaf, Snapshot, Unit, Written
from stc.record.types import Kernel

aten = torch.ops.aten


def buffer(name: str, *sizes: int, item: int = 4) -> Buffer:
    strides = []
    step = 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= size
    shape, stride = tuple(map(str, sizes)), tuple(map(str, strides))
    return Buffer(name, "float32", item, shape, stride, sizes, tuple(strides))


def leaf(name: str, reads: list[str], writes: list[str], origin: Any = None, **more: Any) -> Leaf:
    return Leaf(
        name, tuple(Access(r) for r in reads), tuple(Access(w) for w in writes), origin=origin,
        origins=() if origin is None else (origin,), **more,
    )  # fmt: skip


def unit(*leaves: Leaf, kind: Any = "generated", device: str = "cuda", **more: Any) -> Unit:
    return Unit("_".join(one.name for one in leaves), kind, leaves, device=device, **more)


class Chain:
    """x -> relu -> exp -> mm -> sum on a GPU: two generated kernels around a library call."""

    def __init__(self) -> None:
        self.fx = Graph()
        x = self.fx.placeholder("x")
        self.relu = self.fx.call_function(aten.relu.default, (x,))
        self.exp = self.fx.call_function(aten.exp.default, (self.relu,))
        self.mm = self.fx.call_function(aten.mm.default, (self.exp, self.exp))
        self.sum = self.fx.call_function(aten.sum.default, (self.mm,))
        self.units = [
            unit(leaf("op0", ["x"], ["buf0"], self.relu), leaf("op1", ["buf0"], ["buf1"], self.exp), inside=frozenset({"buf0"})),
            unit(leaf("op2", ["buf1"], ["buf2"], self.mm), kind="call", call="extern_kernels.mm", call_kind="library"),
            unit(leaf("op3", ["buf2"], ["buf3"], self.sum, loops=("1",), reduced=("64",))),
        ]  # fmt: skip
        self.written = [
            Written("triton_poi_fused_exp_relu_0", "triton", frozenset({"op0", "op1"}), "TritonScheduling"),
            Written("triton_per_fused_sum_1", "triton", frozenset({"op3"}), "TritonScheduling"),
        ]

    def snapshot(self, **more: Any) -> Snapshot:
        buffers = {n: buffer(n, 8, 8) for n in ("x", "buf0", "buf1", "buf2")} | {"buf3": buffer("buf3")}
        settings: dict[str, Any] = {
            "units": self.units, "written": self.written, "attempts": [], "buffers": buffers, "inputs": ["x"], "outputs": ["buf3"],
            "fx": self.fx, "fx_buffers": {self.exp: "buf1", self.mm: "buf2", self.sum: "buf3"}, "inference": True,
        }  # fmt: skip
        return Snapshot(**{**settings, **more})

    def kernels(self, **more: Any) -> GraphKernels:
        return GraphKernels("g", self.snapshot(**more), Operations(self.fx, {}, {}))


def shown(kernel: Kernel) -> tuple[str, str, list[str]]:
    return kernel.kind, kernel.name, [op.name for op in kernel.ops]


def test_kernels_of_a_gpu_graph_are_triton_and_library() -> None:
    assert [shown(k) for k in Chain().kernels().kernels] == [
        ("triton", "triton_poi_fused_exp_relu_0", ["aten.relu.default", "aten.exp.default"]),
        ("library", "extern_kernels.mm", ["aten.mm.default"]),
        ("triton", "triton_per_fused_sum_1", ["aten.sum.default"]),
    ]


def test_what_stays_inside_a_kernel_moves_no_bytes() -> None:
    first, call, last = Chain().kernels().kernels
    assert (first.bytes_read, first.bytes_written) == (256, 256)
    assert (call.bytes_read, call.bytes_written) == (256, 256)
    assert (last.bytes_read, last.bytes_written) == (256, 4)


def test_a_buffer_that_inductor_removed_moves_no_bytes() -> None:
    chain = Chain()
    chain.units[0] = unit(*chain.units[0].leaves)
    assert chain.kernels(removed=frozenset({"buf0"})).kernels[0].bytes_written == 256


def test_reasons_of_layouts_say_who_reads() -> None:
    first, call, last = Chain().kernels().kernels
    assert [(x.buffer, x.reason) for x in first.layout] == [
        ("x", "graph input"), ("buf1", "read by extern_kernels.mm"),
    ]  # fmt: skip
    assert [(x.buffer, x.reason) for x in last.layout] == [
        ("buf2", "result of extern_kernels.mm"), ("buf3", "returned"),
    ]  # fmt: skip


def test_variants_of_one_kernel_are_one_kernel() -> None:
    chain = Chain()
    chain.written.insert(1, Written("triton_poi_fused_exp_relu_9", "triton", frozenset({"op0", "op1"})))
    kernels = chain.kernels().kernels
    assert [k.name for k in kernels] == ["triton_poi_fused_exp_relu_0", "extern_kernels.mm", "triton_per_fused_sum_1"]
    assert kernels[0].notes == ["One of 2 variants, chosen when it first runs."]


def test_parts_of_a_foreach_launch_are_groups() -> None:
    chain = Chain()
    both = unit(*chain.units[0].leaves, parts=(("op0",), ("op1",)))
    chain.units[0] = both
    assert [g.ops for g in chain.kernels().kernels[0].groups] == [[0], [1]]


def test_a_matrix_kernel_from_a_template_is_generated() -> None:
    chain = Chain()
    chain.units[1:] = [unit(*chain.units[1].leaves, *chain.units[2].leaves, inside=frozenset({"buf2"}))]
    chain.written[1] = Written("triton_tem_fused_mm_sum_1", "triton", frozenset({"op2", "op3"}))
    assert shown(chain.kernels().kernels[1]) == (
        "triton",
        "triton_tem_fused_mm_sum_1",
        ["aten.mm.default", "aten.sum.default"],
    )


def test_a_kernel_of_another_backend_is_named() -> None:
    chain = Chain()
    chain.written[1] = Written("halide_kernel_1", "other", frozenset({"op3"}), "HalideScheduling")
    last = chain.kernels().kernels[-1]
    assert last.kind == "other" and last.notes == ["Written by Inductor's HalideScheduling."]


def test_a_hand_written_kernel_is_triton() -> None:
    chain = Chain()
    chain.units[1] = unit(*chain.units[1].leaves, kind="call", call="my_kernel", call_kind="triton")
    seen = chain.kernels()
    assert (seen.kernels[1].kind, seen.kernels[1].name) == ("triton", "my_kernel")
    assert "written by hand" in seen.not_fused()[0].reason


def test_a_concatenation_in_place_is_read_through_its_parts() -> None:
    chain = Chain()
    made_of = {"buf9": ("buf1",)}
    chain.units[1] = unit(
        leaf("op2", ["buf9"], ["buf2"], chain.mm), kind="call", call="extern_kernels.mm", call_kind="library"
    )
    seen = chain.kernels(made_of=made_of, outputs=["buf9"])
    assert [(n.first, n.second) for n in seen.not_fused()] == [("g:0", "g:1"), ("g:1", "g:2")]
    (written,) = [x for x in seen.kernels[0].layout if x.role == "write"]
    assert written.reason == "returned, part of buf9, which is put together in place, read by extern_kernels.mm"


def test_an_update_in_place_is_no_new_memory() -> None:
    chain = Chain()
    chain.units = [unit(leaf("op0", ["x"], ["buf0"], chain.relu))]
    chain.written = [Written("triton_poi_fused_relu_0", "triton", frozenset({"op0"}))]
    (kernel,) = chain.kernels(real_names={"buf0": "x"}, outputs=[]).kernels
    assert [(x.buffer, x.role, x.reason) for x in kernel.layout] == [
        ("x", "read", "graph input"), ("x", "write", "graph input, updated in place"),
    ]  # fmt: skip


def test_a_size_that_is_not_known_leaves_bytes_unknown() -> None:
    chain = Chain()
    odd = Buffer("buf1", "float32", 4, ("u0",), ("1",), (None,), (1,))
    seen = chain.kernels(
        buffers={"x": buffer("x", 8, 8), "buf1": odd, "buf2": buffer("buf2", 8, 8), "buf3": buffer("buf3")}
    )
    first = seen.kernels[0]
    assert first.bytes_read == 256 and first.bytes_written is None
    assert "Bytes are not known: a size depends on the data." in first.notes
    assert seen.fused_bytes() is None


def test_an_expanded_buffer_is_as_large_as_what_it_repeats() -> None:
    assert Buffer("b", "float32", 4, ("8", "4"), ("0", "1"), (8, 4), (0, 1)).elements == 4


# --------------------------------------------------------------------------- reasons


def attempt(first: str, second: str, reason: str | None, fused: bool = False) -> Attempt:
    return Attempt(frozenset(first.split()), frozenset(second.split()), fused, reason)


def pair(**more: Any) -> tuple[Unit, Unit]:
    return unit(leaf("op0", [], []), leaf("op1", [], []), **more), unit(leaf("op2", [], []), **more)


def test_the_last_word_on_most_of_the_two_counts() -> None:
    tried = [
        attempt("op0", "op2", "no shared data"),
        attempt("op0 op1", "op2", "will create cycle"),
        attempt("op1", "op2", "x"),
    ]
    said = Refusals(tried, pair()).of("op0_op1", "op2")
    assert said is not None and said.reason == "will create cycle"


def test_what_was_said_in_the_other_order_counts_too() -> None:
    said = Refusals([attempt("op2", "op0 op1", "no shared data")], pair()).of("op0_op1", "op2")
    assert said is not None


def test_a_pair_that_was_never_tried_says_so() -> None:
    first, second = pair()
    assert Refusals([], (first, second)).of(first.name, second.name) is None
    assert "not tried" in explain(first, second, None, bias=False, max_bodies=None)[0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("numel/rnumel mismatch (reduce) (8, 4), (16, 1)", "different sizes"),
        ("intermediate nodes between node1 & node2", "before the second"),
        ("memory deps did not match", "another order"),
        ("device mismatch (cpu vs cuda:0)", "different devices"),
        ("exceeds max fusion", "max_fusion_size"),
        ("Fusion will increase peak memory", "peak memory"),
        ("template epilogue not satisfied", "does not take this operation"),
        ("prologue fusion turned off", "in front of a matrix kernel"),
        ("tiling mismatch (a, b, c)", "tilings"),
        ("something nobody has seen yet", "its own words say why"),
    ],
)
def test_the_schedulers_words_become_a_sentence_and_stay_beside_it(words: str, sentence: str) -> None:
    first, second = pair()
    reason, detail = explain(first, second, attempt("op0 op1", "op2", words), bias=False, max_bodies=None)
    assert sentence in reason and reason.endswith(".")
    assert detail == words


def test_a_refusal_without_a_word_is_explained_by_what_is_known() -> None:
    first = unit(leaf("op0", [], [], loops=("64",), reduced=("128",)), device="cpu")
    second = unit(leaf("op1", [], [], loops=("8192",)), device="cpu")
    reason, detail = explain(first, second, attempt("op0", "op1", None), bias=False, max_bodies=16)
    assert (
        reason
        == "Their loops have different shapes (64, reducing 128 against 8192); the scheduler gave no words of its own."
    )
    assert detail is None


def test_a_refusal_of_which_nothing_is_known_says_so() -> None:
    first, second = pair()
    reason, _ = explain(first, second, attempt("op0 op1", "op2", None), bias=False, max_bodies=None)
    assert reason == "The scheduler refused and gave no reason."


def test_too_many_loop_bodies_side_by_side() -> None:
    first, second = pair(device="cpu")
    reason, _ = explain(first, second, attempt("op0 op1", "op2", None), bias=False, max_bodies=2)
    assert "(2)" in reason and "side by side" in reason


# --------------------------------------------------------------------------- layouts and code


@pytest.mark.parametrize(
    ("sizes", "strides", "name"),
    [
        ((), (), "contiguous"),
        ((4, 8), (8, 1), "contiguous"),
        ((4, 8), (1, 4), "transposed"),
        ((2, 3, 4, 5), (60, 1, 15, 3), "channels_last"),
        ((2, 1, 4, 5), (20, 20, 5, 1), "contiguous"),
        ((2, 3, 2, 4, 5), (120, 1, 60, 15, 3), "channels_last_3d"),
        ((2, 3, 4), (1, 8, 2), "permuted"),
        ((4, 8), (0, 1), "expanded"),
        ((4, 8), (16, 1), "strided"),
        ((None, 8), (8, 1), None),
    ],
)
def test_names_of_memory_formats(sizes: Any, strides: Any, name: str | None) -> None:
    assert memory_format(sizes, strides) == name


CODE = """
triton_poi_fused_relu_0 = async_compile.triton('triton_poi_fused_relu_0', '''
import triton
x = y.z(1)
''', device_str='cuda')


one_line = async_compile.cpp('x', '''inline''')

class Runner:
    def call(self, args):
        triton_poi_fused_relu_0.run(arg0_1, buf0)
        extern_kernels.mm(buf0, buf0, out=buf1)
        extern_kernels.mm(buf1, buf0, out=buf2)
"""


def test_code_is_found_by_definition_and_by_call() -> None:
    names = ["triton_poi_fused_relu_0", "extern_kernels.mm", "extern_kernels.mm", "one_line", "nowhere"]
    kernels = [Kernel(id=str(i), name=name, kind="other") for i, name in enumerate(names)]
    spans = [k.code and (k.code.first_line, k.code.last_line) for k in with_code(kernels, CODE, "a.py")]
    assert spans == [(2, 5), (13, 13), (14, 14), (8, 8), None]
