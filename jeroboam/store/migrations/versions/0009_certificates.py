"""The public halves of clusters' certificate authorities."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Create the table; workers fill it for the clusters that are there."""
    op.create_table(
        "cluster_certificates",
        sa.Column("cluster_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=64), nullable=False),
        sa.Column("pem", sa.Text(), nullable=False),
        sa.Column("serial", sa.Text(), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=False),
        sa.Column("not_after", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["cluster_id"],
            ["clusters.uuid"],
            name=op.f("fk_cluster_certificates_cluster_id_clusters"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "cluster_id", "kind", "state", name=op.f("pk_cluster_certificates")
        ),
    )
    op.create_index(
        op.f("ix_cluster_certificates_not_after"), "cluster_certificates", ["not_after"]
    )
