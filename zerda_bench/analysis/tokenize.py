"""Cutting text into tokens by regular expression."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from zerda_bench.arguments import check_text

__all__ = ["IGNORABLE", "tokenize", "words"]

# The specification's expression. U+0600-06FF holds Arabic punctuation too, so it ends up inside tokens: documented
# behaviour, which the `arabic` analyzer does not share.
_SPECIFIED = re.compile(r"[\w\u0600-\u06FF]{2,}")

#: Characters that show nothing by themselves, as ranges of a character class: soft hyphen, joiners, marks of direction,
#: byte order mark, fillers, variation selectors (Unicode's Default_Ignorable_Code_Point). Zero width space is left out,
#: as in UAX #29: it parts words where a script has no spaces.
IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)


# Word characters that normalisation drops: tatweel, small waw and yeh, fillers. A word that began with one might be
# left with a mark in front, which belongs to no letter.
_NO_START = "\u0640\u06e5\u06e6\u08c9\u115f\u1160\u3164\uffa0"


@cache
def _word_expression() -> re.Pattern[str]:
    r"""A word: ``\w`` characters, each with the combining marks and ignorable characters that follow it.

    Python's ``\w`` leaves out marks (categories Mn and Mc), which would cut every Devanagari or pointed Hebrew word to
    pieces. Compiled on first use: looking up the category of two planes of code points takes some milliseconds.
    """
    marks = [point for point in range(0x20000) if unicodedata.category(chr(point)) in {"Mn", "Mc"}]
    breaks = [i for i in range(1, len(marks)) if marks[i] != marks[i - 1] + 1]
    runs = zip([0, *breaks], [*breaks, len(marks)], strict=True)
    ranges = "".join(f"{chr(marks[start])}-{chr(marks[end - 1])}" for start, end in runs)
    return re.compile(rf"[^\W{_NO_START}][\w{ranges}{IGNORABLE}]*")


def tokenize(text: str) -> list[str]:
    """Tokens as the specification defines them: lower-cased runs of two or more word or Arabic-block characters.

    Raises
    ------
    TypeError
        If `text` is not a str.
    """
    return _SPECIFIED.findall(check_text(text, "text").lower())


def words(text: str) -> list[str]:
    """Words of any script as they stand in the text, with the marks and ignorable characters inside them."""
    return _word_expression().findall(text)
