"""Private names of Inductor: where its scheduler, kernels and caches can be watched.

Each installer tests that what it replaces is there, raises `Missing` with the part's name otherwise, and returns its undo.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from .dynamo import Missing

Undo = Callable[[], None]


def watch_scheduler(on_codegen: Callable[[Any, Any, Callable[[], Any]], Any], version: str) -> Undo:
    """Call ``on_codegen(graph, scheduler, go_on)`` in place of each graph's code generation, when its nodes are final.

    Hangs on Inductor's pre-fusion pass, which is part of its cache key: a hit under our key was written by a run that had it.
    """
    from torch._inductor import config, custom_graph_pass
    from torch._inductor.virtualized import V

    if not hasattr(config, "_pre_fusion_custom_pass"):
        raise Missing("Inductor has no pass before fusion")
    before = config._pre_fusion_custom_pass
    if before is not None:
        raise Missing("another pass before fusion is set in torch._inductor.config")
    bases: tuple[type, ...] = (custom_graph_pass.CustomGraphPass,)
    later = getattr(custom_graph_pass, "CustomSchedulerPass", None)
    if later is not None:
        bases = (*bases, later)

    def run(self: Any, nodes: list[Any]) -> list[Any]:
        try:
            graph = V.graph
            scheduler = nodes[0].scheduler if nodes else getattr(graph, "scheduler", None)
            if scheduler is not None:
                original = scheduler.codegen
                scheduler.codegen = lambda: on_codegen(graph, scheduler, original)
        except Exception:
            return nodes
        return nodes

    watching = type("StcWatch", bases, {"__call__": run, "uuid": lambda self: f"stc-{version}"})()
    config._pre_fusion_custom_pass = watching

    def undo() -> None:
        if config._pre_fusion_custom_pass is watching:
            config._pre_fusion_custom_pass = before

    return undo


def watch_kernels(on_kernel: Callable[[Any, str], None]) -> Undo:
    """Tell the scheduler nodes and name of each generated kernel as it is defined."""
    undos: list[Undo] = []
    for place, name in (("codegen.cpp", "CppScheduling"), ("codegen.triton", "TritonScheduling")):
        module = importlib.import_module(f"torch._inductor.{place}")
        scheduling = getattr(module, name, None)
        if scheduling is None or "define_kernel" not in vars(scheduling):
            raise Missing(f"{name} defines its kernels in another way")
        undos.append(_watch_definitions(scheduling, on_kernel))

    def undo_all() -> None:
        for undo in undos:
            undo()

    return undo_all


def _watch_definitions(scheduling: Any, on_kernel: Callable[[Any, str], None]) -> Undo:
    original = vars(scheduling)["define_kernel"]

    def define_kernel(self: Any, source: Any, nodes: Any, *args: Any, **kwargs: Any) -> Any:
        name = original(self, source, nodes, *args, **kwargs)
        on_kernel(nodes, name)
        return name

    scheduling.define_kernel = define_kernel

    def undo() -> None:
        if vars(scheduling).get("define_kernel") is define_kernel:
            scheduling.define_kernel = original

    return undo


def watch_refusals(on_refusal: Callable[[str, str, str], None]) -> Undo:
    """Tell each reason for which the scheduler would not fuse two nodes: their names and its words."""
    from torch._inductor import scheduler

    why = getattr(scheduler, "WhyNoFuse", None)
    if why is None or "__call__" not in vars(why):
        raise Missing("Inductor's scheduler gives no reasons")
    original = vars(why)["__call__"]

    def __call__(self: Any, reason: str, *args: Any) -> Any:
        with suppress(Exception):
            on_refusal(self.name1, self.name2, reason % args if args else reason)
        return original(self, reason, *args)

    why.__call__ = __call__

    def undo() -> None:
        if vars(why).get("__call__") is __call__:
            why.__call__ = original

    return undo


def watch_lowering(on_lowered: Callable[[Any, Any, Any], None]) -> Undo:
    """Call ``on_lowered(graph_module, inputs, compiled)`` when a graph has been compiled and before it is cached."""
    from torch._inductor import compile_fx

    original = getattr(compile_fx, "fx_codegen_and_compile", None)
    if original is None:
        raise Missing("Inductor compiles its graphs in another place")

    def replacement(gm: Any, example_inputs: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        compiled = original(gm, example_inputs, *args, **kwargs)
        on_lowered(gm, example_inputs, compiled)
        return compiled

    compile_fx.fx_codegen_and_compile = replacement

    def undo() -> None:
        if compile_fx.fx_codegen_and_compile is replacement:
            compile_fx.fx_codegen_and_compile = original

    return undo


def watch_cache_hits(on_hit: Callable[[Any], None]) -> Undo:
    """Call ``on_hit(compiled)`` for each graph that came out of the cache, whichever cache held it."""
    from torch._inductor.codecache import FxGraphCache

    held = vars(FxGraphCache).get("cache_hit_post_compile")
    if held is None:
        raise Missing("Inductor's cache has no step after a hit")
    original = held.__func__

    def replacement(graph: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(graph, *args, **kwargs)
        on_hit(graph)
        return result

    ours = staticmethod(replacement)
    FxGraphCache.cache_hit_post_compile = ours  # type: ignore[method-assign]

    def undo() -> None:
        if vars(FxGraphCache).get("cache_hit_post_compile") is ours:
            FxGraphCache.cache_hit_post_compile = held  # type: ignore[method-assign]

    return undo


def is_library_call(node: Any) -> bool:
    """Is this IR node a call into a library or an operator's own kernel, and not generated code?"""
    from torch._inductor import ir

    return isinstance(node, ir.ExternKernel)


def is_fallback(node: Any) -> bool:
    from torch._inductor import ir

    return isinstance(node, getattr(ir, "FallbackKernel", ()))


def size_hint(expression: Any) -> int | None:
    """A size as a number; for a symbolic one the size it had when it was traced."""
    if isinstance(expression, int):
        return expression
    try:
        return int(expression)
    except (TypeError, ValueError):
        pass
    try:
        from torch._inductor.virtualized import V

        hint: Any = V.graph.sizevars
        found = hint.optimization_hint(expression) if hasattr(hint, "optimization_hint") else hint.size_hint(expression)
        return int(found)
    except Exception:
        return None


def forward_returns() -> int | None:
    """How many of a forward graph's outputs the user's code gets; the rest is saved for the backward."""
    from torch._guards import TracingContext

    context = TracingContext.try_get()
    meta = getattr(context, "fw_metadata", None)
    count = getattr(meta, "num_forward_returns", None)
    return int(count) if count is not None else None
