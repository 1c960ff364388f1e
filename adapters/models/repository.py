"""What a repository on a hub holds, and which of its files a model needs to run."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mrag.adapters.models.downloads import RemoteFile
from mrag.adapters.models.model_names import COMMIT, Precision, Wanted
from mrag.adapters.serving.web import DownloadError
from mrag.errors import InputError

MODEL = "model.onnx"
"""What the ONNX file is called here, whatever its precision, so that the folder is one like any other."""

_MOST_LISTED = 50_000  # files of a repository
_MOST_FILES = 200  # files of a model, of which a few dozen can hold its weights
_MOST_BYTES = 2**36  # of a model: 64 GiB
_MOST_SETTINGS_BYTES = 2**27  # of a file beside the weights; Gemma's tokenizer.json has 33 MB

_SETTINGS = re.compile(
    r"config\.json|tokenizer\.json|tokenizer_config\.json|special_tokens_map\.json|added_tokens\.json|modules\.json|mrag\.json"
    r"|config_sentence_transformers\.json|sentence_[a-z]{1,20}_config\.json"
    r"|[0-9]{1,2}_[A-Za-z0-9]{1,40}/(?:config\.json|model\.safetensors)"
)
"""Files beside the ONNX file, and the folders of modules (1_Pooling, 2_Dense); no pytorch_model.bin: it is a pickle."""

_GRAPHS: dict[Precision, tuple[str, ...]] = {
    "float32": ("model",),
    "float16": ("model_fp16", "model_float16"),
    "int8": ("model_int8", "model_quantized", "model_quint8_avx2", "model_qint8_avx512_vnni", "model_qint8_arm64"),
}
"""How repositories call the ONNX file of a precision, the most general first."""

_GRAPH_FOLDERS = ("onnx/", "")


@dataclass(frozen=True, slots=True)
class Listing:
    """All files of one commit of a repository, by their path."""

    repo: str
    commit: str
    files: Mapping[str, RemoteFile]


def read_listing(answer: object, repo: str) -> Listing:
    """The files in a hub's answer to ``/api/models/REPO/revision/REVISION?blobs=true``.

    Raises DownloadError for an answer of another shape and for names that would lead out of a folder.
    """
    row = answer if isinstance(answer, dict) else {}
    commit, entries = row.get("sha"), row.get("siblings")
    if not isinstance(commit, str) or not COMMIT.fullmatch(commit) or not isinstance(entries, list):
        raise DownloadError(f"{repo}: the answer holds no list of its files: is this the address of a model hub?")
    if len(entries) > _MOST_LISTED:
        raise DownloadError(f"{repo}: {len(entries):,} files, more than any model has: refused")
    files = [_remote_file(entry, repo) for entry in entries]
    return Listing(repo, commit, {file.path: file for file in files})


def _remote_file(entry: object, repo: str) -> RemoteFile:
    """An entry of a list; its size is -1 where none is given. Large files have a SHA-256, small ones git's hash."""
    row = entry if isinstance(entry, dict) else {}
    large = row["lfs"] if isinstance(row.get("lfs"), dict) else None
    path, size = row.get("rfilename"), (large or row).get("size")
    if not isinstance(path, str):
        raise DownloadError(f"{repo}: its list of files is damaged: try again later")
    check_file_name(path, repo)
    sha256 = str(large.get("sha256")) if large else ""
    git_sha1 = "" if large else str(row.get("blobId") or "")
    if not re.fullmatch(r"[0-9a-f]{64}" if large else r"(?:[0-9a-f]{40})?", sha256 or git_sha1):
        raise DownloadError(f"{repo}: its list of files is damaged at the hash of {path!r}: try again later")
    return RemoteFile(path, size if type(size) is int else -1, sha256, git_sha1)


def check_file_name(name: str, repo: str) -> None:
    """DownloadError for a name from the network that could lead out of the model's folder, on any system.

    >>> check_file_name("onnx/model.onnx", "owner/name")
    >>> check_file_name("onnx/../../.bashrc", "owner/name")
    Traceback (most recent call last):
        ...
    mrag.adapters.serving.web.DownloadError: owner/name: names a file 'onnx/../../.bashrc', ...
    """
    outside = any(part in ("", ".", "..") for part in name.split("/")) or re.match(r"[A-Za-z]:", name)
    if outside or not re.fullmatch(r"[^\x00-\x1f\x7f\\]{1,1000}", name):
        raise DownloadError(f"{repo}: names a file {name[:100]!r}, which could not stay in the model's folder: refused")


def choose(listing: Listing, wanted: Wanted) -> tuple[dict[str, RemoteFile], str]:
    """The files that running a model needs, by the name that each gets here, and which of these is the ONNX file.

    Files that the ONNX file itself names come to them when it is here: see ``beside``. Raises InputError, with the way
    out, for a repository that holds no such model, DownloadError for sizes that no model has.
    """
    files = listing.files
    graph = next((path for path in _graph_paths(wanted.precision) if path in files), None)
    if graph is None or "tokenizer.json" not in files:
        raise InputError(_cannot_run(listing, wanted, has_graph=graph is not None))
    here = graph.rpartition("/")[0] + "/" + MODEL if "/" in graph else MODEL
    chosen = {path: files[path] for path in sorted(files) if _SETTINGS.fullmatch(path)}
    chosen[here] = files[graph]
    check_sizes(chosen, listing.repo)
    return chosen, here


def beside(listing: Listing, graph: str, locations: Iterable[str]) -> dict[str, RemoteFile]:
    """The files at ``locations``, which an ONNX file gives relative to its own folder; DownloadError if one lacks."""
    folder = graph.rpartition("/")[0]
    found = {}
    for location in locations:
        check_file_name(location, listing.repo)
        path = f"{folder}/{location}" if folder else location
        if path not in listing.files:
            raise DownloadError(f"{listing.repo}: its model keeps weights in {path!r}, which is not there")
        found[path] = listing.files[path]
    return found


def check_sizes(files: Mapping[str, RemoteFile], repo: str) -> None:
    """DownloadError for sizes that no model has, before a byte is asked for."""
    for name, file in files.items():
        if not 0 <= file.size <= (_MOST_SETTINGS_BYTES if name.endswith(".json") else _MOST_BYTES):
            size = "no size" if file.size == -1 else f"{file.size:,} bytes"
            raise DownloadError(f"{repo}: its list gives {size} for {file.path!r}: refused")
    total = sum(file.size for file in files.values())
    if len(files) > _MOST_FILES or total > _MOST_BYTES:
        raise DownloadError(f"{repo}: {len(files):,} files of {total:,} bytes, more than any model has: refused")


def _graph_paths(precision: Precision) -> list[str]:
    stems = sorted(_GRAPHS[precision], key=_for_other_machines)
    return [f"{folder}{stem}.onnx" for folder in _GRAPH_FOLDERS for stem in stems]


def _for_other_machines(stem: str) -> bool:
    """Whether a file is made for processors of another kind: it runs here, but not at its best."""
    arm = platform.machine().lower() in ("arm64", "aarch64")
    return "_avx" in stem if arm else stem.endswith("_arm64")


def _cannot_run(listing: Listing, wanted: Wanted, *, has_graph: bool) -> str:
    kind = {"encoder": "encoder", "reranker": "cross-encoder"}[wanted.model.kind] if wanted.model else "KIND"
    flag = {"float32": "", "float16": " --fp16", "int8": " --int8"}[wanted.precision]
    way_out = f"mrag export {kind} {listing.repo} -o DIR{flag} makes what is missing"
    if has_graph:
        return f"{listing.repo} has no tokenizer.json, without which its model cannot be run here: {way_out}"
    graphs = sorted(path for path in listing.files if path.endswith(".onnx"))
    shown = ", ".join(graphs[:6]) + (", …" if len(graphs) > 6 else "")
    return f"{listing.repo} has no ONNX file in {wanted.precision} (there is: {shown or 'none'}): {way_out}"
