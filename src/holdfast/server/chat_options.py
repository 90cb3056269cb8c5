"""What a person sets up for chats over REST: options such as temperature, presets of them, and prompts.

Options are stored with their conversation and hold for every question that is asked on the page.
"""

from dataclasses import asdict
from typing import Annotated, Any, Self

from fastapi import APIRouter, Path
from pydantic import Field, StringConstraints
from starlette.requests import Request

from holdfast.errors import BadRequest
from holdfast.i18n import lazy
from holdfast.messages import Message
from holdfast.server.chats import read_chat, write_chat
from holdfast.server.endpoint import RequestBody, engine_of, scope_of
from holdfast.store import ConversationRecord, Store

# The setting of a conversation that has its options.
OPTIONS_SETTING = "options"

Stop = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class ChatOptions(RequestBody):
    """What every question of a chat is sent with; what is left out is as the model has it.

    An empty `system` sends no instructions; without one, those that an earlier request brought are sent.
    """

    system: str | None = Field(None, max_length=100_000)
    temperature: float | None = Field(None, ge=0, le=5)
    top_p: float | None = Field(None, ge=0, le=1)
    top_k: int | None = Field(None, ge=0, le=100_000)
    min_p: float | None = Field(None, ge=0, le=1)
    repeat_penalty: float | None = Field(None, ge=0, le=10)
    max_tokens: int | None = Field(None, ge=1, le=10_000_000)
    seed: int | None = Field(None, ge=0, le=2**53)
    stop: Annotated[list[Stop], Field(max_length=16)] | None = None
    think: bool | None = None

    @classmethod
    def of(cls, conversation: ConversationRecord) -> Self:
        return cls.model_validate(conversation.settings.get(OPTIONS_SETTING) or {})

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)

    @property
    def instructions(self) -> tuple[Message, ...]:
        """The system message to send; one without text where there shall be none."""
        return () if self.system is None else (Message.of("system", self.system),)

    @property
    def model_options(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True, exclude={"system", "think"})


router = APIRouter(prefix="/api/chats", tags=["Conversations"])
presets_router = APIRouter(prefix="/api/presets", tags=["Conversations"])

PresetTitle = Annotated[str, Path(min_length=1, max_length=100)]


@router.get("/{conversation}/options")
async def show_options(request: Request, conversation: str) -> dict[str, Any]:
    """Return the options that the questions of a conversation are sent with."""
    return await read_chat(request, conversation, lambda _, row: ChatOptions.of(row).to_json())


@router.put("/{conversation}/options")
async def save_options(request: Request, conversation: str, options: ChatOptions) -> dict[str, Any]:
    """Set the options of a conversation; what is left out is as the model has it."""

    def work(store: Store, row: ConversationRecord) -> ConversationRecord:
        return store.log.update_settings(row.id, {OPTIONS_SETTING: options.to_json() or None})

    return ChatOptions.of(await write_chat(request, conversation, work)).to_json()


@presets_router.get("")
async def list_presets(request: Request) -> dict[str, Any]:
    """List the presets of a user by name: options that can be chosen in every chat."""
    store, user = engine_of(request).store, scope_of(request).user
    presets = await store.run(store.presets.all, user)
    return {"presets": [{"name": name, "options": options} for name, options in presets.items()]}


@presets_router.put("/{name}")
async def save_preset(request: Request, name: PresetTitle, options: ChatOptions) -> dict[str, Any]:
    """Save options under a name; an earlier preset of this name is replaced."""
    store, user = engine_of(request).store, scope_of(request).user
    await store.run(store.presets.put, user, name, options.to_json())
    return {"name": name, "options": options.to_json()}


@presets_router.delete("/{name}", status_code=204)
async def delete_preset(request: Request, name: PresetTitle) -> None:
    """Delete a preset. Chats that were given its options keep them."""
    store, user = engine_of(request).store, scope_of(request).user
    await store.run(store.presets.delete, user, name)


prompts_router = APIRouter(prefix="/api/prompts", tags=["Conversations"])

# More would make a list that nobody reads.
_MOST = 500

Name = Annotated[str, Path(pattern=r"^[\w-]{1,60}$")]


class PromptText(RequestBody):
    """What is inserted; each `{{word}}` in it is asked for then."""

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100_000)]


@prompts_router.get("")
async def list_prompts(request: Request) -> dict[str, Any]:
    """List the saved prompts of the sender by name."""
    store, scope = engine_of(request).store, scope_of(request)
    return {"prompts": [asdict(saved) for saved in await store.run(store.saved_prompts.all, scope.user)]}


@prompts_router.put("/{name}")
async def save_prompt(request: Request, name: Name, prompt: PromptText) -> dict[str, Any]:
    """Save a prompt under a name of letters, digits and hyphens, in the place of one with the same name."""
    store, user = engine_of(request).store, scope_of(request).user
    names = {saved.name for saved in await store.run(store.saved_prompts.all, user)}
    if name not in names and len(names) >= _MOST:
        raise BadRequest(
            lazy("there are {most} prompts already", most=_MOST), hint=lazy("Delete those that nobody uses.")
        )
    return asdict(await store.run(store.saved_prompts.put, user, name, prompt.text))


@prompts_router.delete("/{name}", status_code=204)
async def delete_prompt(request: Request, name: Name) -> None:
    """Delete a saved prompt."""
    store = engine_of(request).store
    await store.run(store.saved_prompts.delete, scope_of(request).user, name)
