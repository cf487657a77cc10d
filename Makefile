# Two commands do everything on a fresh machine:  make demo  ·  make test
# Both make .venv, install the pinned packages and, where they may, the system libraries.

PYTHON ?= $(shell .ci/find-python)
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
WORKERS ?= 3
SEED ?=
RUNS ?= 10
PARTS ?=
SHARE ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo test wheel stress soak fuzz lint format bench system clean

help: ## Say what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

demo: $(VENV)/.app system ## Run the main job on a simulated tracker
	$(BIN)/gazelive demo --out demo --replace

test: $(VENV)/.dev system ## Run all tests, in a new order (SEED=… repeats one)
	@$(BIN)/python .ci/compile-kernels
	$(BIN)/python -m pytest -n $(WORKERS) $(if $(SEED),--randomly-seed=$(SEED))

wheel: $(VENV)/.dev system ## Build the wheel, install it elsewhere and use it there
	$(BIN)/python -m pytest -m wheel tests/wheel

stress: $(VENV)/.dev system ## Run all tests RUNS times in new orders, every other time under load
	@$(BIN)/python .ci/compile-kernels
	@$(BIN)/python .ci/stress --runs $(RUNS) --workers $(WORKERS)

soak: $(VENV)/.dev system ## Kill processes 200 times; record 2 h, and 24 h at speed (PARTS=…)
	@$(BIN)/python .ci/compile-kernels
	@$(BIN)/python .ci/soak $(PARTS)

fuzz: $(VENV)/.fuzz ## Fuzz everything that reads files or messages; goes on where it stopped
	@$(BIN)/python .ci/compile-kernels
	$(BIN)/python -m tests.fuzz.run --share $(SHARE)

lint: $(VENV)/.dev ## Check format, style, types and the import layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev ## Measure speed against peers; JSON goes to bench-results/
	@set -e; for file in tests/benchmarks/bench_*.py; do echo "== $$file"; $(BIN)/python $$file; done

clean: ## Remove the virtual environment and what was made in it
	rm -rf $(VENV) demo bench-results stress-results soak-results fuzz-results

system: ## Install the system libraries that are missing (or name them)
	@.ci/system-libraries

$(VENV)/.made:
	@.ci/make-venv "$(PYTHON)" $(VENV)
	@touch $@

$(VENV)/.app: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing gazelive and its pinned packages into $(VENV) (a minute or two)…"
	@$(PIP) -e '.[dashboard,experiment]'
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing gazelive and the test and lint tools into $(VENV) (two minutes or so)…"
	@$(PIP) -e '.[dashboard,experiment,eyelink,lsl]' --group dev
	@touch $(VENV)/.app $@

$(VENV)/.fuzz: $(VENV)/.dev
	@$(PIP) --group fuzz
	@touch $@
