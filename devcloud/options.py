"""The configuration options of each service, as an operator would set them.

Values are the projects' defaults unless one machine without a message broker, a database
server or a network needs something else; the comments say what.
"""

import base64
from collections.abc import Callable

from devcloud import catalogue
from devcloud.layout import Layout

Value = str | int | bool | list[str]
Sections = dict[str, dict[str, Value]]

PASSWORD = "devcloud"  # noqa: S105 - everything listens on the loopback interface only
"""Password of every user; README.md says why it is no secret."""

# Heat wants exactly 32 characters.
ENCRYPTION_KEY = "devcloud-devcloud-devcloud-32byt"
HOST = "devcloud"
TEN_YEARS = 315_360_000
IN_MEMORY = "fake://"


def _log(layout: Layout, service: str) -> dict[str, Value]:
    return {"log_file": str(layout.logs / f"{service}.log"), "use_stderr": False}


def _database(layout: Layout, name: str) -> dict[str, Value]:
    return {"connection": f"sqlite:///{layout.database(name)}"}


def _locks(layout: Layout) -> dict[str, Value]:
    return {"lock_path": str(layout.run / "locks")}


def service_user(layout: Layout, name: str) -> dict[str, Value]:
    """Return how a service authenticates as its own user."""
    return {
        "auth_type": "password",
        "auth_url": layout.endpoint("keystone"),
        "username": name,
        "password": PASSWORD,
        "project_name": "service",
        "user_domain_name": "Default",
        "project_domain_name": "Default",
        "region_name": catalogue.REGION,
    }


def _authtoken(layout: Layout, name: str) -> dict[str, Value]:
    return service_user(layout, name) | {
        "www_authenticate_uri": layout.endpoint("keystone"),
        "service_token_roles": "service",
        "service_token_roles_required": True,
    }


def keystone(layout: Layout) -> dict[str, Sections]:
    """Fernet tokens, SQLite, a cache inside the process."""
    return {
        "keystone.conf": {
            "DEFAULT": _log(layout, "keystone"),
            "database": _database(layout, "keystone"),
            "fernet_tokens": {"key_repository": str(layout.state / "keys" / "fernet")},
            "credential": {"key_repository": str(layout.state / "keys" / "credential")},
            # Four rounds of bcrypt instead of twelve: a login costs 2 ms, not 250 ms.
            "identity": {"password_hash_rounds": 4},
            "cache": {"backend": "oslo_cache.dict"},
        }
    }


def glance(layout: Layout) -> dict[str, Sections]:
    """Images as files."""
    images = layout.state / "images"
    return {
        "glance-api.conf": {
            "DEFAULT": _log(layout, "glance")
            | {
                "transport_url": IN_MEMORY,
                "enabled_backends": "file:file",
                "worker_self_reference_url": layout.url("glance"),
            },
            "database": _database(layout, "glance"),
            "glance_store": {"default_backend": "file"},
            "file": {"filesystem_store_datadir": str(images / "store")},
            "os_glance_staging_store": {"filesystem_store_datadir": str(images / "staging")},
            "os_glance_tasks_store": {"filesystem_store_datadir": str(images / "tasks")},
            "paste_deploy": {
                "flavor": "keystone",
                "config_file": str(layout.venv / "etc" / "glance" / "glance-api-paste.ini"),
            },
            "keystone_authtoken": _authtoken(layout, "glance"),
            "oslo_concurrency": _locks(layout),
        }
    }


def placement(layout: Layout) -> dict[str, Sections]:
    """Placement migrates its own database when it starts."""
    return {
        "placement.conf": {
            "DEFAULT": _log(layout, "placement"),
            "placement_database": _database(layout, "placement")
            | {"sync_on_startup": not layout.prepared("placement").exists()},
            "keystone_authtoken": _authtoken(layout, "placement"),
        }
    }


def neutron(layout: Layout) -> dict[str, Sections]:
    """ML2 with devcloud's own mechanism driver, which binds every port at once."""
    quotas = ("network", "subnet", "port", "router", "floatingip", "security_group")
    unlimited: dict[str, Value] = {f"quota_{name}": -1 for name in quotas}
    return {
        "neutron.conf": {
            "DEFAULT": _log(layout, "neutron")
            | {
                "transport_url": IN_MEMORY,
                "host": HOST,
                "core_plugin": "ml2",
                "service_plugins": "devcloud.inside.router.InstantRouter",
                "state_path": str(layout.state / "neutron"),
                "api_paste_config": str(layout.venv / "etc" / "neutron" / "api-paste.ini"),
                # Nova does not wait for Neutron here, see vif_plugging_timeout below.
                "notify_nova_on_port_status_changes": False,
                "notify_nova_on_port_data_changes": False,
                "dhcp_agent_notification": False,
            },
            "database": _database(layout, "neutron"),
            "keystone_authtoken": _authtoken(layout, "neutron"),
            "nova": service_user(layout, "nova"),
            "placement": service_user(layout, "placement"),
            "quotas": unlimited | {"quota_security_group_rule": -1},
            "oslo_concurrency": _locks(layout),
        },
        "plugins/ml2/ml2_conf.ini": {
            "ml2": {
                "type_drivers": "local,flat,vlan,vxlan",
                "tenant_network_types": "vxlan",
                "mechanism_drivers": "devcloud",
                "extension_drivers": "port_security",
            },
            "ml2_type_flat": {"flat_networks": "*"},
            "ml2_type_vxlan": {"vni_ranges": "1:100000"},
        },
    }


def nova(layout: Layout) -> dict[str, Sections]:
    """All of Nova in one process, with real quotas and simulated machines."""
    service = service_user(layout, "nova")
    return {
        "nova.conf": {
            "DEFAULT": _log(layout, "nova")
            | {
                "transport_url": IN_MEMORY,
                "host": HOST,
                "my_ip": "127.0.0.1",
                "compute_driver": "devcloud.SimulatedDriver",
                "state_path": str(layout.state / "nova"),
                "instances_path": str(layout.state / "nova" / "instances"),
                "vif_plugging_is_fatal": False,
                "vif_plugging_timeout": 0,
                "reserved_host_memory_mb": 0,
                "reserved_host_disk_mb": 0,
                "initial_cpu_allocation_ratio": 1000,
                "initial_ram_allocation_ratio": 1000,
                "initial_disk_allocation_ratio": 1000,
                # The one host lives in this process. After a rest of the cloud it reports 5 s after
                # Nova answers, and until then nothing could be built.
                "report_interval": 5,
                "service_down_time": TEN_YEARS,
            },
            "api": {"auth_strategy": "keystone"},
            "database": _database(layout, "nova_cell1"),
            "api_database": _database(layout, "nova_api"),
            "keystone_authtoken": _authtoken(layout, "nova"),
            "service_user": service | {"send_service_user_token": True},
            "neutron": service_user(layout, "neutron"),
            "placement": service_user(layout, "placement"),
            "glance": service_user(layout, "glance"),
            # The quotas themselves are enforced: a test sets a limit through the API.
            "quota": {
                "instances": -1,
                "cores": -1,
                "ram": -1,
                "key_pairs": -1,
                "server_groups": -1,
                "server_group_members": -1,
                "metadata_items": -1,
            },
            "oslo_concurrency": _locks(layout),
        }
    }


def heat(layout: Layout) -> dict[str, Sections]:
    """Heat as for many clusters: no limit on the number of stacks and resources."""
    trustee = service_user(layout, "heat")
    for scope in ("project_name", "project_domain_name", "region_name"):
        del trustee[scope]
    paste = layout.venv / "etc" / "heat"
    return {
        "heat.conf": {
            "DEFAULT": _log(layout, "heat")
            | {
                "transport_url": IN_MEMORY,
                "host": HOST,
                "auth_encryption_key": ENCRYPTION_KEY,
                "stack_user_domain_name": "heat",
                "stack_domain_admin": "heat_domain_admin",
                "stack_domain_admin_password": PASSWORD,
                "region_name_for_services": catalogue.REGION,
                "heat_metadata_server_url": layout.url("heat-cfn"),
                "heat_waitcondition_server_url": f"{layout.endpoint('heat-cfn')}/waitcondition",
                "environment_dir": str(paste / "environment.d"),
                "template_dir": str(paste / "templates"),
                "plugin_dirs": str(layout.etc / "heat" / "plugins"),
                # By default Heat tries a failed resource five times more; a fault that a test
                # injects would then take a minute to show, or not show at all.
                "action_retry_limit": 0,
                "max_stacks_per_tenant": -1,
                "max_resources_per_stack": -1,
                "default_deployment_signal_transport": "HEAT_SIGNAL",
            },
            "database": _database(layout, "heat"),
            "paste_deploy": {"api_paste_config": str(paste / "api-paste.ini")},
            "oslo_policy": {"policy_file": str(layout.etc / "heat" / "policy.yaml")},
            "keystone_authtoken": _authtoken(layout, "heat"),
            "trustee": trustee,
            "clients_keystone": {"auth_uri": layout.url("keystone")},
            "oslo_concurrency": _locks(layout),
        }
    }


def mistral(layout: Layout) -> dict[str, Sections]:
    """Mistral's engine, executor and API, which find each other in memory."""
    return {
        "mistral.conf": {
            "DEFAULT": _log(layout, "mistral")
            | {"transport_url": IN_MEMORY, "scheduler_type": "default"},
            "database": _database(layout, "mistral"),
            "keystone_authtoken": _authtoken(layout, "mistral"),
            "keystone": {"region_name": catalogue.REGION},
            "openstack_actions": {"default_region": catalogue.REGION},
            "executor": {"type": "local"},
            # Nobody uses them here, and they look into the database every second.
            "cron_trigger": {"enabled": False},
            "scheduler": {"fixed_delay": "0.5", "random_delay": "0.1"},
            # After a restart of the one process, what it was at is given up within half a minute.
            "action_heartbeat": {
                "max_missed_heartbeats": 3,
                "check_interval": 5,
                "first_heartbeat_timeout": 30,
            },
        }
    }


def senlin(layout: Layout) -> dict[str, Sections]:
    """Senlin's API, conductor and engine, which find each other in memory."""
    service = service_user(layout, "senlin")
    return {
        "senlin.conf": {
            "DEFAULT": _log(layout, "senlin")
            | {
                "transport_url": IN_MEMORY,
                "host": HOST,
                "default_region_name": catalogue.REGION,
                # A test would wait out these pauses for a lock or the next batch of actions.
                "lock_retry_interval": 1,
                "batch_interval": 0,
            },
            "senlin_api": {"api_paste_config": str(layout.venv / "etc" / "senlin/api-paste.ini")},
            "database": _database(layout, "senlin"),
            "oslo_policy": {"policy_file": str(layout.etc / "senlin" / "policy.yaml")},
            "authentication": {
                "auth_url": service["auth_url"],
                "service_username": service["username"],
                "service_password": service["password"],
                "service_project_name": service["project_name"],
            },
            "keystone_authtoken": _authtoken(layout, "senlin"),
            "oslo_messaging_notifications": {"driver": "noop"},
        }
    }


def barbican(layout: Layout) -> dict[str, Sections]:
    """Barbican's API, which does all work itself and encrypts with a key of its own."""
    return {
        "barbican.conf": {
            "DEFAULT": _log(layout, "barbican")
            | {"host_href": layout.url("barbican"), "db_auto_create": True},
            "database": _database(layout, "barbican"),
            "keystone_authtoken": _authtoken(layout, "barbican"),
            "simple_crypto_plugin": {"kek": base64.b64encode(ENCRYPTION_KEY.encode()).decode()},
        }
    }


FILES: dict[str, Callable[[Layout], dict[str, Sections]]] = {
    "keystone": keystone,
    "glance": glance,
    "placement": placement,
    "neutron": neutron,
    "nova": nova,
    "heat": heat,
    "mistral": mistral,
    "senlin": senlin,
    "barbican": barbican,
}
