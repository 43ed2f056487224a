"""Cutting text into tokens by regular expression."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from zerda_bench.arguments import check_text

__all__ = ["tokenize", "words"]

# The specification's expression. U+0600-06FF holds Arabic punctuation too, so it ends up inside tokens: documented
# behaviour, which the `arabic` analyzer does not share.
_SPECIFIED = re.compile(r"[\w\u0600-\u06FF]{2,}")


@cache
def _word_expression() -> re.Pattern[str]:
    r"""A word: ``\w`` characters, each with the combining marks that follow it.

    Python's ``\w`` leaves out marks (categories Mn and Mc), which would cut every Devanagari or pointed Hebrew word to
    pieces. Compiled on first use: looking up the category of two planes of code points takes some milliseconds.
    """
    marks = [point for point in range(0x20000) if unicodedata.category(chr(point)) in {"Mn", "Mc"}]
    breaks = [i for i in range(1, len(marks)) if marks[i] != marks[i - 1] + 1]
    runs = zip([0, *breaks], [*breaks, len(marks)], strict=True)
    ranges = "".join(f"{chr(marks[start])}-{chr(marks[end - 1])}" for start, end in runs)
    return re.compile(rf"\w[\w{ranges}]*")


def tokenize(text: str) -> list[str]:
    """Tokens as the specification defines them: lower-cased runs of two or more word or Arabic-block characters.

    Raises
    ------
    TypeError
        If `text` is not a str.
    """
    return _SPECIFIED.findall(check_text(text, "text").lower())


def words(text: str) -> list[str]:
    """Words of any script, combining marks kept with their letters."""
    return _word_expression().findall(text)
