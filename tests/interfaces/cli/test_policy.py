"""`paika policy`: what a change would do is shown and asked about first; every version can be brought back."""

from __future__ import annotations

import json

import pytest
from rich.cells import cell_len
from tests.interfaces.cli.house import House

from paika.interfaces.cli.call import Call


def numbers(house: House) -> tuple[int, int]:
    policy = house.lab.records.policy
    return policy.version, policy.age_points_max


def test_a_dry_run_writes_nothing(house: House):
    house.lab.submit("mia", cards=4, limit="2h", types="A100-80G")
    said = house.paika("policy", "set", "age_points_max=60", "--dry-run", by="ann", lang="en")
    assert said.code == 0
    assert "Only a preview: nothing was written." in said.out
    assert numbers(house) == (1, 40)


@pytest.mark.parametrize("to", ["2", "02", "２", " 2"])
def test_a_dry_run_of_a_rollback_writes_nothing_however_the_version_is_written(house: House, to: str):
    for points in ("60", "50"):
        house.paika("policy", "set", f"age_points_max={points}", "--reason", "x", "-y", by="ann")
    said = house.paika("policy", "rollback", to, "--reason", "x", "--dry-run", by="ann", lang="en")
    assert (said.code, numbers(house)) == (0, (3, 50)), said.err
    assert house.paika("policy", "rollback", to, "--reason", "x", "-y", by="ann").code == 0
    assert numbers(house) == (4, 60)


def test_what_was_looked_at_is_what_is_changed(house: House, monkeypatch: pytest.MonkeyPatch):
    """Somebody changes the policy between the look and the yes."""

    def faster(*_: object) -> None:
        house.paika("policy", "set", "age_points_max=70", "--reason", "first", "-y", by="ann")

    monkeypatch.setattr(Call, "sure", faster)
    said = house.paika("policy", "set", "age_points_max=60", "--reason", "second", "--json", by="ann")
    assert "noun.version_conflict" in said.err
    assert numbers(house) == (2, 70)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_set_history_and_rollback(house: House, lang: str):
    for args in (("age_points_max=60", "normal_depth=2"), ("age_points_max=50",)):
        said = house.paika("policy", "set", *args, "--reason", "deadline week", "--yes", by="ann", lang=lang)
        assert said.code == 0, said.err
    assert "3" in said.out
    said = house.paika("policy", "history", lang=lang)
    assert all(cell_len(line) <= 80 for line in said.out.splitlines()), said.out
    for part in ("deadline week", "age_points_max", "60 → 50"):
        assert part in said.out
    assert house.paika("policy", "rollback", "1", "--reason", "over", "-y", by="ann", lang=lang).code == 0
    assert numbers(house) == (4, 40)
    told = house.paika("policy", "history", "--json").json
    assert [(row["version"]["policy"]["version"], row["version"]["back_to"]) for row in told["rows"]] == [
        (4, 1),
        (3, None),
        (2, None),
        (1, None),
    ]


def test_a_file_as_policy_show_prints_it(house: House, tmp_path):
    shown = house.paika("policy", "show", "--json").json
    shown["idle_depth"] = 5
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(shown))
    assert house.paika("policy", "set", "--file", str(path), "--reason", "x", "-y", by="ann").code == 0
    assert house.lab.records.policy.idle_depth == 5


@pytest.mark.parametrize(
    ("args", "by", "code"),
    [
        (("set", "age_points_max=60", "-y"), "ann", "field.missing"),
        (("set", "--reason", "x", "-y"), "ann", "field.missing"),
        (("set", "age_points_max=lots", "--reason", "x", "-y"), "ann", "input.several"),
        (("set", "age_points_max=60", "--reason", "x", "-y"), "mia", "access.forbidden"),
        (("rollback", "9", "--reason", "x", "-y"), "ann", "noun.not_found"),
        (("rollback", "9", "--reason", "x", "--dry-run"), "ann", "noun.not_found"),
        (("set", "age_points_max=60", "--reason", "x" * 600, "-y"), "ann", "reason"),
        (("rollback", "soon", "--reason", "x", "-y"), "ann", "input.several"),
    ],
)
def test_what_is_refused_says_why(house: House, args: tuple[str, ...], by: str, code: str):
    said = house.paika("policy", *args, "--json", by=by)
    assert said.code != 0
    assert code in said.err
    assert numbers(house) == (1, 40)
