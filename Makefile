# Every command a developer needs. Each installs what it uses into .venv, .venv-xla and node_modules, and nothing elsewhere, but for
# a C++ compiler and Chromium, which scripts/system.sh asks the system's package manager for where they are missing.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
XLA := .venv-xla
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Stamps lie in what they speak of, so that removing a folder makes the rule run again.
DEMO := $(VENV)/.stc-demo
DEV := $(VENV)/.stc-dev
LINKS := $(VENV)/.stc-links
XLA_READY := $(XLA)/.stc-ready
NODE := node_modules/.stc-installed
BUNDLE := extension/stc_server/labextension/package.json
FRONT := $(shell find labextension/src labextension/style labextension/schema -type f 2>/dev/null) package.json tsconfig.json

PYTEST_ARGS ?=
LAB_ARGS ?=
XLA_TESTS = $(wildcard tests/unit/test_capture_*.py)

.PHONY: help install demo lab test test-python test-front test-xla lint types format bench wheel system clean

help: ## Say what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

# ---------------------------------------------------------------- what people run

demo: $(DEMO) system-compiler ## Train the quickstart in a real kernel and say what came of it
	python scripts/demo.py

lab: $(DEMO) $(BUNDLE) $(LINKS) system-compiler ## Open JupyterLab on the examples
	jupyter lab --ServerApp.ip=127.0.0.1 --notebook-dir=examples $(LAB_ARGS)

install: $(DEV) $(BUNDLE) $(LINKS) ## Install everything for development, without running anything

test: test-python test-front ## All tests on the newest supported torch

test-python: $(DEV) $(BUNDLE) $(LINKS) system ## Python: units, real kernels, a real server, a real browser
	python -m pytest tests $(PYTEST_ARGS)

test-front: $(NODE) ## Front end: units
	jlpm test

test-xla: $(XLA_READY) system-compiler ## Capture on the oldest supported torch, with torch-xla beside it
	@test -n '$(XLA_TESTS)' || { echo 'There is no tests/unit/test_capture_*.py.' >&2; exit 1; }
	$(XLA)/bin/python -m pytest $(XLA_TESTS) $(PYTEST_ARGS)

lint: $(DEV) $(NODE) ## Style of both languages, and that generated files and docs are current
	ruff check .
	ruff format --check .
	python -m stc.record.schema --check
	jlpm types:check
	python -m stc.analyse.definitions --check --write-docs docs/metrics.md --write-json labextension/src/definitions.json
	python scripts/check_docs.py
	jlpm lint

types: $(DEV) $(NODE) ## mypy strict and TypeScript strict
	mypy
	jlpm types

format: $(DEV) $(NODE) ## Rewrite both languages in the house style, and what is generated
	ruff check --fix-only .
	ruff format .
	python -m stc.record.schema
	python -m stc.analyse.definitions --write-docs docs/metrics.md --write-json labextension/src/definitions.json
	jlpm types:generate
	jlpm format

bench: $(DEV) $(BUNDLE) $(LINKS) system ## The promises about our own cost, paired in one run
	python -m benchmarks

wheel: $(DEV) $(NODE) ## Build the wheel into dist/, front end included
	rm -rf dist extension/stc_server/labextension
	python -m hatchling build -t sdist -t wheel

clean: ## Remove what was built, but not the environments
	rm -rf dist .stc-build labextension/lib extension/stc_server/labextension tsconfig.tsbuildinfo

# ---------------------------------------------------------------- what they stand on

.PHONY: system-compiler
system: ## A C++ compiler for Inductor, and Chromium for the browser tests
	@bash scripts/system.sh compiler chromium

system-compiler:
	@bash scripts/system.sh compiler

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The front end is built by its own rule below; pip need not build it a second time. The links go first, since pip removes
# what it once installed, and through them it would remove the checkout's own files.
UNLINK = find $(VENV)/share/jupyter/labextensions -maxdepth 1 -type l -name jupyterlab-stc -delete 2>/dev/null || true

$(DEMO): pyproject.toml package.json | $(VENV)/bin/python
	$(UNLINK)
	SKIP_JUPYTER_BUILDER=1 python -m pip install --quiet --editable '.[demo]'
	touch $@

$(DEV): pyproject.toml package.json | $(VENV)/bin/python
	$(UNLINK)
	SKIP_JUPYTER_BUILDER=1 python -m pip install --quiet --editable '.[dev]'
	touch $@ $(DEMO)

$(XLA_READY): pyproject.toml package.json
	$(PYTHON) -m venv $(XLA)
	SKIP_JUPYTER_BUILDER=1 $(XLA)/bin/python -m pip install --quiet --editable '.[test-core,xla]'
	touch $@

# jlpm comes with JupyterLab.
$(NODE): package.json yarn.lock .yarnrc.yml | $(DEMO)
	@command -v node >/dev/null || { echo 'Node.js 20 or newer is needed to build the panel.' >&2; exit 1; }
	jlpm install --immutable
	touch $@

$(BUNDLE): $(FRONT) $(NODE)
	jlpm build
	touch $@

# An editable install copies shared data: link it instead, so that JupyterLab and its server see the checkout as it is.
$(LINKS): $(BUNDLE) $(DEMO)
	python scripts/link.py
	touch $@
