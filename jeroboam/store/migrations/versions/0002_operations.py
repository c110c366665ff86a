"""What an operation was asked, its plan, and the nodes that it works on."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_EMPTY_OBJECT, _EMPTY_LIST = sa.text("'{}'"), sa.text("'[]'")


def upgrade() -> None:
    """Add the columns; what is there gets empty values."""
    op.add_column(
        "node_groups",
        sa.Column("nodes", sa.JSON(), nullable=False, server_default=_EMPTY_LIST),
    )
    for column in (
        sa.Column("parameters", sa.JSON(), nullable=False, server_default=_EMPTY_OBJECT),
        sa.Column("plan", sa.JSON()),
        sa.Column("undone", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("schedule_id", sa.String(length=36)),
        sa.Column("previous_statuses", sa.JSON(), nullable=False, server_default=_EMPTY_OBJECT),
    ):
        op.add_column("operations", column)
    op.create_index("ix_operations_schedule_id", "operations", ["schedule_id"])
