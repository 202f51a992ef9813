"""Reading the variables of a running function does not change what it holds."""

from __future__ import annotations

import sys
import weakref
from types import FrameType

from stc.source.frames import variables


class Thing: ...


def frame() -> FrameType:
    return sys._getframe(1)


def test_it_gives_arguments_variables_and_those_of_an_outer_function() -> None:
    outer = Thing()

    def inner(argument: int) -> dict[str, object]:
        mine = outer
        assert mine
        return dict(variables(frame()))

    found = inner(1)
    assert found == {"argument": 1, "mine": outer, "outer": outer}


def test_what_a_function_lets_go_of_is_gone() -> None:
    thing = Thing()
    reference = weakref.ref(thing)
    assert variables(frame())["thing"] is thing
    del thing
    assert reference() is None


def test_what_the_user_has_got_from_locals_stays_his() -> None:
    thing = Thing()
    his = locals()
    assert variables(frame())["thing"] is thing
    assert his["thing"] is thing


def test_what_exec_has_put_there_stays_there() -> None:
    exec("made = 1")
    before = "made" in locals()
    variables(frame())
    assert ("made" in locals()) is before


def test_a_modules_variables_are_its_own() -> None:
    names: dict[str, object] = {"frame": frame, "variables": variables}
    exec("x = 1\nfound = variables(frame())", names)
    assert names["x"] == 1
    assert names["found"] is names
