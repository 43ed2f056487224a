"""The analyzers by name, and their parameters."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from zerda_bench.analysis import arabic
from zerda_bench.analysis.stemming import Stem, light10, snowball
from zerda_bench.analysis.tokenize import tokenize, words
from zerda_bench.arguments import check_text
from zerda_bench.names import format_name, parse_name

__all__ = ["ANALYZERS", "Analyzer", "get_analyzer"]

# Lucene's default English stop words (EnglishAnalyzer.ENGLISH_STOP_WORDS_SET).
_ENGLISH_STOP_WORDS = frozenset(
    """
    a an and are as at be but by for if in into is it no not of on or such that the their then there these they this
    to was will with
    """.split()  # noqa: SIM905 - a word list reads best as words
)

_STEMMERS: dict[str, Stem] = {
    "english": partial(snowball, "english"),
    "snowball": partial(snowball, "arabic"),
    "light10": light10,
}


@dataclass(frozen=True)
class Analyzer:
    """A text analysis pipeline: call it with a text, get its tokens.

    Made by `get_analyzer`. Safe to share between threads, to pickle and to compare: two analyzers of one name and
    version give the same tokens.

    Attributes
    ----------
    name : str
        Canonical text form with the parameters that differ from their defaults; `get_analyzer` takes it back.
    version : int
        Raised whenever the same text may give other tokens than before.
    """

    name: str
    version: int
    _pipeline: Callable[[str], list[str]] = field(repr=False, compare=False)

    def __call__(self, text: str) -> list[str]:
        """Tokens of `text`, in order.

        Raises
        ------
        TypeError
            If `text` is not a str.
        """
        return self._pipeline(check_text(text, "text"))

    def __reduce__(self) -> tuple[Callable[[str], Analyzer], tuple[str]]:
        return get_analyzer, (self.name,)


def _english(text: str, *, stop: str, stem: str, min_token_len: int) -> list[str]:
    found = words(unicodedata.normalize("NFKC", text).lower())
    kept = [w for w in found if len(w) >= min_token_len]
    if stop != "none":
        kept = [w for w in kept if w not in _ENGLISH_STOP_WORDS]
    return kept if stem == "none" else list(map(_STEMMERS["english"], kept))


def _arabic(text: str, *, stem: str, ta_marbuta: str, min_token_len: int) -> list[str]:
    found = words(arabic.normalise(text, fold_ta_marbuta=ta_marbuta == "fold").lower())
    kept = [w for w in found if len(w) >= min_token_len]
    return kept if stem == "none" else list(map(_STEMMERS[stem], kept))


@dataclass(frozen=True)
class _Kind:
    """One analyzer: its function, its parameters with their defaults (first) and choices, and its version."""

    summary: str
    pipeline: Callable[..., list[str]]
    choices: Mapping[str, tuple[str, ...]]
    version: int = 1


_LENGTHS = ("2", "1", "3")

#: Name -> what the analyzer does and which parameters it takes (the first choice is the default).
ANALYZERS: Mapping[str, _Kind] = {
    "zerda": _Kind("the specification's tokens, nothing else: any language", tokenize, {}),
    "english": _Kind(
        "NFKC, lower case, words, Lucene's stop words, Snowball stems",
        _english,
        {"stop": ("lucene", "none"), "stem": ("snowball", "none"), "min_token_len": _LENGTHS},
    ),
    "arabic": _Kind(
        "Arabic spelling normalised, words, light stems; other scripts are lower-cased",
        _arabic,
        {"stem": ("light10", "snowball", "none"), "ta_marbuta": ("keep", "fold"), "min_token_len": _LENGTHS},
    ),
}


def get_analyzer(name: str) -> Analyzer:
    """The analyzer of that name, such as ``"english"`` or ``"arabic(stem=snowball)"``.

    Raises
    ------
    TypeError
        If `name` is not a str.
    ValueError
        If there is no such analyzer, parameter or value; the message lists what there is.
    """
    base, given = parse_name(name, "analyzer")
    kind = ANALYZERS.get(base)
    if kind is None:
        raise ValueError(f"unknown analyzer {base!r}; there are: {', '.join(ANALYZERS)}")
    values: dict[str, Any] = {parameter: choices[0] for parameter, choices in kind.choices.items()}
    for parameter, value in given.items():
        if parameter not in kind.choices:
            known = ", ".join(kind.choices) or "none"
            raise ValueError(f"analyzer {base!r} has no parameter {parameter!r}; it has: {known}")
        if value not in kind.choices[parameter]:
            raise ValueError(
                f"analyzer {base!r}: {parameter} must be one of {', '.join(kind.choices[parameter])}, got {value!r}"
            )
        values[parameter] = value
    changed = {
        parameter: values[parameter] for parameter, choices in kind.choices.items() if values[parameter] != choices[0]
    }
    if "min_token_len" in values:
        values["min_token_len"] = int(values["min_token_len"])
    return Analyzer(format_name(base, changed), kind.version, partial(kind.pipeline, **values))
