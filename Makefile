# The two commands of the README: `make demo` and `make test`. Both set up their own environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-cluster bench bench-torch nightly torture clean

demo: $(VENV)/.installed
	$(BIN)/apart train four_rooms --method apart_plus --out runs/demo --overwrite
	@echo; echo "The same world with the paper's method, APART, for five times the steps (a minute or two):"
	$(BIN)/apart train four_rooms --method apart --steps 1M --out runs/demo-apart --overwrite
	@echo; echo "Explore the skills of both in a browser; this writes one page:"
	@echo "    $(BIN)/apart report runs/demo runs/demo-apart"

test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n auto

# A Ray cluster of two nodes on this machine, one of which is killed (a minute).
test-cluster: $(VENV)/.dev
	APART_CLUSTER=1 $(BIN)/pytest tests/running/test_cluster.py

# Speed of this machine; `make bench-torch` puts three PyTorch versions beside it.
bench: $(VENV)/.installed
	$(BIN)/apart bench --json results/bench.json

bench-torch: $(VENV)/.dev
	$(BIN)/pip install --quiet -e '.[torch]'
	$(BIN)/python benchmarks/versus_torch.py

# All tests with all their cases (`NIGHTLY` in tests/), on programs that are optimised as they are for users.
nightly: $(VENV)/.dev
	APART_NIGHTLY=1 $(BIN)/pytest -n auto

# Kill -9 a thousand times and compare the endings (an hour or more).
torture: $(VENV)/.installed
	$(BIN)/python benchmarks/torture.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	@echo "Installing JAX, NumPy, Matplotlib and what they need into $(VENV) (about 740 MB) ..."
	$(BIN)/pip install --quiet -e .
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	@echo "Installing the package with pytest, ruff, mypy, Ray and Gymnasium into $(VENV) (about 1.2 GB) ..."
	$(BIN)/pip install --quiet -e '.[dev]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build src/*.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
