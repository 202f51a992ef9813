"""Private names of Inductor: where its scheduler, its compiles and its caches can be watched.

Each installer tests that what it replaces is there, raises `Missing` with the part's name otherwise, and returns its undo.
What is watched runs inside the user's compile: whatever goes wrong here is told to ``on_fault`` and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from stc.capture.snapshot import Attempt, Snapshot

from .dynamo import Missing
from .schedule import names_in, read

Undo = Callable[[], None]
Fault = Callable[[str, BaseException], None]
_PASS = "_pre_fusion_custom_pass"
_TRACKER = "_stc_tracker"


class Compiles(Protocol):
    """Told of each graph that Inductor compiles."""

    def begin(self, module: Any, *, backward: bool, inference: bool) -> None: ...

    def end(self, compiled: Any | None) -> None:
        """``compiled`` is None where the compile failed."""


# --------------------------------------------------------------------------- the scheduler


class _Tracker:
    """What one scheduler tries and writes."""

    def __init__(self) -> None:
        self.written: list[tuple[str, str, list[Any]]] = []
        self._tried: dict[tuple[Any, Any], tuple[bool, tuple[str, tuple[Any, ...]] | None]] = {}
        self._refused: list[Attempt] = []  # outside of an attempt: "will create cycle"
        self._depth = 0
        self._said: tuple[str, tuple[Any, ...]] | None = None

    def trying(self, original: Callable[..., bool]) -> Callable[..., bool]:
        def can_fuse(first: Any, second: Any, *args: Any, **kwargs: Any) -> bool:
            before, self._said = self._said, None
            self._depth += 1
            try:
                fused = original(first, second, *args, **kwargs)
                self._tried.pop((first, second), None)  # the last word counts, so it goes last
                self._tried[first, second] = (bool(fused), None if fused else self._said)
                return fused
            finally:
                self._depth -= 1
                if not self._depth or self._said is None:  # an inner attempt's reason is the outer one's, too
                    self._said = before

        return can_fuse

    def hear(self, first: str, second: str, reason: str, args: tuple[Any, ...]) -> None:
        if self._depth:
            self._said = (reason, args)
        else:
            self._refused.append(Attempt(names_in(first), names_in(second), fused=False, reason=_words(reason, args)))

    def attempts(self) -> list[Attempt]:
        found = []
        for (first, second), (fused, said) in self._tried.items():
            with suppress(Exception):
                reason = None if said is None else _words(*said)
                found.append(Attempt(_leaves(first), _leaves(second), fused=fused, reason=reason))
        return found + self._refused

    def backends(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Watch what a backend defines from the moment the scheduler asks for it."""

        def get_backend(*args: Any, **kwargs: Any) -> Any:
            backend = original(*args, **kwargs)
            with suppress(Exception):
                for one in (backend, *vars(backend).values()):
                    self._watch(one)
            return backend

        return get_backend

    def _watch(self, backend: Any) -> None:
        original = getattr(backend, "define_kernel", None)
        if original is None or "define_kernel" in vars(backend):
            return
        written, kind = self.written, type(backend).__name__

        def define_kernel(*args: Any, **kwargs: Any) -> Any:
            name = original(*args, **kwargs)
            nodes = next((a for a in (*args, *kwargs.values()) if isinstance(a, (list, tuple))), [])
            written.append((str(name), kind, list(nodes)))
            return name

        backend.define_kernel = define_kernel


def watch_scheduler(on_graph: Callable[[Snapshot], None], on_fault: Fault, version: str) -> Undo:
    """Call ``on_graph`` with a snapshot of each graph after its code was generated, when its nodes are final.

    Hangs on Inductor's pass before fusion, whose ``uuid`` is part of the cache key: a hit under our key was written by a run
    that had it. Set beside the user's own setting and not in its place, for every thread and context of the process.
    """
    from torch._inductor import config, custom_graph_pass
    from torch._inductor.virtualized import V

    entry = getattr(config, "_config", {}).get(_PASS)
    if entry is None:
        raise Missing("Inductor has no pass before fusion")
    bases: tuple[type, ...] = (custom_graph_pass.CustomGraphPass,)
    later = getattr(custom_graph_pass, "CustomSchedulerPass", None)
    if later is not None:
        bases = (*bases, later)
    theirs = getattr(config, _PASS)

    def run(self: Any, nodes: list[Any]) -> list[Any]:
        if theirs is not None:
            nodes = theirs(nodes)
        try:
            _instrument(V.graph, on_graph, on_fault)
        except Exception as error:
            on_fault("fusion", error)
        return nodes

    def uuid(self: Any) -> Any:
        own = f"stc-{version}-{_donated()}"
        return own if theirs is None else (own, theirs.uuid())

    # A pass without a uuid keeps a graph out of the cache; chained to one, ours has to do the same.
    known = theirs is None or isinstance(theirs, bases)
    methods = {"__call__": run, "__deepcopy__": lambda self, memo: self}
    ours = type("StcWatch", bases, {**methods, "uuid": uuid})() if known else type("StcWatch", (), methods)()

    if theirs is None and hasattr(entry, "env_value_default"):
        before = entry.env_value_default
        entry.env_value_default = (
            ours  # below a user's own setting, and seen by every thread, as a plain setting is not
        )
        if getattr(config, _PASS) is ours:

            def lift() -> None:
                if entry.env_value_default is ours:
                    entry.env_value_default = before

            return lift
        entry.env_value_default = before
    setattr(config, _PASS, ours)

    def undo() -> None:
        if getattr(config, _PASS) is ours:
            setattr(config, _PASS, theirs)

    return undo


def _donated() -> Any:
    """Which saved tensors the backward graph that is being compiled may overwrite; torch leaves that out of its cache key."""
    from torch._inductor import utils

    donated = getattr(utils, "get_donated_idxs", None)
    return None if donated is None else donated()


def spare_saved_tensors() -> Undo:
    """Let no backward graph overwrite what its forward saved: else it fails, at the step that first keeps its graph.

    Only while graphs have a cache key of ours: code of the other kind, taken for this one, would compute nonsense.

    Raises:
        Missing: this torch has no such setting.
    """
    from torch._functorch import config

    if not hasattr(config, "donated_buffer"):
        raise Missing("AOTAutograd has no donated buffers")
    before = config.donated_buffer
    config.donated_buffer = False

    def undo() -> None:
        if config.donated_buffer is False:
            config.donated_buffer = before

    return undo


def _instrument(graph: Any, on_graph: Callable[[Snapshot], None], on_fault: Fault) -> None:
    """Watch one scheduler; it dies with its graph, so nothing has to be put back."""
    scheduler = graph.scheduler
    tracker = _Tracker()
    generate = scheduler.codegen

    def codegen(*args: Any, **kwargs: Any) -> Any:
        result = generate(*args, **kwargs)
        try:
            on_graph(read(graph, scheduler, tracker.written, tracker.attempts(), _forward_returns()))
        except Exception as error:
            on_fault("fusion", error)
        return result

    setattr(scheduler, _TRACKER, tracker)
    scheduler.can_fuse = tracker.trying(scheduler.can_fuse)
    scheduler.get_backend = tracker.backends(scheduler.get_backend)
    scheduler.codegen = codegen


def watch_refusals() -> Undo:
    """Note each reason for which a watched scheduler would not fuse two nodes, in its own words."""
    from torch._inductor import scheduler
    from torch._inductor.virtualized import V

    why = getattr(scheduler, "WhyNoFuse", None)
    if why is None or "__call__" not in vars(why):
        raise Missing("Inductor's scheduler gives no reasons")
    original = vars(why)["__call__"]

    def __call__(self: Any, reason: str, *args: Any) -> Any:
        with suppress(Exception):
            tracker = getattr(V.graph.scheduler, _TRACKER, None)
            if tracker is not None:
                tracker.hear(self.name1, self.name2, reason, args)
        return original(self, reason, *args)

    why.__call__ = __call__

    def undo() -> None:
        if vars(why).get("__call__") is __call__:
            why.__call__ = original

    return undo


def _words(reason: str, args: tuple[Any, ...]) -> str:
    with suppress(Exception):
        return reason % args if args else reason
    return reason


def _leaves(node: Any) -> frozenset[str]:
    return frozenset(leaf.get_name() for leaf in node.get_nodes())


def _forward_returns() -> int | None:
    """How many of a forward graph's outputs the user's code gets; the rest is saved for the backward."""
    with suppress(Exception):
        from torch._guards import TracingContext

        count = getattr(getattr(TracingContext.try_get(), "fw_metadata", None), "num_forward_returns", None)
        return None if count is None else int(count)
    return None


# --------------------------------------------------------------------------- compiles and caches


def watch_lowering(compiles: Compiles) -> Undo:
    """Tell of each graph that Inductor compiles, before and after; after is before it is cached."""
    from torch._inductor import compile_fx

    original = getattr(compile_fx, "fx_codegen_and_compile", None)
    if original is None:
        raise Missing("Inductor compiles its graphs in another place")

    def fx_codegen_and_compile(gm: Any, example_inputs: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        compiles.begin(gm, backward=bool(kwargs.get("is_backward")), inference=bool(kwargs.get("is_inference")))
        compiled = None
        try:
            compiled = original(gm, example_inputs, *args, **kwargs)
            return compiled
        finally:
            compiles.end(compiled)

    compile_fx.fx_codegen_and_compile = fx_codegen_and_compile

    def undo() -> None:
        if compile_fx.fx_codegen_and_compile is fx_codegen_and_compile:
            compile_fx.fx_codegen_and_compile = original

    return undo


def elsewhere() -> str | None:
    """Why Inductor's decisions cannot be seen from this process; None where they can."""
    from torch._inductor import compile_fx

    mode = getattr(compile_fx, "fx_compile_mode", None)
    if mode is not None and getattr(mode, "name", "NORMAL") != "NORMAL":
        return f"Inductor compiles in another process (fx_compile_mode {mode.name.lower()}), where it cannot be watched"
    if getattr(compile_fx, "fx_compile_async", False) or getattr(compile_fx, "fx_compile_progressive", False):
        return "Inductor compiles in another process, where it cannot be watched"
    return None


def attempt() -> int:
    """How many times Dynamo has begun the compile that is going on anew."""
    with suppress(Exception):
        from torch._guards import CompileContext

        return int(getattr(CompileContext.current_trace_id(), "attempt", 0) or 0)
    return 0


def input_names(module: Any) -> list[str]:
    """What each input of a Dynamo graph is in the user's code: "lin.weight", "x"; "" where that is not known."""
    found = []
    for node in module.graph.nodes:
        if node.op == "placeholder":
            source = getattr(node, "_dynamo_source", None) or getattr(node.meta.get("grapharg"), "source", None)
            name = getattr(source, "name", "")
            found.append(str(name() if callable(name) else name))
    return found


def input_number(node: Any, position: int | None) -> int | None:
    """Which of Dynamo's inputs a placeholder of an AOTAutograd graph is; None for one that it added.

    Args:
        position: the answer of a torch whose graphs do not say.
    """
    described = node.meta.get("desc")
    if described is None:
        return position
    number = getattr(described, "idx", None)
    return number if type(described).__name__.endswith("PlainAOTInput") else None


def watch_lookups(on_lookup: Callable[[Any], None]) -> Undo:
    """Call ``on_lookup(module)`` with each graph that Inductor looks for in its cache, before it does."""
    from torch._inductor.codecache import FxGraphCache

    held = vars(FxGraphCache).get("prepare_key")
    if not isinstance(held, staticmethod):
        raise Missing("Inductor's cache makes its keys in another place")
    original = held.__func__

    def prepare_key(gm: Any, *args: Any, **kwargs: Any) -> Any:
        on_lookup(gm)
        return original(gm, *args, **kwargs)

    ours = staticmethod(prepare_key)
    FxGraphCache.prepare_key = ours  # type: ignore[method-assign]

    def undo() -> None:
        if vars(FxGraphCache).get("prepare_key") is ours:
            FxGraphCache.prepare_key = held  # type: ignore[method-assign]

    return undo


def watch_cache_hits(on_hit: Callable[[Any], None]) -> Undo:
    """Call ``on_hit(compiled)`` for each graph that came out of the cache, whichever cache held it."""
    from torch._inductor.codecache import FxGraphCache

    held = vars(FxGraphCache).get("cache_hit_post_compile")
    if not isinstance(held, staticmethod):
        raise Missing("Inductor's cache has no step after a hit")
    original = held.__func__

    def cache_hit_post_compile(graph: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(graph, *args, **kwargs)
        if not isinstance(result, tuple) or result[0] is not None:  # None: it could not be loaded and is compiled anew
            on_hit(graph)
        return result

    ours = staticmethod(cache_hit_post_compile)
    FxGraphCache.cache_hit_post_compile = ours  # type: ignore[method-assign]

    def undo() -> None:
        if vars(FxGraphCache).get("cache_hit_post_compile") is ours:
            FxGraphCache.cache_hit_post_compile = held  # type: ignore[method-assign]

    return undo
