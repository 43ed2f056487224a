"""Canonical names with parameters, such as ``rrf(k=60)`` or ``arabic(stem=snowball)``: one syntax for all."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["format_name", "parse_name", "value_text"]

# A comma that is not inside a value's own parentheses, as in lsa(analyzer=arabic(stem=none,ta_marbuta=fold),dim=64).
_COMMA = re.compile(r",(?![^()]*\))")
_NAME = re.compile(r"\s*([\w.:/-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


def parse_name(text: str, kind: str) -> tuple[str, dict[str, str]]:
    """Split ``name(key=value,...)`` into the name and its parameters as text.

    Parameters
    ----------
    text : str
    kind : str
        What is named, for messages: ``"analyzer"``.

    Raises
    ------
    TypeError
        If `text` is not a str.
    ValueError
        If `text` is not of that form, or a parameter stands twice.
    """
    if not isinstance(text, str):
        raise TypeError(f"{kind} must be a str, not {type(text).__name__}")
    match = _NAME.fullmatch(text)
    if match is None:
        raise ValueError(f"{kind} {text!r} is not of the form name or name(parameter=value,...)")
    name, inside = match.groups()
    parameters: dict[str, str] = {}
    for part in _COMMA.split(inside or ""):
        if not part.strip():
            continue
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise ValueError(f"{kind} {text!r}: {part.strip()!r} is not of the form parameter=value")
        if key in parameters:
            raise ValueError(f"{kind} {text!r} gives {key} twice")
        parameters[key] = value
    return name, parameters


def format_name(name: str, parameters: Mapping[str, object]) -> str:
    """The inverse of `parse_name`, without spaces."""
    inside = ",".join(f"{key}={value_text(value)}" for key, value in parameters.items())
    return f"{name}({inside})" if inside else name


def value_text(value: object) -> str:
    """The shortest text that reads back as the same value: one name stands for one thing only."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
