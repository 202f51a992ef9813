"""From what a user writes for a run (nothing, an id, the beginning of one, a name) to its report."""

from __future__ import annotations

from stc.record.types import Report


def find_report(run: str | None) -> Report:
    """The report of a run; of the newest if None.

    Raises:
        RunNotFound: there is no such run, or there are several.
    """
    from stc.analyse import build
    from stc.record.store import Store

    store = Store.open()
    return build(store, store.find(run).id)
