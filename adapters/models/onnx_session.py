"""ONNX Runtime sessions: on the GPU where there is one, never by surprise on another processor, and without chatter."""

from __future__ import annotations

import contextlib
import ctypes
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

from mrag.errors import InputError, MissingExtraError, MragError

ProviderName = Literal["auto", "cpu", "cuda"]
PROVIDERS: tuple[ProviderName, ...] = get_args(ProviderName)

Tell = Callable[[str], None]

_CUDA, _CPU = "CUDAExecutionProvider", "CPUExecutionProvider"
_CUDA_OPTIONS = {
    "arena_extend_strategy": "kSameAsRequested",  # texts differ in length: doubling would waste most of the memory
    "use_tf32": "0",  # float32 is float32
}
HOW_TO_GET_CUDA = "on a machine with an NVIDIA GPU: pip install 'onnxruntime-gpu[cuda,cudnn]'"
_FATAL_ONLY = 4
_ONE_NODE = (  # an ONNX file: y = Identity(x), two vectors of a float32 each
    b'\x08\x07:7\n\x10\n\x01x\x12\x01y"\x08Identity\x12\x01gZ\x0f\n\x01x\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01'
    b"b\x0f\n\x01y\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01B\x02\x10\r"
)


def open_session(
    path: Path, provider: ProviderName = "auto", tell: Tell | None = None
) -> tuple[Any, Literal["cpu", "cuda"]]:
    """A session for an ONNX file and the provider that it runs on. Several threads may run it at once.

    ``auto`` takes CUDA where it can be had; ``tell`` hears which provider it is, and why not CUDA. On the CPU a run is
    computed by the thread that asks for it alone. Raises MissingExtraError where ``cuda`` cannot be had, with the
    reason, and InputError for a file that is no model for ONNX Runtime.
    """
    if provider not in PROVIDERS:
        raise InputError(f"no provider {provider!r}; there are {', '.join(PROVIDERS)}")
    runtime = _runtime()
    session, reason = (None, "not asked for") if provider == "cpu" else _cuda_session(runtime, path)
    if session is not None:
        _say(tell, "onnxruntime runs on CUDA")
        return session, "cuda"
    if provider == "cuda":
        raise MissingExtraError(f"CUDA cannot be had: {reason}; {HOW_TO_GET_CUDA}; or choose the provider cpu")
    _say(tell, f"onnxruntime runs on the CPU (CUDA: {reason})")
    return _session(runtime, path, [_CPU], threads=1), "cpu"


def why_no_cuda() -> str:
    """Why no model runs on CUDA here, "" where one does: a graph of one node is loaded to see.

    Raises MissingExtraError without ONNX Runtime.
    """
    return _cuda_session(_runtime(), _ONE_NODE)[1]


def _say(tell: Tell | None, text: str) -> None:
    if tell is not None:
        tell(text)


def _runtime() -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError(
            f"models need ONNX Runtime ({error}): pip install onnxruntime-gpu, or onnxruntime on macOS and ARM"
        ) from None
    # What it would log comes as an exception too, or is told by open_session.
    onnxruntime.set_default_logger_severity(_FATAL_ONLY)
    return onnxruntime


def _session(runtime: Any, model: Path | bytes, providers: list[Any], threads: int) -> Any:
    options = runtime.SessionOptions()
    options.log_severity_level = _FATAL_ONLY
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        # enable_fallback: it would print to stdout, and go on on the CPU
        source = str(model) if isinstance(model, Path) else model
        return runtime.InferenceSession(source, options, providers=providers, enable_fallback=0)
    except Exception as error:  # ONNX Runtime's errors have no other base
        name = model if isinstance(model, Path) else "a graph of one node"
        raise InputError(f"{name}: ONNX Runtime {runtime.__version__} cannot load it: {_first_line(error)}") from None


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:500]


# --- CUDA ----------------------------------------------------------------------------------------


def _cuda_session(runtime: Any, model: Path | bytes) -> tuple[Any, str]:
    """A session on CUDA, or None and why there is none."""
    reason = _why_no_cuda(runtime)
    if reason is not None:
        return None, reason
    session = _session(runtime, model, [(_CUDA, _CUDA_OPTIONS), _CPU], threads=0)
    return (session, "") if _CUDA in session.get_providers() else (None, _why_not_started(runtime))


def _why_no_cuda(runtime: Any) -> str | None:
    """Why no session can run on CUDA here, None if one may; its libraries are then loaded."""
    if _CUDA not in runtime.get_available_providers():
        return f"the installed ONNX Runtime {runtime.__version__} is built without it{_installed_twice()}"
    reason = _why_no_device()
    if reason is None and hasattr(runtime, "preload_dlls"):
        # what it prints about libraries that are missing is what _why_not_started says
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
            runtime.preload_dlls()
    return reason


def _installed_twice() -> str:
    from importlib.metadata import distributions

    names = {str(found.metadata["Name"]).lower() for found in distributions()}
    if {"onnxruntime", "onnxruntime-gpu"} <= names:
        return " (onnxruntime and onnxruntime-gpu overwrite each other: uninstall both, install the second)"
    return ""


def _why_no_device() -> str | None:
    """What the NVIDIA driver says, asked directly: ONNX Runtime would try for a while, and say it less clearly."""
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        driver = ctypes.CDLL(name)
    except OSError:
        return f"no NVIDIA driver here ({name} is missing)"
    count = ctypes.c_int(0)
    if (code := driver.cuInit(0)) or (code := driver.cuDeviceGetCount(ctypes.byref(count))):
        return f"the NVIDIA driver finds no usable GPU (error {code})"
    return None if count.value else "the NVIDIA driver finds no GPU"


def _why_not_started(runtime: Any) -> str:
    """Why a session did not get CUDA although there is a device: most often a library that is missing."""
    name = "onnxruntime_providers_cuda.dll" if sys.platform == "win32" else "libonnxruntime_providers_cuda.so"
    try:
        ctypes.CDLL(str(Path(runtime.__file__).parent / "capi" / name))
    except OSError as error:
        return _first_line(error)
    return f"ONNX Runtime {runtime.__version__} could not start it: is the driver too old?"


# --- running -------------------------------------------------------------------------------------

_OUT_OF_MEMORY = (
    "out of memory",
    "failed to allocate memory",
    "smaller than requested bytes",
    "bad_alloc",
    "bad alloc",
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a run failed for want of memory: ONNX Runtime has no error type for it."""
    return isinstance(error, MemoryError) or any(sign in str(error).lower() for sign in _OUT_OF_MEMORY)


def run_error(path: Path, error: BaseException, length: int) -> MragError:
    """What the error of a run of texts of ``length`` tokens means to a user."""
    if is_out_of_memory(error):
        return MragError(
            f"{path}: not enough memory for one text of {length:,} tokens: "
            "use fewer threads, a smaller maximum length or a smaller model"
        )
    text = _first_line(error)
    if "out of data bounds" in text:
        return InputError(f"{path}: has no vector for a token of tokenizer.json: these files do not belong together")
    return MragError(f"{path}: a run failed: {text}")
