"""What the report says of the kernels of a graph, on graphs that are really compiled."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from fixtures.seen import Seen, capturing, cold, line_of, lines, names

warnings.filterwarnings("ignore", module="torch")


@pytest.fixture(autouse=True)
def _cold() -> Iterator[None]:
    with cold():
        yield


def watch(run: Callable[[], Any]) -> Seen:
    """What is told of what ``run`` compiles; nothing may stay unseen."""
    torch.manual_seed(0)
    with capturing() as seen:
        run()
    assert seen.gaps_of("fusion", "bytes", "fusion reports", "reasons for not fusing", "reports from the cache") == []
    return seen


class Normed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(128, 128)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = nn.functional.gelu(self.lin(x))
        centred = h - h.mean(-1, keepdim=True)
        return centred * torch.rsqrt(h.var(-1, keepdim=True) + 1e-5) * 2, h


def train(model: Callable[..., Any], *inputs: torch.Tensor) -> None:
    out = torch.compile(model)(*inputs)
    parts = out if isinstance(out, tuple) else (out,)
    sum(part.sum() for part in parts).backward()


@pytest.fixture(scope="module")
def normed() -> Seen:
    with cold():
        return watch(lambda: train(Normed(), torch.randn(64, 128)))


# --------------------------------------------------------------------------- which operations, on which line


def test_matrix_product_and_bias_are_one_call_and_the_rest_is_one_kernel(normed: Seen) -> None:
    call, kernel = normed.only("forward").kernels
    assert (call.kind, call.name, names(call)) == ("library", "extern_kernels.addmm", ["addmm"])
    assert kernel.kind == "cpp"
    assert names(kernel) == ["gelu", "mean", "sub", "var", "add", "rsqrt", "mul", "mul"]
    first = line_of("h = nn.functional.gelu(self.lin(x))", __file__)
    assert lines(call) == [first]
    assert lines(kernel) == [first, first + 1, first + 1, *[first + 2] * 5]


def test_groups_are_the_loop_nests_of_a_kernel(normed: Seen) -> None:
    kernel = normed.only("forward").kernels[1]
    assert [[names(kernel)[i] for i in group.ops] for group in kernel.groups] == [
        ["gelu"],
        ["mean", "sub", "var", "add", "rsqrt", "mul", "mul"],
    ]


def test_a_backward_operation_has_the_line_of_its_forward(normed: Seen) -> None:
    kernels = normed.only("backward").kernels
    gelu = next(op for kernel in kernels for op in kernel.ops if op.name == "aten.gelu_backward.default")
    product = next(op for kernel in kernels for op in kernel.ops if op.name == "aten.mm.default")
    line = line_of("h = nn.functional.gelu(self.lin(x))", __file__)
    assert gelu.location is not None and gelu.location.line == line
    assert product.location is not None and product.location.line == line


def test_the_code_of_a_kernel_is_where_the_report_says(normed: Seen) -> None:
    graph = normed.only("forward")
    text = normed.artefacts[graph.code or ""].splitlines()
    call, kernel = graph.kernels
    assert kernel.code is not None and call.code is not None
    assert text[kernel.code.first_line - 1].startswith(f"{kernel.name} = ")
    assert text[kernel.code.last_line - 1].startswith("'''")
    assert "extern_kernels.addmm(" in text[call.code.first_line - 1]


def test_a_graph_lists_the_operations_it_was_traced_to(normed: Seen) -> None:
    assert [op.name.split(".")[1] for op in normed.only("forward").ops] == [
        "addmm", "gelu", "mean", "sub", "var", "add", "rsqrt", "mul", "mul",
    ]  # fmt: skip


# --------------------------------------------------------------------------- what passes through memory, and why


def test_a_result_is_in_memory_because_it_is_returned(normed: Seen) -> None:
    kernel = normed.only("forward").kernels[1]
    h = next(layout for layout in kernel.layout if layout.role == "write" and layout.buffer == "buf1")
    assert (h.shape, h.dtype, h.format) == (["64", "128"], "float32", "contiguous")
    assert h.reason is not None and h.reason.startswith("returned")


def test_inputs_are_called_what_the_user_calls_them(normed: Seen) -> None:
    call = normed.only("forward").kernels[0]
    assert [x.reason for x in call.layout if x.role == "read"] == [
        "graph input lin.weight", "graph input lin.bias", "graph input x",
    ]  # fmt: skip
    backward = normed.only("backward").kernels[0]
    reasons = {x.reason for x in backward.layout if x.role == "read"}
    assert reasons == {"saved by the forward", "gradient of an output"}


def test_the_report_says_why_the_bias_addition_is_not_in_the_generated_kernel(normed: Seen) -> None:
    graph = normed.only("forward")
    edge = next(n for n in graph.not_fused if n.first == graph.kernels[0].id)
    assert edge.second == graph.kernels[1].id
    assert edge.buffers == ["buf0"]
    assert "library call" in edge.reason and "bias addition is part of that call" in edge.reason


def test_each_pair_of_neighbours_has_one_reason(normed: Seen) -> None:
    for graph in normed.graphs.values():
        pairs = [(n.first, n.first_group, n.second, n.second_group) for n in graph.not_fused]
        assert len(pairs) == len(set(pairs)) > 0
        ids = {kernel.id for kernel in graph.kernels}
        for n in graph.not_fused:
            assert {n.first, n.second} <= ids
            assert n.reason.endswith(".")
            assert n.buffers


def test_loop_nests_that_were_refused_without_a_word_are_told_apart_by_their_shapes(normed: Seen) -> None:
    graph = normed.only("forward")
    edge = next(n for n in graph.not_fused if n.first == n.second)
    assert (edge.first_group, edge.second_group) == (0, 1)
    assert "8192" in edge.reason and "64" in edge.reason
    assert edge.detail is None


# --------------------------------------------------------------------------- bytes


def test_bytes_of_a_graph_are_those_of_its_kernels(normed: Seen) -> None:
    for graph in normed.graphs.values():
        total = sum((k.bytes_read or 0) + (k.bytes_written or 0) for k in graph.kernels)
        assert graph.bytes is not None and graph.bytes.fused == total


def test_a_library_call_reads_its_arguments_and_writes_its_result(normed: Seen) -> None:
    call = normed.only("forward").kernels[0]
    assert call.bytes_read == 4 * (128 * 128 + 128 + 64 * 128)
    assert call.bytes_written == 4 * 64 * 128


def test_decomposing_flatters_fusion_and_eager_lies_between(normed: Seen) -> None:
    for graph in normed.graphs.values():
        moved = graph.bytes
        assert moved is not None and moved.fused and moved.eager and moved.decomposed
        assert moved.fused < moved.eager < moved.decomposed


def test_eager_bytes_are_those_of_a_real_eager_run(normed: Seen) -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    from stc.capture.traffic import operation_bytes, tensors

    class Count(TorchDispatchMode):
        total = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            self.total += operation_bytes(func, tensors([args, kwargs or {}]), tensors(out)) or 0
            return out

    model, x = Normed(), torch.randn(64, 128)
    with Count() as forward:
        out, h = model(x)
    with Count() as backward:
        starts = [torch.ones(64, 128), torch.ones(64, 128)]
        torch.autograd.grad([out, h], list(model.parameters()), starts)
    ours = [normed.only(phase).bytes for phase in ("forward", "backward")]
    assert [b and b.eager for b in ours] == [forward.total, backward.total - 2 * 4 * 64 * 128]


# --------------------------------------------------------------------------- kinds of graphs


def test_an_optimizer_is_one_kernel_that_updates_in_place() -> None:
    model = nn.Sequential(nn.Linear(16, 32), nn.Linear(32, 4))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(8, 16)).sum().backward()
    step = torch.compile(lambda: optimizer.step())
    seen = watch(step)
    (kernel,) = seen.only("optimizer").kernels
    assert kernel.kind == "cpp"
    assert len(kernel.groups) >= len(list(model.parameters()))
    updated = [x for x in kernel.layout if x.reason is not None and "updated in place" in x.reason]
    assert len(updated) >= 3 * len(list(model.parameters()))
    line = line_of("torch.compile(lambda: optimizer.step())", __file__)
    assert {op.location.line for op in kernel.ops if op.location is not None} == {line}
    moved = seen.only("optimizer").bytes
    assert moved is not None and moved.fused and moved.eager and moved.fused < moved.eager


def test_a_convolution_is_a_library_call_in_its_own_memory_format() -> None:
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU()).to(memory_format=torch.channels_last)
    images = torch.randn(2, 3, 16, 16).to(memory_format=torch.channels_last)
    seen = watch(lambda: train(model, images))
    call = seen.only("forward").kernels[0]
    assert (call.kind, names(call)) == ("library", ["convolution"])
    assert {x.format for x in call.layout if len(x.shape) == 4} == {"channels_last"}
    (back,) = [k for k in seen.only("backward").kernels if k.kind == "library"]
    assert names(back) == ["convolution_backward"] and back.bytes_written


def test_a_stock_module_is_on_the_line_that_calls_it() -> None:
    model = torch.compile(nn.Sequential(nn.Linear(8, 8), nn.ReLU()))
    seen = watch(lambda: model(torch.randn(4, 8)))
    line = line_of("watch(lambda: model(torch.randn(4, 8)))", __file__)
    assert {x for k in seen.only("forward").kernels for x in lines(k)} == {line}


def test_sizes_that_change_are_symbols_and_their_bytes_those_of_the_first_call() -> None:
    seen = watch(lambda: torch.compile(lambda x: (x * 2).relu().sum(-1), dynamic=True)(torch.randn(6, 10)))
    graph = seen.only("inference")
    (kernel,) = graph.kernels
    assert graph.dynamic is True
    assert (kernel.bytes_read, kernel.bytes_written) == (4 * 60, 4 * 6)
    assert kernel.layout[0].shape[0].startswith("s")


def test_a_size_that_depends_on_the_data_is_not_known() -> None:
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        seen = watch(lambda: torch.compile(lambda x: (x[x > 0] * 2).relu())(torch.randn(100)))
    graph = seen.only("inference")
    assert graph.bytes is not None
    assert (graph.bytes.fused, graph.bytes.decomposed, graph.bytes.eager) == (None, None, None)
    assert len(graph.bytes.notes) == 3
    last = graph.kernels[-1]
    assert last.bytes_written is None and "Bytes are not known: a size depends on the data." in last.notes


def test_a_graph_that_reads_a_value_has_no_eager_bytes_and_says_why() -> None:
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        seen = watch(lambda: torch.compile(lambda x: x * x.sum().item())(torch.arange(100)))
    moved = seen.only("inference").bytes
    assert moved is not None and moved.eager is None and moved.fused is not None
    assert any(".item()" in note for note in moved.notes)


def test_views_alone_make_no_kernel_and_their_line_is_folded() -> None:
    seen = watch(lambda: torch.compile(lambda x: x.view(5, 20).t()[1:])(torch.randn(10, 10)))
    graph = seen.only("inference")
    assert graph.kernels == []
    assert graph.bytes is not None and (graph.bytes.fused, graph.bytes.eager) == (0, 0)
    assert [place.line for place in graph.folded] == [line_of("x.view(5, 20).t()[1:]", __file__)]


def test_an_operator_without_generated_code_is_a_fallback() -> None:
    @torch.library.custom_op("stc_tests::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @twice.register_fake
    def _(x: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(x)

    seen = watch(lambda: torch.compile(lambda x: twice(x.relu()) + 1)(torch.randn(10, 10)))
    graph = seen.only("inference")
    assert [(k.kind, names(k)) for k in graph.kernels] == [("cpp", ["relu"]), ("fallback", ["twice"]), ("cpp", ["add"])]
    assert "eager's own kernel" in graph.not_fused[0].reason


def test_several_results_of_one_call_are_its_own() -> None:
    seen = watch(lambda: torch.compile(lambda x: torch.sort(x.exp())[0] * 2)(torch.randn(10, 10)))
    _, call, after = seen.only("inference").kernels
    assert (call.kind, names(call)) == ("fallback", ["sort"])
    assert call.bytes_written is not None and call.bytes_written >= 400
    edge = seen.only("inference").not_fused[-1]
    assert (edge.first, edge.second) == (call.id, after.id)


def test_half_precision_moves_half_the_bytes() -> None:
    linear = nn.Linear(64, 64).bfloat16()
    seen = watch(lambda: train(lambda x: linear(x).relu(), torch.randn(4, 64, dtype=torch.bfloat16)))
    call = seen.only("forward").kernels[0]
    assert call.bytes_written == 2 * 4 * 64
    assert {x.dtype for x in call.layout} == {"bfloat16"}


def test_independent_loops_that_share_a_launch_are_groups() -> None:
    run = torch.compile(lambda x, y: (x.sin() + 1, y.cos() * 2))
    seen = watch(lambda: run(torch.randn(10, 10), torch.randn(30, 3)))
    graph = seen.only("inference")
    (kernel,) = graph.kernels
    assert [[names(kernel)[i] for i in g.ops] for g in kernel.groups] == [["sin", "add"], ["cos", "mul"]]
    assert graph.not_fused == []


def test_graphs_inside_a_graph_are_seen_too() -> None:
    def either(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.sin() * 2, lambda x: x.cos() + 1, (x,))

    seen = watch(lambda: torch.compile(either)(torch.randn(10)))
    graph = seen.only("inference")
    assert {name for k in graph.kernels for name in names(k)} >= {"sin", "cos", "sum"}
    assert any(k.kind == "other" and k.name == "cond" for k in graph.kernels)
    assert graph.bytes is not None and graph.bytes.eager is None
    assert len({k.id for k in graph.kernels}) == len(graph.kernels)


def test_an_operation_that_inductor_rewrote_keeps_a_line() -> None:
    table = nn.Embedding(1000, 16)
    seen = watch(lambda: train(lambda i: torch.softmax(table(i) * 2, -1), torch.randint(0, 1000, (5, 7))))
    line = line_of("torch.softmax(table(i) * 2, -1)", __file__)
    for graph in seen.graphs.values():
        assert {x for k in graph.kernels for x in lines(k)} == {line}


def test_a_lookup_reads_the_rows_that_it_returns() -> None:
    table = nn.Embedding(100_000, 16)
    seen = watch(lambda: torch.compile(lambda i: table(i) * 2)(torch.arange(7)))
    moved = seen.only("forward").bytes
    assert moved is not None and moved.fused is not None and moved.eager is not None
    assert moved.fused < 3000 and moved.eager < 3000


def test_rows_that_are_looked_up_in_a_small_table_are_read_once() -> None:
    run = torch.compile(lambda x: nn.functional.interpolate(x, scale_factor=2, mode="bilinear"))
    (kernel,) = watch(lambda: run(torch.randn(1, 3, 8, 8))).only("inference").kernels
    assert kernel.bytes_read == 4 * 3 * 8 * 8


def test_an_update_of_some_rows_counts_those_rows() -> None:
    run = torch.compile(lambda x, i, y: x.index_add_(0, i, y))
    seen = watch(lambda: run(torch.zeros(10_000, 4), torch.arange(3), torch.ones(3, 4)))
    moved = seen.only("inference").bytes
    assert moved is not None and moved.fused is not None and moved.fused < 1000


def test_lists_of_tensors_are_one_operation_each() -> None:
    run = torch.compile(lambda xs, ys: torch._foreach_mul(torch._foreach_add(xs, ys), 2.0))
    lists = [[torch.randn(8), torch.randn(9, 3)] for _ in range(2)]
    (kernel,) = watch(lambda: run(*lists)).only("inference").kernels
    assert names(kernel) == ["_foreach_add", "_foreach_mul"]
    assert kernel.bytes_read == 2 * 4 * (8 + 27)


def test_graphs_that_a_backend_compiles_in_parts_are_one_graph_with_all_kernels() -> None:
    from torch._inductor.compile_fx import compile_fx

    def twice(module: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
        import copy

        compile_fx(copy.deepcopy(module), inputs)
        return compile_fx(module, inputs)

    run = torch.compile(lambda x: x.sin() @ x, backend=twice)
    with capturing() as seen, torch.no_grad():
        run(torch.randn(8, 8))
    graph = seen.only("inference")
    assert [k.id.rpartition(":")[2] for k in graph.kernels] == ["0", "1", "2", "3"]
    assert graph.bytes is not None and graph.bytes.eager is None
    assert graph.bytes.notes == ["Eager bytes are not known: Dynamo's graph was not seen."]


def test_tritons_code_generator_is_read_as_the_cpus_is() -> None:
    """Inductor writes Triton code for a GPU that is not there; the snapshot is taken before that code is built."""
    pytest.importorskip("triton")
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver

    from stc.capture.kernels import GraphKernels
    from stc.capture.operations import Operations
    from stc.capture.snapshot import Snapshot
    from stc.capture.torch_compat import inductor

    class Absent:
        def get_current_target(self) -> Any:
            return GPUTarget("cuda", 80, 32)

        def get_current_device(self) -> int:
            return 0

        def get_device_interface(self) -> Any:
            return torch.cuda

    def run(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = nn.functional.gelu(x @ x)
        return (h - h.mean(-1, keepdim=True)) * 2, torch.cumsum(x, 0)

    found: list[Snapshot] = []
    undo = inductor.watch_scheduler(found.append, lambda part, error: pytest.fail(str(error)), "test")
    driver.set_active(Absent())
    try:
        with torch._inductor.config.patch(cpu_backend="triton"), pytest.raises(Exception, match="compatible backend"):
            torch.compile(run)(torch.randn(64, 64))
    finally:
        driver.reset_active()
        undo()
    (snapshot,) = found
    kernels = GraphKernels("g", snapshot, Operations(snapshot.fx, {}, {})).kernels
    assert sorted((k.kind, names(k)) for k in kernels) == [
        ("library", ["mm"]),
        ("triton", ["cumsum"]),
        ("triton", ["gelu", "mean", "sub", "mul"]),
    ]
    assert all(k.name.startswith("triton_") for k in kernels if k.kind == "triton")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_gpu_graph_has_triton_kernels() -> None:
    model = Normed().cuda()
    seen = watch(lambda: train(model, torch.randn(64, 128, device="cuda")))
    for graph in seen.graphs.values():
        assert {k.kind for k in graph.kernels} == {"triton", "library"}
        assert all(k.code is not None for k in graph.kernels)
    last = seen.only("forward").kernels[-1]
    assert {"gelu", "mean", "sub", "var", "rsqrt"} <= set(names(last))
