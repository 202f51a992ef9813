"""How many turns a loop will take, read from live frames."""

from __future__ import annotations

import linecache
import sys
import textwrap
from types import FrameType
from typing import Any

import pytest

from stc.source.loops import LoopCount, enclosing_turns
from stc.source.places import Cell, register_cell


def run(source: str, **names: Any) -> list[LoopCount | None]:
    """Run source as a cell; every call of `here()` in it notes what enclosing_turns says of its caller."""
    text = textwrap.dedent(source)
    filename = f"cell-{abs(hash(text))}.py"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    register_cell(filename, Cell(number=1, cell_id=None, notebook=None, text=text))
    seen: list[LoopCount | None] = []

    def here() -> None:
        seen.append(enclosing_turns(sys._getframe(1)))

    exec(compile(text, filename, "exec"), {"here": here, **names})
    return seen


def turns(source: str, **names: Any) -> int | None:
    found = run(source, **names)[0]
    return None if found is None else found.turns


class Loader:
    def __init__(self, batches: int) -> None:
        self.batches = batches

    def __len__(self) -> int:
        return self.batches

    def __iter__(self) -> Any:
        return iter(range(self.batches))


def test_a_range_counts_its_turns() -> None:
    assert turns("for i in range(300):\n    here()") == 300


def test_epochs_times_batches() -> None:
    source = """
    for epoch in range(epochs):
        for i, batch in enumerate(loader, 1):
            here()
    """
    assert turns(source, epochs=4, loader=Loader(25)) == 100


def test_the_loop_is_in_a_function_that_the_cell_calls_in_a_loop() -> None:
    source = """
    def train_one(loader):
        for batch in loader:
            here()
    for epoch in range(3):
        train_one(loader)
    """
    assert turns(source, loader=Loader(7)) == 21


def test_a_progress_bar_is_looked_through() -> None:
    assert turns("for x in tqdm(loader):\n    here()", tqdm=lambda x: x, loader=Loader(9)) == 9


@pytest.mark.parametrize(("drop", "batches"), [("", 3), (", drop_last=True", 2)])
def test_a_loader_written_in_the_loops_head(drop: str, batches: int) -> None:
    def DataLoader(rows: Any, batch_size: int, drop_last: bool = False) -> Loader:
        return Loader(3)

    source = f"for x in DataLoader(rows, batch_size=32{drop}):\n    here()"
    assert turns(source, DataLoader=DataLoader, rows=list(range(70))) == batches


def test_an_unknown_length_is_unknown() -> None:
    assert turns("k = 0\nwhile k < 5:\n    here()\n    k += 1") is None
    assert turns("for x in (i for i in range(5)):\n    here()") is None
    assert turns("for x in load():\n    here()", load=lambda: range(3)) is None


def test_no_loop_is_none_and_a_loop_beside_the_call_is_not_counted() -> None:
    assert turns("here()") is None
    assert turns("for i in range(9):\n    pass\nhere()") is None
    assert turns("for i in range(9):\n    pass\nelse:\n    here()") is None


def test_a_property_is_not_read() -> None:
    class Trainer:
        @property
        def loader(self) -> Loader:
            raise AssertionError("the user's code was run")

        def __iter__(self) -> Any:
            return iter([1])

    source = "for x in thing:\n    for y in (t.loader if False else [1]):\n        here()"
    assert turns(source, thing=Trainer(), t=Trainer()) is None


def test_loops_around_a_with_block_are_not_part_of_the_run() -> None:
    seen: list[LoopCount | None] = []

    def body(entered: tuple[FrameType, int]) -> None:
        for _ in range(4):
            seen.append(enclosing_turns(sys._getframe(0), entered))

    for _ in range(10):
        entered = (sys._getframe(0), sys._getframe(0).f_lineno)
        body(entered)
    assert {count.turns for count in seen if count} == {4}
