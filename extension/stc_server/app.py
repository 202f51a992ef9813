"""The whole wiring of the server extension, on one page: traitlets, the store, the poller and the handlers."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from jupyter_server.extension.application import ExtensionApp
from traitlets import Unicode

from .access import StoreAccess
from .handlers.artefacts import ArtefactHandler
from .handlers.base import ARTEFACT, RUN_ID, NothingHandler
from .handlers.changes import ChangesHandler
from .handlers.runs import RunHandler, RunsHandler
from .handlers.status import StatusHandler
from .watch import Watch


class StcApp(ExtensionApp):
    """STC: runs, reports and live changes for the panel."""

    name = "stc"
    app_name = "STC"
    load_other_extensions = True

    store_path = Unicode(
        "",
        help="Folder of the store. Empty: the STC_HOME environment variable, else the user's data directory.",
    ).tag(config=True)

    access: StoreAccess
    watch: Watch

    def initialize_settings(self) -> None:
        self.access = StoreAccess(Path(self.store_path).expanduser() if self.store_path else None, _version())
        self.watch = Watch(self.access, _version(), self.log)

    def initialize_handlers(self) -> None:
        rest: dict[str, Any] = {"access": self.access}
        self.handlers.extend(
            [
                (r"/stc/api/status", StatusHandler, rest),
                (r"/stc/api/runs", RunsHandler, rest),
                (rf"/stc/api/runs/{RUN_ID}", RunHandler, rest),
                (rf"/stc/api/runs/{RUN_ID}/artefacts/{ARTEFACT}", ArtefactHandler, rest),
                (r"/stc/api/changes", ChangesHandler, {"watch": self.watch}),
                (r"/stc/api/.*", NothingHandler, rest),
            ]
        )

    async def stop_extension(self) -> None:
        await self.watch.stop()
        self.access.close()


def _version() -> str:
    try:
        return version("jupyterlab-stc")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "0.0.0"
