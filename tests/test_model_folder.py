"""What a model's folder says about its use, and what is refused, by name."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrag.adapters.models.batching import Padding
from mrag.adapters.models.model_files import find_files
from mrag.adapters.models.model_folder import EncoderRecipe, encoder_recipe, kind_of, scorer_recipe
from mrag.errors import InputError

EMPTY_GRAPH = b"\x08\x08"  # an ONNX file that says its version and nothing else

TRANSFORMER = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
POOLING = {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}
DENSE = {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
NORMALIZE = {"idx": 3, "name": "3", "path": "3_Normalize", "type": "sentence_transformers.models.Normalize"}
MEAN = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True, "word_embedding_dimension": 4}
BERT = {"model_type": "bert", "architectures": ["BertModel"], "max_position_embeddings": 512, "pad_token_id": 0}
TANH = {"in_features": 4, "out_features": 2, "activation_function": "torch.nn.modules.activation.Tanh"}


def model(folder: Path, **files: Any) -> Path:
    """A model's folder: a keyword is a file, ``__`` stands for a slash, ``.json`` is added; None takes it away."""
    rows = {"config": BERT, "tokenizer": {}, **files}
    for name, row in rows.items():
        if row is not None:
            path = folder / f"{name.replace('__', '/')}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(row))
    if not list(folder.rglob("*.onnx")):
        (folder / "model.onnx").write_bytes(EMPTY_GRAPH)
    return folder


def encoder(folder: Path, **options: Any) -> EncoderRecipe:
    return encoder_recipe(find_files(folder), **options)


def weights(path: Path, tensors: dict[str, np.ndarray]) -> None:
    header, numbers = {}, b""
    for name, values in tensors.items():
        end = len(numbers) + values.nbytes
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [len(numbers), end]}
        numbers += values.astype("<f4").tobytes()
    text = json.dumps(header).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(text)) + text + numbers)


# --- modules -------------------------------------------------------------------------------------


def test_pooling_and_normalising_are_read_from_modules(tmp_path):
    model(tmp_path, modules=[TRANSFORMER, POOLING, NORMALIZE], **{"1_Pooling__config": MEAN})
    recipe = encoder(tmp_path)
    assert (recipe.pooling, recipe.normalised, recipe.metric, recipe.layers) == ("mean", True, "cosine", ())


def test_without_modules_it_is_the_dot_product_of_vectors_that_are_not_normalised(tmp_path):
    recipe = encoder(model(tmp_path))
    assert (recipe.pooling, recipe.normalised, recipe.metric) == (None, False, "dot")


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_lasttoken": True, "include_prompt": True}, "last"),
        ({"pooling_mode_max_tokens": True}, "max"),
        ({"pooling_mode": "mean", "embedding_dimension": 4}, "mean"),
        ({"pooling_mode": "lasttoken"}, "last"),
        ({"pooling_mode": ["cls"]}, "cls"),
    ],
)
def test_every_way_to_write_a_pooling(tmp_path, settings, wanted):
    model(tmp_path, modules=[TRANSFORMER, POOLING], **{"1_Pooling__config": settings})
    assert encoder(tmp_path).pooling == wanted


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"pooling_mode_mean_sqrt_len_tokens": True}, "pooling_mode_mean_sqrt_len_tokens"),
        ({"pooling_mode_weightedmean_tokens": True}, "pooling_mode_weightedmean_tokens"),
        ({"pooling_mode": "weightedmean"}, "weightedmean"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}, "cls and mean"),
        ({"pooling_mode": {"a": 1}}, "pooling by"),
        ({"pooling_mode": [["mean"]]}, "pooling by"),
        ({}, "pooling by nothing"),
        ({"pooling_mode_mean_tokens": True, "include_prompt": False}, "leaves out the tokens of the prompt"),
    ],
)
def test_a_pooling_that_cannot_be_applied_is_named(tmp_path, settings, said):
    model(tmp_path, modules=[TRANSFORMER, POOLING], **{"1_Pooling__config": settings})
    with pytest.raises(InputError, match=said):
        encoder(tmp_path)


@pytest.mark.parametrize("kind", ["LSTM", "CNN", "WeightedLayerPooling", "SpladePooling", "StaticEmbedding", "Router"])
def test_a_module_that_cannot_be_applied_is_named(tmp_path, kind):
    other = {"path": "2_Other", "type": f"sentence_transformers.models.{kind}"}
    model(tmp_path, modules=[TRANSFORMER, POOLING, other], **{"1_Pooling__config": MEAN})
    with pytest.raises(InputError, match=rf"modules\.json: the module {kind} cannot be applied"):
        encoder(tmp_path)


@pytest.mark.parametrize(
    "modules",
    [
        [],
        [TRANSFORMER],
        [POOLING, TRANSFORMER],
        [TRANSFORMER, NORMALIZE],
        [TRANSFORMER, POOLING, POOLING],
        [TRANSFORMER, DENSE, POOLING],
        [TRANSFORMER, POOLING, NORMALIZE, DENSE],
    ],
)
def test_an_order_of_modules_that_cannot_be_applied_is_refused(tmp_path, modules):
    model(tmp_path, modules=modules, **{"1_Pooling__config": MEAN})
    with pytest.raises(InputError, match="modules in the order"):
        encoder(tmp_path)


def test_dropout_is_for_training_only(tmp_path):
    dropout = {"path": "2_Dropout", "type": "sentence_transformers.models.Dropout"}
    model(tmp_path, modules=[TRANSFORMER, POOLING, dropout, NORMALIZE], **{"1_Pooling__config": MEAN})
    assert encoder(tmp_path).normalised


@pytest.mark.parametrize(
    "modules", [7, {"0": TRANSFORMER}, [7], [{"type": 7, "path": ""}], [{"type": "Transformer", "path": 7}]]
)
def test_modules_of_another_shape_are_refused(tmp_path, modules):
    with pytest.raises(InputError, match=r"modules\.json"):
        encoder(model(tmp_path, modules=modules))


@pytest.mark.parametrize("path", ["../other", "/etc", "a/../../b", "C:\\x", "a\\b", "1_Pooling/", "a\0b"])
def test_a_module_outside_the_folder_is_refused(tmp_path, path):
    model(tmp_path, modules=[TRANSFORMER, {**POOLING, "path": path}])
    with pytest.raises(InputError, match=r"modules\.json: names .* refused"):
        encoder(tmp_path)


def test_a_missing_pooling_is_named(tmp_path):
    with pytest.raises(InputError, match=r"1_Pooling/config\.json is missing"):
        encoder(model(tmp_path, modules=[TRANSFORMER, POOLING]))


# --- dense layers --------------------------------------------------------------------------------


def with_dense(folder: Path, settings: dict[str, Any] = TANH, tensors: dict[str, np.ndarray] | None = None) -> Path:
    model(folder, modules=[TRANSFORMER, POOLING, DENSE], **{"1_Pooling__config": MEAN, "2_Dense__config": settings})
    weights(folder / "2_Dense/model.safetensors", tensors or {"linear.weight": np.ones((2, 4), np.float32)})
    return folder


def test_a_dense_layer_is_read(tmp_path):
    tensors = {"linear.weight": np.ones((2, 4), np.float32), "linear.bias": np.array([1.0, 2.0], np.float32)}
    (layer,) = encoder(with_dense(tmp_path, tensors=tensors)).layers
    assert layer.weight.shape == (2, 4)
    assert layer.bias is not None
    assert layer.bias.tolist() == [1.0, 2.0]
    assert layer.activation == "tanh"


def test_a_dense_layer_without_an_activation_has_the_usual_one(tmp_path):
    assert encoder(with_dense(tmp_path, {})).layers[0].activation == "tanh"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"activation_function": "torch.nn.modules.activation.GELU"}, "activation torch.nn.modules.activation.GELU"),
        ({"use_residual": True}, "residual"),
        ({"module_input_name": "token_embeddings"}, "module_input_name 'token_embeddings'"),
        ({"module_output_name": "other"}, "module_output_name"),
        ({"activation_function": 7}, "activation_function"),
    ],
)
def test_a_dense_layer_that_cannot_be_applied_is_named(tmp_path, settings, said):
    with pytest.raises(InputError, match=said):
        encoder(with_dense(tmp_path, settings))


@pytest.mark.parametrize(
    "tensors",
    [
        {"linear.bias": np.ones(2, np.float32)},
        {"linear.weight": np.ones(2, np.float32)},
        {"linear.weight": np.ones((0, 4), np.float32)},
        {"linear.weight": np.ones((2, 4), np.float32), "linear.bias": np.ones(3, np.float32)},
        {"linear.weight": np.ones((2, 4), np.float32), "residual.weight": np.ones((2, 4), np.float32)},
    ],
)
def test_weights_that_make_no_dense_layer_are_refused(tmp_path, tensors):
    with pytest.raises(InputError, match=r"model\.safetensors"):
        encoder(with_dense(tmp_path, tensors=tensors))


def test_a_pickle_of_weights_is_not_read(tmp_path):
    with_dense(tmp_path)
    (tmp_path / "2_Dense/model.safetensors").rename(tmp_path / "2_Dense/pytorch_model.bin")
    with pytest.raises(InputError, match=r"pytorch_model\.bin, a pickle, is not read: mrag export"):
        encoder(tmp_path)


# --- metric, prefixes, length --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("modules", "named", "wanted"),
    [
        ([TRANSFORMER, POOLING], None, "cosine"),
        ([TRANSFORMER, POOLING], "dot", "dot"),
        ([TRANSFORMER, POOLING], "cosine", "cosine"),
        ([TRANSFORMER, POOLING, NORMALIZE], "euclidean", "cosine"),
        ([TRANSFORMER, POOLING, NORMALIZE], "dot", "cosine"),
        (None, "cosine", "cosine"),
    ],
)
def test_the_metric_is_sentence_transformers(tmp_path, modules, named, wanted):
    settings = {"similarity_fn_name": named}
    model(tmp_path, modules=modules, config_sentence_transformers=settings, **{"1_Pooling__config": MEAN})
    assert encoder(tmp_path).metric == wanted


def test_a_metric_that_is_not_known_is_named(tmp_path):
    model(tmp_path, modules=[TRANSFORMER, POOLING], **{"1_Pooling__config": MEAN})
    model(tmp_path, config_sentence_transformers={"similarity_fn_name": "manhattan"})
    with pytest.raises(InputError, match="'manhattan'"):
        encoder(tmp_path)


@pytest.mark.parametrize("key", ["document", "passage", "corpus"])
def test_prefixes_are_sentence_transformers_prompts(tmp_path, key):
    prompts = {"query": "query: ", "document": "", key: "passage: ", "Clustering": "other"}
    recipe = encoder(model(tmp_path, config_sentence_transformers={"prompts": prompts}))
    assert (recipe.query_prefix, recipe.passage_prefix) == ("query: ", "passage: ")


def test_mrag_json_comes_before_what_other_files_say(tmp_path):
    told = {
        "kind": "encoder",
        "pooling": "cls",
        "normalise": False,
        "metric": "dot",
        "query_prefix": "",
        "max_length": 99,
    }
    model(tmp_path, mrag=told, modules=[TRANSFORMER, POOLING, NORMALIZE], **{"1_Pooling__config": MEAN})
    model(tmp_path, config_sentence_transformers={"prompts": {"query": "query: "}})
    recipe = encoder(tmp_path)
    assert (recipe.pooling, recipe.normalised, recipe.metric) == ("cls", False, "dot")
    assert (recipe.query_prefix, recipe.max_length) == ("", 99)


def test_options_come_before_mrag_json(tmp_path):
    model(tmp_path, mrag={"kind": "encoder", "pooling": "cls", "metric": "dot", "query_prefix": "a", "max_length": 99})
    recipe = encoder(tmp_path, pooling="last", metric="cosine", query_prefix="b", passage_prefix="c", max_length=50)
    assert (recipe.pooling, recipe.metric, recipe.max_length) == ("last", "cosine", 50)
    assert (recipe.query_prefix, recipe.passage_prefix) == ("b", "c")


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({}, 512),
        ({"sentence_bert_config": {"max_seq_length": 256}}, 256),
        ({"sentence_bert_config": {"max_seq_length": None}, "tokenizer_config": {"model_max_length": 128}}, 128),
        ({"tokenizer_config": {"model_max_length": 1e30}}, 512),
        ({"tokenizer_config": {"model_max_length": 10**30}}, 512),
        ({"tokenizer_config": {"model_max_length": "x"}}, 512),
        ({"config": {"model_type": "gemma3_text", "max_position_embeddings": 2048}}, 512),
        ({"config": {"max_position_embeddings": 64}, "sentence_bert_config": {"max_seq_length": 256}}, 64),
        ({"config": {"model_type": "xlm-roberta", "max_position_embeddings": 514, "pad_token_id": 1}}, 512),
        ({"config": {"model_type": "mpnet", "max_position_embeddings": 130, "pad_token_id": 1}}, 128),
        ({"config": {"model_type": "t5"}, "sentence_bert_config": {"max_seq_length": 1000}}, 1000),
    ],
)
def test_the_length_is_the_models_within_its_positions(tmp_path, files, wanted):
    assert encoder(model(tmp_path, **files)).max_length == wanted


@pytest.mark.parametrize("length", [-1, 0, 7, 513, 10**12])
def test_a_length_that_the_model_cannot_read_is_refused(tmp_path, length):
    with pytest.raises(InputError, match=f"max_length {length}; this model can read 8 to 512 tokens"):
        encoder(model(tmp_path), max_length=length)


@pytest.mark.parametrize("length", [-5, 1])
def test_an_absurd_length_in_a_file_is_refused(tmp_path, length):
    with pytest.raises(InputError, match=f"a maximum length of {length} tokens"):
        encoder(model(tmp_path, sentence_bert_config={"max_seq_length": length}))


def test_texts_are_put_into_lower_case_where_the_folder_says_so(tmp_path):
    assert not encoder(model(tmp_path)).lower
    assert encoder(model(tmp_path, sentence_bert_config={"do_lower_case": True})).lower


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({}, Padding(0, left=False)),
        ({"config": {**BERT, "pad_token_id": 1}}, Padding(1, left=False)),
        ({"config": {**BERT, "pad_token_id": None}}, Padding(0, left=False)),
        ({"tokenizer_config": {"padding_side": "left"}}, Padding(0, left=True)),
    ],
)
def test_the_pad_is_the_models(tmp_path, files, wanted):
    assert encoder(model(tmp_path, **files)).padding == wanted


# --- rerankers -----------------------------------------------------------------------------------

PAIR = {**BERT, "architectures": ["BertForSequenceClassification"]}
GEMMA = {"model_type": "gemma", "architectures": ["GemmaForCausalLM"], "max_position_embeddings": 8192}
PROMPT = {
    "kind": "llm-reranker",
    "prompt": "Yes or No?",
    "separator": "\n",
    "query_prefix": "A: ",
    "passage_prefix": "B: ",
    "bos_id": 2,
    "yes_id": 7,
    "max_length": 1024,
    "temperature": 4,
}


def test_the_kind_is_read_from_the_architecture(tmp_path):
    assert kind_of(find_files(model(tmp_path / "a"))) == "encoder"
    assert kind_of(find_files(model(tmp_path / "b", config=PAIR))) == "cross-encoder"
    assert kind_of(find_files(model(tmp_path / "c", config=GEMMA, mrag=PROMPT))) == "llm-reranker"


def test_a_cross_encoder_has_a_length_and_a_temperature(tmp_path):
    recipe = scorer_recipe(find_files(model(tmp_path, config=PAIR, mrag={"temperature": 3})))
    assert (recipe.max_length, recipe.temperature) == (512, 3.0)


def test_the_temperature_is_one_unless_told(tmp_path):
    files = find_files(model(tmp_path, config=PAIR))
    assert scorer_recipe(files).temperature == 1.0
    assert scorer_recipe(files, temperature=2.5).temperature == 2.5


@pytest.mark.parametrize("temperature", [0, -1, float("nan"), float("inf")])
def test_a_temperature_that_cannot_divide_is_refused(tmp_path, temperature):
    with pytest.raises(InputError, match="temperature"):
        scorer_recipe(find_files(model(tmp_path, config=PAIR, mrag={"temperature": temperature})))


def test_a_language_model_has_its_prompt(tmp_path):
    recipe = scorer_recipe(find_files(model(tmp_path, config=GEMMA, mrag=PROMPT)))
    wanted = {key: value for key, value in PROMPT.items() if key != "kind"}
    assert {key: getattr(recipe, key) for key in wanted} == wanted
    assert recipe.padding.left


def test_a_language_model_without_a_prompt_is_refused(tmp_path):
    with pytest.raises(InputError, match=r'mrag\.json: no "prompt".*mrag export'):
        scorer_recipe(find_files(model(tmp_path, config=GEMMA, mrag={"kind": "llm-reranker"})))


@pytest.mark.parametrize("value", [-1, 2**40, 1.5, "x", True])
def test_a_token_that_is_none_is_refused(tmp_path, value):
    with pytest.raises(InputError, match=r'mrag\.json: "yes_id" is'):
        scorer_recipe(find_files(model(tmp_path, config=GEMMA, mrag={**PROMPT, "yes_id": value})))


def test_an_encoder_is_no_reranker_and_the_other_way_round(tmp_path):
    with pytest.raises(InputError, match="an encoder, no reranker: use it with --encoder"):
        scorer_recipe(find_files(model(tmp_path / "a")))
    with pytest.raises(InputError, match=r"a cross-encoder, no encoder.*--reranker"):
        encoder(model(tmp_path / "b", config=PAIR))


# --- settings of another shape -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("mrag", {"kind": "encoder", "pooling": "median"}),
        ("mrag", {"kind": "decoder"}),
        ("mrag", {"kind": 7}),
        ("mrag", {"metric": "manhattan"}),
        ("mrag", {"normalise": "yes"}),
        ("mrag", {"max_length": True}),
        ("mrag", {"max_length": 1e3}),
        ("mrag", {"query_prefix": ["a"]}),
        ("mrag", []),
        ("config", 7),
        ("config", {"architectures": "BertModel"}),
        ("config", {"max_position_embeddings": "many"}),
        ("config", {"pad_token_id": [0]}),
        ("tokenizer_config", {"padding_side": "top"}),
        ("tokenizer_config", [1]),
        ("sentence_bert_config", {"max_seq_length": "long"}),
        ("config_sentence_transformers", {"prompts": ["a"]}),
        ("config_sentence_transformers", {"prompts": {"query": 7}}),
        ("config_sentence_transformers", {"similarity_fn_name": 7}),
    ],
)
def test_a_setting_of_another_kind_is_refused_by_file(tmp_path, name, row):
    with pytest.raises(InputError, match=rf"{name}\.json"):
        encoder(model(tmp_path, **{name: row}))


def test_a_number_beyond_all_floats_is_refused(tmp_path):
    model(tmp_path, config=PAIR)
    (tmp_path / "mrag.json").write_text('{"temperature": 1' + "0" * 400 + "}")
    with pytest.raises(InputError, match='"temperature"'):
        scorer_recipe(find_files(tmp_path))
