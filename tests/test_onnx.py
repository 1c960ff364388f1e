"""Encoders and rerankers on ONNX Runtime: small graphs whose results can be told by hand, and the real MiniLM.

The real model is tested where the environment variable MRAG_TEST_MINILM names its folder, as
``python benchmarks/fetch_minilm.py OUT`` makes it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from mrag.adapters.models.onnx_session import is_out_of_memory, open_session
from mrag.adapters.onnx import load_encoder, load_scorer, text_scorer
from mrag.errors import InputError, MissingExtraError, MragError

onnx = pytest.importorskip("onnx", reason="the graphs of these tests are made with the onnx package: pip install onnx")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "who", "ran", "the", "mill", "bridge", "A:", "B:", "Yes"]
IDS = {word: at for at, word in enumerate(WORDS)}
BERT = {"model_type": "bert", "architectures": ["BertModel"], "max_position_embeddings": 32, "pad_token_id": 0}
PAIR = {**BERT, "architectures": ["BertForSequenceClassification"]}
GEMMA = {"model_type": "gemma", "architectures": ["GemmaForCausalLM"], "max_position_embeddings": 64, "pad_token_id": 0}
PROMPT = {"kind": "llm-reranker", "prompt": "Yes", "query_prefix": "A: ", "passage_prefix": "B: ", "bos_id": 2}

VECTORS = np.random.default_rng(5).normal(size=(len(WORDS), 4)).astype(np.float32)
TYPES = np.array([[0.0] * 4, [0.5] * 4], dtype=np.float32)

MINILM = os.environ.get("MRAG_TEST_MINILM", "")
with_minilm = pytest.mark.skipif(
    not MINILM, reason="MRAG_TEST_MINILM names no folder: benchmarks/fetch_minilm.py makes it"
)


# --- making small models -------------------------------------------------------------------------


def write_graph(
    path: Path,
    nodes: Sequence[tuple[Any, ...]],
    outputs: dict[str, list[Any]],
    *,
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    weights: dict[str, np.ndarray] | None = None,
    number: int = onnx.TensorProto.INT64,
    shape: Sequence[Any] = ("batch", "sequence"),
    floats: int = onnx.TensorProto.FLOAT,
) -> None:
    """Writes an ONNX file; a node is (operator, inputs, output, attributes), names apart by spaces."""
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node(kind, ins.split(), [out], **(more[0] if more else {})) for kind, ins, out, *more in nodes],
        "tiny",
        [helper.make_tensor_value_info(name, number, shape) for name in inputs],
        [helper.make_tensor_value_info(name, floats, size) for name, size in outputs.items()],
        [onnx.numpy_helper.from_array(values, name) for name, values in (weights or {}).items()],
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def write_folder(folder: Path, config: dict[str, Any] = BERT, **settings: Any) -> Path:
    """Writes all of a model but its graph; a keyword is a JSON file, ``__`` stands for a slash."""
    for name, row in {"config": config, **settings}.items():
        path = folder / f"{name.replace('__', '/')}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(row))
    tokenizer = Tokenizer(models.WordLevel(IDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


TOKEN_VECTORS = {"last_hidden_state": ["batch", "sequence", 4]}
LOOKUP = [("Gather", "words input_ids", "last_hidden_state")]


def encoder_folder(folder: Path, *, described: bool = True, **settings: Any) -> Path:
    """An encoder: the vector of each token, mean pooling, normalised unless nothing is ``described``."""
    if described:
        kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
        settings["modules"] = [
            {"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds.items()
        ]
        settings.setdefault("1_Pooling__config", {"pooling_mode_mean_tokens": True})
    write_folder(folder, **settings)
    write_graph(folder / "model.onnx", LOOKUP, TOKEN_VECTORS, inputs=["input_ids"], weights={"words": VECTORS})
    return folder


def vectors_of(text: str) -> np.ndarray:
    return VECTORS[[IDS[word] for word in f"[CLS] {text} [SEP]".split()]]


def mean_of(text: str) -> np.ndarray:
    mean = vectors_of(text).mean(axis=0)
    return mean / np.linalg.norm(mean)


TEXTS = ["the mill", "who ran the bridge the mill", "mill", "", "the bridge ran " * 4]


# --- encoders ------------------------------------------------------------------------------------


def test_a_text_becomes_the_normalised_mean_of_its_tokens(tmp_path):
    found = load_encoder(encoder_folder(tmp_path))(TEXTS)
    assert found.dtype == np.float32
    assert np.allclose(found, [mean_of(text) for text in TEXTS], atol=1e-6)


def test_an_encoder_says_what_it_is(tmp_path):
    encoder = load_encoder(encoder_folder(tmp_path / "tiny"))
    assert (encoder.metric, encoder.dimension, encoder.pooling, encoder.max_length) == ("cosine", 4, "mean", 32)
    assert (encoder.provider, encoder.name) == ("cpu", "tiny")


@pytest.mark.parametrize(
    ("pooling", "wanted"), [("cls", lambda v: v[0]), ("last", lambda v: v[-1]), ("max", lambda v: v.max(axis=0))]
)
def test_an_option_changes_the_pooling(tmp_path, pooling, wanted):
    encoder = load_encoder(encoder_folder(tmp_path, described=False), pooling=pooling)
    assert np.allclose(encoder(TEXTS), [wanted(vectors_of(text)) for text in TEXTS])


def test_a_folder_that_says_nothing_is_pooled_by_the_mean_and_that_is_told(tmp_path):
    told: list[str] = []
    encoder = load_encoder(encoder_folder(tmp_path, described=False), tell=told.append)
    assert np.allclose(encoder(["the mill"])[0], vectors_of("the mill").mean(axis=0))
    assert encoder.metric == "dot"
    assert any("nothing says how it pools: mean, compared by dot" in line for line in told)


def test_a_text_gets_the_prefix_of_its_role(tmp_path):
    prompts = {"query": "who ran ", "document": "the "}
    encoder = load_encoder(encoder_folder(tmp_path, config_sentence_transformers={"prompts": prompts}))
    assert np.allclose(encoder(["mill"], role="query")[0], mean_of("who ran mill"))
    assert np.allclose(encoder(["mill"], role="passage")[0], mean_of("the mill"))
    assert np.array_equal(encoder(["mill"]), encoder(["mill"], role="passage"))


def test_a_text_is_cut_to_the_maximum_length(tmp_path):
    encoder = load_encoder(encoder_folder(tmp_path), max_length=8)
    assert np.array_equal(encoder(["mill " * 6]), encoder(["mill " * 1000]))


def test_dense_layers_come_between_pooling_and_normalising(tmp_path):
    weight = np.array([[1, 0, 0, 0], [0, -2, 0, 0], [0, 0, 3, 0]], dtype="<f4")
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense", "3_Normalize": "Normalize"}
    settings: dict[str, Any] = {
        "modules": [{"path": path, "type": f"models.{kind}"} for path, kind in kinds.items()],
        "1_Pooling__config": {"pooling_mode_mean_tokens": True},
        "2_Dense__config": {"activation_function": "torch.nn.modules.activation.Tanh"},
    }
    encoder_folder(tmp_path, described=False, **settings)
    header = json.dumps({"linear.weight": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}}).encode()
    data = len(header).to_bytes(8, "little") + header + weight.tobytes()
    (tmp_path / "2_Dense/model.safetensors").write_bytes(data)
    encoder = load_encoder(tmp_path)
    wanted = np.tanh(weight @ vectors_of("the mill").mean(axis=0))
    assert encoder.dimension == 3
    assert np.allclose(encoder(["the mill"])[0], wanted / np.linalg.norm(wanted), atol=1e-6)


def test_no_texts_are_no_rows(tmp_path):
    assert load_encoder(str(encoder_folder(tmp_path)))([]).shape == (0, 4)


def test_texts_that_are_one_text_are_refused(tmp_path):
    with pytest.raises(InputError, match="a list of texts"):
        load_encoder(encoder_folder(tmp_path))("the mill")
    with pytest.raises(InputError, match="a list of texts"):
        load_scorer(pair_folder(tmp_path / "pair"))("who", "the mill")


def test_an_unknown_role_is_named(tmp_path):
    with pytest.raises(InputError, match="no role 'title'; there are query and passage"):
        load_encoder(encoder_folder(tmp_path))(["mill"], role="title")  # type: ignore[arg-type]


def test_texts_are_put_into_lower_case_where_the_folder_says_so(tmp_path):
    encoder_folder(tmp_path, sentence_bert_config={"do_lower_case": True})
    assert np.allclose(load_encoder(tmp_path)(["THE Mill"])[0], mean_of("the mill"))


# --- graphs --------------------------------------------------------------------------------------


def test_only_the_inputs_that_a_graph_names_are_fed(tmp_path):
    encoder_folder(tmp_path, described=False)
    nodes = [
        ("Gather", "words input_ids", "word"),
        ("Gather", "types token_type_ids", "type"),
        ("Cast", "position_ids", "place", {"to": onnx.TensorProto.FLOAT}),
        ("Unsqueeze", "place two", "places"),
        ("Add", "word type", "both"),
        ("Add", "both places", "last_hidden_state"),
    ]
    inputs = ["position_ids", "token_type_ids", "input_ids"]
    weights = {"words": VECTORS, "types": TYPES, "two": np.array([2])}
    write_graph(tmp_path / "model.onnx", nodes, TOKEN_VECTORS, inputs=inputs, weights=weights)
    places = np.arange(4)[:, None]
    assert np.allclose(load_encoder(tmp_path)(["the mill"])[0], (vectors_of("the mill") + places).mean(axis=0))


def test_a_graph_with_32_bit_inputs_is_fed_these(tmp_path):
    encoder_folder(tmp_path)
    number = onnx.TensorProto.INT32
    write_graph(
        tmp_path / "model.onnx", LOOKUP, TOKEN_VECTORS, inputs=["input_ids"], weights={"words": VECTORS}, number=number
    )
    assert np.allclose(load_encoder(tmp_path)(["the mill"])[0], mean_of("the mill"))


def test_float16_numbers_come_out_as_float32(tmp_path):
    encoder_folder(tmp_path)
    weights = {"words": VECTORS.astype(np.float16)}
    half = onnx.TensorProto.FLOAT16
    write_graph(tmp_path / "model.onnx", LOOKUP, TOKEN_VECTORS, inputs=["input_ids"], weights=weights, floats=half)
    found = load_encoder(tmp_path)(["the mill"])
    assert found.dtype == np.float32
    assert np.allclose(found[0], mean_of("the mill"), atol=1e-3)


def test_numbers_beyond_float16_are_an_error(tmp_path):
    encoder_folder(tmp_path)
    weights = {"words": np.full((len(WORDS), 4), np.inf, dtype=np.float16)}
    half = onnx.TensorProto.FLOAT16
    write_graph(tmp_path / "model.onnx", LOOKUP, TOKEN_VECTORS, inputs=["input_ids"], weights=weights, floats=half)
    with pytest.raises(MragError, match=r"no finite numbers .* use the float32 one"):
        load_encoder(tmp_path)


def test_weights_beside_the_graph_are_loaded(tmp_path):
    encoder_folder(tmp_path)
    graph = onnx.load(tmp_path / "model.onnx")
    onnx.save(graph, tmp_path / "model.onnx", save_as_external_data=True, location="model.onnx_data", size_threshold=0)
    assert (tmp_path / "model.onnx_data").stat().st_size == VECTORS.nbytes
    assert np.allclose(load_encoder(tmp_path)(["the mill"])[0], mean_of("the mill"))


SENTENCE = [("ReduceMean", "last_hidden_state", "sentence_embedding", {"axes": [1], "keepdims": 0})]
NAMELESS = [("ReduceMean", "last_hidden_state", "pooler_output", {"axes": [1], "keepdims": 0})]
WHOLE = {"sentence_embedding": ["batch", 4]}


def test_vectors_that_a_graph_pools_itself_are_taken_where_nothing_says_how(tmp_path):
    encoder_folder(tmp_path, described=False)
    nodes, outputs = [*LOOKUP, *SENTENCE], {**TOKEN_VECTORS, **WHOLE}
    write_graph(tmp_path / "model.onnx", nodes, outputs, inputs=["input_ids"], weights={"words": VECTORS})
    encoder = load_encoder(tmp_path)
    assert encoder.pooling is None
    assert np.allclose(encoder(["the mill"])[0], vectors_of("the mill").mean(axis=0))
    assert np.allclose(load_encoder(tmp_path, pooling="cls")(["the mill"])[0], vectors_of("the mill")[0])


def test_a_graph_without_token_vectors_has_its_modules_inside(tmp_path):
    encoder_folder(tmp_path)
    write_graph(tmp_path / "model.onnx", [*LOOKUP, *SENTENCE], WHOLE, inputs=["input_ids"], weights={"words": VECTORS})
    encoder = load_encoder(tmp_path)
    assert encoder.pooling is None
    assert np.allclose(encoder(["the mill"])[0], mean_of("the mill"))


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (
            {"nodes": [*LOOKUP, *NAMELESS], "outputs": {"pooler_output": ["batch", 4]}},
            "gives pooler_output: an encoder",
        ),
        ({"inputs": ["input_ids", "pixel_values"]}, "wants the input 'pixel_values'"),
        ({"shape": [1, "sequence"]}, "input 'input_ids' is of fixed size"),
        ({"shape": ["batch", 128]}, "input 'input_ids' is of fixed size"),
    ],
)
def test_a_graph_that_does_not_fit_is_refused_by_name(tmp_path, graph, said):
    encoder_folder(tmp_path)
    row: dict[str, Any] = {"nodes": LOOKUP, "outputs": TOKEN_VECTORS, "inputs": ["input_ids"], **graph}
    write_graph(tmp_path / "model.onnx", row.pop("nodes"), row.pop("outputs"), weights={"words": VECTORS}, **row)
    with pytest.raises(InputError, match=said):
        load_encoder(tmp_path)


def test_a_vocabulary_that_is_larger_than_the_models_is_named(tmp_path):
    encoder_folder(tmp_path)
    few = {"words": VECTORS[:3]}
    write_graph(tmp_path / "model.onnx", LOOKUP, TOKEN_VECTORS, inputs=["input_ids"], weights=few)
    with pytest.raises(
        InputError, match=r"no vector for a token of tokenizer\.json: these files do not belong together"
    ):
        load_encoder(tmp_path)


def test_a_file_that_is_no_model_for_onnx_runtime_is_named(tmp_path):
    encoder_folder(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"\x08\x08")
    with pytest.raises(InputError, match=r"model\.onnx: ONNX Runtime .* cannot load it"):
        load_encoder(tmp_path)


# --- runs ----------------------------------------------------------------------------------------


def test_a_text_has_the_same_bits_in_any_company_and_order(tmp_path):
    encoder_folder(tmp_path)
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(WORDS[4:], rng.integers(0, 40))) for _ in range(300)]
    encoder = load_encoder(tmp_path, threads=2, batch_tokens=64)
    together = encoder(texts)
    order = rng.permutation(len(texts))
    assert np.array_equal(encoder([texts[at] for at in order]), together[order])
    assert np.array_equal(load_encoder(tmp_path, threads=1)(texts), together)
    assert np.array_equal(np.concatenate([encoder([text]) for text in texts]), together)


def test_threads_share_an_encoder(tmp_path):
    encoder = load_encoder(encoder_folder(tmp_path), threads=2, batch_tokens=16)
    wanted = encoder(TEXTS)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: encoder(TEXTS), range(50)))
    assert all(np.array_equal(wanted, one) for one in found)


@pytest.mark.parametrize("option", ["threads", "batch_tokens"])
def test_threads_and_tokens_of_a_run_are_at_least_one(tmp_path, option):
    with pytest.raises(InputError, match=f"{option} is 0"):
        load_encoder(encoder_folder(tmp_path), **{option: 0})


class LittleMemory:
    """A session that raises ONNX Runtime's own error for runs of more tokens than there is memory for."""

    def __init__(self, session: Any, most: int) -> None:
        self._session, self.most = session, most
        self.runs: list[tuple[int, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def run(self, outputs: list[str], feeds: dict[str, np.ndarray]) -> Any:
        from onnxruntime.capi.onnxruntime_pybind11_state import RuntimeException

        self.runs.append(feeds["input_ids"].shape)
        if feeds["input_ids"].size > self.most:
            raise RuntimeException(
                "[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Non-zero status code returned while running Gather node. "
                "Status Message: bfc_arena.cc:376 void* onnxruntime::BFCArena::AllocateRawInternal(size_t) "
                "Failed to allocate memory for requested buffer of size 2415919104"
            )
        return self._session.run(outputs, feeds)


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[LittleMemory]]:
    """Gives every session from now on memory for so many tokens; the sessions that there are."""
    made: list[LittleMemory] = []

    def limit(most: int) -> list[LittleMemory]:
        def open_little(*arguments: Any) -> Any:
            session, provider = open_session(*arguments)
            made.append(LittleMemory(session, most))
            return made[-1], provider

        monkeypatch.setattr("mrag.adapters.onnx.open_session", open_little)
        return made

    return limit


def test_runs_become_smaller_when_memory_ends(tmp_path, little_memory):
    wanted = load_encoder(encoder_folder(tmp_path))(TEXTS * 20)
    (sessions, told) = little_memory(40), []
    encoder = load_encoder(tmp_path, threads=1, batch_tokens=400, tell=told.append)
    assert np.array_equal(encoder(TEXTS * 20), wanted)
    tried = sum(np.prod(shape) > 40 for shape in sessions[0].runs)
    assert "out of memory: runs of at most" in told[-1]
    encoder(TEXTS * 20)
    assert sum(np.prod(shape) > 40 for shape in sessions[0].runs) == tried  # it is not tried again


def test_a_single_text_that_memory_is_too_small_for_is_an_error(tmp_path, little_memory):
    little_memory(10)
    encoder = load_encoder(encoder_folder(tmp_path))
    with pytest.raises(MragError, match="not enough memory for one text of 16 tokens: use fewer threads"):
        encoder(["mill " * 12])


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("CUDA failure 2: out of memory ; GPU=0 ; hostname=x"),
        RuntimeError("Available memory of 1024 is smaller than requested bytes of 4096"),
        RuntimeError("std::bad_alloc"),
    ],
)
def test_what_says_that_memory_ended(error):
    assert is_out_of_memory(error)
    assert not is_out_of_memory(RuntimeError("invalid argument"))


def quantised_folder(folder: Path) -> Path:
    """An encoder whose vectors go through a product in int8 that is scaled while running."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    encoder_folder(folder)
    nodes = [("Gather", "words input_ids", "found"), ("MatMul", "found matrix", "last_hidden_state")]
    matrix = np.random.default_rng(2).normal(size=(4, 4)).astype(np.float32)
    scaled = VECTORS * np.arange(1, len(WORDS) + 1)[:, None].astype(np.float32)
    weights = {"words": scaled, "matrix": matrix}
    write_graph(folder / "float.onnx", nodes, TOKEN_VECTORS, inputs=["input_ids"], weights=weights)
    quantize_dynamic(folder / "float.onnx", folder / "model.onnx", ["MatMul"], weight_type=QuantType.QInt8)
    (folder / "float.onnx").unlink()
    return folder


def test_a_graph_that_quantises_while_running_gives_the_same_bits_in_any_company(tmp_path):
    texts = ["the mill", "who ran", "Yes Yes", "bridge B:"]
    encoder = load_encoder(quantised_folder(tmp_path))
    assert np.array_equal(np.concatenate([encoder([text]) for text in texts]), encoder(texts))


def test_such_a_graph_takes_batches_where_they_are_asked_for(tmp_path):
    texts = ["the mill", "who ran", "Yes Yes", "bridge B:"]
    encoder = load_encoder(quantised_folder(tmp_path), batch_tokens=512)
    alone = np.concatenate([encoder([text]) for text in texts])
    assert not np.array_equal(alone, encoder(texts))
    assert np.allclose(alone, encoder(texts), atol=0.2)


# --- rerankers -----------------------------------------------------------------------------------

WEIGHTS = np.linspace(-2, 2, len(WORDS), dtype=np.float32)
LOGIT = [
    ("Gather", "words input_ids", "word"),
    ("Gather", "types token_type_ids", "type"),
    ("Mul", "word type", "weighed"),
    ("Cast", "attention_mask", "mask", {"to": onnx.TensorProto.FLOAT}),
    ("Mul", "weighed mask", "kept"),
    ("ReduceSum", "kept one", "logits"),
]


def pair_folder(folder: Path, **settings: Any) -> Path:
    """A cross-encoder: the weights of the query's tokens, and three times those of the text's, added up."""
    write_folder(folder, PAIR, **settings)
    weights = {
        "words": WEIGHTS,
        "types": np.array([1.0, 3.0], np.float32),
        "one": np.array([1]),
    }
    inputs = ["input_ids", "attention_mask", "token_type_ids"]
    write_graph(folder / "model.onnx", LOGIT, {"logits": ["batch", 1]}, inputs=inputs, weights=weights)
    return folder


def pair_logit(query: str, text: str) -> float:
    first, second = (
        sum(WEIGHTS[IDS[word]] for word in part.split()) for part in (f"[CLS] {query} [SEP]", f"{text} [SEP]")
    )
    return float(first + 3 * second)


def test_a_cross_encoder_reads_query_and_text_with_their_types(tmp_path):
    scorer = load_scorer(pair_folder(tmp_path))
    wanted = [pair_logit("who ran", text) for text in TEXTS]
    assert np.allclose(scorer.logits("who ran", TEXTS), wanted, atol=1e-5)


def test_scores_are_the_sigmoid_of_logits_over_the_temperature(tmp_path):
    scorer = load_scorer(pair_folder(tmp_path, mrag={"temperature": 4.0}))
    found = scorer("who ran", TEXTS)
    assert found.dtype == np.float32
    assert np.allclose(found, 1 / (1 + np.exp(-scorer.logits("who ran", TEXTS) / 4)), atol=1e-6)
    assert load_scorer(tmp_path, temperature=1.5).temperature == 1.5


def test_no_texts_have_no_scores(tmp_path):
    assert load_scorer(pair_folder(tmp_path))("who", []).tolist() == []


def test_a_pair_has_the_same_bits_in_any_company(tmp_path):
    scorer = load_scorer(pair_folder(tmp_path), threads=2, batch_tokens=30)
    together = scorer("who ran", TEXTS * 9)
    assert np.array_equal(np.concatenate([scorer("who ran", [text]) for text in TEXTS * 9]), together)


def test_a_classifier_of_several_labels_is_no_reranker(tmp_path):
    pair_folder(tmp_path)
    weights = {"words": np.ones((len(WORDS), 3), np.float32), "first": np.array(0)}
    nodes = [("Gather", "words input_ids", "word"), ("Gather", "word first", "logits", {"axis": 1})]
    write_graph(tmp_path / "model.onnx", nodes, {"logits": ["batch", 3]}, inputs=["input_ids"], weights=weights)
    with pytest.raises(InputError, match=r"gives \[1, 3\] numbers for 1 pairs: a reranker gives one for each"):
        load_scorer(tmp_path)


def test_a_language_model_scores_its_prompt(tmp_path):
    write_folder(tmp_path, GEMMA, mrag=PROMPT)
    nodes = [("Gather", "words input_ids", "word"), ("ReduceSum", "word one", "logits")]
    weights = {"words": WEIGHTS, "one": np.array([1])}
    write_graph(tmp_path / "model.onnx", nodes, {"logits": ["batch", 1]}, inputs=["input_ids"], weights=weights)
    wanted = sum(WEIGHTS[IDS[word]] for word in "[CLS] A: who B: the mill mill Yes".split())
    found = load_scorer(tmp_path).logits(
        "who", ["the mill mill"]
    )  # eight tokens: no pads, which this graph would add up
    assert found == pytest.approx([wanted], abs=1e-5)


NEXT = np.random.default_rng(3).normal(size=(len(WORDS), len(WORDS))).astype(np.float32)


@pytest.mark.parametrize("side", ["left", "right"])
def test_of_all_logits_that_of_yes_after_the_last_token_counts(tmp_path, side):
    told = {**PROMPT, "yes_id": IDS["Yes"], "prompt": "bridge"}
    write_folder(tmp_path, GEMMA, mrag=told, tokenizer_config={"padding_side": side})
    outputs = {"logits": ["batch", "sequence", len(WORDS)]}
    write_graph(tmp_path / "model.onnx", [("Gather", "next input_ids", "logits")], outputs, weights={"next": NEXT})
    found = load_scorer(tmp_path).logits("who", TEXTS)
    assert found == pytest.approx([NEXT[IDS["bridge"], IDS["Yes"]]] * len(TEXTS))


def test_logits_of_the_last_token_alone_are_taken_with_pads_on_the_left(tmp_path):
    told = {**PROMPT, "yes_id": IDS["Yes"], "prompt": "bridge"}
    write_folder(tmp_path, GEMMA, mrag=told)
    nodes = [("Gather", "next input_ids", "all"), ("Gather", "all last", "logits", {"axis": 1})]
    weights = {"next": NEXT, "last": np.array([-1])}
    write_graph(tmp_path / "model.onnx", nodes, {"logits": ["batch", 1, len(WORDS)]}, weights=weights)
    found = load_scorer(tmp_path).logits("who", TEXTS)
    assert found == pytest.approx([NEXT[IDS["bridge"], IDS["Yes"]]] * len(TEXTS))


def test_all_logits_without_the_token_that_counts_are_refused(tmp_path):
    write_folder(tmp_path, GEMMA, mrag=PROMPT)
    outputs = {"logits": ["batch", "sequence", len(WORDS)]}
    write_graph(tmp_path / "model.onnx", [("Gather", "next input_ids", "logits")], outputs, weights={"next": NEXT})
    with pytest.raises(InputError, match=r"needs its yes_id in mrag\.json"):
        load_scorer(tmp_path)


def test_an_encoder_scores_texts_by_cosine(tmp_path):
    score = text_scorer(load_encoder(encoder_folder(tmp_path)))
    wanted = [max(float(mean_of("who ran") @ mean_of(text)), 0.0) for text in TEXTS]
    assert np.allclose(score("who ran", TEXTS), wanted, atol=1e-6)


def test_an_encoder_scores_texts_by_dot_products_over_the_usual_one(tmp_path):
    encoder = load_encoder(encoder_folder(tmp_path, described=False))
    asked, found = encoder(["who ran"], role="query")[0], encoder(TEXTS)
    wanted = np.clip(found @ asked / encoder.usual_square, 0, 1)
    assert np.allclose(text_scorer(encoder)("who ran", TEXTS), wanted, atol=1e-6)


# --- fingerprints --------------------------------------------------------------------------------


def test_the_same_folder_elsewhere_has_the_same_fingerprint(tmp_path):
    first, second = (load_encoder(encoder_folder(tmp_path / name)) for name in "ab")
    assert first.fingerprint == second.fingerprint
    assert first.family_fingerprint == second.family_fingerprint


@pytest.mark.parametrize(
    "options",
    [{"pooling": "cls"}, {"metric": "dot"}, {"query_prefix": "who "}, {"passage_prefix": "the "}, {"max_length": 16}],
)
def test_every_option_that_changes_vectors_changes_both_fingerprints(tmp_path, options):
    encoder_folder(tmp_path, mrag={"kind": "encoder", "weights": "abc"})
    usual, other = load_encoder(tmp_path), load_encoder(tmp_path, **options)
    assert usual.fingerprint != other.fingerprint
    assert usual.family_fingerprint != other.family_fingerprint


def test_what_does_not_change_vectors_changes_no_fingerprint(tmp_path):
    encoder_folder(tmp_path)
    other = load_encoder(tmp_path, threads=1, batch_tokens=16, provider="cpu")
    assert load_encoder(tmp_path).fingerprint == other.fingerprint


def test_another_tokeniser_is_another_encoder(tmp_path):
    encoder_folder(tmp_path, mrag={"kind": "encoder", "weights": "abc"})
    before = load_encoder(tmp_path)
    mark = before.fingerprint, before.family_fingerprint
    path = tmp_path / "tokenizer.json"
    path.write_text(path.read_text().replace('"mill"', '"mull"'))
    after = load_encoder(tmp_path)
    assert after.fingerprint != mark[0]
    assert after.family_fingerprint != mark[1]


@pytest.mark.parametrize(
    "settings",
    [
        {"mrag": {"kind": "encoder", "weights": "abc", "precision": "float16"}},
        {"mrag-pulled": {"repo": "owner/name", "revision": "0123", "precision": "float16"}},
    ],
)
def test_other_precisions_of_one_source_are_one_family(tmp_path, settings):
    first, second = (encoder_folder(tmp_path / name, **settings) for name in "ab")
    other = {"words": VECTORS.astype(np.float16).astype(np.float32)}
    write_graph(second / "model.onnx", LOOKUP, TOKEN_VECTORS, inputs=["input_ids"], weights=other)
    one, two = load_encoder(first), load_encoder(second)
    assert one.fingerprint != two.fingerprint
    assert one.family_fingerprint == two.family_fingerprint


def test_without_word_of_its_source_every_file_is_a_family_of_its_own(tmp_path):
    first, second = (encoder_folder(tmp_path / name) for name in "ab")
    other = {"words": VECTORS + np.float32(1e-3)}
    write_graph(second / "model.onnx", LOOKUP, TOKEN_VECTORS, inputs=["input_ids"], weights=other)
    assert load_encoder(first).family_fingerprint != load_encoder(second).family_fingerprint


def test_weights_beside_the_graph_count(tmp_path):
    marks = []
    for name, words in (("a", VECTORS), ("b", VECTORS + np.float32(1e-3))):
        folder = encoder_folder(tmp_path / name)
        write_graph(folder / "model.onnx", LOOKUP, TOKEN_VECTORS, inputs=["input_ids"], weights={"words": words})
        graph = onnx.load(folder / "model.onnx")
        onnx.save(graph, folder / "model.onnx", save_as_external_data=True, location="w", size_threshold=0)
        marks.append(load_encoder(folder).fingerprint)
    assert (tmp_path / "a/model.onnx").read_bytes() == (tmp_path / "b/model.onnx").read_bytes()
    assert marks[0] != marks[1]


# --- providers -----------------------------------------------------------------------------------


def has_gpu() -> bool:
    import ctypes

    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


without_gpu = pytest.mark.skipif(has_gpu(), reason="this machine has a GPU")


@without_gpu
def test_auto_says_that_it_is_the_cpu_and_why(tmp_path):
    told: list[str] = []
    encoder = load_encoder(encoder_folder(tmp_path), tell=told.append)
    assert encoder.provider == "cpu"
    assert any(line.startswith("onnxruntime runs on the CPU (CUDA: ") for line in told)


@without_gpu
def test_cuda_that_cannot_be_had_is_an_error_with_the_reason_and_the_extra(tmp_path):
    wanted = r"CUDA cannot be had: .+; .*pip install 'onnxruntime-gpu\[cuda,cudnn\]'"
    with pytest.raises(MissingExtraError, match=wanted):
        load_encoder(encoder_folder(tmp_path), provider="cuda")


def test_an_unknown_provider_is_named(tmp_path):
    with pytest.raises(InputError, match="no provider 'rocm'; there are auto, cpu, cuda"):
        load_encoder(encoder_folder(tmp_path), provider="rocm")  # type: ignore[arg-type]


@pytest.mark.parametrize("provider", ["auto", "cpu", "cuda"])
def test_nothing_is_printed(tmp_path, provider):
    encoder_folder(tmp_path)
    program = f"""
import sys
from pathlib import Path
from mrag.adapters.onnx import load_encoder
from mrag.errors import MissingExtraError
try:
    encoder = load_encoder(Path(sys.argv[1]), provider={provider!r})
    encoder(["the mill"])
except MissingExtraError:
    pass
"""
    run = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert run.stdout == ""
    assert "EP Error" not in run.stderr
    assert "[E:onnxruntime" not in run.stderr
    assert "[W:onnxruntime" not in run.stderr


def test_a_model_needs_neither_torch_nor_transformers(tmp_path):
    encoder_folder(tmp_path)
    program = """
import sys
from pathlib import Path
from mrag.adapters.onnx import load_encoder
load_encoder(Path(sys.argv[1]))(["the mill"])
print(sorted({"torch", "transformers", "onnx", "sentence_transformers", "huggingface_hub"} & set(sys.modules)))
"""
    run = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# --- the real model ------------------------------------------------------------------------------

SENTENCES = [
    "Theresa May was Prime Minister of the United Kingdom from 2016 to 2019.",
    "Boris Johnson became Prime Minister in July 2019.",
    "The mill burnt down in 1931 and was never built again.",
    "A species of beetle in the family Carabidae.",
    "",
    "word " * 600,
]


@with_minilm
def test_minilm_finds_the_sentence_that_answers():
    encoder = load_encoder(Path(MINILM))
    assert (encoder.dimension, encoder.pooling, encoder.metric, encoder.max_length) == (384, "mean", "cosine", 256)
    scores = text_scorer(encoder)("Who led the British government?", SENTENCES)
    assert set(np.argsort(-scores)[:2].tolist()) == {0, 1}


@with_minilm
def test_minilm_gives_unit_vectors():
    assert np.allclose(np.linalg.norm(load_encoder(Path(MINILM))(SENTENCES), axis=1), 1.0, atol=1e-6)


@with_minilm
def test_minilm_gives_a_text_the_same_bits_in_any_company():
    texts = [f"{sentence} {'The river rose. ' * at}" for at in range(12) for sentence in SENTENCES]
    encoder = load_encoder(Path(MINILM), threads=2)
    together = encoder(texts)
    assert np.array_equal(encoder(texts[::-1])[::-1], together)
    assert np.array_equal(np.concatenate([encoder([text]) for text in texts]), together)
    assert np.array_equal(load_encoder(Path(MINILM), threads=1, batch_tokens=64)(texts), together)
