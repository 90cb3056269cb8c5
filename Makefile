# Everything sets up .venv by itself; `make run` and `make test` are all a newcomer needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Tests that start real servers run beside each other, but never more of them than there are cores to spare.
JOBS ?= 2

.PHONY: help setup run demo test pytest docs reference catalogue coverage browser pictures check lint types format constraints lock audit dist licences clean

help:  ## what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Holdfast needs Python 3.11 or newer; name one with: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@echo "Setting up $(VENV): two to three minutes the first time, with a good connection."
	$(PYTHON) -m venv $(VENV)
	@echo "Installing packages ..."
	$(BIN)/python -m pip install --quiet --constraint constraints.txt pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable . --group dev
	@touch $@
	@echo "Packages are installed."

setup: $(READY)  ## the environment, and the small demonstration model
	@$(BIN)/holdfast models get --quiet

run: setup  ## serve on http://127.0.0.1:11435
	$(BIN)/holdfast serve

demo: $(READY)  ## a long talk in a small window, live; needs nothing
	$(BIN)/holdfast demo

# Types are a minute of one core, so they are looked at while the tests run.
test: setup lint browser  ## everything: style, types, all tests
	@$(MAKE) --no-print-directory -j 2 types pytest

pytest: $(READY)
	$(BIN)/pytest -n $(JOBS) --dist loadgroup

# Watching every line takes half as long again, so it is asked for.
coverage: setup browser  ## all tests, and which lines they reach
	$(BIN)/pytest -n $(JOBS) --dist loadgroup --cov --cov-report=term --cov-fail-under=80

browser: $(READY)  ## a Chromium for the tests of the pages, if there is none yet
	@$(BIN)/python -m tests.browser.chromium

pictures: browser  ## take the pictures of the pages in docs/images anew
	$(BIN)/python -m tests.browser.pictures

docs: $(READY)  ## the documentation as pages, in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

reference: $(READY)  ## write docs/reference anew, from settings, routes and commands
	$(BIN)/python -m tests.docs.reference

catalogue: $(READY)  ## bring the German catalogue up to date with the sentences in the code
	$(BIN)/python -m tests.catalogue

check: $(READY) lint types  ## the quick part, for every save
	$(BIN)/pytest -n $(JOBS) -q -m "not real and not slow"

lint: $(READY)  ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .

types: $(READY)  ## strict types
	$(BIN)/mypy

format: $(READY)  ## put the style right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	[ ! -x $(BIN)/deno ] || $(BIN)/deno fmt --quiet

constraints: $(READY)  ## pin what is installed now
	$(BIN)/python -m pip freeze --all --exclude-editable --exclude setuptools --exclude wheel | grep -E '^[A-Za-z0-9._-]+==' > constraints.txt

lock: $(READY)  ## the hashes of all that a release is installed with: requirements.lock
	$(BIN)/python -m tests.deploy.lock

audit: $(READY)  ## what a release is installed with, against the vulnerabilities that PyPI knows
	$(BIN)/python -m tests.deploy.audit

dist: $(READY)  ## the wheel, the sources, their parts and checksums in dist/, looked into
	rm -rf dist
	$(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python --out-dir dist
	$(BIN)/python -m tests.deploy.wheel dist
	$(BIN)/python -m tests.deploy.sbom dist
	@ls dist

licences: $(READY)  ## list anew what is installed with it: docs/licences.md
	$(BIN)/python -m tests.deploy.licences

clean:  ## remove the environment and caches; data is elsewhere and stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage* dist
