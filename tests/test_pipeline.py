"""The stages together: question in, ranked evidence out."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag import bm25
from mrag.columns import Float32, Int64
from mrag.corpus import Corpus, Passage, analyse
from mrag.errors import InputError
from mrag.interval import Interval, join, parse_iso
from mrag.pipeline import Ranking, bm25_retriever, rank_texts, retrieve, retrieve_many
from mrag.settings import LEXICAL, MEANING, Mix, Settings
from mrag.strategies import Strategies, Summary
from mrag.text import tokenise

TERMS = [
    Passage("moe", "Ida Moe was mayor of Lund from 1999 to 2006.", title="Ida Moe"),
    Passage("lie", "Odd Lie was mayor of Lund from 2006 to 2014.", title="Odd Lie"),
    Passage("aas", "Kari Aas has been mayor of Lund since 2014.", title="Kari Aas"),
    Passage("fair", "In 2003 the town hall of Lund was painted.", title="Lund town hall"),
    Passage("born", "Per Dahl (1909–1996) was once mayor of Lund.", title="Per Dahl"),
    Passage("list", "Mayors of Lund:\n- 1971–1985: Siv Berg\n- 1985–1999: Jon Falk", title="Lund", section="Mayors"),
    Passage("mill", "The mill in Ystad was sold in 2003.", title="Mill"),
]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return analyse(TERMS)


def ids(ranking: Ranking) -> list[str]:
    return [evidence.passage.id for evidence in ranking.evidence]


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("Who was mayor of Lund as of 2003?", "moe"),
        ("Who was the mayor of Lund in May 2010?", "lie"),
        ("Who was the mayor of Lund around 1978?", "list"),
        ("Who was the last mayor of Lund before 1999?", "list"),
        ("Who was the first mayor of Lund after 2010?", "aas"),
        ("Between 2015 and 2018, who was mayor of Lund?", "aas"),
    ],
)
def test_the_date_decides(corpus: Corpus, question: str, best: str) -> None:
    assert ids(retrieve(question, corpus))[0] == best


def test_evidence_says_why(corpus: Corpus) -> None:
    top = retrieve("Who was mayor of Lund as of 1990?", corpus).evidence[0]
    assert top.sentence == "- 1985–1999: Jon Falk"
    assert top.mention is not None
    assert str(top.mention.interval) == "1985..1999"
    assert top.temporal == 1.0
    assert top.fits
    assert set(top.ranks) == {"first stage", "keywords", "final"}
    assert 0 < top.semantic <= 1


def test_nothing_fits_is_said(corpus: Corpus) -> None:
    assert not retrieve("Who was mayor of Lund in 1650?", corpus).fits
    assert retrieve("Who was mayor of Lund in 2003?", corpus).fits


def test_without_temporal_it_is_exactly_the_plain_retriever(corpus: Corpus) -> None:
    question = "Who was mayor of Lund in 2003?"
    plain = bm25.scores(
        corpus.lexicon, bm25.term_ids(corpus.lexicon, tokenise(question)), bm25.norms(corpus.lexicon, 0.9, 0.4)
    )
    rows, scores = bm25.top(plain, 10)
    found = retrieve(question, corpus, settings=Settings(temporal=False)).evidence
    assert [evidence.row for evidence in found] == rows.tolist()
    assert [evidence.score for evidence in found] == scores.tolist()


def test_a_window_is_a_hard_filter(corpus: Corpus) -> None:
    window = join(parse_iso("2000"), parse_iso("2004"))
    found = ids(retrieve("Who was mayor of Lund?", corpus, window=window))
    assert "moe" in found
    assert not {"lie", "aas", "list", "born"} & set(found)


def test_a_question_without_a_time_is_asked_for_the_window(corpus: Corpus) -> None:
    ranking = retrieve("Who was mayor of Lund?", corpus, window=parse_iso("1990"))
    assert ranking.evidence[0].sentence == "- 1985–1999: Jon Falk"
    assert ranking.question.constraint is not None
    assert ranking.question.constraint.interval == parse_iso("1990")


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match="there is no profile 'years': it is interval or paper"):
        Settings(profile="years")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least"):
        Settings(passages=0)


def test_a_question_without_a_date_is_ranked_by_meaning(corpus: Corpus) -> None:
    evidence = retrieve("Who was mayor of Lund?", corpus).evidence
    assert all(e.temporal == 1.0 and e.mention is None for e in evidence)
    assert evidence[-1].passage.id in ("fair", "mill")


def test_the_paper_profile_scores_by_years_and_leaves_other_relations_alone(corpus: Corpus) -> None:
    paper = Settings(profile="paper")
    assert retrieve("Who was mayor of Lund in 2003?", corpus, settings=paper).evidence[0].temporal == 1.0
    before = {
        e.passage.id: e.temporal
        for e in retrieve("Who was mayor of Lund before 2007?", corpus, settings=paper).evidence
    }
    assert before["moe"] == pytest.approx(0.6 + 0.4 * (2006 - 1957) / 50)
    assert before["aas"] == 0.5


def test_a_scorer_of_ones_own_is_asked_once_with_the_sentences_in_context(corpus: Corpus) -> None:
    calls: list[tuple[str, Sequence[str]]] = []

    def scorer(query: str, texts: Sequence[str]) -> Float32:
        calls.append((query, texts))
        return np.array(["Odd Lie" in text for text in texts], dtype=np.float32)

    top = retrieve("Who was mayor of Lund in 2010?", corpus, given=Strategies(scorer=scorer)).evidence[0]
    assert top.passage.id == "lie"
    assert len(calls) == 1
    assert "Lund - Mayors: Mayors of Lund: - 1985–1999: Jon Falk" in calls[0][1]
    assert "2010" not in calls[0][0]


def test_a_retriever_of_ones_own_is_asked_for_the_main_content(corpus: Corpus) -> None:
    asked: list[str] = []

    def retriever(queries: Sequence[str], k: int, *, window: Interval | None = None) -> tuple[Int64, Float32]:
        asked.extend(queries)
        return np.array([[3, -1]]), np.array([[1.0, 0.0]], dtype=np.float32)

    assert ids(retrieve("Who was mayor of Lund in 2010?", corpus, given=Strategies(retriever))) == ["fair"]
    assert asked == ["Who was mayor of Lund?"]


def test_k_larger_than_the_corpus_and_an_empty_corpus() -> None:
    assert len(retrieve("mayor of Lund", analyse(TERMS), k=1000).evidence) == 6  # one holds no word of it
    assert retrieve("Who was mayor in 1990?", analyse([])).evidence == ()


def test_small_stages_keep_the_rest_behind(corpus: Corpus) -> None:
    small = Settings(passages=2, sentences=3)
    found = retrieve("Who was mayor of Lund in 2003?", corpus, settings=small).evidence
    assert len(found) == len(retrieve("Who was mayor of Lund in 2003?", corpus).evidence)
    assert [e.score for e in found] == sorted((e.score for e in found), reverse=True)


@pytest.mark.parametrize("question", ["", "   ", "?", "in 1990", "zzz qqq"])
def test_questions_that_hold_nothing_to_search_for(corpus: Corpus, question: str) -> None:
    retrieve(question, corpus)


def test_texts_at_hand_are_all_kept() -> None:
    ranking = rank_texts("Who was mayor of Lund in 2003?", TERMS)
    assert sorted(ids(ranking)) == sorted(passage.id for passage in TERMS)
    assert ids(ranking)[0] == "moe"


def test_dates_do_not_add_to_the_score_of_a_question_without_one() -> None:
    plain = Passage("1", "Ida Moe painted the mill.")
    dated = Passage("2", "The mill was shown in Oslo in 2020.")
    assert ids(rank_texts("Who painted the mill?", [dated, plain])) == ["1", "2"]


def test_many_questions_are_each_question(corpus: Corpus) -> None:
    questions = ["Who was mayor of Lund in 2003?", "Who sold the mill?", "", "Who was mayor of Lund since 2015?"]
    many = list(retrieve_many(questions, corpus))
    assert many == [retrieve(question, corpus) for question in questions]
    assert list(retrieve_many(questions[::-1], corpus))[::-1] == many


@pytest.mark.parametrize(
    ("settings", "heard_of_each"),
    [(Settings(), 2), (Settings(profile="paper"), 2), (Settings(temporal=False), 1)],
    ids=["interval", "paper", "plain"],
)
def test_what_is_told_ahead_is_all_that_is_asked(corpus: Corpus, settings: Settings, heard_of_each: int) -> None:
    questions = ["Who was mayor of Lund in 2003?", "Who sold the mill in 2003?", "", "Who led Lund in the 1990s?"]
    heard: list[list[str]] = []
    asked: list[str] = []

    def by_row(query: str, rows: Int64) -> Float32:
        asked.append(query)
        return (rows % 3 / 3).astype(np.float32)

    def retriever(queries: Sequence[str], k: int, *, window: Interval | None = None) -> tuple[Int64, Float32]:
        asked.extend(queries)
        return bm25_retriever(corpus)(queries, k, window=window)

    silent = Strategies(retriever, row_scorer=by_row, passage_scorer=by_row)
    alone = [retrieve(question, corpus, settings=settings, given=silent) for question in questions]
    asked.clear()
    told = replace(silent, ahead=heard.append)
    assert list(retrieve_many(questions, corpus, settings=settings, given=told, batch=3)) == alone
    assert len(heard) == 2, "batches"
    assert {text for texts in heard for text in texts} == set(asked)
    assert len(set(heard[1])) == heard_of_each


def test_threads_give_the_same(corpus: Corpus) -> None:
    retriever = bm25_retriever(corpus)
    questions = [f"Who was mayor of Lund in {year}?" for year in range(1970, 2020)]
    alone = [retrieve(question, corpus, given=Strategies(retriever)) for question in questions]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda q: retrieve(q, corpus, given=Strategies(retriever)), questions)) == alone


def test_another_process_with_another_hash_seed_gives_the_same() -> None:
    code = (
        "from mrag.corpus import analyse, Passage; from mrag.pipeline import retrieve\n"
        "texts = [f'Ida {i} was mayor of Lund from {1900 + i} to {1904 + i}. She painted.' for i in range(50)]\n"
        "c = analyse([Passage(str(i), text, 'Ida') for i, text in enumerate(texts)])\n"
        "found = retrieve('Who was mayor of Lund in 1930?', c).evidence\n"
        "print([(e.passage.id, e.score, e.semantic, e.temporal) for e in found])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1


def test_ties_go_by_row() -> None:
    same = [Passage(str(i), "Ida Moe was mayor of Lund in 1990.") for i in range(20)]
    assert ids(retrieve("Who was mayor of Lund in 1990?", analyse(same), k=20)) == [str(i) for i in range(20)]


def test_every_constant_of_the_mix_matters() -> None:
    """A constant that no result depends on is a constant to delete."""
    question = "Who was mayor of Lund in 1990?"
    reference = Passage("ref", "Lund, Mayor. (1990). Ida Moe.", title="Lund", section="References")
    corpus = analyse([*TERMS, reference])

    def scorer(query: str, texts: Sequence[str]) -> Float32:
        return np.array([len(text) / 200 for text in texts], dtype=np.float32)

    def by_row(query: str, rows: Int64) -> Float32:
        return (rows % 3 / 3).astype(np.float32)

    handed = Strategies(scorer=scorer, passage_scorer=by_row)

    def found(mix: Mix) -> list[tuple[str, float]]:
        ranking = retrieve(question, corpus, given=handed, settings=Settings(mix=mix))
        return [(e.passage.id, e.score) for e in ranking.evidence]

    for constant in fields(Mix):
        if constant.name == "keywords":  # below
            continue
        mix = replace(MEANING, **{constant.name: getattr(MEANING, constant.name) + 0.1})
        assert found(mix) != found(MEANING), constant.name


def test_the_keyword_rank_chooses_the_passages_that_are_read(corpus: Corpus) -> None:
    def retriever(queries: Sequence[str], k: int, *, window: Interval | None = None) -> tuple[Int64, Float32]:
        return np.array([[6, 0]]), np.array([[1.0, 0.9]], dtype=np.float32)

    for weight, best in ((0.0, "mill"), (1.0, "moe")):
        settings = Settings(passages=1, mix=replace(LEXICAL, keywords=weight))
        assert (
            ids(retrieve("Who was mayor of Lund in 2003?", corpus, given=Strategies(retriever), settings=settings))[0]
            == best
        )


# --- summaries ----------------------------------------------------------------------------------------

SEASON = Passage(
    "season",
    "The ninth season of Baking Stars began on 9 January 2018. Ten bakers from four counties took part in it. "
    "The winner was Ida Moe, with Odd Lie as the runner-up.",
    title="Baking Stars (season 9)",
)
OLDER = Passage("older", "The winner of Baking Stars in 2011 was Jon Falk.", title="Baking Stars (season 2)")
ASKED = "Who was the last winner of Baking Stars as of 2019?"


def written(asked: Sequence[tuple[str, Passage]]) -> list[Summary]:
    return [
        Summary("Ida Moe was the winner of Baking Stars in 2018." if passage.id == "season" else None, "llm")
        for _, passage in asked
    ]


def test_a_summary_decides_where_it_is_the_better_sentence() -> None:
    corpus = analyse([SEASON, OLDER])
    top = retrieve(ASKED, corpus, given=Strategies(summariser=written)).evidence[0]
    assert top.passage == SEASON  # the reader gets the passage, not the summary
    assert top.sentence == "Ida Moe was the winner of Baking Stars in 2018."
    assert top.summarised
    assert top.mention is not None and top.mention.text == "in 2018"
    assert top.temporal > 0.9
    plain = {e.passage.id: e for e in retrieve(ASKED, corpus).evidence}
    assert top.score > plain["season"].score
    assert not plain["season"].summarised


def test_several_sentences_of_a_summary_count_as_one() -> None:
    def joined(asked: Sequence[tuple[str, Passage]]) -> list[Summary]:
        return [
            Summary("It began on 9 January 2018. The winner was Ida Moe." if p.id == "season" else None, "extract")
            for _, p in asked
        ]

    top = retrieve(ASKED, analyse([SEASON, OLDER]), given=Strategies(summariser=joined)).evidence[0]
    assert top.sentence == "It began on 9 January 2018; The winner was Ida Moe."
    assert str(top.mention and top.mention.interval) == "2018-01-09"


def test_the_summaries_of_many_questions_are_asked_for_at_once() -> None:
    calls: list[list[tuple[str, str]]] = []

    def summariser(asked: Sequence[tuple[str, Passage]]) -> list[Summary]:
        calls.append([(content, passage.id) for content, passage in asked])
        return [Summary(None, "llm", f"none for {content}") for content, _ in asked]

    questions = ["Who won Baking Stars in 2018?", "Who was the winner of Baking Stars in 2011?"]
    found = list(
        retrieve_many(
            questions, analyse([SEASON, OLDER]), given=Strategies(summariser=summariser), settings=Settings(summaries=1)
        )
    )
    assert len(calls) == 1
    assert [content for content, _ in calls[0]] == ["Who won Baking Stars?", "Who was the winner of Baking Stars?"]
    assert [ranking.summaries[0].reason for ranking in found] == [f"none for {content}" for content, _ in calls[0]]


def test_a_summary_that_says_nothing_changes_nothing() -> None:
    corpus = analyse([SEASON, OLDER])

    def nothing(asked: Sequence[tuple[str, Passage]]) -> list[Summary]:
        return [Summary(None, "llm") for _ in asked]

    assert retrieve(ASKED, corpus, given=Strategies(summariser=nothing)).evidence == retrieve(ASKED, corpus).evidence


def test_without_temporal_nothing_is_summarised() -> None:
    def summariser(asked: Sequence[tuple[str, Passage]]) -> list[Summary]:
        assert not asked
        return []

    plain = Settings(temporal=False)
    corpus = analyse([SEASON, OLDER])
    assert retrieve(ASKED, corpus, settings=plain, given=Strategies(summariser=summariser)).evidence


def test_summaries_of_rows_need_a_scorer_of_texts() -> None:
    def by_row(query: str, rows: Int64) -> Float32:
        return np.ones(len(rows), dtype=np.float32)

    with pytest.raises(InputError, match="scorer of texts"):
        retrieve(ASKED, analyse([SEASON, OLDER]), given=Strategies(row_scorer=by_row, summariser=written))


word = st.sampled_from(
    "Ida Moe mayor Lund in 1990 from 1999 to 2006 since before last first the of Who was ? . -".split(" ")
)


@settings(max_examples=60, deadline=None)
@given(st.lists(word, max_size=12).map(" ".join), st.lists(st.lists(word, max_size=20).map(" ".join), max_size=5))
def test_any_question_over_any_texts(question: str, texts: list[str]) -> None:
    ranking = rank_texts(question, [Passage(str(i), text) for i, text in enumerate(texts)])
    assert sorted(ids(ranking)) == [str(i) for i in range(len(texts))]
    for evidence in ranking.evidence:
        assert 0 <= evidence.semantic <= 1
        assert 0 <= evidence.temporal <= 1
    scores = [evidence.score for evidence in ranking.evidence]
    assert scores == sorted(scores, reverse=True)
