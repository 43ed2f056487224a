# Two commands do everything, set-up included: `make bench` and `make test`.
# With a POSIX shell, make and python3 (3.11 or newer, with its venv module) nothing else is needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: bench test lint typecheck check test-wheel asv-check asv-quick results clean help

help:
	@echo "make bench       measure every fusion variant on the embedded collection, print the table, write results/"
	@echo "make test        run the tests"
	@echo "make check       linter and type checker"
	@echo "make test-wheel  run the tests against the built wheel"
	@echo "make asv-check   check the asv benchmarks;  make asv-quick runs each once"
	@echo "make results     make the committed results again (needs the collections: COLLECTIONS=folder)"

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,models]'
	@touch $@

bench: $(READY)
	$(BIN)/zerda-bench run pydocs --sample 500

test: $(READY)
	$(BIN)/python -m pytest -q

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

typecheck: $(READY)
	$(BIN)/mypy

check: lint typecheck

# Tests and nothing else of the checkout are copied away, so that the installed wheel is what they import.
test-wheel: $(READY)
	rm -rf build/wheel && mkdir -p build/wheel/run
	$(BIN)/python -m build --quiet --wheel --outdir build/wheel .
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls build/wheel/*.whl)[test,models]"
	cp -R tests pyproject.toml build/wheel/run/
	mv build/wheel/run/pyproject.toml build/wheel/run/pytest-settings.toml
	ZERDA_SHARED="$${ZERDA_SHARED:-$(abspath ../shared)}" sh -c 'cd build/wheel/run && \
	  ../venv/bin/python -m pytest -q -c pytest-settings.toml --rootdir . tests'

asv-check: $(READY)
	$(BIN)/python -m asv machine --yes --machine local > /dev/null
	$(BIN)/python -m asv check --python=same

asv-quick: $(READY)
	$(BIN)/python -m asv run --quick --python=same --dry-run --show-stderr

# The committed results. Collections without a public home come from folders in BEIR layout below $(COLLECTIONS);
# ir_datasets downloads the others, or finds them in $IR_DATASETS_HOME.
COLLECTIONS ?= ../shared/data/collections
CATALOGUE := cranfield vaswani beir/scifact/test
FOLDERS := cacm cisi nfcorpus-prep arcd xquad-ar tydiqa-ar-dev aaqad arabic-qa-union

results: $(READY)
	$(BIN)/zerda-bench run pydocs $(CATALOGUE) $(addprefix $(COLLECTIONS)/,$(FOLDERS)) --no-runs
	$(BIN)/zerda-bench show results --markdown > results/README.md
	$(BIN)/python -m benchmarks.analyzers $(addprefix $(COLLECTIONS)/,arcd xquad-ar tydiqa-ar-dev aaqad arabic-qa-union) \
	  > results/analyzers.md

clean:
	rm -rf $(VENV) build dist *.egg-info .asv .mypy_cache .ruff_cache .pytest_cache .hypothesis
