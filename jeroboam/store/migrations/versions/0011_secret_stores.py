"""In which store the secrets of a cluster are."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the column."""
    op.add_column(
        "cluster_secrets",
        sa.Column("store", sa.String(length=255), nullable=False, server_default="database"),
    )
