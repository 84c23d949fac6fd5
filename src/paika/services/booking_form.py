"""The forms of bookings, maintenance and guarantees, read the same way at every door."""

from __future__ import annotations

from paika.domain.form import FieldKind as K
from paika.domain.form import Form, FormField, Group
from paika.domain.reservation import Purpose, ReservationState
from paika.services.grant_quota import MOST_CARDS

LONGEST_S = 366 * 86_400
PURPOSES = (
    *((purpose.value, purpose) for purpose in Purpose),
    ("预约", Purpose.BOOKING),
    ("检修", Purpose.MAINTENANCE),
)
STATES = tuple((state.value, state) for state in ReservationState)
_B = Group.BASIC
_WHY = FormField("reason", K.LINES, ("why", "原因", "理由"), high=500)
_TYPES = FormField("types", K.TEXT, ("card_types", "type", "卡型"), high=400, group=_B)
_TOGETHER = FormField("together", K.WHOLE, ("同机张数", "每机卡数"), 1, 1024, default="1")
_DRY = FormField("dry_run", K.FLAG, ("预演",), default="false")
BOOKING = Form(
    (
        FormField("starts_at", K.INSTANT, ("from", "start", "开始", "开始时间"), group=_B),
        FormField("ends_at", K.DEADLINE, ("until", "end", "结束", "结束时间"), group=_B),
        FormField("duration", K.DURATION, ("for", "时长", "duration_s"), 60, LONGEST_S, group=_B),
        FormField("cards", K.CARDS, ("count", "卡数"), 1, MOST_CARDS, group=_B),
        _TYPES,
        FormField("team", K.TEXT, ("团队",), high=40, group=_B),
        FormField("title", K.TEXT, ("name", "名称", "用途"), high=200, group=_B),
        FormField("card_ids", K.NAMES, ("card_id", "卡号"), 4096, 128),
        FormField("nodes", K.NAMES, ("node", "机器"), 512, 64),
        FormField("pool", K.TEXT, ("资源池",), high=64),
        _TOGETHER,
        FormField("task", K.TEXT, ("任务",), high=40),
        FormField("purpose", K.CHOICE, ("预约用途",), choices=PURPOSES, default="booking"),
        FormField("waitlist", K.FLAG, ("候补",), default="false"),
        _DRY,
        _WHY,
    )
)
GUARANTEE = Form(
    (
        FormField("cards", K.WHOLE, ("count", "卡数"), 1, MOST_CARDS, required=True, group=_B),
        _TYPES,
        _TOGETHER,
        FormField("note", K.LINES, ("备注",), high=500),
        _DRY,
        _WHY,
    )
)
ACT = Form((FormField("waitlist", K.FLAG, ("候补",), default="false"), _DRY, _WHY))
