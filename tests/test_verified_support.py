"""How support is weighed: what is read, and that each part counts in its sense."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.answer.verified.guards import DECISIVE, GUARDS
from responsa.answer.verified.support import Weighed, columns, least, support, weights

SURE, DENIED = (0.96, 0.02, 0.02), (0.02, 0.02, 0.96)


def weighed(*judged, held=1.0, at_once=1.0, new=0, **reasons):
    return Weighed(judged, held, at_once, new, reasons)


def test_what_is_read_of_a_sentence():
    found = columns(weighed((0.5, 0.4, 0.1), (0.9, 0.05, 0.05), held=0.5, at_once=0.7, new=9, figures="'6' is not"))
    assert found["entailed"] == pytest.approx(math.log(9))
    assert found["contradicted by the nearest"] == pytest.approx(math.log(1 / 9))
    assert found["entailed by the nearest"] == pytest.approx(0)
    assert found["entailed by the second"] == pytest.approx(0)
    assert found["entailed in the mean"] == pytest.approx(math.log(9) / 2)
    assert found["new"] == 6
    assert (found["far"], found["between"], found["near"], found["whole"]) == (1, 0, 0, 0)
    assert (found["figures"], found["figures, whole"], found["guards"], found["objected to, far"]) == (1, 0, 1, 1)
    assert found["entailed, far"] == found["entailed"]
    alone = columns(weighed((0.9, 0.05, 0.05)))
    assert alone["entailed by the second"] == alone["entailed in the mean"] == alone["entailed"]
    back = columns(weighed(SURE)._replace(back=(0.5, 0.4, 0.1)))
    assert (back["entails the nearest"], back["contradicts the nearest"]) == (0, pytest.approx(math.log(1 / 9)))


def test_the_weights_that_ship_name_columns():
    learned = weights()
    assert learned.weights.keys() <= columns(weighed()).keys()
    assert 0 < least() < 1


def test_a_sentence_that_nothing_is_known_of_is_not_supported():
    assert support(weighed(held=0.0, at_once=0.0)) < least()


@pytest.mark.parametrize("at_once", [1.0, 0.9, 0.7, 0.3])
def test_entailment_supports_and_contradiction_does_not(at_once):
    held = {"held": at_once, "at_once": at_once, "new": 0 if at_once == 1 else 3}
    assert support(weighed(SURE, **held)) >= least()
    assert support(weighed(DENIED, **held)) < support(weighed(SURE, **held)) - 0.1
    # Of sentences whose every word one rule has, and that no guard objects to, the network denies more that are true.
    assert at_once == 1.0 or support(weighed(DENIED, **held)) < least()


def test_a_sentence_on_something_else_is_not_supported_however_sure_the_network_is():
    assert support(weighed(SURE, held=0.0, at_once=0.0, new=6)) == 0.0
    assert support(weighed(SURE, held=0.1, at_once=0.1, new=6)) < least()
    assert support(weighed((0.5, 0.3, 0.2), held=0.3, at_once=0.3, new=5)) <= 0.5


def test_a_figure_that_is_not_there_is_never_said_near_the_wording():
    certain = ((1.0, 0.0, 0.0),) * 3
    for at_once in (1.0, 0.85):
        assert support(weighed(*certain, at_once=at_once, figures="'6' is not")._replace(back=(1.0, 0.0, 0.0))) <= 0.5


def test_duty_made_leave_is_never_said_with_all_words_of_the_rule():
    certain = ((1.0, 0.0, 0.0),) * 3
    objection = {"modality": "'may' where the text cited says 'must'"}
    assert support(weighed(*certain, **objection)._replace(back=(1.0, 0.0, 0.0))) <= 0.5
    # Other words may carry the same force ("is entitled to"), so there the network is heard.
    assert support(weighed(*certain, at_once=0.9, **objection)._replace(back=(1.0, 0.0, 0.0))) > 0.5


def test_a_guard_counts_the_more_the_nearer_the_words():
    objection = {"modality": "'may' where the text cited says 'must'"}
    near = support(weighed(SURE)) - support(weighed(SURE, **objection))
    far = support(weighed(SURE, held=0.5, at_once=0.5, new=3)) - support(
        weighed(SURE, held=0.5, at_once=0.5, new=3, **objection)
    )
    assert near > far


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)), max_size=4),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(0, 30),
    st.sets(st.sampled_from([guard.__name__ for guard in GUARDS])),
)
def test_it_is_a_share_and_reads_the_same_columns_of_every_sentence(judged, held, at_once, new, guards):
    each = Weighed(tuple(judged), held, at_once, new, dict.fromkeys(guards, "told"))
    assert 0 <= support(each) <= 1
    assert list(columns(each)) == list(columns(weighed()))


def test_decisive_guards_are_guards():
    assert {guard.__name__ for guard in GUARDS} >= DECISIVE


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.__name__)
@pytest.mark.parametrize("at_once", [1.0, 0.9, 0.7, 0.3])
@pytest.mark.parametrize("judged", [SURE, DENIED, (0.4, 0.3, 0.3)])
def test_no_objection_speaks_for_a_sentence(guard, at_once, judged):
    held = {"held": at_once, "at_once": at_once, "new": 0 if at_once == 1 else 3}
    assert support(weighed(judged, **held, **{guard.__name__: "told"})) <= support(weighed(judged, **held))


@pytest.mark.parametrize("at_once", [1.0, 0.9, 0.7, 0.3])
def test_the_surer_a_contradiction_the_less_support(at_once):
    held = {"held": at_once, "at_once": at_once, "new": 0 if at_once == 1 else 3}
    rising = [support(weighed((0.01, 0.99 - denied, denied), **held)) for denied in (0.0, 0.3, 0.6, 0.98)]
    assert rising == sorted(rising, reverse=True)
