"""light10 against the published steps, stop words, and parameters in every combination."""

from __future__ import annotations

import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.naive import analysis as naive
from zerda_bench.analysis import ANALYZERS, get_analyzer
from zerda_bench.analysis.stemming import light10
from zerda_bench.analysis.stop_words import ARABIC, ENGLISH

AFFIXES = ["و", "ال", "وال", "بال", "كال", "فال", "لل", "ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي"]


@given(st.lists(st.sampled_from([*AFFIXES, "ك", "ت", "ب"]), max_size=7).map("".join))
def test_light10_equals_the_published_steps(word: str) -> None:
    ref = naive.light10(word)
    got = light10(word)
    assert got == ref


def test_lucene_has_33_english_stop_words() -> None:
    assert len(ENGLISH) == 33
    assert get_analyzer("english")(" ".join(sorted(ENGLISH)).upper()) == []


def test_b19_a_query_of_stop_words_has_no_tokens_or_all_of_them() -> None:
    assert get_analyzer("arabic(stop=function)")("ما هو هذا؟") == []
    assert get_analyzer("arabic")("ما هو هذا؟") == ["ما", "هو", "هذا"]


def test_arabic_stop_words_are_known_by_their_spelling() -> None:
    stopped = get_analyzer("arabic(stop=function,stem=none)")
    assert stopped("على عَلى عـلى") == []
    assert stopped("علي") == ["علي"]  # a name; folding alef maqsura would have made it the preposition
    assert stopped(" ".join(sorted(ARABIC))) == []
    assert stopped("إلى الى أن ان") == []


def test_b8_stop_words_go_before_stemming() -> None:
    assert get_analyzer("arabic(stop=function)")("أخبار من الأخبار وأغراضها") == ["اخبار", "اخبار", "اغراض"]


@pytest.mark.parametrize("base", ANALYZERS)
def test_every_combination_of_parameters_round_trips(base: str) -> None:
    choices = ANALYZERS[base].choices
    text = "The retrievers of على الكتاب مدرسة C"
    names = set()
    for values in itertools.product(*choices.values()):
        spelt = ",".join(f"{key}={value}" for key, value in reversed([*zip(choices, values, strict=True)]))
        analyzer = get_analyzer(f"{base}({spelt})")
        names.add(analyzer.name)
        for copy in (get_analyzer(analyzer.name), pickle.loads(pickle.dumps(analyzer))):  # noqa: S301
            assert copy == analyzer
            assert copy(text) == analyzer(text)
    n_combinations = 1
    for values in choices.values():
        n_combinations *= len(values)
    assert len(names) == n_combinations
    assert base in names
