"""The files of a model's folder: found, chosen by precision, and refused when they are damaged or lead astray."""

import json
from pathlib import Path
from typing import Any

import pytest

from mrag.adapters.models.model_files import find_files, get, inside, read_json
from mrag.errors import InputError

EMPTY_GRAPH = b"\x08\x08"  # an ONNX file that says its version and nothing else


def model(folder: Path, *graphs: str, config: Any = None, **settings: Any) -> Path:
    """A model's folder with some ONNX files, by default model.onnx."""
    rows = {"config": config if config is not None else {"model_type": "bert"}, "tokenizer": {}, **settings}
    for name, row in rows.items():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(row))
    for graph in graphs or ("model.onnx",):
        (folder / graph).parent.mkdir(exist_ok=True)
        (folder / graph).write_bytes(EMPTY_GRAPH)
    return folder


def field(number: int, content: bytes) -> bytes:
    """A length-delimited field of a protobuf message."""
    size, rest = len(content), b""
    while size > 127:
        rest, size = rest + bytes([size & 127 | 128]), size >> 7
    return bytes([number << 3 | 2]) + rest + bytes([size]) + content


def graph_with_data(location: str) -> bytes:
    """An ONNX file with one tensor whose numbers lie in another file."""
    entry = field(1, b"location") + field(2, location.encode())
    return EMPTY_GRAPH + field(7, field(5, field(8, b"w") + field(13, entry)))


@pytest.mark.parametrize("graph", ["model.onnx", "onnx/model.onnx"])
def test_the_graph_is_found_in_both_places(tmp_path, graph):
    assert find_files(model(tmp_path, graph)).graph == tmp_path / graph


def test_the_graph_beside_the_tokenizer_comes_first(tmp_path):
    assert find_files(model(tmp_path, "onnx/model.onnx", "model.onnx")).graph == tmp_path / "model.onnx"


@pytest.mark.parametrize(
    ("graph", "precision"),
    [
        ("onnx/model_fp16.onnx", "float16"),
        ("onnx/model_quantized.onnx", "int8"),
        ("onnx/model_int8.onnx", "int8"),
        ("onnx/model_quint8_avx2.onnx", "int8"),
        ("model.onnx", "float32"),
    ],
)
def test_a_precision_is_found_by_its_usual_name(tmp_path, graph, precision):
    assert find_files(model(tmp_path, graph), precision).graph == tmp_path / graph
    assert find_files(tmp_path).graph == tmp_path / graph  # it is the only one


def test_float32_is_taken_where_no_precision_is_asked_for(tmp_path):
    model(tmp_path, "onnx/model_int8.onnx", "onnx/model.onnx", "onnx/model_fp16.onnx")
    assert find_files(tmp_path).graph == tmp_path / "onnx/model.onnx"


def test_one_of_several_other_precisions_has_to_be_named(tmp_path):
    model(tmp_path, "model_int8.onnx", "model_fp16.onnx")
    with pytest.raises(InputError, match="several ONNX files, float16 and int8: name the precision"):
        find_files(tmp_path)
    assert find_files(tmp_path, "int8").graph.name == "model_int8.onnx"


def test_a_precision_that_is_not_there_is_named_with_what_is(tmp_path):
    with pytest.raises(InputError, match=r"no ONNX file in float16 \(there is float32\): mrag export"):
        find_files(model(tmp_path), "float16")


def test_mrag_json_says_the_precision_of_model_onnx(tmp_path):
    model(tmp_path, mrag={"kind": "encoder", "precision": "int8"})
    assert find_files(tmp_path, "int8").graph == find_files(tmp_path).graph == tmp_path / "model.onnx"
    with pytest.raises(InputError, match=r"no ONNX file in float32 \(there is int8\)"):
        find_files(tmp_path, "float32")


@pytest.mark.parametrize(
    ("missing", "said"),
    [("config.json", "no config.json"), ("tokenizer.json", "no tokenizer.json"), ("model.onnx", r"no model\.onnx")],
)
def test_a_missing_file_is_named(tmp_path, missing, said):
    model(tmp_path)
    (tmp_path / missing).unlink()
    with pytest.raises(InputError, match=said):
        find_files(tmp_path)


def test_weights_without_a_graph_are_to_be_exported(tmp_path):
    model(tmp_path)
    (tmp_path / "model.onnx").rename(tmp_path / "model.safetensors")
    with pytest.raises(InputError, match="mrag export KIND"):
        find_files(tmp_path)


def test_a_file_or_nothing_is_no_folder(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        find_files(tmp_path / "gone")
    (tmp_path / "model.onnx").write_bytes(EMPTY_GRAPH)
    with pytest.raises(InputError, match="a file: name the folder"):
        find_files(tmp_path / "model.onnx")


@pytest.mark.parametrize("data", [b"", b"\xff\xff", b"<html>not a model</html>", b"\x3a\x7f"])
def test_a_graph_that_is_no_onnx_file_is_refused(tmp_path, data):
    model(tmp_path)
    (tmp_path / "model.onnx").write_bytes(data)
    with pytest.raises(InputError, match=r"model\.onnx"):
        find_files(tmp_path)


def test_models_that_need_their_own_code_are_refused_with_the_way_out(tmp_path):
    config = {"model_type": "nvembed", "auto_map": {"AutoModel": "modeling_nvembed.NVEmbedModel"}}
    with pytest.raises(InputError, match=r"auto_map.*never run.*HTTP adapter"):
        find_files(model(tmp_path, config=config))


def test_what_mrag_json_calls_whole_needs_no_code_of_its_own(tmp_path):
    model(tmp_path, config={"auto_map": {}}, mrag={"kind": "encoder"})
    assert find_files(tmp_path).told == {"kind": "encoder"}


# --- weights beside the graph --------------------------------------------------------------------


def test_files_that_hold_the_graphs_weights_are_found(tmp_path):
    model(tmp_path, "onnx/model.onnx")
    (tmp_path / "onnx/model.onnx").write_bytes(graph_with_data("model.onnx_data"))
    (tmp_path / "onnx/model.onnx_data").write_bytes(b"\0" * 4)
    assert find_files(tmp_path).beside == (tmp_path / "onnx/model.onnx_data",)


def test_weights_that_were_not_copied_are_named(tmp_path):
    model(tmp_path)
    (tmp_path / "model.onnx").write_bytes(graph_with_data("model.onnx_data"))
    with pytest.raises(InputError, match=r"its weights lie in 'model\.onnx_data', which is missing: copy that file"):
        find_files(tmp_path)


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "a/../../b", "..", "", "C:\\x", "..\\x", "a//b"])
def test_weights_outside_the_folder_are_refused(tmp_path, location):
    (tmp_path / "secret").write_bytes(b"\0" * 4)
    model(tmp_path / "m")
    (tmp_path / "m/model.onnx").write_bytes(graph_with_data(location))
    with pytest.raises(InputError, match="not a path inside the model's folder"):
        find_files(tmp_path / "m")


@pytest.mark.parametrize("name", ["1_Pooling", "onnx/model.onnx_data", "a.b-c", "..a", "Kö ln"])
def test_names_inside_a_folder_are_taken(name):
    assert inside(Path("m"), name, Path("f")) == Path("m") / name


# --- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"{", b"\xff", b"", b"[" * 100_000, b"1" * 5_000])
def test_json_that_is_none_is_refused_by_file(tmp_path, data):
    (tmp_path / "config.json").write_bytes(data)
    with pytest.raises(InputError, match=r"config\.json: not JSON"):
        read_json(tmp_path / "config.json")


def test_a_settings_file_of_absurd_size_is_refused(tmp_path):
    (tmp_path / "config.json").write_bytes(b" " * 5_000_000)
    with pytest.raises(InputError, match="more than 4,194,304 bytes"):
        read_json(tmp_path / "config.json")


def test_a_byte_order_mark_is_no_error(tmp_path):
    (tmp_path / "config.json").write_bytes(b"\xef\xbb\xbf{}")
    assert read_json(tmp_path / "config.json") == {}


@pytest.mark.parametrize(
    ("value", "kind", "wanted"), [("a", str, "a"), (3, int, 3), (3, float, 3.0), (True, bool, True), (None, str, None)]
)
def test_a_setting_is_of_the_kind_that_is_wanted(value, kind, wanted):
    assert get({"a": value}, "a", kind, Path("f")) == wanted


@pytest.mark.parametrize(("value", "kind"), [(3, str), (True, int), (1.0, int), ("1", float), (0, bool), ({}, list)])
def test_a_setting_of_another_kind_is_named(value, kind):
    with pytest.raises(InputError, match='f: "a" is'):
        get({"a": value}, "a", kind, Path("f"))
