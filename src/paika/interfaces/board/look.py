"""The templates' workshop: Jinja with everything escaped, and the files pages ask for, under one hash."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from paika.domain.visible import shown
from paika.interfaces.board.marks import card_hours, clamp, hue

HERE = Path(__file__).parent
STATIC = HERE / "static"
CSP = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def kept(text: object) -> Markup:
    """Escaped, but sign for sign as it is: for fields that are sent back, where nothing may change."""
    return escape("" if text is None else str(text))


def lines(text: str) -> Markup:
    """Text of many lines: line ends and tabs stay, other unseen signs are named."""
    said = ("\t".join(shown(cell) for cell in line.split("\t")) for line in text.replace("\r\n", "\n").split("\n"))
    return escape("\n".join(said))


def _seen(value: Any) -> Any:
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def workshop() -> Environment:
    """The one environment: strict about names, escaping on, unseen signs named in everything printed."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_seen,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # else each include of each row looks at its file's time
    )
    made.filters |= {"kept": kept, "lines": lines, "hours": card_hours, "clamp": clamp}
    made.globals |= {"hue": hue, "static": static_path()}
    return made


def render(template: str, values: Mapping[str, Any]) -> str:
    """A template filled in."""
    return workshop().get_template(template).render(values)


@cache
def static_path() -> str:
    """'/static/HASH': changes with any of the files, so that browsers may keep them for ever."""
    total = sha256()
    for path in sorted(p for p in STATIC.rglob("*") if p.is_file()):
        total.update(path.relative_to(STATIC).as_posix().encode() + b"\0" + path.read_bytes())
    return f"/static/{total.hexdigest()[:12]}"


class KeptFiles(StaticFiles):
    """Static files that never change under their address."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, to be kept by the browser."""
        answer = await super().get_response(path, scope)
        answer.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        answer.headers["X-Content-Type-Options"] = "nosniff"
        return answer
