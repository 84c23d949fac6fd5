"""A real browser, labs behind real servers, and visitors who have logged in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from paika.domain.person import Role
from tests.browser.lab import Lab, served
from tests.browser.scenes import SECRETS, busy, crowded, founded

ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
Visitor = Callable[..., Page]


@pytest.fixture(scope="session")
def browser(chromium_path: Path) -> Iterator[Browser]:
    """One Chromium for the run."""
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=str(chromium_path), args=list(ARGS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def shared_lab() -> Iterator[Lab]:
    """The busy lab, for tests that only look."""
    with served(busy(Lab())) as lab:
        yield lab


@pytest.fixture
def lab() -> Iterator[Lab]:
    """A busy lab of one's own, to be changed."""
    with served(busy(Lab())) as own:
        yield own


@pytest.fixture
def empty_lab() -> Iterator[Lab]:
    """People, but neither machines nor tasks."""
    with served(founded(Lab())) as own:
        yield own


@pytest.fixture(scope="module")
def crowded_lab() -> Iterator[Lab]:
    """A thousand tasks wait, for tests that only look."""
    with served(crowded(Lab())) as lab:
        yield lab


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visitor]:
    """visit(lab, path, role=…, lang=…, theme=…, width=…): a page, opened by somebody who has logged in.

    Scripts that fail, requests to elsewhere and dialogs of scripts fail the test at its end.
    """
    with ExitStack() as stack:
        faults: list[str] = []

        def opened(
            lab: Lab,
            path: str = "/",
            *,
            role: Role | None = Role.ADMIN,
            lang: str = "zh",
            theme: str = "light",
            width: int = 1440,
        ) -> Page:
            context = browser.new_context(viewport={"width": width, "height": 900}, locale="zh-CN")
            stack.callback(context.close)
            for name, value in (("paika_lang", lang), ("paika_theme", theme)):
                context.add_cookies([{"name": name, "value": value, "url": lab.url}])
            page = context.new_page()
            page.set_default_timeout(20_000)
            page.on("pageerror", lambda error: faults.append(f"{path}: {error}"))
            page.on("dialog", lambda dialog: faults.append(f"{path}: a script opened {dialog.message!r}"))
            page.on("request", lambda request: request.url.startswith(lab.url) or faults.append(request.url))
            page.on("console", lambda line: "Content Security Policy" in line.text and faults.append(line.text))
            if role is not None:
                page.request.post(f"{lab.url}/login", form={"secret": SECRETS[role], "next": "/"})
            page.goto(lab.url + path)
            return page

        yield opened
    assert faults == []
