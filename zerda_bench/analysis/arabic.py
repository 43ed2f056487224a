"""Normalisation of Arabic script."""

from __future__ import annotations

import re

from zerda_bench.analysis.unify import compose, unify

__all__ = ["fold", "normalise", "prepare", "strip"]

# What would cut a word: vowel signs as presentation forms, alone and with shadda, as old encodings and PDFs write them
# (NFKC puts a space before those that stand alone); and zero width space, which parts no words in Arabic script.
_PARTING = re.compile("[\u200b\ufc5e-\ufc63\ufcf2-\ufcf4\ufe70-\ufe7f]+")

# Short vowels, tanween, shadda, sukun, superscript alef, Quranic annotation; and tatweel, which only stretches a word.
# Madda and hamza above and below (U+0653-0655) are not here: they first join the letter before them.
_DROPPED = re.compile(
    "[\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
    "\u0897-\u089f\u08c9-\u08ff\U00010efc-\U00010eff]+"
)

_FOLDED = {
    "آ": "ا", "أ": "ا", "إ": "ا", "ٱ": "ا", "ٲ": "ا", "ٳ": "ا",  # alef with madda, hamza, wasla
    "ى": "ي",  # alef maqsura
    "ی": "ي", "ې": "ي",  # Farsi yeh, E
    "ک": "ك", "ڪ": "ك",  # keheh, swash kaf
    "ہ": "ه", "ھ": "ه", "ە": "ه", "ۀ": "ه", "ۂ": "ه",  # heh goal, heh doachashmee, AE, and hamza on them
    "ۃ": "ة",  # teh marbuta goal
}  # fmt: skip
_DIGITS = {chr(zero + i): str(i) for zero in (0x0660, 0x06F0) for i in range(10)}
_UNJOINED = dict.fromkeys("\u0653\u0654\u0655")

_TABLE = str.maketrans(_FOLDED | _DIGITS | _UNJOINED)
_TABLE_TA_MARBUTA = _TABLE | str.maketrans("ةۃ", "هه")


def prepare(text: str) -> str:
    """The part of `normalise` that decides where words end: composition, and nothing that would cut a word."""
    return compose(_PARTING.sub("", text))


def strip(text: str) -> str:
    """Letters only: without marks and tatweel, composed, other scripts lower-cased. Spelling stays as it is."""
    return unify(_DROPPED.sub("", prepare(text)))


def fold(stripped: str, *, ta_marbuta: bool) -> str:
    """One form for the letters that spelling mixes: alef, yeh, kaf, heh, digits, and ta marbuta if wished."""
    return compose(stripped.translate(_TABLE_TA_MARBUTA if ta_marbuta else _TABLE))


def normalise(text: str, *, fold_ta_marbuta: bool) -> str:
    """Bring spellings of one Arabic word together; other scripts are lower-cased.

    Marks and tatweel go; NFKC composes letters with their hamza and turns presentation forms into letters; then alef
    forms, alef maqsura, Persian letters and digits become one form each. Hamza on waw and yeh (ؤ, ئ) stays, as in
    Lucene's ArabicNormalizer. Normalising twice changes nothing more.

    Parameters
    ----------
    text : str
    fold_ta_marbuta : bool
        Whether ta marbuta (ة) becomes heh (ه): colloquial spelling mixes them.
    """
    return fold(strip(text), ta_marbuta=fold_ta_marbuta)
