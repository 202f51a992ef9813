"""What happened inside torch, turned into records. See `listener.py`."""

from .listener import Listener, listener

__all__ = ["Listener", "listener"]
