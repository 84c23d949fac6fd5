"""The environment of a part: what it inherits, the Python it runs in, and the cards it may see."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from paika.adapters.engine_local.child import StartFailed
from paika.adapters.engine_local.detail import Detail
from paika.domain.card import Vendor
from paika.ports.engine import Launch, LaunchPart

INHERITED = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "LANG", "LANGUAGE", "TMPDIR"),
        *("LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"),
        *("ASCEND_OPP_PATH", "ASCEND_AICPU_PATH"),
    )
)
CONDA_ROOTS = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba")
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def environment(launch: Launch, part: LaunchPart, own: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a part; `own` is the server's, of which little is passed on.

    Later lines win: the pinning and paika's own variables cannot be overridden by a task.
    Raises StartFailed.
    """
    base = {key: value for key, value in own.items() if key in INHERITED or key.startswith("LC_")}
    base.setdefault("PATH", DEFAULT_PATH)
    python = _python(launch.program.environment, base, own)
    asked = dict((*launch.program.variables, *launch.variables))
    for name, value in asked.items():
        if not name or "=" in name or "\0" in name + value:
            raise StartFailed(Detail.VARIABLE_UNFIT.of(name))
    return {**base, **python, **asked, **pinning(part), **_about(launch, part)}


def pinning(part: LaunchPart) -> dict[str, str]:
    """What makes the part see its own cards and no others. Raises StartFailed."""
    if part.vendor is Vendor.NVIDIA:
        return {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": ",".join(part.cards)}
    if part.vendor is Vendor.ASCEND:
        indexes = part.indexes[: len(part.cards)]
        if len(indexes) < len(part.cards) or None in indexes:
            raise StartFailed(Detail.CARD_INDEX_UNKNOWN.of(",".join(part.cards)))
        return {"ASCEND_RT_VISIBLE_DEVICES": ",".join(map(str, indexes))}
    return {"CUDA_VISIBLE_DEVICES": "", "ASCEND_RT_VISIBLE_DEVICES": ""}


def _about(launch: Launch, part: LaunchPart) -> dict[str, str]:
    about = {
        "PAIKA_RUN": launch.run,
        "PAIKA_RUN_TOKEN": launch.token,
        "PAIKA_TASK": launch.task,
        "PAIKA_NODE": part.node,
        "PAIKA_CARDS": ",".join(part.cards),
        "PAIKA_RANK": str(part.rank),
        "PAIKA_WORLD": str(len(launch.parts)),
        "PAIKA_MASTER_ADDR": "127.0.0.1",  # all nodes of this engine are this host
    }
    if launch.share_vram_mib is not None:
        about["PAIKA_SHARE_VRAM_MIB"] = str(launch.share_vram_mib)
    if launch.share_bandwidth_percent is not None:
        about["PAIKA_SHARE_BANDWIDTH_PERCENT"] = str(launch.share_bandwidth_percent)
    return about


def _python(wish: str, base: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    kind, _, name = wish.partition(":")
    if not wish:
        return {}
    if kind == "venv" and name:
        folder = _expanded(name, base)
        if not (folder / "bin" / "python").exists():
            raise StartFailed(Detail.ENVIRONMENT_MISSING.of(wish))
        return {"VIRTUAL_ENV": str(folder), "PATH": f"{folder / 'bin'}:{base['PATH']}"}
    if kind == "conda" and name:
        found = next((f for f in _conda_folders(name, base, own) if (f / "conda-meta").is_dir()), None)
        if found is None:
            raise StartFailed(Detail.ENVIRONMENT_MISSING.of(wish))
        path = f"{found / 'bin'}:{base['PATH']}"
        return {"CONDA_PREFIX": str(found), "CONDA_DEFAULT_ENV": name, "CONDA_SHLVL": "1", "PATH": path}
    raise StartFailed(Detail.ENVIRONMENT_UNKNOWN.of(wish))


def _expanded(name: str, base: Mapping[str, str]) -> Path:
    home = base.get("HOME", "/")
    return Path(home, name[2:]) if name.startswith("~/") else Path(name)


def _conda_folders(name: str, base: Mapping[str, str], own: Mapping[str, str]) -> Iterable[Path]:
    """Where an environment of this name, or at this path, may be; best guess first."""
    if "/" in name:
        yield _expanded(name, base)
        return
    home = Path(base.get("HOME", "/"))
    for folder in filter(None, own.get("CONDA_ENVS_PATH", own.get("CONDA_ENVS_DIRS", "")).split(os.pathsep)):
        yield Path(folder, name)
    roots = [Path(own["CONDA_EXE"]).parents[1]] if own.get("CONDA_EXE", "").startswith("/") else []
    roots += [Path(own["MAMBA_ROOT_PREFIX"])] if "MAMBA_ROOT_PREFIX" in own else []
    roots += [parent / root for parent in (home, Path("/opt")) for root in CONDA_ROOTS] + [Path("/opt/conda")]
    for root in roots:
        yield root if name == "base" else root / "envs" / name
    yield home / ".conda" / "envs" / name
    known = home / ".conda" / "environments.txt"  # conda's own list of environments made anywhere
    if known.is_file():
        yield from (Path(line) for line in known.read_text().splitlines() if Path(line).name == name)
