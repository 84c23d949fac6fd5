"""Words of the API itself."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "api.not_json": (
        "The body is not good JSON: {detail}.",
        "Write JSON; NaN, infinities and a key given twice are not taken.",
    ),
    "api.body_too_large": (
        "The body has more than {allowed_bytes} bytes.",
        "Submit in several parts, or put large files where the task can read them.",
    ),
    "api.no_route": (
        "There is no such address: {path}.",
        "All addresses begin with /api/v1/; /api/v1/openapi.json lists them.",
    ),
    "api.no_method": ("This address does not take {method}.", "/api/v1/openapi.json lists what there is."),
    "api.bad_request": ("The request cannot be read: {detail}.", "Check how the request is written."),
    "api.incident": (
        "The server itself made a fault, number {incident}.",
        "Tell an admin this number; the server's log has it.",
    ),
    "api.no_upload": ("No file came.", "Send a CSV or XLSX file as the field 'file' of multipart/form-data."),
    "api.no_tables": ("This server does not import files.", "Submit one by one, or ask an admin to switch it on."),
}

WORDS: dict[str, str] = {}
