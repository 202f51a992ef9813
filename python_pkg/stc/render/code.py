"""Source and generated code with highlighting: token classes whose colours follow JupyterLab's theme or the page's own."""

from __future__ import annotations

from collections.abc import Callable

from stc.record.types import CodeRef, Kernel

from .markup import escape

# Pygments' short class names, and JupyterLab's editor variable for each with a colour for outside JupyterLab.
_TOKENS = (
    ("k,kc,kd,kn,kp,kr,kt,ow", "keyword", "#1b6e32"),
    ("s,s1,s2,sb,sc,sd,se,sh,si,sx", "string", "#a83232"),
    ("c,c1,ch,cm,cs,cp,cpf", "comment", "#5f6b6b"),
    ("m,mf,mh,mi,mo,il", "number", "#7a5c00"),
    ("nb,bp", "builtin", "#1b6e32"),
    ("nf,nc,fm", "def", "#1f4fbf"),
    ("o", "operator", "#8a2fb8"),
)  # fmt: skip

STYLE = "".join(
    ",".join(f".stc-code .{name}" for name in names.split(","))
    + f"{{color:var(--jp-mirror-editor-{variable}-color,{colour})}}"
    for names, variable, colour in _TOKENS
)

MOST_LINES = 400  # of one kernel; a longer one is cut, and says so


def highlighted(text: str, *, language: str) -> str:
    """Code as spans with token classes, escaped; plain where Pygments is not installed.

    Args:
        language: "python" or "cpp".
    """
    try:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import get_lexer_by_name
    except ImportError:
        return escape(text)
    return str(highlight(text, get_lexer_by_name(language, stripnl=False), HtmlFormatter(nowrap=True))).rstrip("\n")


def language_of(text: str) -> str:
    """Generated C++ stands in a Python string: what is shown is C++ if it holds a kernel's function."""
    return "cpp" if 'extern "C"' in text or "#include" in text else "python"


def kernel_code(kernel: Kernel, artefact: Callable[[str], str | None]) -> str | None:
    """The lines of generated code that are this kernel; None where they were not recorded or are gone."""
    return None if kernel.code is None else _lines(kernel.code, artefact)


def _lines(code: CodeRef, artefact: Callable[[str], str | None]) -> str | None:
    text = artefact(code.artefact)
    if text is None:
        return None
    lines = text.splitlines()[code.first_line - 1 : code.last_line]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"... {len(lines) - MOST_LINES} more lines in {code.artefact}"]
    return "\n".join(lines)
