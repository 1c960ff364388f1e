"""What the commands of the tables share: their options, and runs that are kept, gone on with, and filled in later.

A table is a list of systems (systems.py). Each of them has a folder for each set of questions under RESULTS/runs, as
`mrag eval -o` writes them. A system whose model is not given is a row "not run" that says which option it needs; once
it has run, its row stays, whether the model is given again or not. Several tables may share RESULTS: what one has run,
the others find.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import paper
from question_pairs import Pair, Questions, read_pairs
from systems import DEPTH, Given, Models, System, at_work, how_of, open_index

from mrag import __version__
from mrag.adapters.evaluation.outputs import Output
from mrag.adapters.evaluation.run_folder import HOW, RunFolder
from mrag.adapters.files import write_whole
from mrag.adapters.llm import HttpLanguageModel
from mrag.adapters.serving.llm_settings import llm_settings
from mrag.adapters.store import Index
from mrag.cli.measuring.pipeline_run import fingerprint
from mrag.cli.measuring.scoring import needed, texts_of_index
from mrag.cli.output import progress
from mrag.errors import InputError, MragError
from mrag.interval import parse_iso
from mrag.metrics import EvalQuestion, Scores, answer_scores, retrieval_scores
from mrag.question import Question, parse
from mrag.reader import Answer

_BATCH = 32  # questions that are kept together
_NAMED = re.compile(r"([A-Za-z0-9_.-]+)=(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NotRun:
    """Why a system has no figures."""

    reason: str


@dataclass
class Bench:
    """The questions, the models, and the folder of the runs."""

    pairs: Sequence[Pair]
    models: Models
    results: Path
    title: str
    seed: int = 0
    _parsed: dict[tuple[str, str], Question] = field(default_factory=dict)
    _texts: dict[str, str | None] = field(default_factory=dict)

    # --- what systems give -----------------------------------------------------------------------

    def output(self, system: System, name: str, questions: Questions, work: Given | None = None) -> Output | NotRun:
        """What a system gives to a set of questions: from its folder, as far as it has run, and by running it.

        ``work`` stands for the system's own work, where a table has another idea of it.
        """
        if not questions:
            return NotRun("there are no such questions")
        path = self.results / "runs" / f"{_slug(name)}.{system.name}"
        missing = self.models.missing(system)
        before = _told(path)
        if missing and before is None:
            return NotRun(f"needs {missing}")
        made_of = before if missing and before is not None else self.models.told(system)
        how = {
            "mrag": __version__,
            "questions": fingerprint(questions),
            "k": DEPTH,
            **how_of(system),
            **{part: made_of.get(part) for part in ("index", "reranker model", "language model")},
        }
        with RunFolder(path, how) as folder:
            left = [question for question in questions if question.id not in folder.rankings]
            if left and missing:
                return NotRun(f"{len(left):,} of {len(questions):,} questions are left: needs {missing}")
            reason = self._fill(folder, system, left, work or at_work(system, self.models)) if left else ""
            return NotRun(reason) if reason else Output(folder.rankings, folder.answers or None)

    def _fill(self, folder: RunFolder, system: System, left: Sequence[EvalQuestion], given: Given) -> str:
        """Asks the questions that are left, batch by batch; why not all of them, "" if they are.

        A batch in which the language model owed a reply is not kept: asked again, it costs little, since the replies
        that came are cached.
        """
        remaining, done, owed = iter(left), 0, 0
        model = self.models.language_model if system.asks else None
        with progress(folder.path.name) as tell:
            while batch := list(islice(remaining, _BATCH)):
                before = _counters(model)
                try:
                    found = list(given([self._read(question) for question in batch]))
                except InputError as error:  # such as an encoder that did not make the vectors of the index
                    return str(error)
                replied, failed = (now - then for now, then in zip(_counters(model), before, strict=True))
                if failed:
                    owed += len(batch)
                    if replied <= 0:
                        break  # the server may be gone: it is not asked for all the others
                    continue
                rows = list(zip((question.id for question in batch), found, strict=True))
                answered = {name: answer_row(answer) for name, (_, answer) in rows if answer is not None}
                folder.add({name: ids for name, (ids, _) in rows}, answered)
                done += len(batch)
                tell(done, len(left))
        return f"the language model owed replies, {len(left) - done:,} of the questions are left" if owed else ""

    def _read(self, question: EvalQuestion) -> Question:
        """The question taken apart; one that has a date of its own is asked on that day."""
        key = question.question, question.reference
        if key not in self._parsed:
            reference = parse_iso(question.reference) if question.reference else None
            self._parsed[key] = parse(question.question, reference=reference)
        return self._parsed[key]

    def named_before(self, part: str) -> list[str]:
        """The names of encoders, rerankers or readers (``part``) that runs in the folder were made with, in order."""
        found = set()
        for path in sorted((self.results / "runs").glob(f"*/{HOW}")):
            name = (_told(path.parent) or {}).get(part)
            if isinstance(name, str):
                found.add(name)
        return sorted(found)

    def encoders(self) -> list[str]:
        """The encoders that are given, and those of runs before."""
        return list(dict.fromkeys([*self.models.encoders, *self.named_before("encoder")]))

    def rerankers(self) -> list[str]:
        """The rerankers that are given, and those of runs before."""
        return list(dict.fromkeys([*self.models.rerankers, *self.named_before("reranker")]))

    def readers(self) -> list[str]:
        """The language model that is given, and those of runs before."""
        return [name for name in dict.fromkeys([self.models.reader, *self.named_before("reader")]) if name]

    # --- scores ----------------------------------------------------------------------------------

    def scores(
        self, systems: Mapping[str, System], name: str, questions: Questions, ks: Sequence[int] = (1, 5, 20)
    ) -> dict[str, Scores | NotRun]:
        """The scores of systems on a set of questions, or why there are none; all by the texts of one index."""
        return self.scored({label: self.output(one, name, questions) for label, one in systems.items()}, questions, ks)

    def scored(
        self, outputs: Mapping[str, Output | NotRun], questions: Questions, ks: Sequence[int] = (1, 5, 20)
    ) -> dict[str, Scores | NotRun]:
        """The scores of what systems gave."""
        ran = [output for output in outputs.values() if isinstance(output, Output)]
        wanted = needed(questions, ran, max(ks)) - self._texts.keys()
        if wanted:  # one pass over the corpus for all systems
            self._texts |= {**dict.fromkeys(wanted), **texts_of_index(self.index().corpus, wanted)}
        return {
            label: output if isinstance(output, NotRun) else _scored(output, questions, self._texts, ks)
            for label, output in outputs.items()
        }

    def index(self) -> Index:
        """The index that the texts of passages are taken from."""
        return open_index(self.models.indexes[""])


def _scored(output: Output, questions: Questions, texts: Mapping[str, str | None], ks: Sequence[int]) -> Scores:
    ranked = retrieval_scores(questions, output.rankings or {}, texts.get, ks=ks, ndcg_ks=())
    if output.answers is None:
        return ranked
    return replace(ranked, values={**ranked.values, **answer_scores(questions, output.answers).values})


def _counters(model: HttpLanguageModel | None) -> tuple[int, int]:
    """How many prompts got a reply so far, and how many none."""
    return (0, 0) if model is None else (model.asked + model.cached - model.failed, model.failed)


def answer_row(answer: Answer) -> dict[str, object]:
    """An answer as its folder keeps it; a sentence as it stands is no answer of a reader."""
    return {
        "answer": answer.text if answer.by == "llm" else None,
        "strategy": answer.strategy,
        "evidence": [evidence.passage.id for evidence in answer.evidence],
        "notes": list(answer.notes),
    }


def _told(folder: Path) -> dict[str, object] | None:
    """What the run in a folder was made with; None for a folder without one."""
    try:
        record = json.loads((folder / HOW).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    how = record.get("how") if isinstance(record, dict) else None
    return how if isinstance(how, dict) else None


def _slug(name: str) -> str:
    return re.sub(r"[^\w]+", "-", name).strip("-").lower()


# --- the command line ----------------------------------------------------------------------------------------


def parser(doc: str, *, searches: bool = True) -> argparse.ArgumentParser:
    """The options of a table; without ``searches`` those of the models and of RESULTS alone."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if searches:
        made.add_argument("questions", type=Path, help="a question set, or a folder of them: see question_pairs.py")
        made.add_argument(
            "--index",
            action="append",
            default=[],
            metavar="[NAME=]DIR",
            help="the index to search; with NAME that of the vectors of --encoder NAME",
        )
    for kind in ("encoder", "reranker"):
        made.add_argument(
            f"--{kind}",
            action="append",
            default=[],
            metavar="[NAME=]MODEL",
            help=f"a model's folder, its name or URL#MODEL, under the name that the table has for a {kind}; repeatable",
        )
    if searches:
        made.add_argument("--llm", metavar="URL", help="a server of language models; or MRAG_LLM_URL")
        made.add_argument("--llm-model", metavar="NAME", help="the model's name there; or MRAG_LLM_MODEL")
        made.add_argument("--llm-requests", type=int, default=8, metavar="N", help="how many requests at a time")
        made.add_argument("--sample", type=int, metavar="N", help="only the questions about N facts, drawn by the seed")
        made.add_argument("--seed", type=int, default=0, help="draws the sample and the intervals")
    made.add_argument(
        "-o", "--output", type=Path, metavar="RESULTS", help="a folder that keeps all runs, and the table"
    )
    return made


def bench(options: argparse.Namespace, stack: ExitStack) -> Bench:
    """The bench that the options ask for; without RESULTS its runs are forgotten when the ``stack`` is closed."""
    if not options.index:
        raise InputError("name the index to search: --index DIR")
    indexes = {name: Path(folder) for name, folder in map(_pair, options.index)}
    indexes.setdefault("", next(iter(indexes.values())))
    llm = llm_settings(options.llm, options.llm_model, os.environ)
    results = options.output or Path(stack.enter_context(tempfile.TemporaryDirectory()))
    models = Models(
        indexes,
        named(options.encoder),
        named(options.reranker),
        llm,
        "" if llm is None else paper.reader_of(llm.model),
        results / "replies",
        options.llm_requests,
    )
    stack.callback(models.close)
    pairs = read_pairs(options.questions, options.sample, options.seed)
    about = f"{options.questions.name}, {len(open_index(indexes[''])):,} passages"
    if options.sample is not None:
        about += f", the questions about {options.sample:,} facts drawn by seed {options.seed}"
    return Bench(pairs, models, results, about, options.seed)


def _pair(text: str) -> tuple[str, str]:
    """NAME=VALUE taken apart, "" for a value without a name; a URL is no name."""
    match = _NAMED.fullmatch(text)
    return (match[1], match[2]) if match else ("", text)


def named(values: Sequence[str]) -> dict[str, str]:
    """The models by the names that the options give them; without one as its folder, or as its server calls it."""
    return {name or re.split(r"[/#\\]", value.rstrip("/\\"))[-1]: value for name, value in map(_pair, values)}


Command = Callable[[argparse.Namespace, ExitStack], Generator[str, None, dict[str, object]]]
"""Options -> the lines of a page of Markdown as they come, and at the end the same as a record for JSON."""


def run(name: str, command: Command, options: argparse.Namespace) -> int:
    """Prints the lines of a command as they come, and writes NAME.md and NAME.json where there are RESULTS.

    A record with a "table" says itself under which name. The exit status is 1 with a message for what cannot be, 130
    for Ctrl-C.
    """
    results: Path | None = options.output
    try:
        with ExitStack() as stack:
            told = command(options, stack)
            lines, record = [], None
            while record is None:
                try:
                    lines.append(next(told))
                    print(lines[-1], flush=True)
                except StopIteration as end:
                    record = end.value
            if results is not None:
                results.mkdir(parents=True, exist_ok=True)
                content = {"mrag": __version__, "table": name, **record}
                write_whole(results / f"{content['table']}.md", lines)
                write_whole(results / f"{content['table']}.json", [json.dumps(content, indent=1, ensure_ascii=False)])
    except MragError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        kept = f": {results} keeps what is done, the same command goes on" if results is not None else ""
        print(f"\nstopped{kept}", file=sys.stderr)
        return 130
    except BrokenPipeError:  # who reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0
