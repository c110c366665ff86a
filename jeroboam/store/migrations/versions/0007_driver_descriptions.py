"""What drivers in workers of their own tell of themselves."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "driver_descriptions",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("description", sa.JSON(), nullable=False),
        sa.Column("files", sa.String(length=64)),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_driver_descriptions")),
    )
