# On a fresh machine with Python 3.11+, make and git: `make demo` and `make test` do everything.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/pip --disable-pip-version-check --quiet

# What is written in the dialect of the kernels.
DIALECT := $(shell find src -type d -name kernels)

.PHONY: demo check test test-cpus test-cpus-fast bench lint format docs clean

demo: $(VENV)/.core
	$(BIN)/python examples/tour.py

# The short tests, for while you work: under a minute.
check: $(VENV)/.test
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -q -n auto --dist loadgroup --fast

# With bytecode, wherever the shell says otherwise: tests start processes, and without it each compiles the package for half a second.
test: $(VENV)/.test
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n auto --dist loadgroup

# The tests about numbers with the instructions of other processors: all of them before a release, the fast half in CI.
test-cpus test-cpus-fast: $(VENV)/.test
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python tests/other_processors.py $(if $(findstring fast,$@),--fast)

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

lint: $(VENV)/.lint
	$(BIN)/ruff check src tests examples benchmarks
	$(BIN)/ruff format --check src tests examples benchmarks
	$(BIN)/python -m sharnir.dialect.rules $(DIALECT)
	$(BIN)/python tests/words.py src/sharnir
	$(BIN)/mypy

# The generated part of the documentation: tables and pictures in docs/results.
docs: $(VENV)/.bench
	$(BIN)/python -m benchmarks kane pictures
	$(BIN)/python examples/tour.py
	cp results/structure.png docs/results/structure.png

format: $(VENV)/.lint
	$(BIN)/ruff check --fix src tests examples benchmarks
	$(BIN)/ruff format src tests examples benchmarks

# One virtual environment, extras added as targets need them; `constraints.txt` pins what is known to work.
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.test $(VENV)/.bench $(VENV)/.lint: $(VENV)/.%: $(VENV)/.core
	$(PIP) install -c constraints.txt -e ".[$*]"
	@touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
