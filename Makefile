# Each target sets up what it needs; `make` alone lists them.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.dev
WORKERS ?= 2

.PHONY: help setup demo test lint laws mutate bench-plan bench-api bench-timeline bench-replay bench-quality bench-pack lock vendor clean

help:
	@echo "make demo [ONCE=1]  a lab of virtual cards, busy from the first minute (ONCE=1: play to the end, check, exit)"
	@echo "make test           all tests; installs and starts the real servers they need"
	@echo "make lint           style, types, import contracts"
	@echo "make laws           the planner's laws with many more random worlds"
	@echo "make mutate         break the planner on purpose and see that tests notice"
	@echo "make bench-plan     planner: seconds a cycle at 1k/10k waiting x 64/1k cards"
	@echo "make bench-api      API: reads a second and p99 of the queue page with 10k tasks"
	@echo "make bench-timeline redraws of the timeline in a real browser: 1,000 cards x 5,000 bars (needs Chromium)"
	@echo "make bench-replay   replay: jobs a second of CPU on a week of Philly, beside plain rules"
	@echo "make bench-quality  decisions beside plain rules: known optima of small loads, two teams of Helios"
	@echo "make bench-pack     how full cards get: pods of Alibaba at 130 %, beside first fit, best fit, FGD"
	@echo "make lock           pin the dependencies anew"
	@echo "make vendor         fetch the pinned front-end files anew (needs npm)"

setup: $(STAMP)

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

# The product alone: what `make demo` needs.
$(VENV)/.run: requirements/run.txt pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/build.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(STAMP): requirements/dev.txt $(VENV)/.run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

demo: $(VENV)/.run
	$(BIN)/paika demo $(if $(ONCE),--once) $(if $(PORT),--port $(PORT))

test: $(STAMP)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(ARGS)

lint: $(STAMP)
	$(BIN)/ruff format --check src tests bench tools
	$(BIN)/ruff check src tests bench tools
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

laws: $(STAMP)
	PAIKA_LAW_EXAMPLES=20000 $(BIN)/python -m pytest tests/laws -n $(WORKERS)

mutate: $(STAMP)
	$(BIN)/python tools/mutate.py

bench-plan: $(VENV)/.run
	$(BIN)/python bench/plan.py

bench-api: $(VENV)/.run
	$(BIN)/python bench/api.py

bench-timeline: $(STAMP)
	$(BIN)/python bench/timeline.py

bench-replay: $(VENV)/.run
	$(BIN)/python bench/replay.py

bench-quality: $(VENV)/.run
	$(BIN)/python bench/quality.py

bench-pack: $(VENV)/.run
	$(BIN)/python bench/pack.py

lock: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	for part in run build dev; do \
	  $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	    --quiet requirements/$$part.in -o requirements/$$part.txt; done

vendor: $(STAMP)
	$(BIN)/python tools/vendor_frontend.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .hypothesis
