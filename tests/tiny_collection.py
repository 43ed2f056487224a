"""A small collection in BEIR layout for tests of the harness: seeded, two scripts, graded, with rough edges."""

from __future__ import annotations

import json
import random
from pathlib import Path

WORDS = (  # noqa: SIM905 - a word list reads best as words
    "kernel index vector cosine ranking fusion query document posting impact retriever measure judgment pool depth "
    "فهرس استرجاع مستند ترتيب دمج قياس متجه استعلام"
).split()


def write_collection(folder: Path, *, n_docs: int = 80, n_queries: int = 14) -> Path:
    """Write corpus, queries and judgments; the same files every time.

    One query has no token, one has no judgment, one judged document is unknown, and there are grades 0 to 2.
    """
    random_ = random.Random(7)
    folder.mkdir(parents=True)
    topics = [random_.sample(WORDS, 3) for _ in range(n_queries)]
    docs = []
    qrels = ["query-id\tcorpus-id\tscore"]
    for i in range(n_docs):
        topic = i % n_queries
        words = [random_.choice(topics[topic] if random_.random() < 0.4 else WORDS) for _ in range(12)]
        docs.append({"_id": f"d{i}", "title": words[0], "text": " ".join(words[1:])})
        if topic != 1:
            qrels.append(f"q{topic}\td{i}\t{i % 3}")
    qrels.append("q0\tgone\t1")
    queries = [{"_id": f"q{i}", "text": " ".join(topic)} for i, topic in enumerate(topics)]
    queries[2]["text"] = "?!"
    for name, rows in (("corpus", docs), ("queries", queries)):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("\n".join(qrels) + "\n", encoding="utf-8")
    return folder
