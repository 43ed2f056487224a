"""zerda_bench/names.py: one syntax for the names of analyzers, fusion methods and embedders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerda_bench.names import format_name, parse_name


def test_values_may_have_parameters_of_their_own() -> None:
    name, parameters = parse_name("lsa(analyzer=arabic(stem=none,ta_marbuta=fold), dim=64)", "embedder")
    assert name == "lsa"
    assert parameters == {"analyzer": "arabic(stem=none,ta_marbuta=fold)", "dim": "64"}


@given(st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), st.floats(0, 1e9) | st.integers() | st.just("x")))
def test_names_round_trip_to_the_last_digit(parameters: dict[str, object]) -> None:
    name, parsed = parse_name(format_name("method", parameters), "method")
    assert name == "method"
    assert {key: type(value)(parsed[key]) for key, value in parameters.items()} == parameters


@pytest.mark.parametrize("text", ["", "a(b", "a b", "a(b)", "a(b=)", "a(=c)", "a(b=1,b=2)"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="method"):
        parse_name(text, "method")


def test_a_name_that_is_no_str_is_refused() -> None:
    with pytest.raises(TypeError, match="analyzer must be a str, not NoneType"):
        parse_name(None, "analyzer")  # type: ignore[arg-type]
