"""Every detail that the engine can give has its words."""

from __future__ import annotations

import pytest

from paika.adapters.engine_local.detail import Detail
from paika.interfaces.wording.catalogue import Lang, words

PREFIX = "engine.detail."


@pytest.mark.parametrize("lang", list(Lang))
def test_every_detail_has_words_and_no_words_are_left_over(lang: Lang) -> None:
    told = {key.removeprefix(PREFIX) for key in words(lang) if key.startswith(PREFIX)}
    assert {detail.value for detail in Detail} == told
