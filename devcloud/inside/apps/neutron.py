"""Neutron: the API with ML2; no agents."""

import os
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from devcloud.inside import sqlite
from devcloud.layout import Layout


def build(layout: Layout) -> dict[str, Any]:
    """Return the application, on a database of the newest schema."""
    os.environ["OS_NEUTRON_CONFIG_DIR"] = str(layout.etc / "neutron")
    (layout.state / "neutron").mkdir(parents=True, exist_ok=True)
    if not layout.prepared("neutron").exists():
        sqlite.remove(layout.database("neutron"))
        _create(layout.database("neutron"))
    from neutron.wsgi.api import application

    return {"neutron": application}


def _create(database: Path) -> None:
    """Create the schema from the models and mark it as the newest.

    The migrations alter constraints, which SQLite cannot do; Neutron's own tests on SQLite
    take the models as well.
    """
    import neutron.db.migration
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory
    from neutron.db.migration.models import head  # noqa: F401 - registers all tables
    from neutron_lib.db import model_base

    scripts = Path(neutron.db.migration.__file__).parent / "alembic_migrations"
    versions = [str(f) for f in (scripts / "versions").rglob("*") if f.is_dir()]
    directory = ScriptDirectory(
        str(scripts), version_locations=[*versions, str(scripts / "versions")]
    )
    engine = sa.create_engine(f"sqlite:///{database}")
    with engine.begin() as connection:
        model_base.BASEV2.metadata.create_all(connection)
        MigrationContext.configure(connection).stamp(directory, "heads")
    engine.dispose()
