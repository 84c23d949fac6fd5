"""paika from Python: scripts and notebooks talk to a running server.

    from paika.interfaces.client import Client

    with Client() as paika:                                   # PAIKA_URL and PAIKA_TOKEN, or `paika login`
        task = paika.submit(name="sweep", cards=1, vram="24G", command=["python", "train.py"])
        done = paika.wait(task["id"], timeout=3600)

Answers are the API's JSON as dicts: times are RFC 3339 text in UTC, durations seconds, VRAM MiB, unknown None.
Every refusal is `Refused`; `Unreachable` is one that has no readable answer behind it.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from paika.interfaces.cli.language import chosen_language
from paika.interfaces.cli.stored import server_and_token, tidy_url
from paika.interfaces.wire import Refused, Unreachable, Wire, place
from paika.interfaces.wording.catalogue import Lang

if TYPE_CHECKING:
    import httpx

__all__ = ["Client", "Json", "Refused", "Unreachable"]

Json = dict[str, Any]
ENDED = frozenset({"done", "failed", "cancelled", "closed"})
PAGE = 500


class Client:
    """One server, one token. Safe to use as a context manager; not shared between threads.

    `url` and `token` default to PAIKA_URL and PAIKA_TOKEN, then to what `paika login` stored.
    `lang` is 'zh' or 'en', by default that of the environment. `timeout_s` bounds each request.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        lang: str | None = None,
        timeout_s: float = 30.0,
        door: str = "",
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not (url and token):
            known, stored = server_and_token(os.environ, url)
            url, token = url or known, token or stored
        tongue = Lang(lang) if lang else chosen_language(os.environ)
        self.wire = Wire(tidy_url(url), token, tongue, door=door, timeout_s=timeout_s, transport=transport)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the connection back."""
        self.wire.http.close()

    # -- plain requests ----------------------------------------------------------------------------

    def get(self, *path: str, **params: Any) -> Any:
        """The answer of GET /api/v1/<path>; parameters that are None or empty are left out."""
        return self.wire.ask("GET", place(*path), params=params)

    def send(self, method: str, *path: str, body: Any = None, if_version: str | None = None, **params: Any) -> Any:
        """The answer of a request that changes something; `if_version` refuses it if somebody was faster."""
        headers = {} if if_version is None else {"If-Match": f'"{if_version}"'}
        return self.wire.ask(method, place(*path), params=params, body=body, headers=headers)

    def rows(self, *path: str, **params: Any) -> Iterator[Json]:
        """All rows of a listing, page by page."""
        cursor: str | None = None
        while True:
            page = self.get(*path, cursor=cursor, limit=PAGE, **params)
            yield from page["rows"]
            cursor = page.get("cursor")
            if not cursor:
                return

    # -- tasks -------------------------------------------------------------------------------------

    def submit(
        self, form: Mapping[str, Any] | None = None, /, *, key: str | None = None, dry_run: bool = False, **fields: Any
    ) -> Json:
        """Submit one task by the fields of its form; the task. With the same `key` twice it is submitted once."""
        return self.submit_many([{**(form or {}), **fields}], key=key, dry_run=dry_run)[0]

    def submit_many(
        self, forms: Iterable[Mapping[str, Any]], *, key: str | None = None, dry_run: bool = False
    ) -> list[Json]:
        """Submit several tasks, all of them or none."""
        told = self.submission([dict(form) for form in forms], key=key, dry_run=dry_run)
        tasks: list[Json] = told["tasks"]
        return tasks

    def submission(self, forms: Sequence[Json], *, key: str | None = None, dry_run: bool = False) -> Json:
        """As submit_many, with the whole answer and the `key` that went with it."""
        key = key or new_key()
        told: Json = self.wire.ask("POST", "/tasks", params={"dry_run": dry_run}, body={"tasks": forms}, key=key)
        return told | {"key": key}

    def import_file(self, file: Path | tuple[str, bytes], *, dry_run: bool = True, key: str | None = None) -> Json:
        """Preview a CSV, XLSX or YAML list of tasks; without `dry_run` its good rows become tasks."""
        name, data = (file.name, file.read_bytes()) if isinstance(file, Path) else file
        key = key or new_key()
        told: Json = self.wire.ask(
            "POST", "/tasks/import", params={"dry_run": dry_run}, file=(name, data), key=None if dry_run else key
        )
        return told | {"key": key}

    def tasks(
        self,
        listing: str = "queue",
        *,
        team: str = "",
        owner: str = "",
        mine: bool = False,
        tier: Sequence[str] = (),
        state: Sequence[str] = (),
        text: str = "",
    ) -> Iterator[Json]:
        """All tasks of a listing: 'queue' in its order, 'running', or 'ended' with the newest first."""
        asked = {"team": team, "owner": owner, "mine": mine, "tier": tier, "state": state, "text": text}
        return self.rows("tasks", listing=listing, **asked)

    def queue(self, limit: int = 100) -> Json:
        """The head of the queue, with counts by state and when the order was decided."""
        told: Json = self.get("tasks", limit=limit)
        return told

    def task(self, task_id: str) -> Json:
        """All of a task: `task` itself, reasons, forecast, runs, cost."""
        told: Json = self.get("tasks", task_id)
        return told

    def why(self, task_id: str) -> Json:
        """Why a task waits, since when, and when it starts at the latest."""
        told: Json = self.get("tasks", task_id, "why")
        return told

    def accuracy(self) -> Json:
        """How told starts came true: `rows` by how far ahead they were told, `needed` starts before one teaches."""
        told: Json = self.get("forecasts", "hit-rate")
        return told

    def preview(self, *edits: Mapping[str, Any], limit: int | None = None) -> Json:
        """What edits would do, planned for real; nothing is written. Each is {"kind": …, "of": …, "form": {…}}.

        paika.preview({"kind": "new_task", "form": {"cards": 4, "limit": "8h"}}, {"kind": "lost_node", "of": "n1"})
        """
        told: Json = self.wire.ask(
            "POST", place("plan", "preview"), params={"limit": limit}, body={"edits": [dict(edit) for edit in edits]}
        )
        return told

    def policy_versions(self) -> Json:
        """All versions of the policy, newest first, each with who, when, why and what it changed."""
        told: Json = self.get("policy", "versions")
        return told

    def set_policy(self, numbers: Mapping[str, Any], reason: str, *, if_version: str | None = None) -> Json:
        """Change numbers of the policy, as an admin; what they would do: `preview({"kind": "policy", "form": …})`."""
        body = {**numbers, "reason": reason}
        told: Json = self.send("PATCH", "policy", body=body, if_version=if_version)
        return told

    def roll_back_policy(self, to: int | str, reason: str, *, if_version: str | None = None) -> Json:
        """Bring back the numbers of an earlier version, as a new one; for admins."""
        body = {"to": to, "reason": reason}
        told: Json = self.send("POST", "policy", "rollback", body=body, if_version=if_version)
        return told

    def snapshot(self) -> Iterator[bytes]:
        """All that the next plan would look at, as a file for a support case, in pieces; for admins."""
        return self.wire.stream(place("plan", "snapshot"), {})

    def wait(self, task_id: str, timeout: float | None = None, *, every_s: float = 2.0) -> Json:
        """Block until the task has ended; the task then. Raises TimeoutError after `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            task: Json = self.task(task_id)["task"]
            if task["state"] in ENDED:
                return task
            left = every_s if end is None else end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"{task_id} is still {task['state']}")
            time.sleep(min(every_s, left))

    def edit(self, task_id: str, fields: Mapping[str, Any], *, reason: str = "", if_version: str | None = None) -> Json:
        """Change the named fields of a task; None clears one."""
        told: Json = self.send("PATCH", "tasks", task_id, body=dict(fields), if_version=if_version, reason=reason)
        return told

    def cancel(self, task_id: str, reason: str = "") -> Json:
        """Cancel a task: at once if it waits, by its stop signal if it runs."""
        return self._act("tasks", task_id, "cancel", reason)

    def hold(self, task_id: str, reason: str) -> Json:
        """Keep a waiting task from starting."""
        return self._act("tasks", task_id, "hold", reason)

    def release(self, task_id: str, reason: str = "") -> Json:
        """Let a held task take part again."""
        return self._act("tasks", task_id, "release", reason)

    def preview_move(self, task_id: str, points: int | str, *, limit: int | None = None) -> Json:
        """Who would start later if an admin moved the task by so many points, the worst first, and by how long."""
        told: Json = self.get("tasks", task_id, "move", points=points, limit=limit)
        return told

    def move(self, task_id: str, points: int | str, reason: str, *, if_version: str | None = None) -> Json:
        """Move a waiting task in the order, as an admin; 0 takes the move back."""
        body = {"points": points, "reason": reason}
        told: Json = self.send("POST", "tasks", task_id, "move", body=body, if_version=if_version)
        return told

    def log_piece(self, task_id: str, **asked: Any) -> Json:
        """A piece of a log: `offset`, or the last `tail` bytes; `run`, `rank`, `limit`. `next_offset` goes on."""
        told: Json = self.get("tasks", task_id, "log", **asked)
        return told

    def log_file(self, task_id: str, *, run: str = "", rank: int = 0) -> Iterator[bytes]:
        """The whole log as it is now, in pieces of bytes."""
        return self.wire.stream(place("tasks", task_id, "log", "file"), {"run": run, "rank": rank})

    def logs(
        self, task_id: str, *, run: str = "", rank: int = 0, follow: bool = False, every_s: float = 1.0
    ) -> Iterator[str]:
        """The log as text, from its start; with `follow` until the run has ended, waiting for it to start."""
        for piece in self.log_pieces(task_id, 0, run=run, rank=rank, follow=follow, every_s=every_s):
            yield piece["text"]

    def log_pieces(
        self,
        task_id: str,
        offset: int,
        *,
        run: str = "",
        rank: int = 0,
        follow: bool = False,
        every_s: float = 1.0,
    ) -> Iterator[Json]:
        """Pieces of a log from `offset` on that bring something, as `log_piece` gives them."""
        while True:
            piece = self.log_piece(task_id, run=run, rank=rank, offset=offset)
            if piece["text"] or piece["dropped_before"]:
                yield piece
            offset = piece["next_offset"]
            run = run or piece["run"] or ""
            if offset < piece["size"]:
                continue
            if not follow or piece["ended"]:
                return
            time.sleep(every_s)

    # -- data and cards ----------------------------------------------------------------------------

    def datasets(self, *, readiness: Sequence[str] = (), text: str = "") -> list[Json]:
        """Datasets, those that block the most cards first."""
        rows: list[Json] = self.get("datasets", readiness=readiness, text=text)["rows"]
        return rows

    def mark(self, dataset_id: str, *, if_version: str | None = None, **fields: Any) -> Json:
        """Say how ready a dataset is: readiness, percent, eta, detail, owner."""
        told: Json = self.send("PATCH", "datasets", dataset_id, body=fields, if_version=if_version)
        return told

    def mark_ready(self, dataset_id: str, detail: str = "") -> Json:
        """Say that a dataset is ready."""
        return self.mark(dataset_id, readiness="ready", detail=detail)

    def cards(self, *, node: str = "", pool: str = "", card_type: str = "", shows: Sequence[str] = ()) -> list[Json]:
        """Cards with who is on them and until when; `shows` such as 'free'."""
        rows: list[Json] = self.get("cards", node=node, pool=pool, type=card_type, shows=shows)["rows"]
        return rows

    # -- bookings and guarantees -------------------------------------------------------------------

    def bookings(self, *, team: str = "", since: str = "", until: str = "", state: Sequence[str] = ()) -> list[Json]:
        """Bookings and maintenance by their start, that share time with `since` .. `until`."""
        told = self.get("reservations", team=team, until=until, state=state, **{"from": since})
        rows: list[Json] = told["rows"]
        return rows

    def booking(self, booking_id: str) -> Json:
        """One booking: `row`, whose runs hold its cards past the start (`held`), and whom they are `promised` to."""
        told: Json = self.get("reservations", booking_id)
        return told

    def book(
        self,
        form: Mapping[str, Any] | None = None,
        /,
        *,
        waitlist: bool = False,
        dry_run: bool = False,
        key: str | None = None,
        **fields: Any,
    ) -> Json:
        """Book a window by the fields of its form: starts_at, ends_at or duration, cards or card_ids or nodes, ...

        With the same `key` twice it is booked once.
        """
        body = {**(form or {}), **fields, "waitlist": waitlist, "dry_run": dry_run}
        told: Json = self.wire.ask("POST", "/reservations", body=body, key=key or new_key())
        return told

    def edit_booking(self, booking_id: str, fields: Mapping[str, Any], *, if_version: str | None = None) -> Json:
        """Change the named fields of a booking; None clears one."""
        told: Json = self.send("PATCH", "reservations", booking_id, body=dict(fields), if_version=if_version)
        return told

    def approve_booking(
        self,
        booking_id: str,
        reason: str = "",
        *,
        waitlist: bool = False,
        dry_run: bool = False,
        if_version: str | None = None,
    ) -> Json:
        """Let through what a member asked for."""
        body = {"waitlist": waitlist, "dry_run": dry_run} | ({"reason": reason} if reason else {})
        told: Json = self.send("POST", "reservations", booking_id, "approve", body=body, if_version=if_version)
        return told

    def cancel_booking(
        self, booking_id: str, reason: str, *, dry_run: bool = False, if_version: str | None = None
    ) -> Json:
        """Give the cards of a booking back from now on."""
        asked = {"reason": reason, "dry_run": dry_run}
        told: Json = self.send("DELETE", "reservations", booking_id, if_version=if_version, **asked)
        return told

    def guarantees(self) -> list[Json]:
        """What teams are guaranteed, and what their core tasks hold now."""
        rows: list[Json] = self.get("guarantees")["rows"]
        return rows

    def set_guarantee(
        self, team: str, fields: Mapping[str, Any], *, dry_run: bool = False, if_version: str | None = None
    ) -> Json:
        """Guarantee a team `cards` cards of `types`, `together` on one machine."""
        body = {**fields, "dry_run": dry_run}
        told: Json = self.send("PUT", "guarantees", team, body=body, if_version=if_version)
        return told

    def remove_guarantee(
        self, guarantee_id: str, reason: str = "", *, dry_run: bool = False, if_version: str | None = None
    ) -> Json:
        """Take a guarantee back."""
        asked = {"reason": reason, "dry_run": dry_run}
        told: Json = self.send("DELETE", "guarantees", guarantee_id, if_version=if_version, **asked)
        return told

    def usage(self, *, team: str = "", person: str = "", since: str = "", until: str = "") -> Json:
        """Card-seconds by team, person and card type, from the ledger."""
        told: Json = self.get("usage", team=team, person=person, since=since, until=until)
        return told

    def _act(self, noun: str, key: str, verb: str, reason: str) -> Json:
        told: Json = self.send("POST", noun, key, verb, body={"reason": reason} if reason else {})
        return told


def new_key() -> str:
    """A fresh idempotency key."""
    return secrets.token_hex(16)
