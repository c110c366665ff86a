"""The files of drivers that clusters are built from."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the table; clusters that are there have none kept, and use what is installed."""
    op.create_table(
        "driver_files",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("archive", sa.LargeBinary(), nullable=False),
        sa.Column("kept_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_driver_files")),
    )
    op.add_column("clusters", sa.Column("driver_files", sa.String(length=64)))
