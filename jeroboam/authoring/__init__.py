"""Tools for those who write drivers: ``jeroboam driver new``, ``fork`` and ``lint``."""
