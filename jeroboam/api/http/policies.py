"""The policy rules: Magnum's names with the defaults it has had since the new roles.

An operator overrides them in the file ``JEROBOAM_POLICY_FILE``, as in any OpenStack service.
``admin`` means a token with the role ``admin``, on whichever project: as in Magnum, such a token
acts on the objects of all projects. Give tenants ``member`` or ``reader`` instead.

The building blocks are those of all of Magnum's releases, so that a file which refers to one, or
overrides one, means here what it meant there. Magnum let users of clusters in once; ours are
refused before a rule is asked, so ``cluster_user`` holds for nobody and ``deny_cluster_user`` for
everybody.
"""

from collections.abc import Sequence

from oslo_policy.policy import DocumentedRuleDefault, RuleDefault

ADMIN = "rule:context_is_admin"
READER = "rule:admin_or_project_reader"
MEMBER = "rule:admin_or_project_member"
MEMBER_USER = "rule:admin_or_project_member_user"
READER_USER = "rule:admin_or_project_reader_user"

# What Magnum's rules for clusters and templates name; they differ where a file overrides them.
CLUSTER_READER = "rule:admin_or_project_reader_deny_cluster_user"
CLUSTER_MEMBER = "rule:admin_or_project_member_deny_cluster_user"
HEALTH_REPORTER = "rule:admin_or_project_member_user_or_cluster_user"

_MEMBER_OR_USER = "rule:context_is_admin or (rule:project_member and rule:user_or_cluster_user)"
_READER_OR_USER = "rule:context_is_admin or (rule:project_reader and rule:user_or_cluster_user)"

_BUILDING_BLOCKS = (
    ("context_is_admin", "role:admin"),
    ("admin_api", "rule:context_is_admin"),
    ("admin_or_owner", "is_admin:True or project_id:%(project_id)s"),
    ("admin_or_user", "is_admin:True or user_id:%(user_id)s"),
    ("is_user", "user_id:%(user_id)s"),
    ("cluster_user", "user_id:%(trustee_user_id)s"),
    ("deny_cluster_user", "not domain_id:%(trustee_domain_id)s"),
    ("user_or_cluster_user", "rule:is_user or rule:cluster_user"),
    ("admin_or_user_or_cluster_user", "rule:context_is_admin or rule:user_or_cluster_user"),
    ("project_member", "role:member and project_id:%(project_id)s"),
    ("project_reader", "role:reader and project_id:%(project_id)s"),
    ("project_member_deny_cluster_user", "rule:project_member and rule:deny_cluster_user"),
    ("project_reader_deny_cluster_user", "rule:project_reader and rule:deny_cluster_user"),
    ("admin_or_project_member", "rule:context_is_admin or rule:project_member"),
    ("admin_or_project_reader", "rule:context_is_admin or rule:project_reader"),
    (
        "admin_or_project_member_deny_cluster_user",
        "rule:context_is_admin or rule:project_member_deny_cluster_user",
    ),
    (
        "admin_or_project_reader_deny_cluster_user",
        "rule:context_is_admin or rule:project_reader_deny_cluster_user",
    ),
    (
        "admin_or_project_member_user",
        "rule:context_is_admin or (rule:project_member and rule:is_user)",
    ),
    (
        "admin_or_project_reader_user",
        "rule:context_is_admin or (rule:project_reader and rule:is_user)",
    ),
    (
        "admin_or_project_member_cluster_user",
        "rule:context_is_admin or (rule:project_member and rule:cluster_user)",
    ),
    ("admin_or_project_member_user_or_cluster_user", _MEMBER_OR_USER),
    ("admin_or_project_reader_user_or_cluster_user", _READER_OR_USER),
)

_TEMPLATE = "/v1/clustertemplates/{ident}"
_CLUSTER = "/v1/clusters/{ident}"
_GROUPS = f"{_CLUSTER}/nodegroups"
_ACTIONS = f"{_CLUSTER}/actions"
_OPERATION = "/v1/operations/{ident}"
_HOOK = "/v1/hooks/{ident}"
_DRIVER = "/v1/drivers/{name}"
_SCHEDULE = "/v1/schedules/{ident}"
_WINDOW = f"{_CLUSTER}/maintenance_window"
_QUOTA = "/v1/quotas/{project_id}/{resource}"
_FEDERATION = "/v1/federations/{ident}"

# Name, who, what it permits, method, path.
_RULES = (
    ("cluster:create", CLUSTER_MEMBER, "Create a cluster.", "POST", "/v1/clusters"),
    ("cluster:delete", CLUSTER_MEMBER, "Delete a cluster.", "DELETE", _CLUSTER),
    ("cluster:delete_all_projects", ADMIN, "Delete any project's cluster.", "DELETE", _CLUSTER),
    ("cluster:detail", CLUSTER_READER, "List clusters in detail.", "GET", "/v1/clusters/detail"),
    (
        "cluster:detail_all_projects",
        ADMIN,
        "List all projects' clusters in detail.",
        "GET",
        "/v1/clusters/detail",
    ),
    ("cluster:get", CLUSTER_READER, "Show a cluster.", "GET", _CLUSTER),
    (
        "cluster:get_driver",
        CLUSTER_READER,
        "Show by which driver a cluster was built.",
        "GET",
        f"{_CLUSTER}/driver",
    ),
    ("cluster:get_one_all_projects", ADMIN, "Show any project's cluster.", "GET", _CLUSTER),
    ("cluster:get_all", CLUSTER_READER, "List clusters.", "GET", "/v1/clusters"),
    ("cluster:get_all_all_projects", ADMIN, "List all projects' clusters.", "GET", "/v1/clusters"),
    ("cluster:update", CLUSTER_MEMBER, "Change a cluster.", "PATCH", _CLUSTER),
    ("cluster:update_all_projects", ADMIN, "Change any project's cluster.", "PATCH", _CLUSTER),
    (
        "cluster:update_health_status",
        HEALTH_REPORTER,
        "Report a cluster's health.",
        "PATCH",
        _CLUSTER,
    ),
    ("cluster:resize", CLUSTER_MEMBER, "Resize a cluster.", "POST", f"{_ACTIONS}/resize"),
    ("cluster:upgrade", CLUSTER_MEMBER, "Upgrade a cluster.", "POST", f"{_ACTIONS}/upgrade"),
    (
        "cluster:upgrade_all_projects",
        ADMIN,
        "Upgrade any project's cluster.",
        "POST",
        f"{_ACTIONS}/upgrade",
    ),
    (
        "cluster:rebuild",
        CLUSTER_MEMBER,
        "Rebuild a cluster's nodes.",
        "POST",
        f"{_ACTIONS}/rebuild",
    ),
    ("cluster:reboot", CLUSTER_MEMBER, "Reboot a cluster's nodes.", "POST", f"{_ACTIONS}/reboot"),
    ("cluster:usage", CLUSTER_READER, "Show what a cluster uses.", "GET", f"{_CLUSTER}/usage"),
    (
        "cluster:import",
        MEMBER,
        "Take over a cluster that Magnum's Heat drivers have built.",
        "POST",
        "/v1/clusters/import",
    ),
    (
        "cluster:import_keys",
        MEMBER,
        "Give an imported cluster the keys of its authorities.",
        "PUT",
        f"{_CLUSTER}/keys",
    ),
    (
        "cluster:check_health",
        CLUSTER_MEMBER,
        "Check a cluster's health now.",
        "POST",
        f"{_ACTIONS}/check_health",
    ),
    (
        "cluster:force_delete",
        ADMIN,
        "Delete a cluster whatever hooks and the backend say; may leave things in the cloud.",
        "DELETE",
        f"{_CLUSTER}?force=true",
    ),
    (
        "clustertemplate:create",
        CLUSTER_MEMBER,
        "Create a template.",
        "POST",
        "/v1/clustertemplates",
    ),
    ("clustertemplate:delete", MEMBER, "Delete a template.", "DELETE", _TEMPLATE),
    (
        "clustertemplate:delete_all_projects",
        ADMIN,
        "Delete any project's template.",
        "DELETE",
        _TEMPLATE,
    ),
    (
        "clustertemplate:detail",
        CLUSTER_READER,
        "List templates in detail.",
        "GET",
        "/v1/clustertemplates/detail",
    ),
    (
        "clustertemplate:detail_all_projects",
        ADMIN,
        "List all projects' templates in detail.",
        "GET",
        "/v1/clustertemplates/detail",
    ),
    ("clustertemplate:get", CLUSTER_READER, "Show a template.", "GET", _TEMPLATE),
    (
        "clustertemplate:get_one_all_projects",
        ADMIN,
        "Show any project's template.",
        "GET",
        _TEMPLATE,
    ),
    ("clustertemplate:get_all", CLUSTER_READER, "List templates.", "GET", "/v1/clustertemplates"),
    (
        "clustertemplate:get_all_all_projects",
        ADMIN,
        "List all projects' templates.",
        "GET",
        "/v1/clustertemplates",
    ),
    ("clustertemplate:update", MEMBER, "Change a template.", "PATCH", _TEMPLATE),
    (
        "clustertemplate:update_all_projects",
        ADMIN,
        "Change any project's template.",
        "PATCH",
        _TEMPLATE,
    ),
    ("clustertemplate:publish", ADMIN, "Make a template public or hidden.", "PATCH", _TEMPLATE),
    ("nodegroup:get", READER, "Show a node group.", "GET", f"{_GROUPS}/{{nodegroup}}"),
    (
        "nodegroup:get_one_all_projects",
        ADMIN,
        "Show any project's node group.",
        "GET",
        f"{_GROUPS}/{{nodegroup}}",
    ),
    ("nodegroup:get_all", READER, "List a cluster's node groups.", "GET", _GROUPS),
    (
        "nodegroup:get_all_all_projects",
        ADMIN,
        "List node groups of any project's cluster.",
        "GET",
        _GROUPS,
    ),
    ("nodegroup:create", MEMBER, "Create a node group.", "POST", _GROUPS),
    ("nodegroup:update", MEMBER, "Change a node group.", "PATCH", f"{_GROUPS}/{{nodegroup}}"),
    ("nodegroup:delete", MEMBER, "Delete a node group.", "DELETE", f"{_GROUPS}/{{nodegroup}}"),
    ("operation:get", READER, "Show an operation.", "GET", _OPERATION),
    (
        "operation:get_one_all_projects",
        ADMIN,
        "Show any project's operation.",
        "GET",
        _OPERATION,
    ),
    (
        "operation:get_run",
        ADMIN,
        "See the link to an operation's run in the Temporal UI.",
        "GET",
        _OPERATION,
    ),
    ("operation:get_all", READER, "List operations.", "GET", "/v1/operations"),
    (
        "operation:get_all_all_projects",
        ADMIN,
        "List all projects' operations.",
        "GET",
        "/v1/operations",
    ),
    ("operation:cancel", MEMBER, "Cancel an operation.", "POST", f"{_OPERATION}/cancel"),
    (
        "operation:retry",
        MEMBER,
        "Retry an operation, for those who may begin such a one.",
        "POST",
        f"{_OPERATION}/retry",
    ),
    (
        "operation:resume",
        MEMBER,
        "Go on with a cancelled operation, for those who may begin such a one.",
        "POST",
        f"{_OPERATION}/resume",
    ),
    (
        "operation:approve",
        ADMIN,
        "Answer for a hook that an operation waits for.",
        "POST",
        f"{_OPERATION}/resume",
    ),
    ("schedule:create", MEMBER, "Create a schedule.", "POST", "/v1/schedules"),
    (
        "schedule:all_projects",
        ADMIN,
        "Make or change a schedule that works on clusters of other projects.",
        "POST",
        "/v1/schedules",
    ),
    (
        "schedule:preview",
        READER,
        "Show when a schedule would come.",
        "POST",
        "/v1/schedules/preview",
    ),
    ("schedule:get", READER, "Show a schedule and its runs.", "GET", _SCHEDULE),
    ("schedule:get_one_all_projects", ADMIN, "Show any project's schedule.", "GET", _SCHEDULE),
    ("schedule:get_all", READER, "List schedules.", "GET", "/v1/schedules"),
    (
        "schedule:get_all_all_projects",
        ADMIN,
        "List all projects' schedules.",
        "GET",
        "/v1/schedules",
    ),
    ("schedule:update", MEMBER, "Change a schedule.", "PATCH", _SCHEDULE),
    ("schedule:delete", MEMBER, "Delete a schedule.", "DELETE", _SCHEDULE),
    ("schedule:pause", MEMBER, "Pause a schedule or let it go on.", "POST", f"{_SCHEDULE}/pause"),
    ("schedule:run", MEMBER, "Start a run of a schedule now.", "POST", f"{_SCHEDULE}/run"),
    ("maintenance_window:get", READER, "Show a maintenance window.", "GET", _WINDOW),
    ("maintenance_window:set", MEMBER, "Set a maintenance window.", "PUT", _WINDOW),
    ("maintenance_window:delete", MEMBER, "Remove a maintenance window.", "DELETE", _WINDOW),
    ("driver:get", READER, "Show a driver.", "GET", _DRIVER),
    ("driver:get_all", READER, "List drivers.", "GET", "/v1/drivers"),
    (
        "driver:get_source",
        ADMIN,
        "See where drivers come from, and why some are broken.",
        "GET",
        _DRIVER,
    ),
    ("hook:get", ADMIN, "Show a hook.", "GET", _HOOK),
    ("hook:get_all", ADMIN, "List hooks.", "GET", "/v1/hooks"),
    ("hook:create", ADMIN, "Declare a hook.", "POST", "/v1/hooks"),
    ("hook:update", ADMIN, "Change a hook.", "PATCH", _HOOK),
    ("hook:delete", ADMIN, "Remove a hook.", "DELETE", _HOOK),
    (
        "certificate:create",
        MEMBER_USER,
        "Sign a certificate request.",
        "POST",
        "/v1/certificates",
    ),
    ("certificate:get", READER_USER, "Read a cluster's CA.", "GET", "/v1/certificates/{cluster}"),
    (
        "certificate:get_all",
        READER,
        "Show when a cluster's CAs end.",
        "GET",
        f"{_CLUSTER}/certificates",
    ),
    (
        "certificate:rotate_ca",
        MEMBER,
        "Replace a cluster's CAs.",
        "PATCH",
        "/v1/certificates/{cluster}",
    ),
    (
        "credential:rotate",
        "rule:project_member_deny_cluster_user",
        "Replace a cluster's credential.",
        "PATCH",
        "/v1/credentials/{cluster}",
    ),
    ("quota:get", READER, "Show a quota.", "GET", _QUOTA),
    ("quota:get_all", ADMIN, "List quotas.", "GET", "/v1/quotas"),
    ("quota:create", ADMIN, "Set a quota.", "POST", "/v1/quotas"),
    ("quota:update", ADMIN, "Change a quota.", "PATCH", _QUOTA),
    ("quota:delete", ADMIN, "Remove a quota.", "DELETE", _QUOTA),
    ("stats:get_all", READER, "Show numbers of clusters and nodes.", "GET", "/v1/stats"),
    ("magnum-service:get_all", ADMIN, "List the service's processes.", "GET", "/v1/mservices"),
    ("federation:create", CLUSTER_MEMBER, "Create a federation.", "POST", "/v1/federations"),
    ("federation:update", CLUSTER_MEMBER, "Change a federation.", "PATCH", _FEDERATION),
    ("federation:delete", CLUSTER_MEMBER, "Delete a federation.", "DELETE", _FEDERATION),
    ("federation:get", CLUSTER_READER, "Show a federation.", "GET", _FEDERATION),
    ("federation:get_all", CLUSTER_READER, "List federations.", "GET", "/v1/federations"),
    (
        "federation:detail",
        CLUSTER_READER,
        "List federations in detail.",
        "GET",
        "/v1/federations/detail",
    ),
)


def list_rules() -> Sequence[RuleDefault]:
    """Return all rules; also the entry point for ``oslopolicy-sample-generator``."""
    blocks = [RuleDefault(name, check) for name, check in _BUILDING_BLOCKS]
    documented = [
        DocumentedRuleDefault(name, check, description, [{"method": method, "path": path}])
        for name, check, description, method, path in _RULES
    ]
    return [*blocks, *documented]
