"""预约、检修和保底额度。"""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "reservation.clash": (
        "{cards} 在 {starts_at:when} 至 {ends_at:when} {purpose:word.reserved_for}{team:opt.reserved_team}"
        "（{reservation}），时间有重叠。",
        "换一段时间或换几张卡；也可以排进候补，空出来就自动订上。",
    ),
    "reservation.window_full": (
        "这段时间要 {wanted} 张卡（同一台机器上至少 {together} 张一起），只有 {room} 张没被预约：{others}。",
        "{fits_at:opt.fits_at}",
    ),
    "reservation.too_few": (
        "要 {wanted} 张卡（同一台机器上至少 {together} 张一起），全部合适的卡只有 {have} 张。",
        "少要几张卡，放宽卡型，或减少“同机张数”。",
    ),
    "reservation.lease_ends": (
        "{cards} 在 {ends_at:when} 到期，早于窗口结束。",
        "先续期，或把窗口的结束提前到那之前，或换几张卡。",
    ),
    "reservation.over_quota": (
        "团队 {team} 的配额是 {max_cards} 卡，{at:when} 那时已预约 {booked} 张，再加 {asked} 张就超了。",
        "少订几张卡，错开时间，或请管理员提高配额。",
    ),
    "reservation.past": (
        "{at:when} 已经过去（现在是 {now:when}）；过去的时间不能预约，也不能改。",
        "从现在或以后的时间开始；想从现在开始就不填开始时间。",
    ),
    "reservation.begun": (
        "预约 {reservation} 在 {starts_at:when} 已经开始，只能改结束时间和名称。",
        "先取消它（已经过去的部分照旧），其余的时间另订一个。",
    ),
    "reservation.over": (
        "预约 {reservation} 已经结束（{state:word.booking.state}，{ended_at:when}），不能再改。",
        "需要用卡就另订一个。",
    ),
    "guarantee.no_room": (
        "{at:when} 那时放不下：团队 {team} 的保底额度 {guarantee} 要 {cards} 张卡（同一台机器上 {together} 张一起），"
        "扣掉其他保底额度、预约和到期的卡，只剩 {room} 张。",
        "少保几张卡，放宽卡型，减少“同机张数”，续期，或挪开那时的预约。",
    ),
}

WORDS: dict[str, str] = {
    "opt.fits_at": "从 {value:when} 开始就订得下；也可以排进候补，空出来就自动订上。",
    "opt.fits_at.none": "少订几张卡，放宽卡型，或排进候补，空出来就自动订上。",
    "booking.state.listed": "候补",
    "booking.state.booked": "已订",
    "booking.state.released": "已释放",
    "booking.state.cancelled": "已取消",
    "booking.state.over": "已过",
    "booking.state.asked": "待批准",
    "booking.state.now": "进行中",
    "booking.cause.no_show": "没人来用，已释放",
    "booking.cause.expired": "一直没排上，时间已过",
    "booking.purpose.booking": "预约",
    "booking.purpose.maintenance": "检修",
    "api.noun.reservation": "预约",
    "api.noun.guarantee": "保底额度",
    "api.state.listed": "候补",
    "api.state.booked": "已订",
    "api.state.released": "已释放",
    "api.event.approve": "批准",
    "api.act.book_cards": "预约卡",
    "api.act.approve_booking": "批准本团队的预约",
    "api.act.book_maintenance": "安排检修",
    "api.act.change_booking": "改动这个预约",
}
