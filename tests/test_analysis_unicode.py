"""Normalisation: one term for one word, whatever its code points; and nothing that shows nothing in a token."""

from __future__ import annotations

import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zerda_bench.analysis import get_analyzer
from zerda_bench.analysis.arabic import normalise
from zerda_bench.analysis.unify import unify

# Letters, marks that join them, and what may stand between the two.
JOINING = st.text(
    st.sampled_from(
        "aeiAİΣςςᾳوياىهەۀ1٣ /_ـ\u00ad\u034f\u061c\u064e\u0651\u0653\u0654\u0655\u06e5\u200b\u200c\u200d\ufeff"
    )
    | st.sampled_from("\u0301\u0307\u0345\u0327\u0338\u093c\u094d\u0915\u1100\u1161\u3164\ufe76\ufe77\ufc60\ufe0f")
)
WHOLE = ["english(stop=none,stem=none,min_token_len=1)", "arabic(stem=none,min_token_len=1)"]


@given(JOINING)
@example("e\u200c\u0301")  # a mark behind a joiner joins its letter only once the joiner is gone
@example("eـ\u0301")
@example("a\u0654\u0301")
@example("ا\u200d\u0654")
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert unify(unify(text)) == unify(text)
    for fold in (True, False):
        once = normalise(text, fold_ta_marbuta=fold)
        assert normalise(once, fold_ta_marbuta=fold) == once


@pytest.mark.parametrize("name", [*WHOLE, "english", "arabic", "arabic(stem=snowball)", "zerda"])
@given(text=JOINING)
def test_tokens_hold_no_space_punctuation_or_control(name: str, text: str) -> None:
    for token in get_analyzer(name)(text):
        assert token
        if name != "zerda":  # whose tokens are the specification's
            assert not any(unicodedata.category(c)[0] in "PSZC" and c != "_" for c in token)


@pytest.mark.parametrize("name", [*WHOLE, "english", "arabic", "arabic(stem=snowball,ta_marbuta=fold)"])
def test_every_code_point_is_survived(name: str) -> None:
    every = [chr(point) for point in range(0x110000)]  # lone surrogates too
    analyzer = get_analyzer(name)
    tokens = analyzer(" ".join(every)) + analyzer("".join(every)) + analyzer(" x".join(every))
    assert all(tokens)
    assert not any(c.isspace() or unicodedata.category(c) in {"Cc", "Cf", "Cs"} for c in set("".join(tokens)))


def test_b1_no_arabic_mark_sets_a_word_apart() -> None:
    marks = [
        chr(point)
        for point in range(0x110000)
        if unicodedata.category(chr(point)) in {"Mn", "Lm"} and "ARABIC" in unicodedata.name(chr(point), "")
    ]
    assert len(marks) > 80
    analyzer = get_analyzer("arabic(stem=none)")
    assert [mark for mark in marks if analyzer(f"كت{mark}اب") != ["كتاب"]] == []


@pytest.mark.parametrize(
    "word",
    [
        "\ufedb\ufe98\ufe8e\ufe8f",
        "\ufedb\ufe7a\ufe98\ufe77\ufe8e\ufe8f\ufe72",  # vowels as presentation forms that NFKC parts by a space
        "كت\ufe7cاب",
        "كت\ufc60اب",
    ],
)
def test_b4_presentation_forms_of_vowels_do_not_cut_a_word(word: str) -> None:
    assert get_analyzer("arabic(stem=none)")(word) == ["كتاب"]


@pytest.mark.parametrize("other", ["أ", "إ", "آ", "ٱ", "ا\u0654", "ا\u0655", "ا\u0653", "ا\u200d\u0654"])
def test_b3_alef_composed_or_not(other: str) -> None:
    assert get_analyzer("arabic(stem=none)")(f"{other}حمد") == ["احمد"]


@pytest.mark.parametrize(
    ("spelt", "term"), [("خانۀ", "خانه"), ("خانه\u0654", "خانه"), ("ہم", "هم"), ("مدرسۃ", "مدرسة")]
)
def test_heh_has_one_form_and_ta_marbuta_goal_is_ta_marbuta(spelt: str, term: str) -> None:
    assert get_analyzer("arabic(stem=none)")(spelt) == [term]


@pytest.mark.parametrize("mark", ["\u00ad", "\u061c", "\u200b", "\u200c", "\u200e", "\u200f", "\u2067", "\ufeff"])
def test_b11_invisible_characters_neither_cut_nor_colour_arabic_words(mark: str) -> None:
    analyzer = get_analyzer("arabic(stem=none)")
    assert analyzer(f"{mark}كت{mark}اب{mark} {mark} (قلم{mark})") == ["كتاب", "قلم"]
    assert analyzer(mark) == []


@pytest.mark.parametrize("mark", ["\u00ad", "\u2060", "\u200d", "\ufeff", "\ufe0f", "\U000e0100"])
def test_b11_invisible_characters_in_any_script(mark: str) -> None:
    for name in WHOLE:
        assert get_analyzer(name)(f"{mark}co{mark}operate{mark}") == ["cooperate"]


def test_zero_width_space_parts_words_where_a_script_has_no_spaces() -> None:
    assert get_analyzer("english")("ภาษา\u200bไทย") == ["ภาษา", "ไทย"]


def test_b13_a_joiner_inside_a_hindi_word_does_not_cut_it() -> None:
    for name in WHOLE:
        assert get_analyzer(name)("क्\u200dष हिन्दी") == ["क्ष", "हिन्दी"]


def test_fillers_and_tatweel_alone_are_no_words() -> None:
    for name in WHOLE:
        assert get_analyzer(name)("\u3164\u3164 ـــ \uffa0 ـ\u0301") == []


def test_a_cold_analyzer_gives_many_threads_one_answer() -> None:
    name = "english(stop=none,min_token_len=3)"  # used by no other test: its memory of words is empty
    texts = [f"running retrievers{i % 7} Retrieved documents number{i}" for i in range(500)]
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda text: get_analyzer(name)(text), texts))
    assert got == [get_analyzer(name)(text) for text in texts]
    assert got[3] == ["run", "retrievers3", "retriev", "document", "number3"]
