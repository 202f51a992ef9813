"""The data a run leaves behind: plain, frozen, versioned structs that can be read without torch and without a GPU.

A run is written as events (see ``events.py``), folded into a `Report` (``fold.py``) and judged by rules (``stc.analyse``).
Units are in the names: ``_s`` is seconds, ``_at`` is seconds since the epoch, ``bytes`` are bytes. ``None`` means unknown, never zero.
"""

from __future__ import annotations

from typing import Literal

import msgspec

SCHEMA_VERSION = 1

Status = Literal["running", "completed", "failed", "interrupted", "lost"]
GraphPhase = Literal["forward", "backward", "optimizer", "inference", "joint"]
CacheOutcome = Literal["hit", "miss", "bypass", "off", "unknown"]
KernelKind = Literal["cpp", "triton", "library", "fallback", "other"]
Severity = Literal["error", "warning", "info"]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Base of every record."""


# --------------------------------------------------------------------------- where


class Location(Record):
    """A place in the user's code. Lines count from 1, columns from 0 (None where Python did not record them)."""

    file: str  # what to show: "In[3]" for a cell, a path relative to the working directory for a script
    line: int
    cell: int | None = None  # the cell's execution count
    cell_id: str | None = None  # the notebook's id of that cell
    notebook: str | None = None  # path of the notebook, where known
    path: str | None = None  # absolute path of a real file; never a temporary one
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    function: str | None = None
    text: str | None = None  # the line of source as it was when recorded


class Source(Record):
    """A cell or file whose lines the report refers to."""

    file: str  # same as Location.file
    text: str
    first_line: int = 1  # number of the text's first line
    cell: int | None = None
    cell_id: str | None = None
    notebook: str | None = None
    path: str | None = None


# --------------------------------------------------------------------------- the run


class Gpu(Record):
    name: str
    memory_bytes: int | None = None
    capability: str | None = None


class Environment(Record):
    """Where the run took place."""

    python: str
    platform: str
    stc: str
    torch: str | None = None
    ipython: str | None = None
    host: str | None = None
    cpu: str | None = None
    cpu_cores: int | None = None  # cores this process may use
    threads: int | None = None  # torch's intra-op threads
    memory_bytes: int | None = None
    compiler: str | None = None  # the C++ compiler Inductor would use, with version
    gpus: list[Gpu] = []
    packages: dict[str, str] = {}


class Origin(Record):
    """What started the run."""

    kind: Literal["magic", "script", "context", "function"]
    notebook: str | None = None
    cell: int | None = None
    cell_id: str | None = None
    script: str | None = None
    argv: list[str] = []
    pid: int | None = None


class Failure(Record):
    """An exception: the user's (it ended the run) or of a compiler (training went on eager)."""

    type: str
    message: str
    location: Location | None = None


class Progress(Record):
    """What is being done right now; only a running run has one."""

    message: str  # "Compiling graph 2 (backward): C++ compiler"
    at: float
    graph: int | None = None
    phase: str | None = None
    step: int | None = None


class Run(Record):
    id: str
    name: str
    status: Status
    origin: Origin
    target: str
    plan: str
    started_at: float
    environment: Environment
    ended_at: float | None = None
    wall_s: float | None = None
    last_seen_at: float | None = None
    partial: bool = False
    partial_reason: str | None = None
    failure: Failure | None = None
    options: dict[str, str | int | float | bool | None] = {}
    progress: Progress | None = None


# --------------------------------------------------------------------------- compile: graphs and kernels


class Operation(Record):
    """One ATen (or prims) operation of a graph or kernel."""

    name: str  # "aten.mul.Tensor"
    location: Location | None = None
    node: str | None = None  # name of the FX node


class Group(Record):
    """One fused loop nest. A C++ kernel can hold several; only operations of one group are fused with each other."""

    ops: list[int] = []  # indices into Kernel.ops
    nodes: list[str] = []  # scheduler nodes


class Layout(Record):
    """A buffer that a kernel reads or writes."""

    buffer: str
    role: Literal["read", "write"]
    dtype: str
    shape: list[str]  # sizes; symbols for dynamic ones
    stride: list[str]
    format: str | None = None  # "contiguous", "channels_last", "transposed", ...
    reason: str | None = None  # why it is in memory: "returned", "saved for backward", "read by several kernels", ...


class CodeRef(Record):
    """Lines (from 1, both ends included) of a text artefact of the run."""

    artefact: str
    first_line: int
    last_line: int


class Kernel(Record):
    id: str  # unique in the run
    name: str
    kind: KernelKind
    ops: list[Operation] = []
    bytes_read: int | None = None
    bytes_written: int | None = None
    groups: list[Group] = []
    layout: list[Layout] = []
    code: CodeRef | None = None
    notes: list[str] = []  # what is not known about it, and why


class NotFused(Record):
    """Why two neighbouring kernels (or groups) were not fused: one entry an edge."""

    first: str  # kernel id
    second: str  # kernel id; the same one for two loop nests of one C++ kernel
    reason: str  # one plain sentence
    detail: str | None = None  # the scheduler's own words
    buffers: list[str] = []  # what passes through memory between them
    first_group: int | None = None  # which loop nest of the kernel
    second_group: int | None = None


class Bytes(Record):
    """Bytes moved by one execution of a graph; a best-case model, not a measurement."""

    eager: int | None = None
    decomposed: int | None = None
    fused: int | None = None
    notes: list[str] = []  # why a figure is missing


class CacheUse(Record):
    outcome: CacheOutcome
    cache: str | None = None  # "fx_graph", "aotautograd"; "memory": compiled by an earlier run of the process
    key: str | None = None
    reason: str | None = None  # why bypassed or missed


class Graph(Record):
    id: str  # "0/0:forward"
    phase: GraphPhase
    compile_id: str | None = None  # torch's own, "0/0"
    name: str | None = None  # function or class it came from
    location: Location | None = None
    cache: CacheUse | None = None
    dynamic: bool | None = None  # compiled with symbolic shapes
    compile_s: float | None = None
    step: int | None = None  # step in which it was compiled
    at: float | None = None
    ops: list[Operation] = []  # the traced graph, before lowering
    kernels: list[Kernel] = []
    bytes: Bytes | None = None
    not_fused: list[NotFused] = []
    folded: list[Location] = []  # lines whose operations became nothing
    code: str | None = None  # artefact with all generated code


# --------------------------------------------------------------------------- compile: what went wrong, and time


class Break(Record):
    id: str  # same reason at the same place has one id
    reason: str
    kind: Literal["graph-break", "frame-skipped"] = "graph-break"
    location: Location | None = None
    stack: list[Location] = []  # user frames, outermost first
    hints: list[str] = []
    detail: str | None = None
    count: int = 1
    steps: list[int] = []  # steps in which it occurred (first 1,000)
    compile_ids: list[str] = []
    benign: bool = False  # torch's own, e.g. inside optimizer.step()


class Recompilation(Record):
    id: str
    function: str
    guard: str  # the condition that failed: "x.size()[0] == 32"
    reason: str  # torch's words
    kind: Literal[
        "shape", "dtype", "value", "length", "type", "identity", "grad-mode", "training-mode", "global", "other"
    ] = "other"
    source: str | None = None  # "x", "self.seen"
    dimension: int | None = None
    before: str | None = None
    after: str | None = None
    location: Location | None = None
    compile_id: str | None = None
    step: int | None = None
    call: int | None = None  # call of the compiled function, from 1
    at: float | None = None
    benign: bool = False


class Limit(Record):
    """Dynamo gave up on a function: too many recompilations."""

    function: str
    limit: int
    guard: str | None = None
    location: Location | None = None
    step: int | None = None
    call: int | None = None  # first call that ran eager again, from 1


class Phase(Record):
    """Time the training thread spent in one phase of compiling, not counting phases inside it."""

    name: str  # stable id, see stc.capture.phases
    label: str
    self_s: float
    count: int = 1


class Gap(Record):
    """Something capture could not see, and why."""

    part: str  # "fusion", "breaks", "bytes", ...
    reason: str
    count: int = 1


class Unit(Record):
    """A model or optimizer that the run met."""

    id: str
    kind: Literal["model", "optimizer"]
    name: str  # variable name where known, else class
    type: str  # class
    state: Literal["found", "compiled", "eager", "failed", "restored"]
    reason: str | None = None
    parameters: int | None = None
    location: Location | None = None  # where it was first called
    calls: int = 0
    failure: Failure | None = None


class Decision(Record):
    """Compile or leave eager, with the figures it was taken on."""

    action: Literal["compile", "leave-eager"]
    reason: str
    eager_step_s: float | None = None
    compile_s: float | None = None  # estimate
    compile_source: str | None = None  # where the estimate is from
    remaining_steps: int | None = None
    remaining_source: str | None = None
    break_even_step: int | None = None  # None with action leave-eager: never


class Compile(Record):
    units: list[Unit] = []
    decision: Decision | None = None
    graphs: list[Graph] = []
    breaks: list[Break] = []
    recompilations: list[Recompilation] = []
    limits: list[Limit] = []
    phases: list[Phase] = []
    total_s: float | None = None  # wall time the training thread waited for compilers
    gaps: list[Gap] = []
    ignored_options: dict[str, str] = {}  # option: why it had no effect


# --------------------------------------------------------------------------- steps


class Timing(Record):
    """Statistics over n steps; p95 by linear interpolation."""

    median_s: float
    p95_s: float
    mean_s: float
    n: int
    median_low_s: float | None = None  # 95 % bootstrap interval of the median
    median_high_s: float | None = None


class Excluded(Record):
    """Steps left out of the statistics, by reason."""

    count: int = 0
    compiling: int = 0  # something was compiled in it
    warm_up: int = 0  # first step, or first after a switch
    mixed: int = 0  # partly eager, partly compiled (after a recompile limit)
    incomplete: int = 0  # did not end


class Speedup(Record):
    """Median eager step time over median compiled step time, with a 95 % bootstrap interval."""

    ratio: float
    low: float
    high: float


class BreakEven(Record):
    """The step at which the compiled run has caught up with an eager one; None with a reason: never, or not known."""

    step: int | None = None
    reached: bool | None = None  # within this run
    reason: str | None = None


class StepSeries(Record):
    """One entry a step, in columns. kind: e eager, c compiled, x compiling, w warm-up, m mixed, i incomplete."""

    index: list[int] = []
    start_s: list[float] = []  # since the run started
    duration_s: list[float] = []
    kind: str = ""
    decimated: bool = False


class Steps(Record):
    total: int = 0
    definition: str | None = None  # what ended a step here: "optimizer update" or "backward pass"
    eager: Timing | None = None
    compiled: Timing | None = None
    excluded: Excluded = Excluded()
    speedup: Speedup | None = None
    speedup_reason: str | None = None  # why there is none
    break_even: BreakEven | None = None
    series: StepSeries = StepSeries()


# --------------------------------------------------------------------------- findings and the whole


class Evidence(Record):
    """One figure or quotation."""

    label: str
    value: str | int | float | None
    unit: str | None = None


class NextStep(Record):
    text: str
    code: str | None = None


class Finding(Record):
    code: str  # see docs/findings.md
    severity: Severity
    message: str
    location: Location | None = None
    evidence: list[Evidence] = []
    next_step: NextStep | None = None
    subject: str | None = None  # id of the break, recompilation, unit or kernel it is about


class Report(Record):
    """Everything about one run; what ``stc show RUN --json`` prints."""

    schema_version: int
    run: Run
    compile: Compile
    steps: Steps
    headline: str = ""
    findings: list[Finding] = []
    sources: list[Source] = []
    artefacts: list[str] = []


class RunSummary(Record):
    """One line of the run list."""

    run: Run
    headline: str = ""
    errors: int = 0
    warnings: int = 0
    infos: int = 0
    speedup: float | None = None
