"""An evaluation from what systems gave to its report: a pipeline that is run, or runs that are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from mrag import __version__
from mrag.adapters.evaluation.outputs import ANSWERS, RUN, Output, read_output
from mrag.adapters.evaluation.run_folder import HOW, RunFolder
from mrag.adapters.runs import Rankings, texts_of, write_run
from mrag.cli import output as show
from mrag.cli.llm import connected
from mrag.cli.measuring import pipeline_run, scoring
from mrag.cli.measuring.figures import Systems
from mrag.cli.measuring.pipeline_run import Pipeline
from mrag.cli.measuring.report import Wanted, report
from mrag.cli.measuring.selection import Asked
from mrag.cli.searches import open_index
from mrag.errors import InputError

OURS = "mrag"
"""What the pipeline is called where no folder gives it a name."""

TREC_RUN = "run.trec"

_ENDINGS = (".gz", ".jsonl", ".ndjson", ".json", ".txt", ".trec", ".run")


def of_pipeline(pipeline: Pipeline, compare: Path | None, asked: Asked, wanted: Wanted, output: Path | None) -> None:
    """Runs the pipeline, as far as the folder ``output`` does not hold what it gives, and reports."""
    name = OURS if output is None else _name(output.absolute())
    others = _read([compare] if compare else [], {name})
    with connected(pipeline.search.llm) as model:
        how = pipeline_run.how(pipeline, asked.questions, model)
        with _folder(output, how) as folder:
            done = pipeline_run.run(pipeline, asked.questions, model, folder)
            outputs = {name: done.output(pipeline.strategy is not None), **others}
            systems = _scored(outputs, asked, pipeline.search.k, None, pipeline.search.index, demo=True)
            report(systems, next(iter(others), None), asked, wanted, folder, how, done.failed)
            if folder is not None:
                _write_run(folder.path / TREC_RUN, done.rankings, asked)
    if done.failed:
        again = f"{done.unkept:,} questions are not kept, and the same command asks them again; " if output else ""
        reason = show.on_one_line(done.reason)
        show.note(f"note: {done.failed:,} prompts got no reply of the language model; {again}the last failed: {reason}")


def of_runs(
    runs: Sequence[Path],
    compare: Path | None,
    asked: Asked,
    wanted: Wanted,
    output: Path | None,
    *,
    depth: int | None,
    corpus: Path | None,
    index: Path | None,
) -> None:
    """Reads what the systems gave, and reports. ``corpus``, else ``index``, has the texts of the passages."""
    paths = list(dict.fromkeys([*runs, *([compare] if compare else [])]))
    if paths == [compare]:
        raise InputError(f"{compare}: stands behind --run and --compare alike: compare with another run")
    outputs = _read(paths)
    baseline = None if compare is None else list(outputs)[paths.index(compare)]
    how = {
        "mrag": __version__,
        "questions": pipeline_run.fingerprint(asked.questions),
        "runs": list(map(str, runs)),
        "k": depth,
    }
    with _folder(output, how) as folder:
        systems = _scored(outputs, asked, depth, corpus, index)
        report(systems, baseline, asked, wanted, folder, how)


def _folder(output: Path | None, how: Mapping[str, object]) -> AbstractContextManager[RunFolder | None]:
    return nullcontext() if output is None else RunFolder(output, how)


def _read(paths: Iterable[Path], taken: Iterable[str] = ()) -> dict[str, Output]:
    """What each system gave, by its name, or by the whole path where that is taken."""
    found: dict[str, Output] = {}
    for path in paths:
        name = _name(path.absolute())
        found[str(path) if name in found or name in taken else name] = read_output(path)
    return found


def _name(path: Path) -> str:
    """The name of a system by its file, or by the folder of its evaluation.

    >>> [_name(Path(path)) for path in ("/r/bm25.trec.gz", "/r/words", "/r/run.trec")]
    ['bm25', 'words', 'run']
    """
    if path.name in (RUN, ANSWERS, TREC_RUN) and (path.parent / HOW).is_file():
        return path.parent.name or path.name
    name = path.name or str(path)
    for ending in _ENDINGS:
        name = name.removesuffix(ending) or name
    return name


def _scored(
    outputs: Mapping[str, Output],
    asked: Asked,
    depth: int | None,
    corpus: Path | None,
    index: Path | None,
    *,
    demo: bool = False,
) -> Systems:
    """The scores of each system, all by the same texts; ``demo``: without corpus and index those of the demo corpus."""
    equal = {name: scoring.cut(output, depth) for name, output in outputs.items()}
    passages = scoring.needed(asked.questions, equal.values(), depth)
    texts: Mapping[str, str] | None = {}
    if passages and corpus is not None:
        texts = texts_of(corpus, passages)
    elif passages and (index is not None or demo):
        texts = scoring.texts_of_index(open_index(index).corpus, passages)
    elif passages:
        texts = None
        show.note("note: without --index DIR or --corpus PATH there are no texts to look for answers in: no AR@k")
    if corpus is None and (index is not None or demo):
        _say_whether_gold_is_there(asked, equal.values(), index)
    systems = {name: scoring.score(name, asked.questions, output, texts, depth) for name, output in equal.items()}
    scoring.say_what_is_not_judged(asked.questions, list(systems.values()))
    return systems


def _say_whether_gold_is_there(asked: Asked, outputs: Iterable[Output], index: Path | None) -> None:
    """A note where the index holds no gold passage at all, so that it is likely that of another corpus.

    The ids of the index are read only where no system has found gold.
    """
    gold = frozenset(passage for question in asked.questions for passage in question.gold_passages)
    found = (passages for output in outputs for passages in (output.rankings or {}).values())
    if not gold or any(not gold.isdisjoint(passages) for passages in found):
        return
    if not scoring.texts_of_index(open_index(index).corpus, gold):
        show.note(
            f"note: none of the {len(gold):,} gold passages is in the index (e.g. {min(gold)!r}): "
            "name the --index of the corpus that the questions were made over"
        )


def _write_run(path: Path, rankings: Rankings, asked: Asked) -> None:
    """The rankings for trec_eval and ir_measures; a note where an id has white space, which that form cannot hold."""
    try:
        write_run(path, {question.id: rankings[question.id] for question in asked.questions}, tag=OURS)
    except InputError as error:
        show.note(f"note: {path} is not written: {error}")
