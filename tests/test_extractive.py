"""Answers in the rules' own sentences: every citation gives the sentence back, in reading order, completed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from responsa.answer.extractive import Extractive, cite
from responsa.retrieval.bm25 import BM25
from responsa.text import normalise, sentences
from responsa.text import words as text_words
from responsa.types import Passage, Query, Ranking

RULES = (
    {"id": "h1", "text": "", "number": "1", "document": "FER"},
    {"id": "f1", "document": "FER", "number": "1.1", "text": "A ferry operator must:"},
    {"id": "f1a", "document": "FER", "number": "1.1(a)", "text": "inspect every hull each spring; and", "parent": "f1"},
    {"id": "f1b", "document": "FER", "number": "1.1(b)", "text": "ensure that:", "parent": "f1"},
    {"id": "f1bi", "document": "FER", "number": "1.1(b)(i)", "text": "lifeboats are tested; and", "parent": "f1b"},
    {"id": "f1bii", "document": "FER", "number": "1.1(b)(ii)", "text": "life jackets are counted.", "parent": "f1b"},
    {
        "id": "f2",
        "document": "FER",
        "number": "1.2",
        "text": "This rule is about fog. A ferry operator must stop in dense fog. Fog is common in March.",
    },
    {"id": "f3", "document": "FER", "number": "", "text": "Tides are listed in the almanac."},
    {"id": "h2", "document": "HAR", "number": "7", "text": "A harbour master may close the harbour in dense fog."},
    {"id": "h3", "document": "HAR", "number": "8", "text": "A ferry operator must stop in dense fog."},
)


@pytest.fixture(scope="module")
def rules(corpus_of):
    return corpus_of(*RULES)


def answer(corpus, question, ids, **parameters):
    """The answer from the given passages, best first."""
    kept = Ranking.of("q", [(name, 1 - n / 100) for n, name in enumerate(ids)], "minmax")
    made = Extractive(**parameters)(Query("q", question), kept, corpus, BM25().rarity(corpus), 0.75)
    check(made, corpus)
    assert (made.ranking, made.confidence, made.abstained) == (kept, 0.75, False)
    return made


def check(made, corpus):
    """What holds of every answer."""
    before = 0
    for sentence in made.sentences:
        assert sentence.text == made.text[sentence.start : sentence.end] != ""
        assert sentence.start >= before
        before = sentence.end
        marks = ""
        for citation in sentence.citations:
            passage = corpus[citation.passage_id]
            version = corpus.version(passage.document_id)
            assert citation.version == version.digest
            assert (citation.answer_start, citation.answer_end) == (sentence.start, sentence.end)
            assert 0 <= citation.start < citation.end <= len(passage.text)
            stored = passage.text[citation.start : citation.end]
            assert stored == stored.strip()
            assert sentence.text == normalise(stored)
            if stored.isascii() and "\n" not in stored and "  " not in stored:
                assert sentence.text == stored
            marks += " " + cite(passage, version.title)
        assert made.text[sentence.end :].startswith(marks)
        assert sentence.grounding == 1.0


def cited(made):
    return [sentence.citations[0].passage_id for sentence in made.sentences]


def texts(made):
    return [sentence.text for sentence in made.sentences]


def test_the_text_of_an_answer(rules):
    made = answer(rules, "When must a ferry stop in dense fog?", ["f2"])
    assert made.text == "A ferry operator must stop in dense fog. [FER, 1.2]"
    (sentence,) = made.sentences
    assert (sentence.citations[0].start, sentence.citations[0].end) == (24, 64)
    assert sentence.label == "obligation"


def test_documents_by_relevance_then_reading_order(rules):
    # A line for each sentence, a blank line between documents; f1 is read before f2 although it ranks below.
    made = answer(rules, "May the harbour master close the harbour in dense fog?", ["f2", "h2", "f1a"])
    assert cited(made)[0] == "h2"
    assert cited(made)[1:] == sorted(cited(made)[1:], key=list(rules).index)
    assert made.text.count("\n\n") == 1
    assert made.text.count("\n") == len(made.sentences)


def test_repetitions_are_removed(rules):
    made = answer(rules, "When must a ferry operator stop in dense fog?", ["f2", "h3"])
    assert texts(made) == ["A ferry operator must stop in dense fog."]
    assert [citation.passage_id for citation in made.sentences[0].citations] == ["f2", "h3"]  # said once, cited twice
    several = answer(rules, "When must a ferry operator stop in dense fog?", ["f2", "h2"], repetition=1.0)
    assert len(texts(several)) == 2


def test_the_limit_keeps_a_sentence_of_each_passage_and_the_most_relevant(corpus_of):
    corpus = corpus_of(
        {"id": "a", "number": "1", "text": "A pilot must board early. A pilot must carry a chart of the harbour."},
        {"id": "b", "number": "2", "text": "A harbour must keep charts."},
    )
    made = answer(corpus, "Who must carry a chart of the harbour?", ["a", "b"], most=2, relevance=0.0)
    assert texts(made) == ["A pilot must carry a chart of the harbour.", "A harbour must keep charts."]


def test_an_item_brings_its_lead_ins(rules):
    made = answer(rules, "Are lifeboats tested?", ["f1bi"])
    assert cited(made) == ["f1", "f1b", "f1bi"]
    assert texts(made) == ["A ferry operator must:", "ensure that:", "lifeboats are tested; and"]


def test_a_lead_in_brings_its_items_to_the_last_level(rules):
    made = answer(rules, "What must a ferry operator do?", ["f1"])
    assert cited(made) == ["f1", "f1a", "f1b", "f1bi", "f1bii"]


def test_guidance_below_a_lead_in_is_not_an_item(corpus_of):
    corpus = corpus_of(
        {"id": "a", "number": "1", "text": "A diver must:"},
        {"id": "b", "number": "1(a)", "text": "carry a lamp.", "parent": "a"},
        {"id": "c", "number": "1.Guidance.1", "text": "Lamps break.", "parent": "a"},
    )
    assert corpus["c"].kind == "guidance"
    assert cited(answer(corpus, "What must a diver carry?", ["a"])) == ["a", "b"]


def test_a_passage_without_a_normative_sentence_is_cited_all_the_same(rules):
    made = answer(rules, "When must a ferry stop in dense fog?", ["f2", "f3"])
    assert cited(made) == ["f2", "f3"]
    assert made.text.endswith("Tides are listed in the almanac. [FER, f3]")  # no number: the id


def test_a_passage_with_irrelevant_duties_gives_its_most_relevant_sentence(corpus_of):
    corpus = corpus_of(
        ("a", "A warden must feed the swans at dawn."),
        ("b", "A warden must sweep the pier. The dawn patrol is voluntary. A warden must paint the railing."),
    )
    made = answer(corpus, "Who feeds swans at dawn?", ["a", "b"])
    assert texts(made) == ["A warden must feed the swans at dawn.", "The dawn patrol is voluntary."]


def test_relevance_is_a_share_of_the_best(corpus_of):
    corpus = corpus_of(("a", "A warden must feed the swans at dawn. A warden must feed ducks. A warden may sing."))
    question = "Must a warden feed the swans at dawn?"
    assert len(texts(answer(corpus, question, ["a"], relevance=1.0))) == 1
    assert len(texts(answer(corpus, question, ["a"], relevance=0.0))) == 3


def test_at_most(rules):
    assert len(texts(answer(rules, "What must a ferry operator do?", ["f1"], most=2))) == 2


@pytest.mark.parametrize("question", ["?", "zebra", "the of and"])
def test_a_question_that_shares_no_word_still_gets_an_answer_from_what_was_kept(rules, question):
    assert cited(answer(rules, question, ["f3"])) == ["f3"]


def test_nothing_kept_gives_no_sentence(rules):
    made = answer(rules, "fog", [])
    assert (made.text, made.sentences) == ("", ())


def test_marks_that_nobody_sees_stay_in_the_stored_text(corpus_of):
    corpus = corpus_of(("a", "\u200eA  pilot\tmust  “report” the\nﬁrst sighting.\u00a0 A pilot must wait."))
    made = answer(corpus, "What must a pilot report?", ["a"])
    assert texts(made)[0] == 'A pilot must "report" the first sighting.'


def test_an_item_of_invisible_marks_makes_no_sentence(corpus_of):
    corpus = corpus_of(
        {"id": "a", "text": "A pilot must:"},
        {"id": "b", "text": "\u200e\u200e", "parent": "a"},
        {"id": "c", "text": "wait.", "parent": "a"},
    )
    assert cited(answer(corpus, "What must a pilot do?", ["a"])) == ["a", "c"]


@pytest.mark.parametrize(
    ("number", "title", "expected"),
    [
        ("3.1", "Harbour Rules", "[Harbour Rules, 3.1]"),
        ("", "Harbour Rules", "[Harbour Rules, p7]"),
        ("3.1", "", "[D, 3.1]"),
        ("\u200e3.1 \t(a)", "T", "[T, 3.1 (a)]"),
    ],
)
def test_cite(number, title, expected):
    assert cite(Passage("p7", "D", number, "text"), title) == expected


words = st.sampled_from(["pilot", "harbour", "report", "fog", "Rule 3.1", "e.g. lamps", "the", "ﬁne", "“tide”", "crew"])
sentence = st.builds(
    lambda subject, verb, rest, end: f"{subject} {verb} {' '.join(rest)}{end}",
    st.sampled_from(["A pilot", "The crew", "\u200eNobody", "(a) a mate"]),
    st.sampled_from(["must", "may", "means", "sees", "should"]),
    st.lists(words, max_size=6),
    st.sampled_from([".", ";", ":", "", "?\u00a0", ". "]),
)
passage_text = st.lists(sentence, max_size=4).flatmap(
    lambda parts: st.sampled_from([" ", "\n", "\n\n", "\t \r\n"]).map(lambda glue: glue.join(parts))
)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(passage_text, st.integers(0, 3)), min_size=1, max_size=6),
    st.lists(words, min_size=1, max_size=5),
    st.data(),
)
def test_every_sentence_stands_in_the_rules(corpus_of, texts_and_parents, asked, data):
    rows = []
    for n, (text, back) in enumerate(texts_and_parents):
        parent = f"p{n - back}" if 0 < back <= n else None
        rows.append({"id": f"p{n}", "text": text or "\n", "parent": parent})
    if not any(normalise(row["text"]) for row in rows):
        rows.append({"id": "filled", "text": "A pilot must wait."})
    corpus = corpus_of(*rows)
    filled = [row["id"] for row in rows if row["text"].strip()]
    ids = data.draw(st.lists(st.sampled_from(filled), min_size=1, unique=True))
    made = answer(corpus, " ".join(asked), ids, most=100, repetition=1.0)
    assert made.sentences
    # Every passage kept is cited, unless another one says the same in the same words.
    said = {frozenset(text_words(sentence.text)) for sentence in made.sentences}
    for name in set(ids) - set(cited(made)):
        text = corpus[name].text
        assert said & {frozenset(text_words(text[start:end])) for start, end in sentences(text)}
