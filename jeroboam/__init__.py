"""Jeroboam: clusters as a service for OpenStack, on durable Temporal workflows."""

from importlib import metadata

__version__ = metadata.version("jeroboam")
