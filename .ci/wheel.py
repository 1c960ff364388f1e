"""Says what a wheel would put into site-packages, and fails when that is more than `mrag` or less than all of it.

wheel.py FILE.whl        run from the repository's root
"""

import sys
import zipfile
from pathlib import Path

FOLDERS = {"mrag": "mrag", "adapters": "mrag/adapters", "export": "mrag/export"}  # in the repository -> in the wheel
KINDS = {".py", ".typed", ".jsonl"}


def main(wheel: Path) -> int:
    names = set(zipfile.ZipFile(wheel).namelist())
    foreign = sorted(
        {name.split("/")[0] for name in names} - {"mrag", f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"}
    )
    wanted = {
        f"{target}/{path.relative_to(source).as_posix()}"
        for source, target in FOLDERS.items()
        for path in Path(source).rglob("*")
        if path.suffix in KINDS and "__pycache__" not in path.parts
    }
    missing = sorted(wanted - names)
    if foreign:
        print(f"{wheel.name} would put more than mrag into site-packages: {', '.join(foreign)}", file=sys.stderr)
    if missing:
        print(f"{wheel.name} lacks {', '.join(missing)}", file=sys.stderr)
    print(f"{wheel.name}: {len(names)} files, {len(wanted)} of them the package's")
    return bool(foreign or missing)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
