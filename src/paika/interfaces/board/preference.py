"""What a visitor prefers: language and light or dark. `?lang=` and `?theme=` set it, a cookie keeps it."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.datastructures import URL
from starlette.requests import Request
from starlette.responses import RedirectResponse

from paika.interfaces.wording.catalogue import Lang

LANG_COOKIE = "paika_lang"
THEME_COOKIE = "paika_theme"
THEMES = ("light", "dark")
A_YEAR_S = 365 * 86_400
_SET_BY = {"lang": LANG_COOKIE, "theme": THEME_COOKIE}
_KNOWN = {"lang": {lang.value for lang in Lang}, "theme": {*THEMES, "auto"}}


def language(request: Request, otherwise: Lang) -> Lang:
    """The language asked for, else the one kept, else the browser's first that the house speaks, else the site's."""
    for asked in (request.query_params.get("lang"), request.cookies.get(LANG_COOKIE)):
        if asked in _KNOWN["lang"]:
            return Lang(asked)
    return _accepted(request.headers.get("accept-language", ""), otherwise)


def theme(request: Request) -> str:
    """'light', 'dark', or '' for what the device says."""
    kept = request.cookies.get(THEME_COOKIE, "")
    return kept if kept in THEMES else ""


def wished(request: Request) -> RedirectResponse | None:
    """If the address sets a preference: the same page without it, and the cookie. None otherwise."""
    asked = {name: request.query_params[name] for name in _SET_BY if name in request.query_params}
    if not asked or request.method != "GET":
        return None
    answer = RedirectResponse(address(request, **dict.fromkeys(asked)), status_code=303)
    for name, value in asked.items():
        if value in _KNOWN[name]:
            answer.set_cookie(_SET_BY[name], value, max_age=A_YEAR_S, samesite="lax", httponly=True)
    return answer


def address(request: Request, **changed: str | None) -> str:
    """This page's path and query with some parameters set, or left out (None)."""
    kept = [(key, value) for key, value in request.query_params.multi_items() if key not in changed]
    kept += [(key, value) for key, value in changed.items() if value]
    return str(URL(path=request.url.path, query=urlencode(kept)))


def _accepted(header: str, otherwise: Lang) -> Lang:
    wanted: list[tuple[float, Lang]] = []
    for part in header.split(","):
        tag, _, weight = part.partition(";q=")
        name = tag.strip().lower().split("-")[0]
        if name in _KNOWN["lang"]:
            wanted.append((_weight(weight), Lang(name)))
    return max(wanted, key=lambda w: w[0], default=(0.0, otherwise))[1]


def _weight(text: str) -> float:
    try:
        return float(text) if text else 1.0
    except ValueError:
        return 0.0
