"""Every option, defined once: magic, command line, keyword arguments, help and completion read this table."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .errors import UnknownOption

Plan = Literal["inductor", "eager"]
Target = Literal["auto", "cpu", "cuda"]
Precision = Literal["keep", "bf16", "fp16"]
Dynamic = Literal["auto", "on", "off"]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What one run is asked to do.

    ``plan`` None is the default: measure a few eager steps, then compile with Inductor unless that cannot pay.
    Naming a plan is an order: ``inductor`` compiles from the first call, ``eager`` only measures.
    """

    plan: Plan | None = None
    target: Target = "auto"
    precision: Precision = "keep"
    dynamic: Dynamic = "auto"
    name: str | None = None
    keep: bool = False
    quiet: bool = False
    report: str | None = None


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """One option as the command line shows it."""

    name: str  # field of Options
    help: str
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    flag: bool = False  # takes no value

    @property
    def option(self) -> str:
        return "--" + self.name.replace("_", "-")


ARGUMENTS: tuple[Argument, ...] = (
    Argument(
        name="plan",
        choices=("inductor", "eager"),
        help="inductor: compile from the first call; eager: only measure. "
        "Without it a few eager steps are measured, then Inductor compiles unless that cannot pay.",
    ),
    Argument(
        name="target",
        choices=("auto", "cpu", "cuda"),
        help="Hardware to compile for; auto: where the model is (default).",
    ),
    Argument(
        name="precision",
        choices=("keep", "bf16", "fp16"),
        help="keep: leave the numbers' type alone (default); bf16, fp16: run the models under autocast.",
    ),
    Argument(
        name="dynamic",
        choices=("auto", "on", "off"),
        help="auto: a size that changes becomes symbolic (default); on: all sizes from the start; off: one graph a shape.",
    ),
    Argument(name="name", metavar="NAME", help="Name of the run; default: the notebook or script and the cell."),
    Argument(
        name="keep", flag=True, help="Leave models and optimizers compiled afterwards; the default restores them."
    ),
    Argument(name="quiet", flag=True, help="Show no progress and no summary; the run is recorded all the same."),
    Argument(name="report", metavar="FILE", help="Also write the report as one JSON document to FILE."),
)


def make_options(**given: Any) -> Options:
    """Options from keyword arguments.

    Raises:
        UnknownOption: an unknown name or value; the message lists the right ones.
    """
    known = {a.name: a for a in ARGUMENTS}
    for name, value in given.items():
        argument = known.get(name)
        if argument is None:
            raise UnknownOption(f"There is no option {name!r}.", f"Options are: {', '.join(known)}.")
        if argument.choices and value is not None and value not in argument.choices:
            raise UnknownOption(
                f"{argument.option} cannot be {value!r}.", f"Choose one of: {', '.join(argument.choices)}."
            )
    return Options(**{k: v for k, v in given.items() if v is not None})
