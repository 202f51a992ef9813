"""Bytes that a graph moves when it runs op by op: in eager, and after decomposition. A best-case model, not a measurement.

Every operation reads each of its inputs once and writes each of its outputs once; views, allocations and shape arithmetic
cost nothing; what is repeated by expanding is read once; a lookup reads the rows that it returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from typing import Any

_FREE = {
    "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "lift_fresh", "_unsafe_view", "detach",
    "_reshape_alias", "set_", "resize_", "alias", "_assert_async", "_assert_tensor_metadata", "_assert_scalar",
    "sym_size", "sym_stride", "sym_numel", "sym_storage_offset", "sym_is_contiguous",
}  # fmt: skip
_OVERWRITES = {
    "copy_",
    "zero_",
    "fill_",
    "bernoulli_",
    "uniform_",
    "normal_",
    "random_",
    "exponential_",
}  # do not read their first
_LOOKUPS = {"embedding", "index", "_unsafe_index", "index_select", "gather", "take", "embedding_bag", "_embedding_bag"}


class NotCountable(Exception):
    """Why a graph cannot be run without data; the message ends a sentence that begins with "bytes are not known:"."""


def operation_bytes(target: Any, read: Iterable[Any], written: Iterable[Any]) -> int | None:
    """Of one operation on these tensors; None where a size is not known. The same tensor twice is read once."""
    name = base_name(target)
    if is_free(target, name):
        return 0
    outputs = list({id(t): t for t in written}.values())
    inputs = list({id(t): t for t in read}.values())
    out = _sum(outputs)
    if out is None:
        return None
    if name in _LOOKUPS and inputs:
        table, rest = _sum(inputs[:1]), _sum(inputs[1:])
        return None if table is None or rest is None else out + rest + min(table, out)
    if name in _OVERWRITES:
        inputs = inputs[1:]
    given = _sum(inputs)
    return None if given is None else out + given


def decomposed_bytes(graph: Any) -> int | None:
    """Of Inductor's FX graph as if each of its nodes were a kernel; None where a size is not known."""
    total = 0
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        read = [t for n in node.all_input_nodes for t in tensors(n.meta.get("val"))]
        size = operation_bytes(node.target, read, [*tensors(node.meta.get("val")), *_updated(node)])
        if size is None:
            return None
        total += size
    return total


def base_name(target: Any) -> str:
    """ "mul" for aten.mul.Tensor."""
    packet = getattr(target, "_overloadpacket", None)
    return str(getattr(packet, "__name__", None) or getattr(target, "__name__", target))


def is_free(target: Any, name: str) -> bool:
    """Views, allocations, and what is no tensor operation at all."""
    if name in _FREE or bool(getattr(target, "is_view", False)):
        return True
    namespace = getattr(target, "namespace", None)
    if (
        namespace is None
    ):  # Python's own functions work on sizes; a pattern's lowering or a packet of operators does not
        return getattr(target, "__module__", None) in ("_operator", "operator", "math", "builtins", "torch")
    return namespace in ("prim", "profiler")


def tensor_bytes(value: Any) -> int | None:
    """Distinct bytes of a tensor; a dimension with stride 0 repeats what is there."""
    with suppress(Exception):
        count = 1
        for size, stride in zip(value.size(), value.stride(), strict=True):
            if isinstance(stride, int) and stride == 0:
                continue
            known = number(size)
            if known is None:
                return None
            count *= known
        return count * int(value.element_size())
    return None


def number(size: Any) -> int | None:
    """A size as a number; for a symbolic one what it was when traced, None where only running tells."""
    if isinstance(size, int):
        return size
    node = getattr(size, "node", None)
    if node is None:
        return None
    with suppress(Exception):
        if node.has_hint():
            return int(node.hint)
    return None


def tensors(value: Any) -> list[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [t for part in value for t in tensors(part)]
    return []


def _sum(values: Iterable[Any]) -> int | None:
    total = 0
    for value in values:
        size = tensor_bytes(value)
        if size is None:
            return None
        total += size
    return total


def _updated(node: Any) -> list[Any]:
    """Tensors that an operation of an FX graph changes in place."""
    schema = getattr(node.target, "_schema", None)
    if schema is None or not schema.is_mutable:
        return []
    held = [
        n for argument, n in zip(schema.arguments, node.args, strict=False)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]  # fmt: skip
    return [t for n in held for t in tensors(getattr(n, "meta", {}).get("val"))]


# --------------------------------------------------------------------------- eager


class EagerGraph:
    """A Dynamo graph kept aside before Inductor changes it, with the settings under which it was traced.

    Args:
        module: Dynamo's GraphModule.
    """

    def __init__(self, module: Any) -> None:
        import torch
        from torch.fx import Graph

        graph = Graph()
        graph.output(graph.graph_copy(module.graph, {}))
        self._module, self._graph = module, graph
        self._grad = torch.is_grad_enabled()
        self._autocast = [
            (kind, torch.get_autocast_dtype(kind))
            for kind in ("cpu", "cuda") if torch.is_autocast_enabled(kind)
        ]  # fmt: skip

    def count(self) -> tuple[int, int | None]:
        """Bytes of the forward and of the backward (None without one), on tensors without data.

        Raises:
            NotCountable: the graph needs data, or something else that such tensors do not have.
        """
        import torch
        from torch._guards import tracing
        from torch._subclasses.fake_tensor import FakeTensorMode

        # A mode of its own: running in the compiler's would add guards to the user's graph.
        mode = FakeTensorMode(allow_non_fake_inputs=True)
        counter = _counter()
        try:
            with ExitStack() as stack:
                stack.enter_context(tracing(None))
                stack.enter_context(torch.set_grad_enabled(self._grad))
                for kind, dtype in self._autocast:
                    stack.enter_context(torch.autocast(kind, dtype))
                stack.enter_context(mode)
                inputs = [_stand_in(n.meta.get("example_value"), n) for n in self._graph.nodes if n.op == "placeholder"]
                runner = _interpreter(self._module, self._graph, mode)
                with counter:
                    out = runner.run(*inputs)
                forward = counter.total
                ends = [t for t in tensors(out) if t.requires_grad and t.grad_fn is not None]
                if not ends:
                    return forward, None
                starts = [torch.ones_like(t) for t in ends]
                leaves = list({id(t): t for t in (*tensors(inputs), *runner.held) if t.requires_grad}.values())
                with counter:
                    torch.autograd.grad(ends, leaves, starts, allow_unused=True)
                return forward, counter.total - forward
        except NotCountable:
            raise
        except Exception as error:
            raise NotCountable(_why(error)) from error


def _counter() -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counter(TorchDispatchMode):
        total = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            changed = []
            schema = func._schema
            if schema.is_mutable:
                for argument, value in zip(schema.arguments, args, strict=False):
                    if argument.alias_info is not None and argument.alias_info.is_write:
                        changed += tensors(value)
            size = operation_bytes(func, tensors([args, kwargs or {}]), [*tensors(out), *changed])
            if size is None:
                raise NotCountable(f"a size in {func} is not known before it runs")
            self.total += size
            return out

    return Counter()


def _interpreter(module: Any, graph: Any, mode: Any) -> Any:
    from torch.fx import Interpreter

    class Runner(Interpreter):
        def __init__(self) -> None:
            super().__init__(module, graph=graph)
            self.held: list[Any] = []  # stand-ins for parameters and buffers that are in the graph itself
            self._known: dict[str, Any] = {}

        def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
            value = super().get_attr(target, args, kwargs)
            if not tensors(value):
                return value
            if target not in self._known:
                self._known[target] = mode.from_tensor(value)
                self.held.append(self._known[target])
            return self._known[target]

    return Runner()


def _stand_in(value: Any, node: Any) -> Any:
    """A tensor without data like ``value``, with plain numbers for symbolic sizes; shares nothing with the compiler's."""
    import torch
    from torch.utils._python_dispatch import is_traceable_wrapper_subclass

    wrapper: bool = is_traceable_wrapper_subclass(value)
    if wrapper:
        raise NotCountable(f"the graph takes a {type(value).__name__}")
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided:
            raise NotCountable("the graph takes a sparse tensor")
        size, stride = [_certain(s) for s in value.size()], [_certain(s) for s in value.stride()]
        copy = torch.empty_strided(size, stride, dtype=value.dtype, device=value.device)
        if value.requires_grad:
            copy.requires_grad_()
            return copy if value.is_leaf or not torch.is_grad_enabled() else copy.clone()  # may be changed in place
        return copy
    if type(value).__name__ in ("SymInt", "SymFloat", "SymBool"):
        return value.node.hint if value.node.has_hint() else _unknown()
    if value is None:
        raise NotCountable(f"nothing is known of the graph's input {node.name}")
    return value


def _certain(size: Any) -> int:
    known = number(size)
    return _unknown() if known is None else known


def _unknown() -> Any:
    raise NotCountable("a size is not known before the graph runs")


_REASONS: tuple[tuple[str, str], ...] = (
    ("DataDependentOutputException", "the graph reads a value (such as .item()), which needs data"),
    ("DynamicOutputShapeException", "the size of a result depends on the data (such as nonzero())"),
    ("GuardOnDataDependentSymNode", "the graph decides on a value that depends on the data"),
)


def _why(error: BaseException) -> str:
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and len(chain) < 10:
        chain.append(link)
        link = link.__cause__ or link.__context__
    for name, sentence in _REASONS:
        if any(type(e).__name__ == name for e in chain):
            return sentence
    inside = next((m for e in chain if (m := re.search(r"HigherOrderOperator (\w+)", str(e)))), None)
    if inside is not None:
        return f"the graph has graphs inside it ({inside[1]}), which run only with data"
    first = str(error).strip().splitlines()
    return f"the graph does not run without data ({type(error).__name__}{': ' + first[0] if first else ''})"
