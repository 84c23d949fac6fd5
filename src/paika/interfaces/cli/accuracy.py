"""How often told starts came true."""

from __future__ import annotations

from paika.domain.units import SECONDS_PER_HOUR
from paika.interfaces.cli.call import Call
from paika.interfaces.cli.command import Answer, Command
from paika.interfaces.cli.phrases import DASH, Phrases, Told
from paika.interfaces.cli.sheet import Column, Row, Sheet

ON_TIME_S = 60


def accuracy(call: Call) -> Answer:
    """How told starts came true, by how far ahead they were told."""
    told = call.client.accuracy()

    def view(sheet: Sheet) -> None:
        p = Phrases(call.tongue, told["at"])
        heads = [Column(p.t(key), right=key == "accuracy.seen") for key in _HEADS]
        sheet.table(heads, [_row(p, row) for row in told["rows"]])
        known = any(row["early_s"] is not None for row in told["rows"])
        sheet.line((p.t("accuracy.about") if known else p.t("accuracy.none", needed=told["needed"]), "dim"))

    return Answer(told, view)


_HEADS = ("accuracy.lead", "accuracy.seen", "accuracy.held", "accuracy.early", "accuracy.late")


def _row(p: Phrases, row: Told) -> Row:
    first, last = row["lead_from_s"] // SECONDS_PER_HOUR, row["lead_to_s"] // SECONDS_PER_HOUR
    hit = row["hit_permille"]
    held = DASH if hit is None else f"{hit // 10} % / {row['ranged']}"
    lead = p.t("accuracy.between", first=first, last=last)
    return Row((lead, str(row["seen"]), held, _late(p, row["early_s"]), _late(p, row["late_s"])))


def _late(p: Phrases, late_s: int | None) -> str:
    if late_s is None:
        return p.t("accuracy.few")
    if abs(late_s) < ON_TIME_S:
        return p.t("accuracy.on_time")
    return p.t("accuracy.later" if late_s > 0 else "accuracy.earlier", span=p.span(abs(late_s)))


COMMANDS = (Command("plan accuracy", accuracy),)
