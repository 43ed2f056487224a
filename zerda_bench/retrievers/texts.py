"""Checks of the texts that retrievers get."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zerda_bench import arguments
from zerda_bench.models import chunk_text

__all__ = ["TextTypeError", "check_text", "checked_texts"]


class TextTypeError(TypeError, AttributeError):
    """A text that is no str. An AttributeError too: that is what the published module raises here."""


def check_text(text: Any, argument: str) -> str:
    """`text` if it is a str; else a `TextTypeError` that names `argument`."""
    try:
        return arguments.check_text(text, argument)
    except TypeError as error:
        raise TextTypeError(str(error)) from None


def checked_texts(chunks: Sequence[Any]) -> list[str]:
    """The text of every chunk.

    Raises
    ------
    TextTypeError
        If a text is not a str; the message gives the chunk's position.
    ValueError
        If a text holds a lone surrogate: no result could be made of that chunk, as its content hash needs UTF-8.
    """
    texts = [check_text(chunk_text(chunk), f"text of chunks[{i}]") for i, chunk in enumerate(chunks)]
    for i, text in enumerate(texts):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(f"text of chunks[{i}] holds a lone surrogate at position {error.start}") from None
    return texts
