"""The OpenAPI document against the API itself: no fault of the server's own, no answer it does not announce."""

from __future__ import annotations

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.interfaces.api.door import Door

DOOR = Door()
DOOR.lab.run(DOOR.lab.submit("mia"), "a0")
DOOR.lab.submit("max", inputs="coco")
SECRET = DOOR.secret("ann")
api = schemathesis.openapi.from_asgi("/api/v1/openapi.json", DOOR.app, headers={"Authorization": f"Bearer {SECRET}"})
endless = api.exclude(path="/api/v1/events")
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@endless.parametrize()
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_whatever_is_sent_gets_an_answer(case):
    case.headers = {**(case.headers or {}), "Authorization": f"Bearer {SECRET}"}
    answer = case.call()
    case.validate_response(answer, checks=CHECKS)
