"""``zerda-bench datasets``, ``variants`` and ``warmup``: what there is, and getting ready."""

from __future__ import annotations

import dataclasses

from zerda_bench.eval.cli_output import AsJson, Bars, Debug, Quiet, print_json, print_table

__all__ = ["datasets", "variants", "warmup"]


def datasets(as_json: AsJson = False, debug: Debug = False) -> None:
    """Show collections that can be measured, and how to name others."""
    from rich.table import Table
    from rich.text import Text

    from zerda_bench.eval.datasets import known_datasets

    known = known_datasets()
    if as_json:
        print_json({"datasets": [{"reference": name, "description": text} for name, text in known]})
        return
    table = Table("DATASET", "what it is")
    for name, text in known:
        table.add_row(Text(name), Text(text))
    print_table(table)


def variants(as_json: AsJson = False, debug: Debug = False) -> None:
    """Show what is measured by default: canonical names, formulas and sources, and the parameters there are."""
    from rich.table import Table
    from rich.text import Text

    from zerda_bench.eval.variants import ALL, parse_variants
    from zerda_bench.fusion import METHODS, NORMALISATIONS

    rows = []
    for variant in parse_variants([ALL]):
        if variant.method is None:
            leg = {"bm25": "BM25 alone", "dense": "cosine of the embeddings alone"}[variant.name]
            rows.append((variant.name, leg, "single leg: the baseline"))
        else:
            family = METHODS[variant.method.family]
            rows.append((variant.name, family.summary, family.source))
    parameters = {name: list(family.parameters) for name, family in METHODS.items()}
    if as_json:
        listed = [dict(zip(("name", "formula", "source"), row, strict=True)) for row in rows]
        print_json({"variants": listed, "parameters": parameters, "norms": list(NORMALISATIONS)})
        return
    table = Table("variant", "formula", "source")
    for row in rows:
        table.add_row(*map(Text, row))
    print_table(table)
    for name, known in parameters.items():
        if known:
            print(f"{name} takes: {', '.join(known)}")
    print(f"norm is one of: {', '.join(NORMALISATIONS)}; weights are one a leg (bm25:dense), such as 0.7:0.3")


def warmup(as_json: AsJson = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """Compile every kernel now; later runs load the machine code from the cache."""
    from rich.table import Table
    from rich.text import Text

    from zerda_bench.eval.stages import Stages
    from zerda_bench.eval.warmup import warm_up

    with Bars(quiet) as bars, Stages(bars)("compile") as report:
        done = warm_up(report)
    if as_json:
        print_json(dataclasses.asdict(done))
        return
    table = Table("kernel", "machine code", "seconds")
    table.columns[2].justify = "right"
    for kernel in done.kernels:
        table.add_row(Text(kernel.name), kernel.origin, f"{kernel.seconds:.2f}" if kernel.seconds else "")
    print_table(table)
    print(f"{done.seconds:.2f} s in all; compiled {done.count('compiled')}, from cache {done.count('from cache')}")
    where = done.cache_directory or "nowhere: no folder can be written, so every process compiles anew"
    print(f"machine code is kept in {where}")
