"""Watching Inductor leaves it as it was, gives way to the user's settings, and never costs a compile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch._inductor import codecache, compile_fx, config, custom_graph_pass, scheduler

from fixtures.seen import capturing, cold, names
from stc.capture import fusion


@pytest.fixture(autouse=True)
def _cold() -> Iterator[None]:
    with cold():
        yield


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def run() -> torch.Tensor:
    torch._dynamo.reset()
    return torch.compile(double)(torch.ones(10))


def state() -> dict[str, Any]:
    """Everything of torch that watching replaces."""
    entry = config._config["_pre_fusion_custom_pass"]
    return {
        "pass": config._pre_fusion_custom_pass,
        "default": entry.env_value_default,
        "lowering": compile_fx.fx_codegen_and_compile,
        "hit": vars(codecache.FxGraphCache)["cache_hit_post_compile"],
        "reason": vars(scheduler.WhyNoFuse)["__call__"],
        "backend": dict(vars(_cpp())),
        "scheduler": dict(vars(scheduler.Scheduler)),
    }


def _cpp() -> Any:
    from torch._inductor.codegen.cpp import CppScheduling

    return CppScheduling


def test_afterwards_everything_is_as_before() -> None:
    before = state()
    with capturing():
        run()
        assert state() != before
    assert state() == before


def test_it_is_seen_on_every_thread() -> None:
    # Settings of torch 2.13 are private to a thread; autograd compiles some backward graphs on its own.
    found: list[Any] = []
    with capturing():
        thread = threading.Thread(target=lambda: found.append(config._pre_fusion_custom_pass))
        thread.start()
        thread.join()
    assert found[0] is not None


def test_the_users_own_pass_runs_as_well() -> None:
    bases = [getattr(custom_graph_pass, n, None) for n in ("CustomGraphPass", "CustomSchedulerPass")]
    calls = []

    class Mine(*[b for b in bases if b is not None]):  # type: ignore[misc]
        def __call__(self, nodes: Any) -> Any:
            calls.append(len(nodes))
            return nodes

        def uuid(self) -> str:
            return "mine"

    mine = Mine()
    with config.patch(_pre_fusion_custom_pass=mine):
        with capturing() as seen:
            run()
        assert config._pre_fusion_custom_pass is mine
    assert calls == [1]
    assert names(seen.only("inference").kernels[0]) == ["mul"]


def test_a_pass_that_keeps_graphs_out_of_the_cache_still_does() -> None:
    with config.patch(_pre_fusion_custom_pass=lambda nodes: nodes), capturing() as seen:
        ours = config._pre_fusion_custom_pass
        assert not isinstance(ours, custom_graph_pass.CustomGraphPass)
        run()
    assert len(seen.only("inference").kernels) == 1


def test_a_pass_that_is_set_meanwhile_hides_the_fusion_and_is_named() -> None:
    with capturing() as seen:
        torch._dynamo.reset()
        with config.patch(_pre_fusion_custom_pass=lambda nodes: nodes):
            assert torch.equal(run(), torch.full((10,), 2.0))
    assert any("another pass before fusion" in reason for reason in seen.gaps_of("fusion"))


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (fusion, "GraphKernels"),
        (fusion.inductor, "read"),
        (fusion, "Operations"),
        (fusion.warm, "embed"),
        (fusion, "decomposed_bytes"),
    ],
)
def test_a_fault_of_ours_is_a_gap_and_the_graph_compiles(
    monkeypatch: pytest.MonkeyPatch, place: Any, name: str
) -> None:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ours")

    monkeypatch.setattr(place, name, fail)
    with capturing() as seen:
        assert torch.equal(run(), torch.full((10,), 2.0))
    assert "RuntimeError: ours" in seen.gaps_of("fusion")


def test_a_fault_while_the_eager_graph_is_kept_costs_only_its_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "EagerGraph", lambda module: 1 / 0)
    with capturing() as seen:
        run()
    graph = seen.only("inference")
    assert graph.bytes is not None and graph.bytes.eager is None and graph.bytes.fused == 80
    assert any("not seen" in note for note in graph.bytes.notes)
    assert seen.gaps_of("bytes")


@pytest.mark.parametrize(
    ("place", "name", "part"),
    [
        (scheduler, "WhyNoFuse", "reasons for not fusing"),
        (compile_fx, "fx_codegen_and_compile", "fusion reports"),
        (codecache.FxGraphCache, "cache_hit_post_compile", "reports from the cache"),
    ],
)
def test_what_a_torch_lacks_is_named(monkeypatch: pytest.MonkeyPatch, place: Any, name: str, part: str) -> None:
    monkeypatch.delattr(place, name)
    with capturing() as seen:
        pass
    assert seen.gaps_of(part)


def test_a_compile_that_fails_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> Any:
        raise ValueError("no code today")

    with capturing() as seen:
        with monkeypatch.context() as patch:
            patch.setattr(scheduler.Scheduler, "codegen", broken)
            with pytest.raises(Exception, match="no code today"):
                run()
        assert torch.equal(run(), torch.full((10,), 2.0))
    assert names(seen.only("inference").kernels[0]) == ["mul"]


def test_reasons_that_are_left_out_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "MOST_EDGES", 1)
    with capturing() as seen:
        torch.compile(lambda x: (x @ x).relu() @ x)(torch.ones(8, 8))
    assert len(seen.only("inference").not_fused) == 1
    assert seen.gaps_of("reasons for not fusing") == [
        "reasons are kept for 1 of the 2 pairs of neighbours in graph 0/0:inference"
    ]


def test_another_process_that_compiles_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mode:
        name = "SUBPROCESS"

    monkeypatch.setattr(compile_fx, "fx_compile_mode", Mode)
    assert "another process" in (fusion.inductor.elsewhere() or "")


def test_symbolic_sizes_get_no_guards_from_counting_eager() -> None:
    calls = []

    def run_sizes() -> None:
        compiled = torch.compile(lambda x: (x.sin() * x).sum(), dynamic=True)
        for size in (5, 9, 33):
            compiled(torch.randn(size, 4, requires_grad=True)).backward()
            calls.append(torch._dynamo.utils.counters["stats"]["unique_graphs"])

    torch._dynamo.utils.counters.clear()
    with capturing():
        run_sizes()
    assert calls == [1, 1, 1]
