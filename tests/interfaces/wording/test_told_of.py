"""Machine text of tools and engines in words: no raw code reaches a screen."""

from __future__ import annotations

import pytest

from paika.interfaces.wording.catalogue import Lang
from paika.interfaces.wording.say import told_of


@pytest.mark.parametrize(
    ("prefix", "text", "zh"),
    [
        ("card.cause", "missing", "检查时没有看到这张卡"),
        ("card.cause", "missing; drained: 换风扇", "检查时没有看到这张卡；停用原因：换风扇"),
        ("card.cause", "Xid 79: GPU has fallen off the bus", "Xid 79: GPU has fallen off the bus"),
        ("engine.detail", "workdir_missing: /data/x", "工作目录不存在：/data/x"),
        ("engine.detail", "account_unmapped: bob", "提交人没有对应的系统账号：bob"),
        ("engine.detail", "start_timed_out", "没能在时限内让所有部分就绪"),
        ("engine.detail", "odd\u202etext", "odd⟦U+202E⟧text"),
    ],
)
def test_words_for_machine_text(prefix: str, text: str, zh: str) -> None:
    assert told_of(prefix, text, Lang.ZH) == zh


def test_english_too() -> None:
    assert told_of("engine.detail", "account_unmapped: bob", Lang.EN) == "its owner is mapped to no Unix account: bob"
