"""Copy the pinned front-end files of others into the package, with their licences.

Run after changing tools/frontend/package.json (needs npm; users of paika need neither npm nor this script):

    python tools/vendor_frontend.py

Writes src/paika/interfaces/board/static/vendor/ and in it manifest.json: for each file its package,
version, licence and SHA-384. A test compares the manifest with the files and with package-lock.json.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
from pathlib import Path

FRONTEND = Path(__file__).parent / "frontend"
VENDOR = Path(__file__).parent.parent / "src/paika/interfaces/board/static/vendor"
FILES = {
    "htmx.org": ("dist/htmx.min.js", "LICENSE"),
    "idiomorph": ("dist/idiomorph-ext.min.js", "LICENSE"),
}


def integrity(path: Path) -> str:
    """The file's SHA-384 as browsers write it: sha384-BASE64."""
    return "sha384-" + base64.b64encode(hashlib.sha384(path.read_bytes()).digest()).decode()


def copied(package: str) -> dict[str, dict[str, str]]:
    """Copy one package's files; the manifest's lines for them."""
    source = FRONTEND / "node_modules" / package
    facts = json.loads((source / "package.json").read_text("utf-8"))
    lines = {}
    for name in FILES[package]:
        target = VENDOR / (f"{package}.LICENSE" if name == "LICENSE" else Path(name).name)
        shutil.copyfile(source / name, target)
        lines[target.name] = {
            "package": package,
            "version": facts["version"],
            "licence": facts["license"],
            "integrity": integrity(target),
        }
    return lines


def main() -> None:
    """Install by the lock file, copy, write the manifest."""
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=FRONTEND, check=True)
    VENDOR.mkdir(parents=True, exist_ok=True)
    manifest = {name: line for package in FILES for name, line in copied(package).items()}
    (VENDOR / "manifest.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
