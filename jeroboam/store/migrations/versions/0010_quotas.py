"""Quotas of projects, and what they need to know of node groups."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Create the table. Groups that are there have no CPUs on record and count as none."""
    op.create_table(
        "quotas",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
        ),
        sa.Column("project_id", sa.String(length=255), nullable=False),
        sa.Column("resource", sa.String(length=64), nullable=False),
        sa.Column("hard_limit", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quotas")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("uq_quotas_project_id_resource"), "quotas", ["project_id", "resource"], unique=True
    )
    op.add_column("node_groups", sa.Column("vcpus", sa.Integer()))
    op.create_index(op.f("ix_node_groups_project_id"), "node_groups", ["project_id"])
