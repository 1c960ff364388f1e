"""``mrag export``: a published model as an ONNX folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from mrag.adapters.models.model_names import ExportKind
from mrag.cli import output as show
from mrag.cli.options import as_json

if TYPE_CHECKING:
    from mrag.adapters.models.model_names import Precision


@click.command()
@click.argument("kind", type=click.Choice(get_args(ExportKind)))
@click.argument("source")
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), metavar="DIR", help="The folder to make."
)
@click.option("--fp16", is_flag=True, help="Half the size; for GPUs.")
@click.option("--int8", is_flag=True, help="A quarter of the size, quicker on CPUs, coarser.")
@click.option("--revision", metavar="NAME", help="A branch, tag or commit of the repository.")
@click.option("--max-length", type=click.IntRange(8), metavar="N", help="Tokens that are read of a text.")
@click.option("--pooling", type=click.Choice(["mean", "cls", "last", "max"]), help="How token vectors become one.")
@click.option("--metric", type=click.Choice(["cosine", "dot"]), help="How vectors are compared.")
@click.option("--query-prefix", metavar="TEXT", help="What comes before a query.")
@click.option("--passage-prefix", metavar="TEXT", help="What comes before a passage.")
@click.option(
    "--temperature", type=click.FloatRange(0, min_open=True), help="What a reranker's logits are divided by; else 1."
)
@click.option("--prompt", metavar="TEXT", help="The instruction of a gemma-reranker.")
@as_json
def export(
    kind: ExportKind,
    source: str,
    output: Path,
    fp16: bool,
    int8: bool,
    revision: str | None,
    as_json: bool,
    **options: object,
) -> None:
    """Make a folder with an ONNX file out of a published model.

    KIND is encoder (Contriever, the BERT family, ELECTRA), cross-encoder, gemma-reranker (bge-reranker-v2-gemma) or
    gemma-encoder (EmbeddingGemma). SOURCE is a folder or a repository on the hub. The folder runs without torch; making
    it needs pip install 'mrag[export]'. Options stand for what the model's own files leave open or say otherwise.

    Before DIR gets its name, questions and passages go through transformers and through mrag. An export is refused
    whose numbers are further apart than 1e-4 (with --fp16 1e-2) of their own size, or, with --int8, whose ranks agree
    less than 0.9.

    \b
    Examples:
      mrag export encoder facebook/contriever -o models/contriever
      mrag export cross-encoder cross-encoder/ms-marco-electra-base -o models/electra --int8
      mrag export gemma-reranker BAAI/bge-reranker-v2-gemma -o models/gemma --fp16
    """
    from mrag.export import check_installed

    if fp16 and int8:
        raise click.UsageError("Choose --fp16 or --int8, not both.")
    check_installed()
    from mrag.export import export_model
    from mrag.export.recipe import Options

    precision: Precision = "float16" if fp16 else "int8" if int8 else "float32"
    found = export_model(
        kind,
        source,
        output,
        precision=precision,
        options=Options(**options),  # type: ignore[arg-type]  # click has checked them
        revision=revision,
        note=show.note,
    )
    if as_json:
        row = {"model": str(output), "kind": kind, "precision": precision}
        show.write_json({**row, "difference": found.difference, "agreement": found.agreement, "bound": found.bound})
    else:
        show.write(f"{output}: {kind}, {precision}; {found}")
