"""The folders that all COEs on Docker share, searched after those of the COE."""

from pathlib import Path

from jeroboam.drivers import docker

SHARED = (Path(__file__).parent / "templates", Path(docker.__file__).parent / "templates")
