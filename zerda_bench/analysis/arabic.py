"""Normalisation of Arabic script."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["normalise"]

# Short vowels, tanween, shadda, sukun, superscript alef, Quranic annotation; hamza and madda above or below that
# composition did not join to a letter; and tatweel, which only stretches a word.
_DROPPED = re.compile("[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u08d3-\u08ff]+")

_FOLDED = {
    "آ": "ا", "أ": "ا", "إ": "ا", "ٱ": "ا", "ٲ": "ا", "ٳ": "ا",  # alef with madda, hamza, wasla
    "ى": "ي",  # alef maqsura
    "ی": "ي", "ې": "ي",  # Farsi yeh, E
    "ک": "ك", "ڪ": "ك",  # keheh, swash kaf
    "ہ": "ه", "ھ": "ه", "ە": "ه",  # heh goal, heh doachashmee, AE
}  # fmt: skip
_DIGITS = {chr(zero + i): str(i) for zero in (0x0660, 0x06F0) for i in range(10)}
# Joiners and marks of direction, which sit inside words but are no part of them; the byte order mark.
_INVISIBLE = dict.fromkeys(
    "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
)

_TABLE = str.maketrans(_FOLDED | _DIGITS | _INVISIBLE)
_TABLE_TA_MARBUTA = _TABLE | str.maketrans("ةۃ", "هه")


def normalise(text: str, *, fold_ta_marbuta: bool) -> str:
    """Bring spellings of one Arabic word together.

    NFKC first: it composes letters with their hamza and turns presentation forms into letters. Then marks and tatweel
    go, and alef forms, alef maqsura, Persian letters and digits become one form each. Hamza on waw and yeh (ؤ, ئ)
    stays, as in Lucene's ArabicNormalizer.

    Parameters
    ----------
    text : str
    fold_ta_marbuta : bool
        Whether ta marbuta (ة) becomes heh (ه): colloquial spelling mixes them.
    """
    text = unicodedata.normalize("NFKC", text)
    return _DROPPED.sub("", text).translate(_TABLE_TA_MARBUTA if fold_ta_marbuta else _TABLE)
