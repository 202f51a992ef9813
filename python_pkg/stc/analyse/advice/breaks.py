"""What a graph break is about, in plain words, and the one thing to do about it.

Recognised by torch's stable phrases and by the line itself; the patterns are tried in order and the first that fits wins.
What no pattern fits gets torch's own hint, without its boilerplate.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from stc.record.types import Break, NextStep, Report

from .branches import with_where
from .code import calls, dotted, statement_at

_BOILERPLATE = re.compile(
    r"report an issue|file an issue|dynamo bug|fundamental|tracing rules|removing the `torch\.compile`|earlier graph break",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Cause:
    """A kind of break: ``why`` completes "The graph breaks at …: "."""

    kind: str
    why: str
    step: NextStep
    deliberate: bool = False  # the user asked for it


def cause_of(report: Report, found: Break) -> Cause:
    """The cause of a break and what to do about it."""
    words = f"{found.reason}\n{found.detail or ''}"
    line = (found.location.text if found.location is not None else None) or ""
    for pattern in _PATTERNS:
        cause = pattern(report, found, words, line)
        if cause is not None:
            return cause
    hint = next((h.strip() for h in found.hints if h.strip() and not _BOILERPLATE.search(h)), None)
    text = (
        hint or "Move this line out of the model's forward, or put it into a function marked @torch.compiler.disable."
    )
    return Cause("other", _first_line(found.reason), NextStep(text=text))


def _scalar_read(report: Report, found: Break, words: str, line: str) -> Cause | None:
    if not re.search(
        r"\.item\(|\.tolist\(|_local_scalar_dense|call_method \w+\(?\)? item|Data.dependent operator", words
    ):
        return None
    if "nonzero" in words or "unique" in words:
        return None
    why = "a tensor's value is read on the host"
    place = statement_at(report, found.location)
    statement = place[0][place[1]] if place is not None else None
    reads = [*calls(statement, "item"), *calls(statement, "tolist")] if statement is not None else []
    tensor = ast.unparse(reads[0].func.value) if reads and isinstance(reads[0].func, ast.Attribute) else None
    appends = calls(statement, "append") if statement is not None else []
    if tensor and appends:
        held = dotted(appends[0].func).rpartition(".")[0].removeprefix("self.")  # the loop has no self
        text = (
            f"Let the model return {_quoted(tensor)}, and append it detached in the training loop; "
            "read the numbers with .item() once the loop is over."
        )
        name = tensor if tensor.isidentifier() else "value"
        code = f"{held}.append({name}.detach())  # in the training loop"
        return Cause("scalar-read", why, NextStep(text=text, code=code))
    if calls(statement, "print") if statement is not None else "print(" in line:
        return _print_cause()
    if tensor:
        text = "Keep it a tensor inside the model, and read the number outside, where it is shown or logged."
        kept = ast.unparse(statement).replace(ast.unparse(reads[0]), f"{tensor}.detach()") if statement else None
        return Cause("scalar-read", why, NextStep(text=text, code=kept))
    if re.search(r"\b(float|int|bool)\(", line):
        return Cause(
            "scalar-read", why, NextStep(text="Leave out the conversion to a Python number: compute with the tensor.")
        )
    return Cause("scalar-read", why, NextStep(text="Keep it a tensor inside the model, and read the number outside."))


def _branch(report: Report, found: Break, words: str, line: str) -> Cause | None:
    if not re.search(
        r"data.dependent (branching|jump|control flow)|generic_jump|data-dependent assert", words, re.IGNORECASE
    ):
        return None
    if re.match(r"\s*assert\b", line) or "assert" in words.lower():
        text = "Check the data before the model is called, or drop the assertion."
        return Cause("assertion", "an assertion depends on a tensor's value", NextStep(text=text))
    if re.match(r"\s*while\b", line):
        text = "Give the loop a fixed number of turns, and let torch.where keep the result once it is done."
        return Cause("data-dependent", "a loop's end depends on a tensor's value", NextStep(text=text))
    why = "which branch is taken depends on a tensor's value"
    rewritten = with_where(report, found.location)
    if rewritten is not None:
        return Cause(
            "data-dependent", why, NextStep(text="Choose with torch.where, which computes both sides.", code=rewritten)
        )
    text = "Compute both branches and choose with torch.where(condition, a, b), or decide outside the model."
    return Cause("data-dependent", why, NextStep(text=text))


def _print_cause() -> Cause:
    text = "Print outside the model; or let the compiled code print at the end of each graph."
    code = "torch._dynamo.config.reorderable_logging_functions.add(print)"
    return Cause("print", "printing happens outside a graph", NextStep(text=text, code=code))


def _printing(report: Report, found: Break, words: str, line: str) -> Cause | None:
    return _print_cause() if re.search(r"builtin (operator )?`?print\b", words) else None


def _logging(report: Report, found: Break, words: str, line: str) -> Cause | None:
    if not re.search(r"logging\.Logger|LoggingLogger|warnings\.warn|_warnings", words):
        return None
    text = "Log outside the model; a warning that is given once can go into __init__."
    return Cause("logging", "logging happens outside a graph", NextStep(text=text))


def _numpy(report: Report, found: Break, words: str, line: str) -> Cause | None:
    if not re.search(r"\bnumpy\b|\.numpy\(", words) and not re.search(r"\.numpy\(|\bnp\.", line):
        return None
    text = "Use torch's function of the same name (torch.sum for np.sum, ...), or do the NumPy part before the model is called."
    return Cause("numpy", "NumPy works on the host, outside the graph", NextStep(text=text))


def _recurrent(report: Report, found: Break, words: str, line: str) -> Cause | None:
    if not re.search(r"RNN, GRU, or LSTM|\b(LSTM|GRU|RNN)\b", words):
        return None
    text = (
        "Leave it: the layer is one fast library call already, and what stands around it is compiled. To try it inside "
        "the graph, turn on torch's experimental support and compare the losses."
    )
    code = "torch._dynamo.config.allow_rnn = True"
    return Cause("recurrent", "torch.compile does not trace nn.RNN, nn.GRU and nn.LSTM", NextStep(text=text, code=code))


def _dynamic_output(report: Report, found: Break, words: str, line: str) -> Cause | None:
    if not re.search(
        r"dynamic shape operator|aten\.(nonzero|unique|masked_select|_unique)|DynamicOutputShape", words, re.IGNORECASE
    ):
        return None
    text = "Keep the shape: multiply by the mask or use torch.where. Or let torch trace operators whose output shape varies."
    code = "torch._dynamo.config.capture_dynamic_output_shape_ops = True"
    return Cause(
        "dynamic-output", "the size of the result depends on a tensor's values", NextStep(text=text, code=code)
    )


def _deliberate(report: Report, found: Break, words: str, line: str) -> Cause | None:
    if re.search(r"torch\._dynamo\.(graph_break|skip_frame|step_unsupported)\(\)", words):
        step = NextStep(text="Remove the call if the break is no longer wanted.")
        return Cause("deliberate", "the code asks for a graph break here", step, deliberate=True)
    if "torch.compiler.disable" in words or "torch._dynamo.disable" in words:
        step = NextStep(text="Take @torch.compiler.disable off the function if it should be compiled.")
        return Cause("deliberate", "a function marked @torch.compiler.disable is called", step, deliberate=True)
    return None


def _hooks(report: Report, found: Break, words: str, line: str) -> Cause | None:
    if not re.search(r"\bhooks?\b|RemovableHandle", words):
        return None
    text = "Register the hook outside forward, before the run; or put the work into a torch.autograd.Function."
    return Cause("hook", "a hook cannot be registered within a graph", NextStep(text=text))


def _generator(report: Report, found: Break, words: str, line: str) -> Cause | None:
    if not re.search(r"\bgenerator\b", words, re.IGNORECASE) or "torch.Generator" in words:
        return None
    text = "Make it a list: use [... for ...] in place of (... for ...), or call the generator outside the model."
    return Cause("generator", "a Python generator cannot be traced here", NextStep(text=text))


def _context(report: Report, found: Break, words: str, line: str) -> Cause | None:
    if not re.search(r"context manager|ContextWrapping|GenericContext", words):
        return None
    text = "Enter the context manager outside the model, around its call."
    return Cause("context", "this context manager cannot be traced", NextStep(text=text))


def _exception(report: Report, found: Break, words: str, line: str) -> Cause | None:
    if not re.search(r"Observed exception|exception with|try/except|EXCEPT_HANDLER", words, re.IGNORECASE):
        return None
    text = "Test the condition with an if on shapes or types in place of try and except, or check before the model is called."
    return Cause("exception", "an exception is raised while the code is traced", NextStep(text=text))


def _untraceable_call(report: Report, found: Break, words: str, line: str) -> Cause | None:
    match = re.search(
        r"builtin `?([\w.]+?)\.?`|qualname: ([\w.]+)|[Ff]unction `([\w.]+)`|trace the function `([^`]+)`", words
    )
    if match is None and not re.search(
        r"marked as skipped|Unsupported function call|unsupported builtin", words, re.IGNORECASE
    ):
        return None
    name = next((g for g in match.groups() if g), None) if match is not None else None
    called = f"{_quoted(name)} cannot be traced" if name else "the function called here cannot be traced"
    text = (
        "Call it outside the model and pass the result in. If it computes on tensors in C or C++, make it an operator "
        "with torch.library.custom_op."
    )
    return Cause("untraceable-call", called, NextStep(text=text))


def _loop(report: Report, found: Break, words: str, line: str) -> Cause | None:
    if "graph break in loop" not in words.lower() and "for/while loop" not in words:
        return None
    text = "Mend the graph break inside the loop; or move the loop's body into a function of its own, which can break by itself."
    return Cause("loop", "it breaks inside a loop, so the whole function runs eager", NextStep(text=text))


_PATTERNS: tuple[Callable[[Report, Break, str, str], Cause | None], ...] = (
    _deliberate, _loop, _printing, _scalar_read, _branch, _logging, _numpy, _recurrent, _dynamic_output, _hooks,
    _generator, _context, _exception, _untraceable_call,
)  # fmt: skip


def _first_line(reason: str) -> str:
    text = reason.strip().splitlines()[0] if reason.strip() else "torch gave no reason"
    return text.rstrip(".")


def _quoted(code: str) -> str:
    return f"`{code}`"
