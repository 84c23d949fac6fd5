"""What a part inherits, and what it may see."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.ports.engine_promises import launch

from paika.adapters.engine_local.child import StartFailed
from paika.adapters.engine_local.environment import environment
from paika.domain.card import Vendor
from paika.domain.task import Program
from paika.ports.engine import LaunchPart

OWN = {"PATH": "/usr/bin", "HOME": "/home/ann", "LC_ALL": "C.UTF-8", "PAIKA_KEY": "secret", "AWS_SECRET": "secret"}
ORDER = launch("r1", Program(argv=("true",)))


def made(part: LaunchPart = ORDER.parts[0], own: dict[str, str] | None = None, **changes: object) -> dict[str, str]:
    return environment(replace(ORDER, **changes), part, OWN if own is None else own)  # type: ignore[arg-type]


def test_little_is_inherited() -> None:
    assert {"PATH", "HOME", "LC_ALL"} <= set(made())
    assert "secret" not in made().values()
    assert made(own={})["PATH"]


def test_nvidia_cards_are_pinned_by_uuid() -> None:
    part = LaunchPart(0, "n1", ("GPU-b", "GPU-a"), Vendor.NVIDIA, (3, 0))
    seen = made(part)
    assert seen["CUDA_VISIBLE_DEVICES"] == seen["PAIKA_CARDS"] == "GPU-b,GPU-a"
    assert seen["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"


def test_a_task_without_cards_sees_none() -> None:
    assert made(LaunchPart(0, "n1", (), Vendor.NVIDIA))["CUDA_VISIBLE_DEVICES"] == ""


def test_ascend_cards_are_pinned_by_index_and_never_by_a_guessed_one() -> None:
    seen = made(LaunchPart(0, "n1", ("a", "b"), Vendor.ASCEND, (4, 0)))
    assert seen["ASCEND_RT_VISIBLE_DEVICES"] == "4,0"
    for indexes in ((4, None), (4,), ()):
        with pytest.raises(StartFailed, match="card_index_unknown: a,b"):
            made(LaunchPart(0, "n1", ("a", "b"), Vendor.ASCEND, indexes))


def test_a_virtual_card_never_touches_a_real_one() -> None:
    seen = made()
    assert (seen["CUDA_VISIBLE_DEVICES"], seen["ASCEND_RT_VISIBLE_DEVICES"]) == ("", "")


def test_a_task_cannot_unpin_itself_or_pass_for_another() -> None:
    wish = (("CUDA_VISIBLE_DEVICES", "0"), ("PAIKA_RUN", "other"), ("LR", "1"))
    seen = made(program=Program(argv=("true",), variables=wish), variables=(("LR", "2"),))
    assert (seen["CUDA_VISIBLE_DEVICES"], seen["PAIKA_RUN"], seen["LR"]) == ("", "r1", "2")


def test_a_share_knows_its_size() -> None:
    seen = made(share_vram_mib=8192, share_bandwidth_percent=40)
    assert (seen["PAIKA_SHARE_VRAM_MIB"], seen["PAIKA_SHARE_BANDWIDTH_PERCENT"]) == ("8192", "40")
    assert "PAIKA_SHARE_VRAM_MIB" not in made()


@pytest.mark.parametrize(("name", "value"), [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "\0")])
def test_a_variable_that_the_kernel_cannot_take_is_refused(name: str, value: str) -> None:
    with pytest.raises(StartFailed, match="variable_unfit"):
        made(variables=((name, value),))


def test_a_venv_comes_first_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch()
    seen = made(program=Program(argv=("true",), environment=f"venv:{tmp_path}"))
    assert seen["VIRTUAL_ENV"] == str(tmp_path)
    assert seen["PATH"] == f"{tmp_path}/bin:/usr/bin"


def test_a_conda_environment_is_found_by_name_path_or_condas_own_list(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for folder in ("home/miniconda3/envs/a", "home/miniconda3", "own/b", "far/c"):
        (tmp_path / folder / "conda-meta").mkdir(parents=True)
    (home / ".conda").mkdir()
    (home / ".conda" / "environments.txt").write_text(f"{tmp_path}/gone/c\n{tmp_path}/far/c\n")
    own = {"PATH": "/usr/bin", "HOME": str(home), "CONDA_ENVS_PATH": str(tmp_path / "own")}
    places = {
        "a": "home/miniconda3/envs/a",
        "base": "home/miniconda3",
        "b": "own/b",
        "c": "far/c",
        f"{tmp_path}/far/c": "far/c",
        "~/miniconda3/envs/a": "home/miniconda3/envs/a",
    }
    for name, folder in places.items():
        seen = made(program=Program(argv=("true",), environment=f"conda:{name}"), own=own)
        assert (seen["CONDA_PREFIX"], seen["CONDA_DEFAULT_ENV"]) == (str(tmp_path / folder), name)
        assert seen["PATH"] == f"{tmp_path / folder}/bin:/usr/bin"


@pytest.mark.parametrize("wish", ["venv:/no/such", "conda:nosuch", "conda:", "venv:", "docker:x"])
def test_an_environment_that_is_not_there_is_refused(wish: str) -> None:
    with pytest.raises(StartFailed, match=r"environment_(missing|unknown)"):
        made(program=Program(argv=("true",), environment=wish))
