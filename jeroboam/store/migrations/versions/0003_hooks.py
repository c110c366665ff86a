"""Hooks that administrators declare by the API."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_IDENTITY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "hooks",
        sa.Column("id", _IDENTITY, nullable=False),
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("declaration", sa.JSON(), nullable=False),
        sa.Column("secret", sa.LargeBinary()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hooks")),
        sa.UniqueConstraint("uuid", name=op.f("uq_hooks_uuid")),
        sa.UniqueConstraint("name", name=op.f("uq_hooks_name")),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("hooks")
