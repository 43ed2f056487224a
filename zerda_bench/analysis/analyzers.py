"""The analyzers by name, and their parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial

from zerda_bench.analysis import arabic, stop_words
from zerda_bench.analysis.stemming import Stem, light10, snowball
from zerda_bench.analysis.tokenize import tokenize, words
from zerda_bench.analysis.unify import compose, unify
from zerda_bench.arguments import check_text
from zerda_bench.names import format_name, parse_name

__all__ = ["ANALYZERS", "Analyzer", "get_analyzer"]

Pipeline = Callable[[str], list[str]]

# Enough for all but the rare words of a collection of tens of thousands of documents: some 40 MB when full.
_WORDS_REMEMBERED = 1 << 17

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
    _pipeline: Pipeline = field(repr=False, compare=False)

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


def _zerda() -> Pipeline:
    return tokenize


def _english(*, stop: str, stem: str, min_token_len: str) -> Pipeline:
    stopped = stop_words.ENGLISH if stop == "lucene" else frozenset[str]()
    shortest = int(min_token_len)

    def term(word: str) -> str:
        word = unify(word)
        if len(word) < shortest or word in stopped:
            return ""
        return word if stem == "none" else _STEMMERS["english"](word)

    return _word_by_word(compose, term)


def _arabic(*, stop: str, stem: str, ta_marbuta: str, min_token_len: str) -> Pipeline:
    stopped = stop_words.ARABIC if stop == "function" else frozenset[str]()
    shortest = int(min_token_len)

    def term(word: str) -> str:
        word = arabic.strip(word)
        if word in stopped:
            return ""
        word = arabic.fold(word, ta_marbuta=ta_marbuta == "fold")
        if len(word) < shortest:
            return ""
        return word if stem == "none" else _STEMMERS[stem](word)

    return _word_by_word(arabic.prepare, term)


def _word_by_word(prepare: Callable[[str], str], term: Callable[[str], str]) -> Pipeline:
    """Words of the prepared text, each as its term; a word whose term is empty gives no token.

    Terms are remembered, since a text repeats its words: normalising and stemming costs little that way.
    """
    remembered = lru_cache(maxsize=_WORDS_REMEMBERED)(term)

    def pipeline(text: str) -> list[str]:
        return list(filter(None, map(remembered, words(prepare(text)))))

    return pipeline


@dataclass(frozen=True)
class _Kind:
    """One analyzer: its function, its parameters with their defaults (first) and choices, and its version."""

    summary: str
    build: Callable[..., Pipeline]
    choices: Mapping[str, tuple[str, ...]]
    version: int = 1


_LENGTHS = ("2", "1", "3")

#: Name -> what the analyzer does and which parameters it takes (the first choice is the default).
ANALYZERS: Mapping[str, _Kind] = {
    "zerda": _Kind("the specification's tokens, nothing else: any language", _zerda, {}),
    "english": _Kind(
        "NFKC, lower case, words, Lucene's stop words, Snowball stems",
        _english,
        {"stop": ("lucene", "none"), "stem": ("snowball", "none"), "min_token_len": _LENGTHS},
        version=2,
    ),
    "arabic": _Kind(
        "Arabic spelling normalised, words, light stems; other scripts are lower-cased",
        _arabic,
        {
            "stop": ("none", "function"),
            "stem": ("light10", "snowball", "none"),
            "ta_marbuta": ("keep", "fold"),
            "min_token_len": _LENGTHS,
        },
        version=2,
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
    values = {parameter: choices[0] for parameter, choices in kind.choices.items()}
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
    return Analyzer(format_name(base, changed), kind.version, _pipeline(base, tuple(values.items())))


@cache
def _pipeline(base: str, values: tuple[tuple[str, str], ...]) -> Pipeline:
    """One pipeline for all analyzers of a name, so that they share the words they remember."""
    return ANALYZERS[base].build(**dict(values))
