"""What all lists have in common."""

from collections.abc import Iterator, Sequence

from tests.integration.api.conformance.fact import Fact

ABSENT = "00000000-0000-4000-8000-000000000000"
LISTS = (
    ("GET /v1/clustertemplates", ABSENT),
    ("GET /v1/clustertemplates/detail", ABSENT),
    ("GET /v1/clusters", ABSENT),
    ("GET /v1/clusters/detail", ABSENT),
    ("GET /v1/clusters/{cluster}/nodegroups", ABSENT),
    ("GET /v1/quotas", "4711"),
    ("GET /v1/federations", ABSENT),
    ("GET /v1/federations/detail", ABSENT),
)
BAD = (
    ("limit=0", 400, "a limit of 0 is 400", "Limit must be positive"),
    ("limit=-1", 400, "a negative limit is 400", "Limit must be positive"),
    ("limit=x", 400, "a limit that is no number is 400", ""),
    ("marker=x", 400, "a marker of another form is 400", ""),
    ("sort_key=colour", 400, "an unknown sort key is 400", "colour"),
    ("sort_dir=up", 400, "another sort direction than asc and desc is 400", "up"),
    ("colour=red", 400, "an unknown argument is 400", "Unknown argument"),
)


def facts() -> Iterator[Fact]:
    for route, absent in LISTS:
        path = route.split()[1].replace("{", "<").replace("}", ">")
        token = "admin-token" if "quotas" in route else "member-token"
        for query, status, says, has in BAD:
            yield Fact(route, says, f"{path}?{query}", status=status, has=has, token=token)
        if "federations" not in route:
            page = f"{path}?limit=1&sort_key=created_at&sort_dir=desc"
            says = "a full page has an absolute `next`, with sorting, limit and marker"
            following = "?sort_key=created_at&sort_dir=desc&limit=1&marker="
            yield Fact(route, says, page, has=following, token=token)
        unknown = f"{path}?marker={absent}"
        yield Fact(route, "an unknown marker is 404", unknown, status=404, token=token)
        yield Fact(
            route,
            "a page that is not full has no `next`",
            path,
            token=token,
            keys=frozenset({path.split("/")[2 if "<" not in path else 4].split("?")[0]}),
        )


FACTS: Sequence[Fact] = tuple(facts())
