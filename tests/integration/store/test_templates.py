"""Templates: who sees which, and when one may go."""

import pytest

from jeroboam.errors import AmbiguousNameError, ConflictError, InvalidRequestError, NotFoundError
from jeroboam.models import new_uuid
from jeroboam.store import Page, Scope, Store
from tests.integration.store.builders import (
    OTHER,
    PROJECT,
    a_spec,
    a_template,
    an_operation,
    stored,
)

MINE = Scope(PROJECT)
THEIRS = Scope(OTHER)
EVERYONE = Scope(None)


async def test_returns_what_was_added(store: Store) -> None:
    """A template comes back equal, the order of its labels included, by uuid and by name."""
    template = await store.templates.add(a_template(tags="a,b", apiserver_port=6443))
    assert await store.templates.get(template.uuid, MINE) == template
    assert await store.templates.get(template.uuid.upper(), MINE) == template
    found = await store.templates.get("template", MINE)
    assert list(found.labels) == ["b", "a"]


async def test_hides_other_projects(store: Store) -> None:
    """Another project's private template does not exist for the caller; an admin sees it."""
    template = await store.templates.add(a_template(project_id=OTHER))
    for ident in (template.uuid, template.name):
        with pytest.raises(NotFoundError, match=ident):
            await store.templates.get(ident, MINE)
    assert await store.templates.get(template.uuid, EVERYONE) == template
    assert await store.templates.list(MINE, Page(10)) == []


async def test_shows_public_templates(store: Store) -> None:
    """A public template is everyone's to use; a hidden one is listed for admins only."""
    public = await store.templates.add(a_template(name="public", project_id=OTHER, public=True))
    hidden = await store.templates.add(
        a_template(name="hidden", project_id=OTHER, public=True, hidden=True)
    )
    own_hidden = await store.templates.add(a_template(name="own", hidden=True))
    assert await store.templates.list(MINE, Page(10)) == [public]
    assert await store.templates.list(EVERYONE, Page(10)) == [public, hidden, own_hidden]
    assert await store.templates.get("hidden", MINE) == hidden


async def test_refuses_ambiguous_names(store: Store) -> None:
    """A name that fits two visible templates asks for the uuid; the uuid still works."""
    own = await store.templates.add(a_template())
    await store.templates.add(a_template(project_id=OTHER, public=True))
    with pytest.raises(AmbiguousNameError, match="uuid"):
        await store.templates.get("template", MINE)
    assert await store.templates.get(own.uuid, MINE) == own


async def test_a_name_cannot_shadow_a_uuid(store: Store) -> None:
    """A public template named like a uuid is never found in the place of that uuid's owner."""
    own = await store.templates.add(a_template())
    await store.templates.add(a_template(name=own.uuid, project_id=OTHER, public=True))
    assert await store.templates.get(own.uuid, MINE) == own


async def test_update_replaces_and_stamps(store: Store) -> None:
    """An update stores all fields and the time of the change."""
    template = await store.templates.add(a_template())
    changed = await store.templates.update(template.model_copy(update={"name": "new"}))
    assert changed.name == "new"
    assert changed.updated_at is not None
    assert await store.templates.get(template.uuid, MINE) == changed


async def test_update_and_delete_of_nothing(store: Store) -> None:
    """What does not exist can be neither changed nor deleted."""
    with pytest.raises(NotFoundError):
        await store.templates.update(a_template())
    with pytest.raises(NotFoundError):
        await store.templates.delete(new_uuid())


async def test_deletes_an_unused_template(store: Store) -> None:
    """A template that no cluster refers to can go."""
    template = await store.templates.add(a_template())
    await store.templates.delete(template.uuid)
    with pytest.raises(NotFoundError):
        await store.templates.get(template.uuid, EVERYONE)


async def test_keeps_a_template_in_use(store: Store) -> None:
    """A template with a cluster stays, and the refusal says why."""
    spec, _ = await stored(store)
    assert await store.templates.in_use(spec.template.uuid)
    with pytest.raises(InvalidRequestError, match="referenced by one or multiple clusters"):
        await store.templates.delete(spec.template.uuid)
    assert await store.templates.get(spec.template.uuid, MINE) == spec.template


async def test_no_cluster_without_its_template(store: Store) -> None:
    """A cluster whose template went meanwhile is refused, and nothing of it stays."""
    spec = a_spec(a_template())
    with pytest.raises(ConflictError, match="template"):
        await store.clusters.create(spec, an_operation(spec.cluster))
    assert (await store.clusters.count(Scope(PROJECT))).clusters == 0
    assert await store.operations.active(spec.cluster.uuid) == []


@pytest.mark.parametrize(
    "changes", [{"name": "x" * 256}, {"dns_nameserver": "a\x00b"}, {"docker_volume_size": 2**40}]
)
async def test_refuses_what_cannot_be_stored(
    store: Store, dialect: str, changes: dict[str, object]
) -> None:
    """A value that PostgreSQL cannot hold is the request's fault; SQLite holds it all."""
    template = a_template(**changes)
    if dialect == "sqlite":
        assert await store.templates.add(template) == template
        return
    with pytest.raises(InvalidRequestError, match="too long"):
        await store.templates.add(template)
