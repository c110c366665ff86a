"""Scheduled operations, what became of them, and maintenance windows."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_IDENTITY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "schedules",
        sa.Column("id", _IDENTITY, nullable=False),
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=False),
        sa.Column("user_id", sa.String(length=255), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("cluster_id", sa.String(length=36)),
        sa.Column("selector", sa.JSON()),
        sa.Column("all_projects", sa.Boolean(), nullable=False),
        sa.Column("cron", sa.Text()),
        sa.Column("calendar", sa.JSON()),
        sa.Column("time_zone", sa.Text(), nullable=False),
        sa.Column("jitter_seconds", sa.Integer(), nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True)),
        sa.Column("end_at", sa.DateTime(timezone=True)),
        sa.Column("overlap", sa.String(length=64), nullable=False),
        sa.Column("catchup_minutes", sa.Integer(), nullable=False),
        sa.Column("max_parallel", sa.Integer(), nullable=False),
        sa.Column("when_busy", sa.String(length=64), nullable=False),
        sa.Column("wait_minutes", sa.Integer(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("note", sa.Text()),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("synced_revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True)),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedules")),
        sa.UniqueConstraint("uuid", name=op.f("uq_schedules_uuid")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "uq_schedules_project_id_name", "schedules", ["project_id", "name"], unique=True
    )
    op.create_index(op.f("ix_schedules_name"), "schedules", ["name"])
    op.create_table(
        "schedule_runs",
        sa.Column("id", _IDENTITY, nullable=False),
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("schedule_id", sa.String(length=36), nullable=False),
        sa.Column("workflow_id", sa.Text(), nullable=False),
        sa.Column("scheduled_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("cluster_id", sa.String(length=36)),
        sa.Column("cluster_name", sa.String(length=255)),
        sa.Column("operation_id", sa.String(length=36)),
        sa.Column("state", sa.String(length=64), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedule_runs")),
        sa.UniqueConstraint("uuid", name=op.f("uq_schedule_runs_uuid")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_schedule_runs_schedule_id_id", "schedule_runs", ["schedule_id", "id"])
    op.create_index(
        "ix_schedule_runs_ended_at_updated_at", "schedule_runs", ["ended_at", "updated_at"]
    )
    op.create_table(
        "maintenance_windows",
        sa.Column("cluster_id", sa.String(length=36), nullable=False),
        sa.Column("days", sa.JSON(), nullable=False),
        sa.Column("start", sa.Text()),
        sa.Column("cron", sa.Text()),
        sa.Column("duration_minutes", sa.Integer(), nullable=False),
        sa.Column("time_zone", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(
            ["cluster_id"],
            ["clusters.uuid"],
            name=op.f("fk_maintenance_windows_cluster_id_clusters"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("cluster_id", name=op.f("pk_maintenance_windows")),
    )
