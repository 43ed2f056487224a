"""Stemmers by name: Snowball through PyStemmer, and light10 for Arabic."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

__all__ = ["Stem", "light10", "snowball"]

Stem = Callable[[str], str]

_local = threading.local()


def snowball(language: str, word: str) -> str:
    """Stem with Snowball's algorithm for `language` (https://snowballstem.org, through PyStemmer).

    A PyStemmer object must not be shared between threads, so each thread has its own. Its memory of recent words is
    off: analyzers remember whole words, which is cheaper.
    """
    stemmers: dict[str, Any] = _local.__dict__.setdefault("stemmers", {})
    stemmer = stemmers.get(language)
    if stemmer is None:
        import Stemmer

        stemmer = stemmers[language] = Stemmer.Stemmer(language, 0)
    stem: str = stemmer.stemWord(word)
    return stem


# Definite articles with the conjunctions and prepositions that attach to them, longest first.
_ARTICLES = ("وال", "بال", "كال", "فال", "ال", "لل")
# In the order in which light10 tries them; each at most once. (ه stands for ta marbuta too where that is folded.)
_SUFFIXES = ("ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي")


def light10(word: str) -> str:
    """Light stemming of a normalised Arabic word.

    Larkey, Ballesteros and Connell, "Light Stemming for Arabic Information Retrieval" (2007), table of light10: drop a
    leading waw if three letters remain, then one definite article if two remain, then each of the suffixes in turn if
    two remain.
    """
    if word.startswith("و") and len(word) > 3:
        word = word[1:]
    for article in _ARTICLES:
        if word.startswith(article) and len(word) - len(article) >= 2:
            word = word[len(article) :]
            break
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 2:
            word = word[: -len(suffix)]
    return word
