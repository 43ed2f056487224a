"""The documentation: links lead somewhere, code in the README runs."""

from __future__ import annotations

import re

import pytest

from tests.conftest import CHECKOUT

PAGES = [*sorted(CHECKOUT.glob("*.md")), *sorted(CHECKOUT.glob("docs/*.md")), CHECKOUT / "benchmarks" / "README.md"]
pytestmark = pytest.mark.skipif(not (CHECKOUT / "README.md").is_file(), reason="runs in a checkout only")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_links_lead_somewhere(page) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert missing == []


def test_code_in_the_readme_runs() -> None:
    import numpy as np

    from zerda_bench import ScoredChunk

    blocks = re.findall(r"```python\n(.*?)```", (CHECKOUT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    texts = ["ما هو الانحدار الخطي", "linear regression fits a line", "the capital of Egypt"]
    names = {
        "chunks": [type("Chunk", (), {"text": text})() for text in texts],
        "embed": lambda text: np.array([len(text), 1.0 + text.count("i")]),
        "texts": texts,
        "queries": ["linear fit", "Egypt"],
        "embeddings": np.eye(3),
        "query_embeddings": np.eye(3)[:2],
        "mask": np.array([True, True, False]),
        "print": lambda *values: None,
    }
    for block in blocks:
        exec(block, names)
    assert isinstance(names["result"], ScoredChunk)
    assert names["ids"].tolist()[0][0] == 1
