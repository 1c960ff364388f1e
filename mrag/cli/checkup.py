"""What a check-up finds: packages, CUDA, models in the cache, an index, a server of language models."""

from __future__ import annotations

import importlib
import platform
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from mrag import __version__
from mrag.errors import InputError, MragError

if TYPE_CHECKING:
    from mrag.adapters.serving.llm_settings import LlmSettings
    from mrag.adapters.serving.model_server import Offer, Reachable

State = Literal["ok", "note", "absent", "wrong"]
"""ok: works; note: works, but read it; absent: not here, and not needed for what was asked; wrong: to be mended."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a check-up: what it is about, how that is, and what to do ("" where there is nothing to do).

    ``details``: the same for programs, as JSON takes it.
    """

    part: str
    name: str
    state: State
    found: str
    todo: str = ""
    details: Mapping[str, object] = field(default_factory=dict)


# --- what is installed ----------------------------------------------------------------------------


class Needed(NamedTuple):
    """A package of the base install: its name in the registry, its module, and what it is needed for."""

    package: str
    module: str
    use: str


NEEDED = (
    Needed("numpy", "numpy", "everything"),
    Needed("onnxruntime-gpu", "onnxruntime", "encoders and rerankers"),
    Needed("tokenizers", "tokenizers", "encoders and rerankers"),
    Needed("hnswlib", "hnswlib", "--retriever hnsw, and indexes with very many vectors"),
    Needed("nltk", "nltk", "the stems of words: indexing and searching"),
    Needed("python-dateutil", "dateutil", "the dates of passages and options"),
    Needed("requests", "requests", "mrag models pull, and language models"),
    Needed("click", "click", "the command line"),
)
EXTRAS = {"export": "mrag export: models to ONNX", "plot": "mrag spline --png and --svg"}

_RUNTIMES = ("onnxruntime-gpu", "onnxruntime")
"""Two packages with one module: the first has CUDA, but is made for x86-64 Linux and Windows alone."""


def system() -> Finding:
    """This program, Python and the machine."""
    versions = {"mrag": __version__, "python": platform.python_version(), "platform": platform.platform()}
    found = f"{__version__}, Python {versions['python']} ({sys.executable}), {versions['platform']}"
    return Finding("mrag", "mrag", "ok", found, details=versions)


def packages() -> Iterator[Finding]:
    """Each package of the base install: its version, whether it is new enough, and whether it can be loaded."""
    least = _least_versions(None)
    for needed in NEEDED:
        names = _RUNTIMES if needed.module == "onnxruntime" else (needed.package,)
        here = [name for name in names if _version(name) is not None]
        if len(here) > 1:
            found = f"{' and '.join(here)} overwrite each other"
            todo = f"uninstall both, then install one: pip install {_runtime_for_here()}"
            yield Finding("packages", needed.package, "wrong", found, todo)
        else:
            named = _runtime_for_here() if names is _RUNTIMES else needed.package
            yield _package(needed, here[0] if here else named, least)


def _runtime_for_here() -> str:
    made_for_here = platform.machine() in ("x86_64", "AMD64") and sys.platform in ("linux", "win32")
    return _RUNTIMES[0] if made_for_here else _RUNTIMES[1]


def _package(needed: Needed, name: str, least: Mapping[str, str]) -> Finding:
    wanted = least.get(name, "")
    install = f"pip install '{name}>={wanted}'" if wanted else f"pip install {name}"
    version, trouble = _version(name), ""
    try:
        module = importlib.import_module(needed.module)
        version = version or str(getattr(module, "__version__", "here"))
    except ModuleNotFoundError as error:
        trouble = "not installed" if error.name == needed.module else f"cannot be loaded ({error})"
    except Exception as error:  # a broken package may raise anything while it is loaded
        trouble = f"cannot be loaded ({type(error).__name__}: {str(error)[:300]})"
        install = f"pip install --force-reinstall {name}"
    if not trouble and () < _numbers(version or "") < _numbers(wanted):
        trouble = f"{version} is too old"
    details = {"version": version, "needed_for": needed.use}
    if trouble:
        return Finding("packages", name, "wrong", f"{trouble}; needed for {needed.use}", install, details)
    return Finding("packages", name, "ok", version or "", details=details)


def extras() -> Iterator[Finding]:
    """The packages of each extra, which only some commands need."""
    for name, use in EXTRAS.items():
        versions = {package: _version(package) for package in _least_versions(name)}
        details = {"versions": versions, "needed_for": use}
        here = ", ".join(f"{package} {version}" for package, version in versions.items() if version)
        missing = ", ".join(package for package, version in versions.items() if version is None)
        if missing:
            found = f"without {missing}; needed for {use}"
            yield Finding("extras", name, "absent", found, f"pip install 'mrag[{name}]'", details)
        else:
            yield Finding("extras", name, "ok", here, details=details)


def cuda() -> Finding:
    """Whether a model really runs on CUDA here."""
    from mrag.adapters.models.onnx_session import HOW_TO_GET_CUDA, why_no_cuda

    try:
        reason = why_no_cuda()
    except MragError as error:
        return Finding("packages", "CUDA", "absent", str(error), details={"usable": False})
    if not reason:
        return Finding("packages", "CUDA", "ok", "models run on it", details={"usable": True})
    found = f"models run on the CPU: {reason}"
    return Finding("packages", "CUDA", "absent", found, HOW_TO_GET_CUDA, {"usable": False})


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


_REQUIREMENT = re.compile(r"([\w.-]{1,80})\s{0,9}(?:>=\s{0,9}([\d.]{1,30}))?")
_EXTRA = re.compile(r"""\bextra\s{0,9}==\s{0,9}["']([\w-]{1,80})["']""")


def _least_versions(extra: str | None) -> dict[str, str]:
    """The packages that the base install, or an extra, asks for, each with the least version ("" for any)."""
    try:
        wanted = metadata.requires("mrag") or []
    except metadata.PackageNotFoundError:  # run from its source
        return {}
    least = {}
    for requirement in wanted:
        match, of = _REQUIREMENT.match(requirement), _EXTRA.search(requirement)
        if match and (of and of[1]) == extra:
            least[match[1]] = match[2] or ""
    return least


def _numbers(version: str) -> tuple[int, ...]:
    """The release in a version, to compare.

    >>> _numbers("1.26.0rc1") < _numbers("1.100")
    True
    """
    found = re.match(r"\d{1,9}(?:\.\d{1,9}){0,9}", version)
    return tuple(map(int, found[0].split("."))) if found else ()


# --- models and index -----------------------------------------------------------------------------


def models() -> Iterator[Finding]:
    """The models in the cache, those whose pull was stopped, and what to do where there is none."""
    from mrag.adapters.models import model_cache
    from mrag.adapters.models.model_names import known

    try:
        pulled, exported, unfinished = model_cache.cached(), model_cache.exported(), model_cache.unfinished()
        cache = str(model_cache.cache_folder())
    except (OSError, RuntimeError) as error:  # no home folder, or one that cannot be read
        yield Finding("models", "cache", "wrong", f"cannot be read ({error})", "set XDG_CACHE_HOME to a folder")
        return
    for one in pulled:
        found = f"{one.repo}@{one.revision[:12]}, {one.precision}, {one.size / 10**6:,.1f} MB"
        details = {
            "folder": str(one.folder),
            "repo": one.repo,
            "revision": one.revision,
            "precision": one.precision,
            "bytes": one.size,
        }
        model = known(one.repo)
        yield Finding("models", model.name if model else one.repo, "ok", found, details=details)
    for made, precision, folder in exported:
        details = {"folder": str(folder), "repo": made.repo, "precision": precision}
        yield Finding("models", made.name, "ok", f"{made.repo}, {precision}, exported here", details=details)
    for folder in unfinished:
        repo = folder.parent.name.replace("--", "/")
        yield Finding("models", repo, "note", "its pull was stopped", f"to go on: mrag models pull {repo}")
    if not pulled and not exported:
        found = f"there is none in {cache}, so search goes by words, or with a model that is named by its folder"
        yield Finding("models", "cache", "absent", found, "mrag models pull minilm", {"folder": cache})


def index(folder: Path) -> Iterator[Finding]:
    """Whether an index opens here, what it holds, and which encoder its vectors are of."""
    from mrag.adapters.index.encoding import name_of
    from mrag.adapters.index.folder import map_index
    from mrag.adapters.index.manifest import read_manifest

    try:
        found = read_manifest(folder, older=True)
        map_index(folder)
    except (MragError, OSError) as error:
        yield Finding("index", "folder", "wrong", str(error), details={"folder": str(folder)})
        return
    counts = {table: found.counts[table] for table in ("passages", "sentences")}
    details = {"folder": str(folder), **counts, "rules": found.rules, "written_by": found.written_by}
    many = "{passages:,} passages, {sentences:,} sentences".format(**counts)
    told = f"{folder} opens: {many}; made by mrag {found.written_by}, and its rules are those of today"
    yield Finding("index", "folder", "ok", told, details=details)
    if (vectors := found.vectors) is None:
        todo = f"to search by meaning: mrag index --upgrade {shlex.quote(str(folder))} --encoder minilm"
        yield Finding("index", "vectors", "absent", "none: passages are found by their words", todo)
        return
    named = vectors.encoder or "the encoder of this fingerprint"
    yield Finding(
        "index",
        "vectors",
        "ok",
        f"of the {vectors.level}, {vectors.precision}, made by {name_of(vectors)}",
        f"to search by them name {named} with --encoder",
        {
            "level": vectors.level,
            "precision": vectors.precision,
            "metric": vectors.metric,
            "dimension": vectors.dimension,
            "encoder": vectors.encoder,
            "fingerprint": vectors.fingerprint,
        },
    )


# --- the language model ---------------------------------------------------------------------------

_PART = "language model"
_KEYS = ("MRAG_LLM_KEY", "OPENAI_API_KEY")
_SECONDS = 8.0  # for a server to say which models it has, however slowly it drips
_MOST_NAMES = 8


def language_model(url: str | None, model: str | None, environ: Mapping[str, str]) -> Iterator[Finding]:
    """The server that options or environment name: whether it answers and offers the model. No other is asked."""
    from mrag.adapters.serving.llm_settings import llm_settings

    try:
        settings = llm_settings(url, model, environ)
    except InputError as error:
        yield Finding(_PART, "server", "wrong", str(error))
        return
    if settings is None:
        todo = "for answers in its words: --llm URL --llm-model NAME, or set MRAG_LLM_URL and MRAG_LLM_MODEL"
        yield Finding(_PART, "server", "absent", "none is named, so none was asked", todo)
        yield _keys(None, environ)
        return
    asked = _asked(settings)
    yield _server(settings, asked)
    yield _keys(settings, environ)
    if asked is not None and asked.offer is not None:
        yield _model(settings.model, asked.offer)


def _keys(settings: LlmSettings | None, environ: Mapping[str, str]) -> Finding:
    """Which keys there are, never what they are."""
    known = {name: bool(environ.get(name, "").strip()) for name in _KEYS}
    found = ", ".join(f"{name} is {'set' if is_set else 'not set'}" for name, is_set in known.items())
    if settings is not None:
        sent = "this server is sent its key" if settings.key else "this server is sent none"
        return Finding(_PART, "keys", "ok", f"{found}; {sent}", "", {**known, "sent": bool(settings.key)})
    if known["OPENAI_API_KEY"]:
        todo = "a key alone names no server: set OPENAI_BASE_URL, e.g. to https://api.openai.com/v1"
        return Finding(_PART, "keys", "note", found, todo, known)
    return Finding(_PART, "keys", "absent", found, details=known)


def _asked(settings: LlmSettings) -> Reachable | None:
    """What the server says of itself; None if it has not said it in time."""
    from mrag.adapters.serving.model_server import reachable
    from mrag.adapters.serving.side_by_side import side_by_side

    answers = side_by_side(lambda url, rest: reachable(url, settings.key), [settings.url], 1, _SECONDS)
    return next((answer for _, answer in answers), None)


def _server(settings: LlmSettings, asked: Reachable | None) -> Finding:
    details: dict[str, object] = {"url": settings.url, "named_by": settings.by, "reachable": False}
    if asked is None or asked.offer is None:
        reason = asked.reason if asked else f"{settings.url}: has not told its models within {_SECONDS:g} seconds"
        todo = f"see to it, or name another server (this one is named by {settings.by})"
        return Finding(_PART, "server", "wrong", reason, todo, details)
    offer = asked.offer
    protocol = "Ollama" if offer.api == "ollama" else "OpenAI"
    details |= {"reachable": True, "api": offer.api, "models": list(offer.models)}
    found = f"{settings.url} speaks the {protocol} protocol and offers {_listed(offer.models)}"
    return Finding(_PART, "server", "ok", found, details=details)


def _model(name: str, offer: Offer) -> Finding:
    """Whether the server offers the model; one that lists none may have it all the same."""
    details: dict[str, object] = {"model": name or None}
    if not name:
        example = f" {offer.models[0]}" if offer.models else " NAME"
        todo = f"name one of the server's: --llm-model{example}, or set MRAG_LLM_MODEL"
        return Finding(_PART, "model", "note", "none is named", todo, details)
    if name in offer.models or f"{name}:latest" in offer.models:
        return Finding(_PART, "model", "ok", f"{name} is there", details=details)
    if not offer.models:
        return Finding(
            _PART, "model", "note", f"the server lists no models, so {name} may be there or not", "", details
        )
    near = get_close_matches(name, offer.models, n=1, cutoff=0.5)
    get = f", or on its machine: ollama pull {name}" if offer.api == "ollama" else ""
    todo = f"name one of the server's: --llm-model {near[0] if near else offer.models[0]}{get}"
    return Finding(_PART, "model", "wrong", f"the server has no {name}", todo, details)


def _listed(names: Sequence[str]) -> str:
    """The names of models, the first few of many.

    >>> _listed(["a", "b"]), _listed([])
    ('2 models: a, b', 'no models')
    """
    if not names:
        return "no models"
    more = "" if len(names) <= _MOST_NAMES else f" and {len(names) - _MOST_NAMES:,} more"
    return f"{len(names):,} model{'s' if len(names) > 1 else ''}: {', '.join(names[:_MOST_NAMES])}{more}"
