"""The ranks, one function at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag import ranking
from mrag.corpus import Corpus, Passage, analyse

REGIMENTS = [
    Passage("a", "The Lapland Ranger Regiment moved to Kiruna in 1975.", title="Lapland Ranger Regiment"),
    Passage("b", "The Swedish Navy bought two ships.", title="Swedish Navy"),
    Passage("c", "Coaches:\n- 1990–1993: Ida Moe\n- 1993–1995: Odd Lie", title="Lund BK", section="Managers"),
    Passage("d", "Moe, Ida. (1991). A history of Lund BK.", title="Lund BK", section="Further reading"),
]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return analyse(REGIMENTS)


EVERYONE = np.arange(4)


def test_a_name_counts_by_the_share_that_a_text_holds(corpus: Corpus) -> None:
    terms = ranking.terms_of("Swedish Lapland Ranger Regiment", corpus)
    scores = ranking.passage_keyword_scores(terms, corpus, EVERYONE)
    assert 0.5 < scores[0] < 1.0
    assert 0.0 < scores[1] < scores[0]
    assert scores[2] == scores[3] == 0.0


def test_words_that_no_passage_holds_count_in_no_share(corpus: Corpus) -> None:
    terms = ranking.terms_of("Zanzibar Lapland", corpus)
    assert ranking.passage_keyword_scores(terms, corpus, EVERYONE)[0] == pytest.approx(1.0)


def test_listed_keywords_alone_have_a_weight_in_the_keyword_rank(corpus: Corpus) -> None:
    terms = ranking.terms_of("Swedish Lapland Ranger Regiment", corpus)
    named = ranking.terms_of("Swedish Lapland Ranger Regiment", corpus, ["the Lapland Ranger Regiment"])
    other = ranking.terms_of("Swedish Lapland Ranger Regiment", corpus, ["Sweden"])
    assert ranking.passage_keyword_scores(other, corpus, EVERYONE).tolist() == [0.0] * len(EVERYONE)
    assert ranking.passage_keyword_scores(terms, corpus, EVERYONE)[0] > 0
    assert named.idf.tolist() == terms.idf.tolist()  # every word still counts in the share


def test_a_list_item_is_read_with_the_line_above_and_its_headings(corpus: Corpus) -> None:
    candidates = ranking.sentences_of(corpus, np.array([2]))
    assert ranking.sentence_texts(corpus, candidates)[1] == "Lund BK - Managers: Coaches: - 1990–1993: Ida Moe"
    terms = ranking.terms_of("Who coached Lund BK?", corpus)
    assert ranking.share(terms, ranking.sentence_presence(terms, corpus, candidates))[1] == pytest.approx(1.0)


def test_a_section_states_the_relation_for_its_items(corpus: Corpus) -> None:
    terms = ranking.terms_of("Who coached Lund BK?", corpus)
    assert ranking.states_relation(terms, corpus, ranking.sentences_of(corpus, np.array([2]))).all()
    assert not ranking.states_relation(terms, corpus, ranking.sentences_of(corpus, np.array([1]))).any()


def test_lists_of_literature_are_back_matter(corpus: Corpus) -> None:
    assert ranking.back_matter(corpus, EVERYONE).tolist() == [False, False, False, True]


def test_a_new_name_fits_a_question_for_a_person(corpus: Corpus) -> None:
    who = ranking.terms_of("Who coached Lund BK?", corpus)
    candidates = ranking.sentences_of(corpus, np.array([2]))
    long_name, fit = ranking.name_evidence(who, corpus, candidates)
    assert fit.tolist() == [0.0, 1.0, 1.0]
    assert long_name.tolist() == [0.0, 1.0, 1.0]


def test_the_names_of_the_question_and_of_its_page_are_not_new(corpus: Corpus) -> None:
    asked = ranking.terms_of("Where was the Lapland regiment?", corpus)
    candidates = ranking.sentences_of(corpus, np.array([0]))
    _, fit = ranking.name_evidence(asked, corpus, candidates)
    assert fit.tolist() == [1.0]  # Kiruna
    kiruna = ranking.terms_of("Where is Kiruna, of the Lapland Ranger Regiment?", corpus)
    assert ranking.name_evidence(kiruna, corpus, candidates)[1].tolist() == [0.0]


def test_a_title_that_the_question_does_not_name_may_be_the_answer() -> None:
    corpus = analyse([Passage("1", "Ida Moe led the club.", title="Ida Moe")])
    terms = ranking.terms_of("Who led the club?", corpus)
    assert ranking.name_evidence(terms, corpus, ranking.sentences_of(corpus, np.array([0])))[1].tolist() == [1.0]


def test_a_page_is_as_good_as_its_best_passage(corpus: Corpus) -> None:
    first = np.array([0.9, 0.3, 0.6, 0.2], dtype=np.float32)
    halved = 0.5 * np.array([0.9, 0.3, 0.6, 0.6])  # two of the four stand on a page of several passages
    assert ranking.page_scores(corpus, EVERYONE, first) == pytest.approx(halved)


def test_pages_of_one_passage_say_nothing_that_the_first_stage_has_not_said() -> None:
    corpus = analyse([Passage("1", "One."), Passage("2", "Two."), Passage("3", "Three.", title="Three")])
    first = np.array([0.9, 0.3, 0.2], dtype=np.float32)
    assert ranking.page_scores(corpus, np.arange(3), first).tolist() == [0.0, 0.0, 0.0]
    assert ranking.page_scores(corpus, np.arange(0), first[:0]).tolist() == []


def test_a_full_passage_counts_more_than_a_stub() -> None:
    corpus = analyse([Passage("1", "One."), Passage("2", "A mill by the river, sold with all its stones.")])
    stub, full = ranking.fullness(corpus, np.arange(2)).tolist()
    assert stub < full < 0.0


def test_the_best_and_the_second_sentence_of_each_passage() -> None:
    scores = np.array([0.2, 0.5, 0.5, 0.4], dtype=np.float32)
    best, top, second = ranking.best_sentences(scores, np.array([0, 0, 0, 2]), 3)
    assert best.tolist() == [1, -1, 3]
    assert top == pytest.approx([0.5, 0.0, 0.4])
    assert second == pytest.approx([0.5, 0.0, 0.0])


@pytest.mark.parametrize(
    ("question", "life"),
    [
        ("Who was born in 1950?", True),
        ("Who died here?", True),
        ("Who owned the mill?", False),
        ("Who led the studio?", False),
    ],
)
def test_questions_about_a_life(question: str, life: bool) -> None:
    assert ranking.about_a_life(question) is life


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1, width=32)), max_size=40))
def test_best_sentences_are_those_of_a_plain_loop(rows: list[tuple[int, float]]) -> None:
    rows.sort(key=lambda row: row[0])
    owner = np.array([row[0] for row in rows], dtype=np.int64)
    scores = np.array([row[1] for row in rows], dtype=np.float32)
    best, top, second = ranking.best_sentences(scores, owner, 6)
    for passage in range(6):
        own = sorted(scores[owner == passage].tolist(), reverse=True)
        assert top[passage] == (own[0] if own else 0.0)
        assert second[passage] == (own[1] if len(own) > 1 else 0.0)
        if own:
            assert best[passage] == min(i for i in range(len(rows)) if owner[i] == passage and scores[i] == own[0])
