"""Logging in: the token is checked, kept for one server in a file of the user's own, and never shown."""

from __future__ import annotations

import os
import stat

import pytest
from tests.interfaces.cli.house import House

from paika.interfaces.cli.stored import Logins, login_path, read_logins, server_and_token, tidy_url, write_logins


def stored(house: House) -> Logins:
    return read_logins(login_path({"XDG_CONFIG_HOME": str(house.home / "config")}))


def test_login_keeps_the_token_for_this_user_alone(house: House):
    secret = house.secret("mia")
    said = house.paika("login", house.url, by=None, stdin=secret + "\n", PAIKA_URL=None)
    assert said.code == 0
    assert "韩梅梅" in said.out
    assert secret not in said.out + said.err
    path = house.home / "config/paika/login.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert os.listdir(path.parent) == ["login.json"]
    assert house.paika("whoami", by=None, PAIKA_URL=None).code == 0
    assert house.paika("task", "ls", by=None, PAIKA_URL=None).code == 0


def test_a_bad_token_is_not_kept(house: House):
    said = house.paika("login", by=None, stdin="paika_k1_0\n")
    assert said.code == 4
    assert stored(house) == Logins()


def test_no_token_is_a_cancel(house: House):
    assert house.paika("login", by=None, stdin="").code == 3


def test_the_token_may_come_from_a_file_or_the_environment(house: House):
    path = house.home / "token"
    path.write_text(house.secret("lea") + "\n", encoding="utf-8")
    assert house.paika("whoami", "--token-file", str(path), "--json").json["person"]["id"] == "lea"
    assert house.paika("--token-file", str(path), "login", by=None).code == 0
    assert house.paika("whoami", "--json", by=None).json["person"]["id"] == "lea"
    said = house.paika("whoami", "--token-file", str(house.home / "none"), "--json", by=None)
    assert (said.code, said.refusal["code"]) == (2, "cli.token_file_unreadable")


def test_a_token_goes_to_its_own_server_only(house: House):
    path = login_path({"XDG_CONFIG_HOME": str(house.home)})
    write_logins(path, Logins("https://one", {"https://one": "secret", "http://two:1": "other"}))
    env = {"XDG_CONFIG_HOME": str(house.home)}
    assert server_and_token(env) == ("https://one", "secret")
    assert server_and_token(env, "https://three") == ("https://three", None)
    assert server_and_token({**env, "PAIKA_URL": "two:1/"}) == ("http://two:1", "other")
    assert server_and_token({**env, "PAIKA_TOKEN": "mine"}, "https://three") == ("https://three", "mine")


def test_a_file_that_others_can_read_is_not_used(house: House):
    house.paika("login", by=None, stdin=house.secret("mia") + "\n")
    path = house.home / "config/paika/login.json"
    path.chmod(0o644)
    said = house.paika("task", "ls", "--json", by=None)
    assert (said.code, said.refusal["code"]) == (4, "cli.login_file_open")
    path.chmod(0o600)
    path.write_text("{}", encoding="utf-8")
    assert house.paika("task", "ls", "--json", by=None).refusal["code"] == "cli.login_file_broken"


def test_logout_forgets(house: House):
    house.paika("login", by=None, stdin=house.secret("mia") + "\n")
    assert house.paika("logout", by=None).code == 0
    assert stored(house) == Logins()
    assert house.paika("task", "ls", by=None).code == 4


def test_a_server_without_https_elsewhere_is_warned_of(house: House):
    said = house.paika("login", "http://paika.invalid:1", by=None, stdin="x\n")
    assert said.code == 5
    assert "not https" in said.err


@pytest.mark.parametrize(
    ("written", "read"),
    [("h:1", "http://h:1"), ("https://h/", "https://h"), ("http://h/api/v1/", "http://h"), ("", "")],
)
def test_addresses(written, read):
    assert tidy_url(written) == read
