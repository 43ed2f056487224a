"""light10 step by step, as Larkey, Ballesteros and Connell (2007) describe it."""

from __future__ import annotations


def light10(word: str) -> str:
    # 1. Remove waw ("and") if the remainder of the word is three or more characters long.
    if word[:1] == "و" and len(word[1:]) >= 3:
        word = word[1:]
    # 2. Remove any of the definite articles if this leaves two or more characters.
    articles = ["ال", "وال", "بال", "كال", "فال", "لل"]
    starting = [article for article in articles if word[: len(article)] == article]
    if starting and len(word) - len(starting[0]) >= 2:
        word = word[len(starting[0]) :]
    # 3. Go through the list of suffixes once, in this order, removing any at the end if this leaves two or more.
    for suffix in ["ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي"]:
        kept = word[: len(word) - len(suffix)]
        if word == kept + suffix and len(kept) >= 2:
            word = kept
    return word
