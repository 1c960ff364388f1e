"""Published models as ONNX folders that run without torch; needs ``pip install 'mrag[export]'``."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from mrag.errors import MissingExtraError

if TYPE_CHECKING:
    from mrag.export.build import export_model as export_model

_NEEDED = ("torch", "transformers", "onnx")


def __getattr__(name: str) -> object:
    """``export_model``, loaded with torch and transformers when it is first used; MissingExtraError without them."""
    if name != "export_model":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    check_installed()
    from mrag.export.build import export_model

    return export_model


def check_installed() -> None:
    """MissingExtraError, with what to install, where a library that an export needs is missing."""
    missing = [library for library in _NEEDED if find_spec(library) is None]
    if missing:
        raise MissingExtraError(f"exporting a model needs {' and '.join(missing)}: pip install 'mrag[export]'")
