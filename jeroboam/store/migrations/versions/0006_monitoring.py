"""What regular looks at clusters have found."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "monitored_clusters",
        sa.Column("cluster_id", sa.String(length=36), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("usage", sa.JSON()),
        sa.Column("usage_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(
            ["cluster_id"],
            ["clusters.uuid"],
            name=op.f("fk_monitored_clusters_cluster_id_clusters"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("cluster_id", name=op.f("pk_monitored_clusters")),
    )
