"""Settings: defaults, then the file, then the environment; whatever cannot be used is named."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from paika.adapters.probe_s3.probe import S3Profile
from paika.domain.problem import UnknownField
from paika.wiring.settings import BadSettings, Settings, default_data, host_slug, load_settings, local_zone


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "paika.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_anything_everything_has_a_default(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    settings = load_settings(None, {})
    assert settings == Settings()
    assert (settings.data, settings.host, settings.port) == (tmp_path / "paika", "127.0.0.1", 8750)
    assert settings.database_url == f"sqlite:///{tmp_path}/paika/paika.db"
    assert (settings.zone, settings.lang, settings.inventory) == ("Asia/Shanghai", "zh", None)
    assert settings.host in {"127.0.0.1", "localhost"}, "never beyond loopback by itself"
    assert not settings.run_as_root


def test_without_xdg_data_lies_in_the_home(monkeypatch):
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert default_data() == Path.home() / ".local/share/paika"


@pytest.mark.parametrize(("name", "zone"), [("Europe/Berlin", "Europe/Berlin"), (":UTC", "UTC"), ("No/Where", "UTC")])
def test_the_zone_is_that_of_the_machine_or_utc(monkeypatch, name, zone):
    monkeypatch.setenv("TZ", name)
    assert local_zone() == zone


@pytest.mark.parametrize(("host", "slug"), [("GPU_Box.lab", "gpu-box-lab"), ("机器", "local"), ("x" * 90, "x" * 40)])
def test_the_node_is_called_like_the_host(monkeypatch, host, slug):
    monkeypatch.setattr("socket.gethostname", lambda: host)
    assert host_slug() == slug


def test_the_file_counts_and_the_environment_counts_more(tmp_path):
    path = written(tmp_path, "port: 9000\nlang: en\nsite: 实验室\nhttps: yes\nmeter_every_s: 30\n")
    settings = load_settings(path, {"PAIKA_PORT": "9001", "PAIKA_SITE": "", "PAIKA_TEAM": "nlp"})
    assert (settings.port, settings.lang, settings.site, settings.team) == (9001, "en", "实验室", "nlp")
    assert (settings.https, settings.meter_every_s) == (True, 30)


def test_every_plain_setting_can_come_from_the_environment(tmp_path):
    told = {
        "data": (str(tmp_path / "d"), tmp_path / "d"),
        "database": ("postgresql://localhost/paika", "postgresql://localhost/paika"),
        "host": ("::1", "::1"),
        "port": ("1234", 1234),
        "zone": ("Asia/Tokyo", "Asia/Tokyo"),
        "lang": ("en", "en"),
        "site": ("here", "here"),
        "inventory": ("~/inventory.yaml", Path.home() / "inventory.yaml"),
        "node": ("n1", "n1"),
        "team": ("t", "t"),
        "meter_every_s": ("60", 60),
        "probe_roots": ("/data:/mnt", (Path("/data"), Path("/mnt"))),
        "probe_private_urls": ("on", True),
        "https": ("0", False),
        "run_as_root": ("true", True),
    }
    structured = {"s3", "accounts"}  # these have a shape that one line of text does not
    assert told.keys() | structured == {f.name for f in fields(Settings)}
    settings = load_settings(None, {f"PAIKA_{name.upper()}": text for name, (text, _) in told.items()})
    assert {name: getattr(settings, name) for name in told} == {name: value for name, (_, value) in told.items()}
    assert settings.database_url == "postgresql://localhost/paika"


def test_structured_settings(tmp_path):
    path = written(
        tmp_path,
        "probe_roots: [~/data, /mnt]\naccounts: {zhangsan: zs, li4: 4242}\n"
        "s3: {main: {endpoint: 'https://s3.example', access_key: k, secret_key: s, region: r}}\n",
    )
    settings = load_settings(path, {})
    assert settings.probe_roots == (Path.home() / "data", Path("/mnt"))
    assert settings.accounts == {"zhangsan": "zs", "li4": "4242"}
    assert isinstance(settings.s3["main"], S3Profile)


def test_an_empty_file_says_nothing(tmp_path):
    assert load_settings(written(tmp_path, ""), {}) == load_settings(None, {})
    assert load_settings(written(tmp_path, "# all commented out\n"), {}) == load_settings(None, {})
    assert load_settings(written(tmp_path, "inventory:\nsite:\nport:\n"), {}) == load_settings(None, {})


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("- a\n- list\n", None),
        ("port: [", None),
        ("port: many\n", "port"),
        ("port: 0\n", "port"),
        ("port: 70000\n", "port"),
        ("meter_every_s: 0\n", "meter_every_s"),
        ("meter_every_s: -5\n", "meter_every_s"),
        ("zone: Mars/Olympus\n", "zone"),
        ("lang: fr\n", "lang"),
        ("https: perhaps\n", "https"),
        ("probe_roots: /data\n", "probe_roots"),
        ("probe_roots: 5\n", "probe_roots"),
        ("s3: [a]\n", "s3"),
        ("s3: {main: {colour: blue}}\n", "s3"),
        ("accounts: [a, b]\n", "accounts"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(tmp_path, text, field):
    with pytest.raises(BadSettings) as refused:
        load_settings(written(tmp_path, text), {})
    assert refused.value.field == field
    assert refused.value.detail


@pytest.mark.parametrize("name", ["PAIKA_PORT", "PAIKA_METER_EVERY_S", "PAIKA_ZONE", "PAIKA_LANG", "PAIKA_HTTPS"])
def test_a_bad_variable_is_refused_by_name(name):
    with pytest.raises(BadSettings) as refused:
        load_settings(None, {name: "nonsense"})
    assert refused.value.field == name.removeprefix("PAIKA_").lower()


def test_an_unknown_setting_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(UnknownField) as refused:
        load_settings(written(tmp_path, "prot: 9000\n"), {})
    assert (refused.value.field, "port" in refused.value.nearest) == ("prot", True)


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    for path in (tmp_path / "missing.yaml", tmp_path):
        with pytest.raises(BadSettings):
            load_settings(path, {})
    (tmp_path / "latin").write_bytes(b"site: \xff\xfe\n")
    with pytest.raises(BadSettings):
        load_settings(tmp_path / "latin", {})
