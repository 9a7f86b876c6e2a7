# Every target sets up .venv by itself; the only things needed beforehand are Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help install play train test test-slow lint format bench web check-web clean

help:  ## Show what can be made
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

install: $(READY)  ## Set up .venv with everything for players and developers

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("mini-alphago needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,onnx,openspiel,openvino,ray]'
	@touch $(READY)

play: $(READY)  ## Play in the browser; ARGS='--model runs/laptop' or any other option
	$(BIN)/mini-alphago play $(ARGS)

train: $(READY)  ## Train a network from nothing; ARGS='--preset tiny' or any other setting
	$(BIN)/mini-alphago train $(ARGS)

test: $(READY)  ## Run the tests (all but the slow ones)
	$(BIN)/python -m pytest -n 2 -m 'not slow'

test-slow: $(READY)  ## Run the slow tests
	$(BIN)/python -m pytest -n 2 -m slow

lint: $(READY)  ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)  ## Rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## Measure speed on this machine; KATAGO_NET=net.bin.gz for such a network too
	$(BIN)/python benchmarks/rules.py
	$(BIN)/python benchmarks/network.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/match.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/katago_net.py $(KATAGO_NET)

web:  ## Build the page again; needs Node 18 or newer and npm, which players do not
	cd web && npm ci && npx vite build

check-web:  ## Check that the built page is what its source gives
	cd web && npm ci && npx vite build --outDir ../build/page --emptyOutDir
	diff -r build/page mini_alphago/web/static

clean:  ## Remove .venv and caches
	rm -rf $(VENV) build web/node_modules *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
