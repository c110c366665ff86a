"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_IDENTITY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "cluster_templates",
        sa.Column("id", _IDENTITY, nullable=False),
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=False),
        sa.Column("user_id", sa.String(length=255), nullable=False),
        sa.Column("coe", sa.Text(), nullable=False),
        sa.Column("image_id", sa.Text(), nullable=False),
        sa.Column("cluster_distro", sa.Text()),
        sa.Column("server_type", sa.Text(), nullable=False),
        sa.Column("driver", sa.Text()),
        sa.Column("flavor_id", sa.Text()),
        sa.Column("master_flavor_id", sa.Text()),
        sa.Column("keypair_id", sa.Text()),
        sa.Column("external_network_id", sa.Text()),
        sa.Column("fixed_network", sa.Text()),
        sa.Column("fixed_subnet", sa.Text()),
        sa.Column("dns_nameserver", sa.Text()),
        sa.Column("network_driver", sa.Text()),
        sa.Column("volume_driver", sa.Text()),
        sa.Column("apiserver_port", sa.Integer()),
        sa.Column("docker_volume_size", sa.Integer()),
        sa.Column("docker_storage_driver", sa.Text()),
        sa.Column("http_proxy", sa.Text()),
        sa.Column("https_proxy", sa.Text()),
        sa.Column("no_proxy", sa.Text()),
        sa.Column("insecure_registry", sa.Text()),
        sa.Column("registry_enabled", sa.Boolean(), nullable=False),
        sa.Column("tls_disabled", sa.Boolean(), nullable=False),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.Column("hidden", sa.Boolean(), nullable=False),
        sa.Column("tags", sa.Text()),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("master_lb_enabled", sa.Boolean(), nullable=False),
        sa.Column("floating_ip_enabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cluster_templates")),
        sa.UniqueConstraint("uuid", name=op.f("uq_cluster_templates_uuid")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_cluster_templates_name"), "cluster_templates", ["name"])
    op.create_index(op.f("ix_cluster_templates_project_id"), "cluster_templates", ["project_id"])
    op.create_table(
        "operations",
        sa.Column("id", _IDENTITY, nullable=False),
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("cluster_id", sa.String(length=36), nullable=False),
        sa.Column("cluster_name", sa.String(length=255), nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=False),
        sa.Column("user_id", sa.String(length=255), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("rollback", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(length=64), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("steps", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("run_id", sa.Text()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True)),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_operations")),
        sa.UniqueConstraint("uuid", name=op.f("uq_operations_uuid")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_operations_cluster_id_state", "operations", ["cluster_id", "state"])
    op.create_index(op.f("ix_operations_project_id"), "operations", ["project_id"])
    op.create_index("ix_operations_state_created_at", "operations", ["state", "created_at"])
    op.create_table(
        "services",
        sa.Column("id", _IDENTITY, nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("binary", sa.String(length=255), nullable=False),
        sa.Column("report_count", _IDENTITY, nullable=False),
        sa.Column("last_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_services")),
        sqlite_autoincrement=True,
    )
    op.create_index("uq_services_host_binary", "services", ["host", "binary"], unique=True)
    op.create_table(
        "clusters",
        sa.Column("id", _IDENTITY, nullable=False),
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=False),
        sa.Column("user_id", sa.String(length=255), nullable=False),
        sa.Column("cluster_template_id", sa.String(length=36), nullable=False),
        sa.Column("keypair", sa.Text()),
        sa.Column("flavor_id", sa.Text()),
        sa.Column("master_flavor_id", sa.Text()),
        sa.Column("docker_volume_size", sa.Integer()),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("merge_labels", sa.Boolean(), nullable=False),
        sa.Column("create_timeout", sa.Integer(), nullable=False),
        sa.Column("discovery_url", sa.Text()),
        sa.Column("fixed_network", sa.Text()),
        sa.Column("fixed_subnet", sa.Text()),
        sa.Column("floating_ip_enabled", sa.Boolean(), nullable=False),
        sa.Column("master_lb_enabled", sa.Boolean(), nullable=False),
        sa.Column("stack_id", sa.Text()),
        sa.Column("status", sa.String(length=64), nullable=False),
        sa.Column("status_reason", sa.Text()),
        sa.Column("health_status", sa.String(length=64)),
        sa.Column("health_status_reason", sa.JSON(), nullable=False),
        sa.Column("api_address", sa.Text()),
        sa.Column("coe_version", sa.Text()),
        sa.Column("container_version", sa.Text()),
        sa.Column("faults", sa.JSON(), nullable=False),
        sa.Column("driver", sa.Text(), nullable=False),
        sa.Column("driver_version", sa.Text(), nullable=False),
        sa.Column("cloud", sa.Text(), nullable=False),
        sa.Column("trust_id", sa.Text()),
        sa.Column("operation_id", sa.String(length=36)),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(
            ["cluster_template_id"],
            ["cluster_templates.uuid"],
            name=op.f("fk_clusters_cluster_template_id_cluster_templates"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clusters")),
        sa.UniqueConstraint("uuid", name=op.f("uq_clusters_uuid")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_clusters_cluster_template_id"), "clusters", ["cluster_template_id"])
    op.create_index(op.f("ix_clusters_name"), "clusters", ["name"])
    op.create_index(op.f("ix_clusters_project_id"), "clusters", ["project_id"])
    op.create_table(
        "step_notes",
        sa.Column("operation_id", sa.String(length=36), nullable=False),
        sa.Column("step", sa.String(length=255), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("noted_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["operation_id"],
            ["operations.uuid"],
            name=op.f("fk_step_notes_operation_id_operations"),
        ),
        sa.PrimaryKeyConstraint("operation_id", "step", name=op.f("pk_step_notes")),
    )
    op.create_table(
        "cluster_secrets",
        sa.Column("cluster_id", sa.String(length=36), nullable=False),
        sa.Column("envelope", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.uuid"], name=op.f("fk_cluster_secrets_cluster_id_clusters")
        ),
        sa.PrimaryKeyConstraint("cluster_id", name=op.f("pk_cluster_secrets")),
    )
    op.create_table(
        "node_groups",
        sa.Column("id", _IDENTITY, nullable=False),
        sa.Column("uuid", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("cluster_id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("flavor_id", sa.Text()),
        sa.Column("image_id", sa.Text()),
        sa.Column("docker_volume_size", sa.Integer()),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("merge_labels", sa.Boolean(), nullable=False),
        sa.Column("node_labels", sa.JSON(), nullable=False),
        sa.Column("node_taints", sa.JSON(), nullable=False),
        sa.Column("node_count", sa.Integer(), nullable=False),
        sa.Column("min_node_count", sa.Integer(), nullable=False),
        sa.Column("max_node_count", sa.Integer()),
        sa.Column("node_addresses", sa.JSON(), nullable=False),
        sa.Column("stack_id", sa.Text()),
        sa.Column("status", sa.String(length=64)),
        sa.Column("status_reason", sa.Text()),
        sa.Column("version", sa.Text()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.uuid"], name=op.f("fk_node_groups_cluster_id_clusters")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_node_groups")),
        sa.UniqueConstraint("uuid", name=op.f("uq_node_groups_uuid")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "uq_node_groups_cluster_id_name", "node_groups", ["cluster_id", "name"], unique=True
    )
