"""``/v1/hooks``: administrators declare hooks; and late answers of hooks."""

from fastapi import APIRouter, Response

from jeroboam.api.http import edit_hook, late_answer
from jeroboam.api.http.dependencies import CurrentCaller, CurrentLinks, Dependencies, Injected
from jeroboam.api.http.paging import no_arguments
from jeroboam.api.http.schemas.hook import HookBody, HookCreate, HookList, HookPatch, LateAnswer
from jeroboam.errors import ConflictError, NotFoundError
from jeroboam.hooks.catalogue import Entry, everything
from jeroboam.models.hook import HookDeclaration

router = APIRouter(prefix="/v1", tags=["hooks"])


@router.get("/hooks", dependencies=[no_arguments])
async def list_hooks(
    dependencies: Injected, caller: CurrentCaller, links: CurrentLinks
) -> HookList:
    """List all hooks in the order in which they run, and those that wait for a declaration."""
    dependencies.authorizer.require("hook:get_all", caller.identity)
    return HookList(hooks=[HookBody.of(entry, links) for entry in await _all(dependencies)])


@router.get("/hooks/{ident}", dependencies=[no_arguments])
async def show_hook(
    ident: str, dependencies: Injected, caller: CurrentCaller, links: CurrentLinks
) -> HookBody:
    """Show a hook by name or uuid."""
    dependencies.authorizer.require("hook:get", caller.identity)
    return HookBody.of(await _one(dependencies, ident), links)


@router.post("/hooks", status_code=201, dependencies=[no_arguments])
async def create_hook(
    body: HookCreate,
    response: Response,
    dependencies: Injected,
    caller: CurrentCaller,
    links: CurrentLinks,
) -> HookBody:
    """Declare a hook; it holds for operations that begin from now on."""
    dependencies.authorizer.require("hook:create", caller.identity)
    declaration, secret = await edit_hook.new_hook(dependencies, body)
    await dependencies.store.hooks.add(declaration, secret)
    response.headers["Location"] = links.url("hooks", declaration.name)
    return HookBody.of(await _one(dependencies, declaration.uuid), links)


@router.patch("/hooks/{ident}", dependencies=[no_arguments])
async def change_hook(
    ident: str,
    body: HookPatch,
    dependencies: Injected,
    caller: CurrentCaller,
    links: CurrentLinks,
) -> HookBody:
    """Change what the body names of a hook; ``null`` returns to the default."""
    dependencies.authorizer.require("hook:update", caller.identity)
    declaration = await _writable(dependencies, ident)
    changed, secret = await edit_hook.changed_hook(dependencies, declaration, body)
    await dependencies.store.hooks.update(changed, secret)
    return HookBody.of(await _one(dependencies, changed.uuid), links)


@router.delete("/hooks/{ident}", status_code=204, dependencies=[no_arguments])
async def delete_hook(ident: str, dependencies: Injected, caller: CurrentCaller) -> None:
    """Remove a declaration; operations at work pass over the hook."""
    dependencies.authorizer.require("hook:delete", caller.identity)
    declaration = await _writable(dependencies, ident)
    await dependencies.store.hooks.delete(declaration.uuid)


@router.post("/operations/{operation}/hooks/{token}", status_code=204)
async def answer_hook(operation: str, token: str, body: LateAnswer, dependencies: Injected) -> None:
    """Give the late answer of a hook; the URL, which the hook was given, is the permission."""
    await late_answer.give(dependencies, operation, token, body)


async def _all(dependencies: Dependencies) -> tuple[Entry, ...]:
    return everything(dependencies.hooks.registry, await dependencies.store.hooks.list())


async def _one(dependencies: Dependencies, ident: str) -> Entry:
    for entry in await _all(dependencies):
        uuid = entry.declaration.uuid if entry.declaration else None
        if ident.lower() in {entry.name, uuid}:
            return entry
    raise NotFoundError(f"Hook {ident} could not be found.")


async def _writable(dependencies: Dependencies, ident: str) -> HookDeclaration:
    entry = await _one(dependencies, ident)
    if entry.declaration is None or entry.in_file:
        where = "in the operator's file" if entry.in_file else "by its installation"
        raise ConflictError(
            f"Hook '{entry.name}' is declared {where} and cannot be changed here. A declaration "
            "with its name in 'hook' replaces what an installed hook does by itself."
        )
    return entry.declaration
