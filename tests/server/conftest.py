"""A real Jupyter server with the STC extension, a token, and a store of the test's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest_jupyter.jupyter_server import *  # noqa: F403  # fixtures are found by their presence here, for this folder alone


@pytest.fixture
def jp_server_config(stc_home: Path) -> dict[str, Any]:
    return {
        "ServerApp": {
            "jpserver_extensions": {"stc_server": True},
            # A handler that forgets to authenticate then fails here.
            "allow_unauthenticated_access": False,
        },
    }
