"""Names of measures: ir_measures' spelling, and the spellings of others on input."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["DEFAULT_MEASURES", "parse_measures"]

DEFAULT_MEASURES = ("nDCG@10", "nDCG@100", "R@10", "R@100", "R@1000", "AP", "RR@10")

#: Other spellings, in lower case, of ir_measures' names.
_DIALECTS: Mapping[str, str] = {
    "ndcg_cut": "nDCG",
    "map": "AP",
    "map_cut": "AP",
    "mean_average_precision": "AP",
    "mrr": "RR",
    "recip_rank": "RR",
    "reciprocal_rank": "RR",
    "recall": "R",
    "precision": "P",
    "hit": "Success",
    "hits": "Success",
    "hit_rate": "Success",
    "hitrate": "Success",
    "r_precision": "Rprec",
    "r-precision": "Rprec",
    "iprec_at_recall": "IPrec",
}

_EXPRESSION = re.compile(
    r"\s*(?P<name>[\w-]+?)\s*(?:\((?P<inside>.*)\))?\s*(?:(?:@|_at_|[_.])\s*(?P<cutoff>\d+(?:\.\d+)?))?\s*"
)


def parse_measures(expressions: Iterable[Any]) -> list[Any]:
    """Measures of ir_measures, in order, each once; ``str(measure)`` is the canonical name.

    Beside ir_measures' own spelling (``nDCG@10``, ``P(rel=2)@5``) the dialects of trec_eval (``ndcg_cut_10``,
    ``recall_100``, ``map``), BEIR and ranx (``NDCG@10``, ``hit_rate@5``) and MTEB (``ndcg_at_10``) are understood, in
    any case. Measures of ir_measures themselves are checked and passed on.

    Raises
    ------
    TypeError
        If an expression is neither.
    ValueError
        If a measure is unknown, a parameter is wrong, or the package that computes it is not installed.
    """
    if isinstance(expressions, str):
        raise TypeError("measures must be a sequence of str, got a single str")
    measures = {str(measure): measure for measure in map(_parse, expressions)}
    if not measures:
        raise ValueError("measures is empty; for example: nDCG@10 R@100 AP")
    return list(measures.values())


def _parse(expression: Any) -> Any:
    from ir_measures import Measure
    from ir_measures import measures as definitions

    if isinstance(expression, Measure):
        _check(str(expression), expression)
        return expression
    if not isinstance(expression, str):
        raise TypeError(f"a measure must be str, got {type(expression).__name__}")
    matched = _EXPRESSION.fullmatch(expression)
    names = {name.lower(): name for name in definitions.registry} | {
        spelling: target for spelling, target in _DIALECTS.items() if target in definitions.registry
    }
    name = names.get(matched["name"].lower()) if matched else None
    if matched is None or name is None:
        raise ValueError(f"unknown measure {expression!r}; for example: {' '.join(DEFAULT_MEASURES)} P@5 Success@1")
    base = definitions.registry[name]
    parameters = dict(base.params) | _keywords(expression, matched["inside"] or "")
    if matched["cutoff"]:
        number = matched["cutoff"]
        parameters[base.AT_PARAM] = float(number) if "." in number else int(number)
    measure = type(base)(**parameters)
    _check(expression, measure)
    return measure


def _keywords(expression: str, inside: str) -> dict[str, Any]:
    """Values of ``a=1,b='x'``."""
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError):
        raise ValueError(f"measure {expression!r}: cannot read ({inside}); write it like P(rel=2)@5") from None


def _check(expression: str, measure: Any) -> None:
    """Raise a ValueError unless some installed provider computes `measure`."""
    import ir_measures

    try:
        measure.validate_params()
        providers = [p for p in ir_measures.DefaultPipeline.providers if p.supports(measure)]
    except (AssertionError, KeyError) as error:
        reason = re.sub(r"invalid param (\w+)=<.*>", r"parameter \1 is missing", str(error))
        raise ValueError(f"measure {expression!r}: {reason}") from None
    cutoff = measure.params.get("cutoff")
    if cutoff is not None and cutoff < 1:
        raise ValueError(f"measure {expression!r}: the cut-off must be at least 1")
    if any(provider.is_available() for provider in providers):
        return
    installs = [provider.install_instructions() for provider in providers]
    how = "; ".join(install for install in installs if install) or "no provider has these parameters"
    raise ValueError(f"measure {expression!r} cannot be computed here: {how}")
