"""BM25 under each Arabic analyzer: ``python -m benchmarks.analyzers FOLDER...`` prints a Markdown table.

Each folder is a collection in BEIR layout. k1 = 0.9 and b = 0.4, the setting under which the published figures of
these collections were made.
"""

from __future__ import annotations

import sys

from zerda_bench.eval.datasets import load_dataset
from zerda_bench.eval.environment import environment
from zerda_bench.eval.measures import evaluate, parse_measures
from zerda_bench.sparse import BM25Index

ANALYZERS = [
    "zerda",
    "arabic",
    "arabic(ta_marbuta=fold)",
    "arabic(stem=snowball)",
    "arabic(stem=snowball,ta_marbuta=fold)",
    "arabic(stem=none)",
    "arabic(stop=function)",
    "arabic(stop=function,stem=snowball)",
]
MEASURE = "nDCG@10"


def main(folders: list[str]) -> None:
    """Print the table."""
    datasets = [load_dataset(folder) for folder in folders]
    table = {}
    for analyzer in ANALYZERS:
        for dataset in datasets:
            index = BM25Index.from_texts(dataset.texts, analyzer=analyzer, k1=0.9, b=0.4)
            judged = dataset.judged_queries()
            hits = index.search([dataset.queries[i] for i in judged], 100)
            query_ids = [dataset.query_ids[i] for i in judged]
            measured = evaluate(dataset.qrels, query_ids, dataset.doc_ids, hits, parse_measures([MEASURE]))
            table[analyzer, dataset.name] = measured.mean[MEASURE]
    versions = environment()["packages"]
    print(f"# {MEASURE} of BM25 (k1 = 0.9, b = 0.4) by analyzer\n")
    print(
        "`python -m benchmarks.analyzers` on "
        + ", ".join(f"{d.name} (`{d.content_hash[:10]}`)" for d in datasets)
        + ";"
    )
    print(f"zerda-bench {versions['zerda-bench']}, PyStemmer {versions['PyStemmer']}, NumPy {versions['numpy']}.\n")
    print("| analyzer | " + " | ".join(dataset.name for dataset in datasets) + " |")
    print("|---|" + "---:|" * len(datasets))
    for analyzer in ANALYZERS:
        cells = []
        for dataset in datasets:
            value = table[analyzer, dataset.name]
            best = value == max(table[other, dataset.name] for other in ANALYZERS)
            cells.append(f"**{value:.4f}**" if best else f"{value:.4f}")
        print(f"| {analyzer} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m benchmarks.analyzers FOLDER...")
    main(sys.argv[1:])
