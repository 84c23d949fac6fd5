"""What every probe promises. Inherit, and supply the specs."""

from __future__ import annotations

import time

import pytest

from paika.domain.dataset import ProbeKind, ProbeSpec, Readiness
from paika.ports.probe import Probe

GENEROUS_S = 20  # beside a spec's timeout, for a machine that has much to do


class ProbePromises:
    """Ends within the timeout, never raises, knows its kinds; what it cannot tell is UNKNOWN with a detail."""

    @pytest.fixture
    def probe(self) -> Probe:
        raise NotImplementedError

    @pytest.fixture
    def ready(self) -> ProbeSpec:
        """Something that is ready."""
        raise NotImplementedError

    @pytest.fixture
    def endless(self) -> ProbeSpec:
        """Something that would not answer within its timeout (1 second)."""
        raise NotImplementedError

    def test_what_is_ready_is_ready_at_100_percent(self, probe, ready):
        result = probe.check(ready)
        assert (result.readiness, result.percent) == (Readiness.READY, 100), result.detail
        assert probe.check(ready) == result

    def test_what_does_not_answer_in_time_is_unknown_with_a_detail(self, probe, endless):
        before = time.monotonic()
        result = probe.check(endless)
        assert time.monotonic() - before < endless.timeout_s + GENEROUS_S
        assert result.readiness is Readiness.UNKNOWN
        assert result.detail

    @pytest.mark.parametrize(
        "target", ["", "/", "rel", "\0", "s3://", "http://", "://", "x" * 5000, "/\ud800", "http://[::"]
    )
    def test_nonsense_never_raises(self, probe, target):
        for kind in probe.kinds:
            result = probe.check(ProbeSpec(kind, target, timeout_s=2))
            assert result.readiness is not Readiness.READY or target == "/"
            assert result.percent is None or 0 <= result.percent <= 100

    def test_it_names_its_kinds_and_does_not_guess_at_others(self, probe):
        assert probe.kinds
        for kind in set(ProbeKind) - set(probe.kinds):
            assert probe.check(ProbeSpec(kind, "nothing://of/mine", timeout_s=2)).readiness is Readiness.UNKNOWN
