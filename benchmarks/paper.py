"""The paper's figures (MRAG: A Modular Retrieval Framework for Time-Sensitive Question Answering), in percent.

Its appendices name further tables (complete retrieval results, readers by number of passages, long documents,
ablation, overhead) whose figures are not in its text; there is nothing of them here.
"""

from __future__ import annotations

from collections.abc import Mapping

MEASURES = ("AR@1", "AR@5", "ER@1", "ER@5")

Subsets = Mapping[str, tuple[float, ...]]
"""The subset of TempRAGEval, "timeqa" or "situatedqa" -> its figures."""

TABLE2: Mapping[tuple[str, str, str], Subsets] = {
    ("BM25", "-", "-"): {"timeqa": (17.5, 39.0, 4.2, 14.1), "situatedqa": (27.6, 58.2, 6.8, 18.4)},
    ("Contriever", "-", "-"): {"timeqa": (18.8, 49.9, 9.6, 28.7), "situatedqa": (22.6, 51.1, 6.8, 17.1)},
    ("Hybrid", "-", "-"): {"timeqa": (18.8, 51.2, 9.6, 28.1), "situatedqa": (22.6, 55.8, 6.8, 19.7)},
    ("Contriever", "ELECTRA", "-"): {"timeqa": (40.1, 76.9, 21.8, 58.6), "situatedqa": (35.5, 71.3, 15.3, 37.1)},
    ("Contriever", "MiniLM", "-"): {"timeqa": (34.0, 76.1, 16.2, 57.3), "situatedqa": (36.8, 73.4, 20.0, 40.3)},
    ("Contriever", "Jina", "-"): {"timeqa": (42.4, 77.2, 23.6, 58.6), "situatedqa": (47.9, 78.4, 19.5, 41.1)},
    ("Contriever", "BGE", "-"): {"timeqa": (40.3, 80.9, 23.3, 61.3), "situatedqa": (36.3, 74.2, 14.5, 35.0)},
    ("Contriever", "NV-Embed", "-"): {"timeqa": (49.9, 81.2, 33.4, 62.9), "situatedqa": (47.4, 81.3, 23.4, 46.1)},
    ("Contriever", "Gemma", "-"): {"timeqa": (46.7, 82.5, 26.0, 66.6), "situatedqa": (54.7, 82.6, 20.3, 45.3)},
    ("Contriever", "MRAG", "-"): {"timeqa": (57.6, 89.4, 32.4, 73.5), "situatedqa": (61.1, 88.2, 27.4, 56.3)},
    ("Contriever", "MRAG", "5"): {"timeqa": (58.6, 90.0, 37.1, 74.3), "situatedqa": (61.3, 89.0, 31.1, 59.2)},
    ("Contriever", "MRAG", "10"): {"timeqa": (56.0, 88.1, 35.5, 73.2), "situatedqa": (62.1, 87.9, 30.8, 57.9)},
}
"""Table 2, perturbed questions: first stage, second stage, passages summarised -> the MEASURES of each subset."""

READERS: Mapping[str, tuple[str, ...]] = {
    "GPT-4o mini": ("gpt", "4o", "mini"),
    "TIMO": ("timo",),
    "Llama-3.1-8B": ("llama", "3.1", "8b"),
    "Llama-3.1-70B": ("llama", "3.1", "70b"),
}
"""The paper's readers, and what the name of each holds on a server."""

TABLE3: Mapping[tuple[str, str], Mapping[str, tuple[int, float, float]]] = {
    ("GPT-4o mini", "direct"): {"timeqa": (0, 19.6, 30.6), "situatedqa": (0, 54.2, 58.6)},
    ("TIMO", "direct"): {"timeqa": (0, 16.2, 24.8), "situatedqa": (0, 50.6, 53.1)},
    ("TIMO", "direct-cot"): {"timeqa": (0, 15.8, 28.2), "situatedqa": (0, 49.4, 53.9)},
    ("TIMO", "rag-concat"): {"timeqa": (3, 43.4, 55.2), "situatedqa": (3, 55.8, 58.1)},
    ("TIMO", "mrag-concat"): {"timeqa": (3, 48.2, 57.2), "situatedqa": (3, 61.4, 63.6)},
    ("TIMO", "self-mrag"): {"timeqa": (3, 44.6, 54.9), "situatedqa": (3, 62.4, 64.5)},
    ("Llama-3.1-8B", "direct"): {"timeqa": (0, 16.0, 23.9), "situatedqa": (0, 42.8, 45.0)},
    ("Llama-3.1-8B", "direct-cot"): {"timeqa": (0, 16.8, 27.8), "situatedqa": (0, 49.6, 54.5)},
    ("Llama-3.1-8B", "rag-concat"): {"timeqa": (5, 44.0, 52.8), "situatedqa": (5, 60.0, 62.7)},
    ("Llama-3.1-8B", "mrag-concat"): {"timeqa": (5, 49.2, 59.2), "situatedqa": (5, 65.8, 68.0)},
    ("Llama-3.1-8B", "self-mrag"): {"timeqa": (5, 54.2, 65.6), "situatedqa": (5, 66.4, 68.2)},
    ("Llama-3.1-70B", "direct"): {"timeqa": (0, 31.0, 42.3), "situatedqa": (0, 59.0, 62.1)},
    ("Llama-3.1-70B", "direct-cot"): {"timeqa": (0, 33.2, 45.8), "situatedqa": (0, 69.0, 72.6)},
    ("Llama-3.1-70B", "rag-concat"): {"timeqa": (5, 54.4, 63.2), "situatedqa": (20, 67.0, 69.8)},
    ("Llama-3.1-70B", "mrag-concat"): {"timeqa": (5, 58.0, 68.4), "situatedqa": (20, 69.2, 72.5)},
    ("Llama-3.1-70B", "self-mrag"): {"timeqa": (5, 61.2, 75.3), "situatedqa": (20, 72.2, 76.0)},
}
"""Table 3: reader and strategy -> passages read (0: none), EM and F1 of each subset."""

TABLE4: Mapping[str, Mapping[str, float]] = {
    "timeqa": {"original": 123, "perturbed": 377, "total": 500, "tokens": 15.2, "popularity": 7456},
    "situatedqa": {"original": 120, "perturbed": 380, "total": 500, "tokens": 15.6, "popularity": 57521},
}
"""Table 4: questions, GPT-2 tokens of a question, page views a month of the page asked about."""

FIGURE2: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "situatedqa": {"AR@1": (85.8, 54.7), "ER@1": (45.0, 20.3)},
}
"""Section 3.3, Figure 2: Contriever and Gemma, original and perturbed. Its Figure 6 names no figures in the text."""


def reader_of(model: str) -> str:
    """The paper's reader that the name of a model on a server means, else that name itself.

    >>> reader_of("meta-llama/Llama-3.1-8B-Instruct"), reader_of("qwen3:4b")
    ('Llama-3.1-8B', 'qwen3:4b')
    """
    name = model.lower()
    return next((reader for reader, parts in READERS.items() if all(part in name for part in parts)), model)
