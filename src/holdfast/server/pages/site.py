"""The routes of the pages: which template is at which path, its language, and its security headers.

Scripts of the pages fetch their data from the REST routes.
"""

import hashlib
import mimetypes
from collections.abc import Awaitable, Callable, Mapping
from functools import cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from holdfast import __version__
from holdfast.errors import NotFound
from holdfast.i18n import LANGUAGES, Language, gettext, lazy, match_language, pgettext, speak, translate
from holdfast.server.guard import RequestGuard, access_of
from holdfast.server.pages.words import names_of, translate_script

if TYPE_CHECKING:
    from jinja2 import Environment

router = APIRouter(include_in_schema=False)

# Cookies for a person's preferences; scripts may set them.
LANGUAGE, THEME = "holdfast_language", "holdfast_theme"
THEMES = ("auto", "light", "dark")

# Nothing from other origins, no inline scripts, and no framing by other pages.
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
        " font-src 'self'; manifest-src 'self'; connect-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(self), geolocation=()",
    "Cache-Control": "no-store",
}
# What Python does not know on every system.
_MEDIA_TYPES = {".webmanifest": "application/manifest+json", ".woff2": "font/woff2", ".js": "text/javascript"}
_FOR_EVER = "public, max-age=31536000, immutable"


# Path, title and icon in the menu.
MENU = (
    ("/", lazy("Chat"), "message-circle"),
    ("/settings/memory", lazy("Memory"), "brain"),
    ("/research", lazy("Research"), "globe"),
    ("/statistics", lazy("Statistics"), "chart-column"),
    ("/settings", lazy("Settings"), "settings"),
)
# Pages without parameters, by path.
_PAGES = {
    "/settings/memory": "memory",
    "/research": "research",
    "/statistics": "statistics",
    "/settings": "settings",
    "/settings/models": "models",
    "/setup": "setup",
    "/login": "login",
}


@router.get("/c/{conversation}")
async def chat(request: Request, conversation: str) -> Response:
    return await render_page(request, "chat", conversation=conversation, first_run=False)


@router.get("/c/{conversation}/context")
async def context(request: Request, conversation: str) -> Response:
    return await render_page(request, "context", conversation=conversation)


def page_route(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def show(request: Request) -> Response:
        return await render_page(request, name)

    return show


for _path, _name in _PAGES.items():
    router.add_api_route(_path, page_route(_name), methods=["GET"])


@router.get("/static/{version}/{path:path}")
async def static(version: str, path: str) -> Response:
    """Serve a static file; forever cacheable under the current version, not cacheable under an older one."""
    prefix = version.partition("-")[0]
    language = next((language for language in LANGUAGES if language == prefix), LANGUAGES[0])
    content = _static(language).get(path)
    if content is None:
        raise NotFound(lazy("there is nothing at /static/{path}", path=path))
    known = _MEDIA_TYPES.get(PurePosixPath(path).suffix)
    kind = known or mimetypes.guess_type(path)[0] or "application/octet-stream"
    caching = _FOR_EVER if version == static_version(language) else "no-cache"
    headers = {"Cache-Control": caching, "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type=kind, headers=headers)


@router.get("/sw.js")
async def service_worker() -> Response:
    """Serve the service worker where it may answer for all pages; browsers look for a new one themselves."""
    headers = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
    return Response(_static(LANGUAGES[0])["sw.js"], media_type="text/javascript", headers=headers)


async def render_page(request: Request, name: str, status: int = 200, **values: object) -> Response:
    """Render the page of this name for the sender; `values` are for its template."""
    language, theme = language_of(request), theme_of(request)
    speak(language)
    text = (
        _templates()
        .get_template(f"{name}.html")
        .render(
            _=gettext,
            pgettext=pgettext,
            name=name,
            language=language,
            theme=theme,
            menu=[(address, translate(title), icon) for address, title, icon in MENU],
            path=request.url.path,
            static=partial(static_url, language),
            version=__version__,
            names=names_of(name),
            session=access_of(request).how == "session",
            **values,
        )
    )
    response = HTMLResponse(text, status, headers=_HEADERS)
    guard: RequestGuard = request.app.state.guard
    if guard.may_get_page_token(request):
        await guard.page_token.set_cookie(request, response)
    return response


def redirect_to_login(request: Request) -> Response:
    """Redirect to the login page, and back to this path afterwards."""
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"/login?next={quote(wanted, safe='')}", 303)


def wants_page(headers: Mapping[str, str]) -> bool:
    """Whether the request comes from a person with a browser."""
    return "text/html" in headers.get("accept", "")


def language_of(request: Request) -> Language:
    chosen = request.cookies.get(LANGUAGE) or request.headers.get("accept-language", "")
    return match_language(chosen)


def theme_of(request: Request) -> str:
    chosen = request.cookies.get(THEME, "auto")
    return chosen if chosen in THEMES else "auto"


def static_url(language: Language, path: str) -> str:
    return f"/static/{static_version(language)}/{path}"


@cache
def static_version(language: Language) -> str:
    """Return a language and the hash of its styles and scripts; it is part of their URLs."""
    digest = hashlib.sha256()
    for name, content in sorted(_static(language).items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return f"{language}-{digest.hexdigest()[:12]}"


@cache
def _static(language: Language) -> dict[str, bytes]:
    """Load all static files. They are few and small, and no path can lead to any other file."""
    folder = files("holdfast.server.pages") / "static"
    contents = dict(read_files(folder, ""))
    for name, content in contents.items():
        if name.endswith(".js") and "/" not in name:
            contents[name] = translate_script(content.decode(), language).encode()
    return contents


def read_files(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    contents: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        contents += read_files(entry, f"{name}/") if entry.is_dir() else [(name, entry.read_bytes())]
    return contents


@cache
def _templates() -> "Environment":
    """Create the template environment with the first page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("holdfast.server.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
