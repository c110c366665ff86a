"""The addresses to which the API seals what only workers may read."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "worker_addresses",
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("proof", sa.LargeBinary(), nullable=False),
        sa.Column("announced_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("address", name=op.f("pk_worker_addresses")),
    )
