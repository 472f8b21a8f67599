# Two commands matter: `make demo` and `make test`. Both set up everything they need in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
# Processes that run the tests: one a processor, four at most. With ARGS="-n 0" all is done in one.
PARALLEL := -n auto --maxprocesses 4 --dist worksteal
# Where the tests keep their files: in memory where there is room for them, since commits wait for a disk.
MEMORY = $(shell [ -w /dev/shm ] && [ "$$(df -Pk /dev/shm | awk 'END { print $$4 }')" -gt 1000000 ] && echo /dev/shm)
# They start hundreds of processes, each of which would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE
PEERS := .venv-peers
SCALE := .venv-scale

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow browser check format bench bench-peers bench-scale fuzz soak model clean

help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(VENV)/.user: pyproject.toml scripts/make_venv.sh
	@echo "Setting up $(VENV) (half a minute the first time) …"
	@sh scripts/make_venv.sh "$(PYTHON)" $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.user
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

$(VENV)/.browser: $(VENV)/.dev scripts/make_browser.sh
	@sh scripts/make_browser.sh $(BIN)/python || true
	@touch $@

demo: $(VENV)/.user ## Build a nest from the Python reference and ask it three questions
	@$(BIN)/nestling demo

test: $(VENV)/.browser ## Run the tests (ARGS="-k name" passes arguments on)
	@PYTEST_DEBUG_TEMPROOT=$(MEMORY) $(BIN)/python -m pytest $(PARALLEL) -m "not slow" $(ARGS)

test-slow: $(VENV)/.dev ## Run the tests that take minutes
	@$(BIN)/python -m pytest -m slow $(ARGS)

browser: $(VENV)/.dev ## Install a Chromium for the tests of the page, where there is none
	@sh scripts/make_browser.sh $(BIN)/python

check: $(VENV)/.dev ## Lint, types, and generated documents
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python scripts/cli_reference.py --check

format: $(VENV)/.dev ## Format the code, and write the generated documents anew
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .
	@$(BIN)/python scripts/cli_reference.py

bench: $(VENV)/.dev ## Measure speed, and (with the corpora beside the project) what is found
	@$(BIN)/python benchmarks/speed.py
	@$(BIN)/python benchmarks/split.py
	@$(BIN)/python benchmarks/edit.py
	@$(BIN)/python benchmarks/scopes.py
	@$(BIN)/python benchmarks/evidence.py
	@$(BIN)/python benchmarks/ranking.py

$(PEERS)/.made: pyproject.toml benchmarks/peers-requirements.txt scripts/make_venv.sh
	@sh scripts/make_venv.sh "$(PYTHON)" $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -e . -r benchmarks/peers-requirements.txt
	@touch $@

bench-peers: $(PEERS)/.made ## Measure Nestling beside LangChain, LlamaIndex, Haystack and Chroma (40 minutes)
	@cd benchmarks && ../$(PEERS)/bin/python -m peers $(ARGS)

$(VENV)/.fuzz: $(VENV)/.dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[fuzz]'
	@touch $@

fuzz: $(VENV)/.fuzz ## Fuzz the splitter, then the query, five minutes each (ARGS="--seconds 60")
	@$(BIN)/python -m fuzz split $(ARGS)
	@$(BIN)/python -m fuzz query $(ARGS)

soak: $(VENV)/.dev ## Replace and remove for an hour; memory and files must stay flat (ARGS="--minutes 5")
	@$(BIN)/python benchmarks/soak.py $(ARGS)

$(SCALE)/.made: pyproject.toml benchmarks/scale-requirements.txt scripts/make_venv.sh
	@sh scripts/make_venv.sh "$(PYTHON)" $(SCALE)
	@$(SCALE)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[fast]" -r benchmarks/scale-requirements.txt
	@touch $@

bench-scale: $(SCALE)/.made ## Measure search as a nest grows to a million children, beside other engines (hours)
	@cd benchmarks && ../$(SCALE)/bin/python -m scale $(ARGS)

model: $(VENV)/.dev ## Make the built-in model's file anew from its published weights
	@$(BIN)/python scripts/build_model.py

clean: ## Remove what the other commands made
	rm -rf $(VENV) $(PEERS) $(SCALE) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis demo.nest demo.nest-wal demo.nest-shm demo.nest-cache
