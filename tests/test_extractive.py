"""Answers in the rules' own sentences: every citation gives the sentence back, in reading order, completed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from responsa.answer.extractive import Extractive, cite
from responsa.retrieval.bm25 import BM25
from responsa.text import normalise, tidy
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
    made = Extractive(**parameters)(Query("q", question), kept, corpus, BM25().idf(corpus), 0.75)
    check(made, corpus)
    assert (made.ranking, made.confidence, made.abstained) == (kept, 0.75, False)
    return made


def check(made, corpus):
    """What holds of every answer."""
    before = 0
    for sentence in made.sentences:
        assert sentence.text == made.text[sentence.answer_start : sentence.answer_end] != ""
        assert sentence.answer_start >= before
        before = sentence.answer_end
        marks = ""
        for citation in sentence.citations:
            passage = corpus[citation.passage_id]
            version = corpus.version(passage.document_id)
            assert citation.version == version.digest
            assert (citation.answer_start, citation.answer_end) == (sentence.answer_start, sentence.answer_end)
            assert 0 <= citation.start < citation.end <= len(passage.text)
            stored = passage.text[citation.start : citation.end]
            assert stored == stored.strip()
            assert sentence.text == tidy(stored)
            if stored.isascii() and not re.search(r"\s\s|[^\S ]", stored):
                assert sentence.text == stored
            marks += " " + cite(passage, version.title)
        assert made.text[sentence.answer_end :].startswith(marks)
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
    several = answer(rules, "When must a ferry operator stop in dense fog?", ["f2", "h2"])
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
    assert texts(made)[0] == "A pilot must “report” the ﬁrst sighting."


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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "A bank that holds client money must disclose the fees of the account to the client in writing every year.",
            "A bank that holds client money must not disclose the fees of the account to the client in writing every year.",
        ),
        (
            "A bank must send the report on client money to the Regulator in writing no later than 5 Business Days after it.",
            "A bank must send the report on client money to the Regulator in writing no later than 10 Business Days after it.",
        ),
        ("A bank must hold 10² crowns.", "A bank must hold 102 crowns."),
    ],
)
def test_another_word_or_figure_is_another_rule(corpus_of, one, other):
    made = answer(
        corpus_of(("a", one), ("b", other)), "What must a bank report or disclose on client money?", ["a", "b"]
    )
    assert texts(made) == [one, other]


def test_each_citation_gives_the_sentence_back(corpus_of):
    corpus = corpus_of(
        ("a", "A bank must  hold cash."), ("b", "A bank must hold\u200e cash."), ("c", "A Bank must hold cash;")
    )
    made = answer(corpus, "What must a bank hold?", ["a", "b", "c"])
    assert [[citation.passage_id for citation in each.citations] for each in made.sentences] == [["a", "b"], ["c"]]


@pytest.mark.parametrize(
    "text", ["A bank must hold 10² crowns.", "A bank must hold ½ of it.", "A bank must “wait” – №\u00a05…"]
)
def test_what_is_said_is_the_stored_text(corpus_of, text):
    (sentence,) = answer(corpus_of(("a", text)), "What must a bank hold?", ["a"]).sentences
    assert sentence.text == text.replace("\u00a0", " ")


TWO_LISTS = (
    {"id": "a", "number": "1", "text": "A Firm must:"},
    {"id": "a1", "number": "1(a)", "text": "report every loss; and", "parent": "a"},
    {"id": "a2", "number": "1(b)", "text": "keep records.", "parent": "a"},
    {"id": "b", "number": "2", "text": "A Firm must:"},
    {"id": "b1", "number": "2(a)", "text": "train its staff; and", "parent": "b"},
    {"id": "b2", "number": "2(b)", "text": "keep records.", "parent": "b"},
)


def test_each_list_keeps_its_lead_in_and_all_of_its_items(corpus_of):
    made = answer(corpus_of(*TWO_LISTS), "What must a Firm do?", ["a", "b"])
    assert cited(made) == ["a", "a1", "a2", "b", "b1", "b2"]
    assert all(len(sentence.citations) == 1 for sentence in made.sentences)


def test_lists_that_are_the_same_throughout_are_said_once(corpus_of):
    copied = [{**row, "id": row["id"] + "x", "document": "E", "parent": "ax"} for row in TWO_LISTS[:3]]
    del copied[0]["parent"]
    made = answer(corpus_of(*TWO_LISTS[:3], *copied), "What must a Firm report?", ["a", "ax"])
    assert [{citation.passage_id for citation in each.citations} for each in made.sentences] == [
        {"a", "ax"}, {"a1", "a1x"}, {"a2", "a2x"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (1, ["a", "a1"]),  # never a lead-in without an item
        (2, ["a", "a1"]),
        (3, ["a", "a1", "a2"]),
        (4, ["a", "a1", "b", "b1"]),  # of each passage kept first
        (5, ["a", "a1", "a2", "b", "b1"]),
    ],
)
def test_the_limit_does_not_part_a_lead_in_and_its_items(corpus_of, most, expected):
    assert cited(answer(corpus_of(*TWO_LISTS), "What loss must a Firm report?", ["a", "b"], most=most)) == expected


@pytest.mark.parametrize(("most", "expected"), [(3, ["f1", "f1a"]), (4, ["f1", "f1a", "f1b", "f1bi"])])
def test_the_limit_leaves_no_lead_in_of_the_second_level_bare(rules, most, expected):
    assert cited(answer(rules, "What must a ferry operator do?", ["f1"], most=most)) == expected


def test_a_lead_in_is_as_relevant_as_its_best_item(corpus_of):
    corpus = corpus_of(
        *TWO_LISTS[:3], ("c", "A Firm must wait. The weather is a loss."), ("d", "A diver must report a whale.")
    )
    made = answer(corpus, "Who must report every loss?", ["d", "c", "a"], most=3)
    assert cited(made)[:2] == ["a", "a1"]
    (top,) = answer(corpus, "loss", ["c"], most=1).sentences
    assert top.text == "The weather is a loss."


def test_items_are_labelled_with_their_lead_ins(corpus_of):
    corpus = corpus_of(
        *TWO_LISTS[:3],
        {"id": "c", "number": "3", "text": "A Firm may:"},
        {"id": "c1", "number": "3(a)", "text": "close on Sundays. Sundays are quiet.", "parent": "c"},
    )
    made = answer(corpus, "What must a Firm report?", ["a2"])
    assert [(sentence.text, sentence.label) for sentence in made.sentences] == [
        ("A Firm must:", "obligation"), ("keep records.", "obligation"),
    ]  # fmt: skip
    made = answer(corpus, "Which Sundays are quiet?", ["c"])
    assert [sentence.label for sentence in made.sentences] == ["permission", "permission", "other"]


def test_an_item_is_chosen_for_its_duty(corpus_of):
    corpus = corpus_of(
        {"id": "a", "number": "1", "text": "A Firm must:"},
        {"id": "a1", "number": "1(a)", "text": "report every loss. A loss is a sad event.", "parent": "a"},
    )
    assert texts(answer(corpus, "Report a loss or a sad event?", ["a1"])) == ["A Firm must:", "report every loss."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("| Fee | Crowns |\n|---|---|\n| Licence | 40 |", "| Licence | 40 |"),
        ("/Table Start\nFee\tCrowns\nLicence\t40\n/Table End", "Licence\t40"),
        ("/Table Start\nFee\n/Table End\nIt is forty.", "It is forty."),
        ("The fee in crowns:\n\nIt is forty.", "It is forty."),
    ],
)
def test_a_fragment_is_not_all_that_is_said(corpus_of, text, expected):
    made = answer(corpus_of(("a", text)), "What is the fee in crowns?", ["a"])
    assert tidy(expected) in texts(made)


def test_a_fragment_is_said_where_there_is_nothing_else(corpus_of):
    assert texts(answer(corpus_of(("a", "The fees are:")), "fees", ["a"])) == ["The fees are:"]


def test_a_list_without_numbers_follows_its_lead_in(corpus_of):
    corpus = corpus_of(
        {"id": "h", "number": "1", "text": ""},
        {"id": "a", "number": "1.p1", "text": "A Firm must:", "parent": "h"},
        {"id": "b", "number": "1.p2", "text": "Report every loss; and", "parent": "h"},
        {"id": "c", "number": "1.p3", "text": "Keep records.", "parent": "h"},
        {"id": "d", "number": "1.p4", "text": "It may rest.", "parent": "h"},
    )
    assert cited(answer(corpus, "What must a Firm do?", ["a"])) == ["a", "b", "c"]


EXCEPTION = (
    {"id": "h", "number": "5.2", "text": ""},
    {"id": "r", "number": "5.2(1)", "text": "A ferry must carry a lamp.", "parent": "h"},
    {"id": "s", "number": "5.2(2)", "text": "A tug must carry a horn.", "parent": "h"},
    {"id": "n", "number": "5.2(9)", "text": "The lamp in (1) is costly.", "parent": "h"},
)


@pytest.mark.parametrize(
    ("text", "brought"),
    [
        ("The duty in (1) does not apply to canoes.", True),
        ("Fog is grey. Paragraph 1 shall not apply at noon. Noon is bright.", True),
        ("Despite (1), a ferry may use a torch.", True),
        ("A canoe is excused under paragraph (1) unless it is fast.", True),
        ("The duty in (2) does not apply to canoes.", False),
        ("Rule 4.1 (1) does not apply to canoes.", False),
        ("Rule 4.1(1) does not apply to canoes.", False),
        ("Paragraph 1 of Article 9 does not apply.", False),
        ("The duty in (11) does not apply; 1 canoe is enough.", False),
    ],
)
def test_what_limits_a_sub_rule_comes_with_it(corpus_of, text, brought):
    corpus = corpus_of(*EXCEPTION, {"id": "x", "number": "5.2(3)", "text": text, "parent": "h"})
    made = answer(corpus, "What lamp must a ferry carry?", ["r"])
    assert cited(made) == (["r", "x"] if brought else ["r"])
    assert not brought or made.sentences[1].text in text
    assert "Fog" not in made.text


def test_an_exception_comes_once_with_its_items_and_its_own_label(corpus_of):
    corpus = corpus_of(
        *EXCEPTION[:3],
        {"id": "x", "number": "5.2(3)", "text": "Rules (1) and (2) do not apply to:", "parent": "h"},
        {"id": "x1", "number": "5.2(3)(a)", "text": "canoes; and", "parent": "x"},
        {"id": "x2", "number": "5.2(3)(b)", "text": "rafts.", "parent": "x"},
    )
    made = answer(corpus, "What must a ferry or a tug carry?", ["r", "s"])
    assert cited(made) == ["r", "s", "x", "x1", "x2"]
    assert made.sentences[0].label == "obligation"
    assert all(sentence.label != "obligation" for sentence in made.sentences[2:])


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
    made = answer(corpus, " ".join(asked), ids, most=100)
    assert made.sentences
    places = {citation.passage_id for sentence in made.sentences for citation in sentence.citations}
    assert set(ids) - places <= {name for name in ids if not tidy(corpus[name].text)}
